"""The evaluation itself, on a few real photos: a few of everything, so that it runs; its numbers are the cards'."""

import shutil

import pytest

from gslopes.datasets.labelled import fold
from gslopes.run.evaluation import evaluate
from gslopes.run.evaluation.composites import held_out_faces

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def few(unpacked, tmp_path_factory):
    """A folder with 90 held-out photos of UTKFace."""
    root = tmp_path_factory.mktemp("data")
    (root / "UTKFace").mkdir()
    source = next(path for path in [unpacked("UTKFace"), unpacked("UTKFace") / "UTKFace"] if list(path.glob("*.jpg")))
    held = sorted(path for path in source.glob("*.jpg") if fold(path.name) == "held-out")
    for path in held[:: max(1, len(held) // 90)][:90]:
        shutil.copy(path, root / "UTKFace" / path.name)
    return root


def test_held_out_faces_are_of_the_held_out_fold_and_the_editors_people(few):
    held = held_out_faces(few, "race", None, "cpu")
    assert all(fold(photo.path.name) == "held-out" for photo in held.photos)
    assert ((held.labels["white"] + held.labels["black"]) == 1).all()
    assert set(held.groups()["gender"]) <= {"men", "women"}


def test_an_editors_tables_hold_every_way_and_value(few):
    found = evaluate("fader-gender", data=few, photos=48, write=False)["tables"]
    assert set(found) == {
        "asked and reached", "what it edits", "what else moves", "for whom", "how natural", "latent and reconstruction",
        "who it is",
    }  # fmt: skip
    assert len(found["what it edits"]) == 8
    assert len(found["how natural"]) == 10
    shift = found["what it edits"]["face, difference: reader"]["shift"]
    assert 0.3 < shift["low"] < shift["value"] < shift["high"] <= 1
