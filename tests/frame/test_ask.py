"""What was answered before is taken only for the classifier that answered."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gslopes
from gslopes.core.errors import RunFolderMismatch
from gslopes.frame.result import notes_of
from gslopes.slopes.audit import SLOPES, score_photos, synthesise
from tests.frame.audits import discs


class Model:
    def __init__(self, weight: float) -> None:
        self.weight = np.array([weight])

    def __call__(self, picture: Any) -> dict[str, float]:
        return {"bright": float(self.weight[0] * picture.mean() / 255)}


class Session(Model):
    """Its state cannot be read, as of a compiled library."""

    asked = 0

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle")

    def __call__(self, picture: Any) -> dict[str, float]:
        Session.asked += 1
        return super().__call__(picture)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    photos = discs(tmp_path / "in")
    known = {
        "landmarks": photos / "faces.csv",
        "masks": photos.parent / "masks",
        "editor": "drawn-fader",
    }
    synthesise(photos, tmp_path / "run", steps=3, device="cpu", placebo=False, **known)
    return tmp_path / "run"


def mean(run: Path) -> float:
    return float(gslopes.load(run).tables["scores"]["score"].mean())


def test_another_model_of_the_same_class_is_not_taken_for_the_first(run: Path) -> None:
    score_photos(run, Model(0.25))
    quarter = mean(run)
    score_photos(run, Model(0.25))
    with pytest.raises(RunFolderMismatch, match="has answers of Model in version"):
        score_photos(run, Model(1.0))
    assert mean(run) == quarter
    score_photos(run, gslopes.as_classifier(Model(1.0), name="Whole"))
    assert mean(run) == pytest.approx(quarter * 5 / 2)  # of the two


def test_one_that_cannot_be_told_apart_is_asked_again(run: Path) -> None:
    means = []
    for weight in (0.25, 1.0):
        Session.asked = 0
        score_photos(run, Session(weight))
        assert Session.asked > 6
        assert any("not kept between calls" in note for note in notes_of(SLOPES, run))
        means.append(mean(run))
    assert means[1] == pytest.approx(4 * means[0])
    for _ in range(2):
        Session.asked = 0
        score_photos(run, gslopes.as_classifier(Session(1.0), version="1", name="Named"))
    assert Session.asked == 0
