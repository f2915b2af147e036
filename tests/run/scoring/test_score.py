"""What the score stage tells its user."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gslopes.core.records import Answer
from gslopes.executors import OneProcess
from gslopes.run import stages
from gslopes.score.limits import Limits
from tests.fake_provider.folder import write_run

PHOTOS, STEPS = 3, 7


@dataclass
class Narrow:
    """A classifier with limits, which remembers what it was sent."""

    limits: Limits
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
    """What stands on stderr about pictures that were encoded anew."""
    stages.score_photos(run, classifier, executor=OneProcess(progress=True))
    lines = [line for line in capsys.readouterr().err.splitlines() if "encoded anew" in line]
    assert len(lines) <= 1
    return lines[0] if lines else ""


def test_pictures_that_are_too_large_are_encoded_anew_and_it_is_said_with_how(run, capsys):
    small = Narrow(Limits(price=1.0, most_side=40, formats=("JPEG",)))
    line = note_of(run, small, capsys)
    assert line.startswith(f"score      narrow: {len(small.sent)} pictures were too large or of another format")
    assert "(JPEG of quality 95, longer side 40 pixels), all of a photo alike." in line
    assert len(small.sent) == PHOTOS * STEPS


def test_pictures_that_are_taken_as_they_are_need_no_word(run, capsys):
    wide = Narrow(Limits(price=1.0, picture_bytes=10**7))
    assert note_of(run, wide, capsys) == ""
    assert set(wide.sent) <= {path.read_bytes() for path in run.glob("edits/gender/*")}


def test_a_rerun_that_asks_nothing_says_nothing_of_it(run, capsys):
    small = Narrow(Limits(price=1.0, most_side=40, formats=("JPEG",)))
    assert note_of(run, small, capsys)
    assert note_of(run, small, capsys) == ""
