"""Full disks, folders that may not be written, damaged caches: one sentence, and nothing that was paid for is lost."""

import os
import random
import resource
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from gslopes.core import tables
from gslopes.slopes import audit as stages
from tests.attack.children import ended, made
from tests.attack.test_shared import PHOTOS, PICTURES, Service
from tests.fake_provider.folder import write_run
from tests.fixtures import save_empty
from tests.frame.audits import AUDITS, in_small_parts

pytestmark = pytest.mark.slow


def full_at(size: int) -> Callable[[], None]:
    """No file grows beyond so many bytes, as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def assert_a_sentence(stderr: str) -> None:
    lines = stderr.strip().splitlines()
    problem = [line for line in lines if line.startswith("gslopes: ")]
    assert len(problem) == 1, stderr
    assert "Traceback" not in stderr
    assert "Unexpected" not in stderr


@pytest.mark.parametrize("name", ["captions", "contexts", "crops", "audit"])
def test_on_a_full_disk_an_audit_ends_with_a_sentence_and_goes_on_later(
    name, tmp_path, monkeypatch
):
    monkeypatch.setattr(Figure, "savefig", save_empty)
    in_small_parts(monkeypatch, name, AUDITS[name].part)
    source = AUDITS[name].prepare(tmp_path / "inputs")
    calm, run = tmp_path / "calm", tmp_path / "run"
    assert ended(lambda: AUDITS[name].begin(source, calm)).code == 0
    for size in (0, 700, 5_000, 20_000):
        end = ended(lambda: AUDITS[name].begin(source, run), before=full_at(size))
        if end.code:
            assert end.code == 1
            assert_a_sentence(end.stderr)
    assert ended(lambda: AUDITS[name].begin(source, run)).code == 0
    assert made(run) == made(calm)


@pytest.fixture
def asking(tmp_path: Path) -> Callable[..., Callable[[], object]]:
    """Scores a run folder of that name with the cache of this test, at a dollar a picture."""
    (tmp_path / "log").touch()

    def work(name: str, cache: Path = tmp_path / "cache") -> Callable[[], object]:
        run = (
            tmp_path / name
            if (tmp_path / name).is_dir()
            else write_run(tmp_path / name, PHOTOS, part=2)
        )
        return lambda: stages.score_photos(run, Service(tmp_path / "log", 4), cache=cache, yes=True)

    return work


@pytest.mark.parametrize("size", [0, 4_096, 20_000, 40_000, 60_000])
def test_a_full_disk_under_the_cache_costs_the_requests_in_flight_alone(size, asking, tmp_path):
    end = ended(asking("run"), before=full_at(size))
    if end.code:
        assert_a_sentence(end.stderr)
    assert ended(asking("run")).code == 0
    assert len((tmp_path / "log").read_text().splitlines()) <= PICTURES + 4


def read_only(folder: Path) -> Callable[[], None]:
    """Not even for the superuser: the child is nobody."""

    def leave() -> None:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    return leave


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become nobody")
@pytest.mark.parametrize("which", ["run", "cache"])
def test_a_folder_that_may_not_be_written_is_a_sentence_before_anything_is_asked(
    which, asking, tmp_path
):
    asking("run")()  # here, for nobody may not read what this process has installed
    work = asking("other")
    text = (tmp_path / "log").read_text()
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_mode & 0o005 != 0o005:
            path.chmod(path.stat().st_mode | 0o005)
    (tmp_path / "log").chmod(0o666)
    for path in tmp_path.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)
    end = ended(work, before=read_only(tmp_path / ("other" if which == "run" else "cache")))
    assert end.code == 1
    assert_a_sentence(end.stderr)
    assert (tmp_path / "log").read_text() == text


def flipped(data: bytes, seed: int) -> bytes:
    lot, changed = random.Random(seed), bytearray(data)
    for _ in range(40):
        changed[lot.randrange(100, len(changed))] ^= 1 << lot.randrange(8)
    return bytes(changed)


def unpack(file: Path, statement: str) -> None:
    with sqlite3.connect(file) as database:
        database.execute(statement)
    database.close()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "a page short": lambda file: file.write_bytes(file.read_bytes()[:-4096]),
    "text": lambda file: file.write_bytes(b"not a database\n" * 400),
    "head": lambda file: file.write_bytes(bytes(100) + file.read_bytes()[100:]),
    "bits": lambda file: file.write_bytes(flipped(file.read_bytes(), 1)),
    "other bits": lambda file: file.write_bytes(flipped(file.read_bytes(), 2)),
    "log": lambda file: file.with_name(file.name + "-wal").write_bytes(
        b"\x37\x7f\x06\x82" + os.urandom(9000)
    ),
    "folder": lambda file: (file.unlink(), file.mkdir()),
    "device": lambda file: (file.unlink(), file.symlink_to("/dev/zero")),
    "no packed answer": lambda file: unpack(file, "UPDATE answers SET raw = x'00112233'"),
    "not an answer": lambda file: unpack(
        file, "UPDATE answers SET raw = NULL, status = 'maybe' WHERE 0"
    ),
    "a table less": lambda file: unpack(file, "DROP TABLE sources"),
    "a column less": lambda file: unpack(file, "ALTER TABLE answers RENAME COLUMN raw TO cooked"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_a_sentence_or_is_asked_again_and_changes_no_number(
    damage, asking, tmp_path
):
    assert ended(asking("calm")).code == 0
    DAMAGES[damage](tmp_path / "cache/answers.sqlite")
    end = ended(asking("run"), most=60)
    if end.code:
        assert end.code == 1
        assert_a_sentence(end.stderr)
        assert ended(asking("run", tmp_path / "another")).code == 0
    item, second = (
        tables.read(tables.SCORES, tmp_path / name / "scores.parquet") for name in ("calm", "run")
    )
    assert item.equals(second)
