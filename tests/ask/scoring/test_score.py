"""What the score stage tells its user."""

import os
import signal
import threading
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from gslopes.cli import main
from gslopes.core import tables
from gslopes.core.records import Answer
from gslopes.core.traits import Limits, Traits
from gslopes.frame.executors import OneProcess
from gslopes.slopes import audit as stages
from tests.again import redo
from tests.fake_provider.folder import write_run

PHOTOS, STEPS = 3, 7


@dataclass
class Narrow:
    """A classifier with limits, which remembers what it was sent."""

    traits: Traits
    name: str = "narrow"
    version: str = "1"
    batch: int = 4
    sent: list[bytes] = field(default_factory=list)

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.sent += pictures
        return [{}] * len(pictures)

    def parse(self, raw: object) -> Answer:
        return Answer("answered", (("Any", 1.0),))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", PHOTOS)


def note_of(run: Path, classifier: Narrow, capsys: pytest.CaptureFixture[str]) -> str:
    """What stands on stderr about pictures that were encoded again."""
    stages.score_photos(run, classifier, executor=OneProcess(progress=True))
    lines = [line for line in capsys.readouterr().err.splitlines() if "encoded again" in line]
    assert len(lines) <= 1
    return lines[0] if lines else ""


def test_pictures_that_are_too_large_are_encoded_anew_and_it_is_said_with_how(run, capsys):
    small = Narrow(Traits(Limits(price=1.0, max_side=40, formats=("JPEG",))))
    line = note_of(run, small, capsys)
    start = f"score      narrow: {len(small.sent)} pictures encoded again: too large, or of another format "
    assert line.startswith(start)
    assert "(JPEG of quality 95, longer side 40 pixels), all of a photo alike." in line
    assert len(small.sent) == PHOTOS * STEPS


class Function:
    """Has no limits, is not cached and returns no JSON, as a ``python:`` function may; writes down what it is asked.

    most: pictures after which the process ends as if it were killed.
    """

    name, version, batch = "function", "1", 4

    def __init__(self, log: Path, most: int) -> None:
        self.log, self.most = log, most

    def ask(self, pictures: list[bytes]) -> list[object]:
        if len(self.log.read_text().splitlines()) >= self.most:
            os._exit(9)
        with self.log.open("a") as log:
            log.writelines(f"{sha256(picture).hexdigest()}\n" for picture in pictures)
        return [(len(picture), object()) for picture in pictures]

    def parse(self, raw: tuple[int, object]) -> Answer:
        return Answer("answered", (("size", raw[0] / 1e6), ("any", 1.0)), version="m")


def in_a_child(run: Path, classifier: Function) -> int:
    """Score in a process of its own, which is a copy of this one; its exit code."""
    child = os.fork()
    if child == 0:
        try:
            stages.score_photos(run, classifier)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_a_kill_costs_no_answer_of_a_classifier_that_is_not_cached_either(tmp_path):
    log, other = tmp_path / "asked.txt", tmp_path / "other.txt"
    log.touch()
    other.touch()
    run, calm = write_run(tmp_path / "run", 4, part=2), write_run(tmp_path / "calm", 4, part=2)
    assert [in_a_child(run, Function(log, most)) for most in (10, 20, 25, 99)] == [9, 9, 9, 0]
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 4 * STEPS
    assert in_a_child(calm, Function(other, 99)) == 0
    for table in (tables.SCORES, tables.ASKED):
        frames = [tables.read(table, folder / f"{table.name}.parquet") for folder in (run, calm)]
        pd.testing.assert_frame_equal(*frames)
    assert not list(run.rglob("journal"))


def test_the_verb_says_that_some_pictures_failed_by_its_exit_code(run, tmp_path, monkeypatch):
    (tmp_path / "picky_module.py").write_text(
        "def picky(pictures):\n"
        "    return [{'bright': 0.5 if index > 6 else float('nan')} for index, _ in enumerate(pictures)]\n"
    )
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(
        main, ["audit", str(run), "--only", "score", "--classifier", "python:picky_module:picky"]
    )
    assert done.exit_code == 3, done.output
    assert "7 failed" in done.output


@pytest.mark.slow
def test_a_classifier_that_refuses_pictures_of_every_photo_leaves_the_others_their_tables_and_page(
    run,
):
    count = iter(range(10_000))

    def refusing(pictures):
        return [None if next(count) % 3 == 0 else {"bright": 0.5} for _ in pictures]

    def good(pictures):
        return [{"bright": 0.5, "dark": 0.25} for _ in pictures]

    stages.score_photos(run, [refusing, good])
    slopes = redo(run, "fit").tables["slopes"]
    assert set(slopes["classifier"]) >= {"good"}
    page = redo(run, "report").page
    assert "good" in page.read_text(encoding="utf-8")


class Interrupted(Narrow):
    """Has four requests in flight when Ctrl-C comes, and answers them after that."""

    def __init__(self) -> None:
        super().__init__(Traits(Limits(price=1.0, concurrency=4)), batch=1)
        self.together = threading.Barrier(4, action=lambda: os.kill(os.getpid(), signal.SIGINT))

    def ask(self, pictures: list[bytes]) -> list[object]:
        answers = super().ask(pictures)
        if len(self.sent) <= 4:
            self.together.wait(30)
            threading.Event().wait(0.2)
        return answers


def test_one_interrupt_keeps_the_answers_of_the_requests_in_flight(run, tmp_path):
    narrow = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        stages.score_photos(run, narrow, cache=tmp_path / "cache", yes=True)
    assert len(narrow.sent) == 4
    stages.score_photos(run, narrow, cache=tmp_path / "cache", yes=True)
    assert len(narrow.sent) == len(set(narrow.sent)) == PHOTOS * STEPS
