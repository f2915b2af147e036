"""The engine that is taken by itself: processes that share a GPU where there is one, this process elsewhere."""

import pytest

from gslopes.frame import executors
from gslopes.frame.executors import OneProcess, RayCluster, engine
from gslopes.frame.executors.ray import SHARING, _size


class Work:
    """Does nothing; knows in which threads it may."""

    def __init__(self, in_threads: bool = True) -> None:
        self.in_threads, self.done = in_threads, []

    def __call__(self, part: int, tick) -> None:
        self.done.append(part)

    def remote_task(self) -> None:
        """Could be sent."""


@pytest.fixture
def sent(monkeypatch) -> list[int | None]:
    """Workers that a cluster was asked for, on a machine with a GPU and with Ray."""
    found: list[int | None] = []
    monkeypatch.setattr(
        executors, "pick_device", lambda device: "cpu" if device == "cpu" else "cuda"
    )
    monkeypatch.setattr(executors, "find_spec", lambda name: object())
    monkeypatch.setattr(
        RayCluster, "__call__", lambda self, work, parts, **_: found.append(self.workers)
    )
    return found


def carried_out(work: Work, device: str = "auto", parts: int = 3, name: str = "auto") -> list[int]:
    engine(OneProcess(), name, 5, device)(
        work, dict.fromkeys(range(parts), 1), label="x", unit="parts"
    )
    return sorted(work.done)


def test_a_gpu_is_shared_by_processes_where_ray_is_installed(sent, monkeypatch, capsys):
    assert carried_out(Work()) == []
    assert sent == [5]
    for alone in (
        carried_out(Work(), "cpu"),
        carried_out(Work(in_threads=False)),
        carried_out(Work(), name="one"),
    ):
        assert alone == [0, 1, 2]
    assert carried_out(Work(), parts=1) == [0]  # starting a cluster would take longer
    monkeypatch.setattr(executors, "find_spec", lambda name: None)
    engine(OneProcess(progress=True), "auto", None, "cuda")(
        Work(), {0: 1, 1: 1}, label="x", unit="parts"
    )
    assert "gslopes[ray]" in capsys.readouterr().err
    assert sent == [5]


class Nodes:
    def __init__(self, *nodes: tuple[int, int]) -> None:
        self.known = [
            {"Alive": True, "Resources": {"CPU": cpus, "GPU": gpus}} for cpus, gpus in nodes
        ]

    def nodes(self):
        return self.known


@pytest.mark.parametrize(
    ("nodes", "workers", "expected"),
    [
        ([(16, 1)], None, (8, 2, 1 / 8)),
        ([(64, 1)], None, (SHARING, 8, 1 / 8)),
        ([(4, 1)], None, (2, 2, 1 / 2)),
        ([(2, 1)], None, (1, 2, 1)),
        ([(2, 2)], None, (2, 1, 1)),
        ([(16, 1), (16, 1)], None, (16, 2, 1 / 8)),
        ([(16, 1)], 3, (3, 5, 1 / 3)),
        ([(16, 2)], 1, (1, 16, 1)),
        ([(8, 0), (16, 1)], None, (8, 2, 1 / 8)),  # machines without a GPU stay out
    ],
)
def test_workers_have_shares_of_the_gpus_that_fit(nodes, workers, expected):
    size = _size(Nodes(*nodes), workers, 1000, gpus=True)
    assert (size.workers, size.cpus, size.gpus) == expected
    cards = sum(gpus for _, gpus in nodes)
    assert size.workers <= cards * int(1 / size.gpus)


def test_what_it_says_is_said_by_the_one_process():
    class Kept(OneProcess):
        def note(self, text: str) -> None:
            said.append(text)

    said: list[str] = []
    engine(Kept(), "auto", None, "auto").note("fit up to date")
    assert said == ["fit up to date"]
