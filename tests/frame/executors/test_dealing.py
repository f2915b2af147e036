"""How parts are dealt: to workers that see nothing, or are lost; files that cannot be read; a head that goes."""

import io
import pickle
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gslopes.core.errors import StorageError, UsageError, WorkerLost
from gslopes.core.executor import RemoteTask
from gslopes.core.freeze import frozen
from gslopes.frame.executors import ray as rays


class LostError(Exception):
    """As Ray's."""


class FakeRay:
    """What ``_done`` needs of Ray; a worker is a function of (part, what it was sent), called at once."""

    exceptions = SimpleNamespace(RayError=LostError)

    def __init__(self) -> None:
        self.killed: list[Any] = []
        self.is_there = True
        client = SimpleNamespace(ray=SimpleNamespace(is_connected=lambda: self.is_there))
        self.util = SimpleNamespace(client=client)

    def put(self, value: Any) -> Any:
        return value

    def wait(self, references: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        return references[:1], references[1:]

    def get(self, reference: Any) -> Any:
        if isinstance(reference.answer, LostError | ConnectionError):
            raise reference.answer
        return reference.answer

    def kill(self, worker: Any) -> None:
        self.killed.append(worker)

    def worker(self, does: Any) -> Any:
        def remote(part: int, make: Any, sent: Any) -> Any:
            return Key(does(part, sent))

        return Key(do=SimpleNamespace(remote=remote))


class Key:
    """A reference, or a worker: what may be a key."""

    def __init__(self, answer: Any = None, do: Any = None) -> None:
        self.answer, self.do = answer, do


def nothing(device: str) -> Any:
    """Makes no work."""


def task(sends: Any = None) -> RemoteTask:
    return RemoteTask(nothing, (), lambda part: f"part {part}", sends)


def dealt(ray: FakeRay, workers: list[Any], about: RemoteTask, parts: int = 4) -> list[int]:
    said.clear()
    return list(rays._done(ray, workers, list(range(parts)), about, said.append))


said: list[str] = []


def unseen(part: int, sent: Any) -> Any:
    if sent is None:
        return rays._Unseen("The machine far does not see RUN.", "Share it.")
    return {name: data + b"!" for name, data in sent.items()}


def test_what_a_blind_worker_makes_is_written_here_and_others_are_sent_nothing(tmp_path):
    sent_to_others = []

    def sees(part: int, sent: Any) -> Any:
        sent_to_others.append(sent)
        return {}

    ray = FakeRay()
    sends = task(lambda part: {str(tmp_path / f"{part}/made"): b"%d" % part})
    workers = [ray.worker(unseen), ray.worker(sees)]
    assert sorted(dealt(ray, workers, sends)) == [0, 1, 2, 3]
    assert set(sent_to_others) == {None}
    written = {path.parent.name: path.read_bytes() for path in tmp_path.glob("*/made")}
    assert written
    assert all(data == f"{part}!".encode() for part, data in written.items())
    assert len(written) + len(sent_to_others) == 4
    assert [line for line in said if "object store" in line] == said
    assert len(said) == 1


def test_work_that_cannot_be_sent_names_the_machine_that_does_not_see_it():
    ray = FakeRay()
    with pytest.raises(UsageError, match="far does not see RUN"):
        dealt(ray, [ray.worker(unseen)], task())


def test_a_part_whose_files_cannot_be_read_is_left_to_this_process(tmp_path):
    def sends(part: int) -> dict[str, bytes]:
        if part != 2:
            raise PermissionError(13, "no", "photo.jpg")
        return {str(tmp_path / "two"): b"2"}

    ray = FakeRay()
    assert sorted(dealt(ray, [ray.worker(unseen)], task(sends))) == [~3, ~1, ~0, 2]
    assert (tmp_path / "two").read_bytes() == b"2!"


def test_parts_of_a_lost_worker_are_done_by_the_others_once():
    done = []

    def lost(part: int, sent: Any) -> Any:
        return LostError("the node died")

    def works(part: int, sent: Any) -> Any:
        done.append(part)
        return {}

    ray = FakeRay()
    gone, there = ray.worker(lost), ray.worker(works)
    assert sorted(dealt(ray, [gone, gone, there], task())) == [0, 1, 2, 3]
    assert sorted(done) == [0, 1, 2, 3]
    with pytest.raises(WorkerLost, match="the last at part"):
        dealt(ray, [ray.worker(lost), ray.worker(lost)], task(), 1)
    with pytest.raises(WorkerLost, match="the last at part 0"):
        dealt(ray, [ray.worker(lost)], task())


def test_a_head_that_is_gone_is_a_sentence_and_nothing_more_is_asked_of_it():
    ray = FakeRay()

    def leaves(part: int, sent: Any) -> Any:
        ray.is_there = part == 0
        return {} if ray.is_there else ConnectionError("Client is shutting down.")

    with pytest.raises(WorkerLost, match="head of the Ray cluster is gone") as caught:
        dealt(ray, [ray.worker(leaves)] * 2, task())
    assert "goes on from what is done" in caught.value.hint
    assert ray.killed == []


def test_a_head_without_an_answer_is_gone_after_a_while_and_ctrl_c_stays(monkeypatch):
    ray = FakeRay()
    ray.is_there = False  # no client
    ray.get_runtime_context = lambda: SimpleNamespace(gcs_address="127.0.0.1:1")
    worker = ray.worker(lambda part, sent: {})
    assert len(dealt(ray, [worker], task())) == 4  # soon done, and maybe it comes back
    monkeypatch.setattr(rays, "GONE", 0)
    with pytest.raises(WorkerLost, match="head of the Ray cluster is gone"):
        dealt(ray, [worker], task())
    stopped = ray.worker(lambda part, sent: KeyboardInterrupt())
    monkeypatch.setattr(rays, "GONE", 100)
    with pytest.raises(KeyboardInterrupt):
        dealt(ray, [stopped], task())


def test_an_answer_that_cannot_be_written_here_is_the_disk_s_error(tmp_path):
    (tmp_path / "file").touch()
    ray = FakeRay()
    sends = task(lambda part: {str(tmp_path / "file" / "below"): b""})
    with pytest.raises(StorageError, match="cannot be written"):
        dealt(ray, [ray.worker(unseen)], sends)


def test_a_head_is_asked_at_its_address():
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        assert rays._answers(None, address)
    assert not rays._answers(None, address)


@pytest.mark.parametrize(("cpus", "wanted"), [([1], None), ([1], 8), ([1, 1], 8), ([0], None)])
def test_no_worker_waits_for_a_core_that_is_not_there(cpus, wanted):
    machines = [{"Alive": True, "Resources": {"CPU": count}} for count in cpus]
    size = rays._size(SimpleNamespace(nodes=lambda: machines), wanted, 100, gpus=False)
    assert (size.workers, size.cpus) == (max(1, sum(cpus)), 1)


@frozen
class Named:
    """Paths in fields, and in what these hold."""

    folder: Path
    files: tuple[Path, ...]


@pytest.mark.parametrize("root", ["", "/below"])
def test_paths_of_what_is_sent_lie_below_a_root(root):
    content = Named(Path("/run"), (Path("/photos/a\udcff.jpg"), Path("/")))
    reader = rays._Below(io.BytesIO(pickle.dumps(content)))
    reader.root = root
    expected = tuple(Path(f"{root}{name}") for name in ("/photos/a\udcff.jpg", "/"))
    assert reader.load() == Named(Path(f"{root}/run"), expected)
