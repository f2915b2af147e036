"""Functions as strangers write them, each a file of its own in ``natural``, by the command in its first line.

What each answers is known: ``red`` is the mean of the red levels of a photo as a share, or grows with it.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import gslopes as gslopes_package
from gslopes.ask.classifiers.in_memory import as_classifier
from gslopes.ask.pictures import png
from gslopes.core.errors import ConfigError

NATURAL = Path(__file__).with_name("natural")
FILES = sorted(path.stem for path in NATURAL.glob("*.py"))
# Labels in place of ``red``, and those whose number is no share of red.
LABELS = {"deepface_analyze": "gender Man"}
FITTED = {
    "model_output",
    "sklearn_features",
    "sklearn_flatten_step",
    "sklearn_pixels",
    "torch_module",
}
LEVELS = {"bright": 210, "middle": 110, "dark": 20}


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Three photos of 40 x 30 pixels that differ in their red alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    for name, level in LEVELS.items():
        pixels = np.full((30, 40, 3), (level, 100, 5), np.uint8)
        pixels[:, ::2] += 15
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    (tmp_path / "labels.txt").write_text("red\nother\n")
    yield [tmp_path / f"{name}.png" for name in LEVELS]
    for name in {*sys.modules} - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def command(kind: str) -> str:
    """What follows ``gslopes try`` in the first line of a file."""
    first, *_ = (NATURAL / f"{kind}.py").read_text().splitlines()
    assert first.startswith(f"# gslopes try {kind}.py")
    return first.removeprefix("# gslopes try ")


@pytest.mark.row("slopes-1-black-box")
@pytest.mark.parametrize("kind", FILES)
def test_a_strangers_file_is_asked_as_it_is(gslopes, photos, kind):
    shutil.copy(NATURAL / f"{kind}.py", ".")
    done = gslopes("try", command(kind), *photos, "--json")
    assert (done.code, done.err) == (0, ""), done.err + done.out
    answers = json.loads(done.out)["pictures"]
    reds = [answer["labels"][LABELS.get(kind, "red")] for answer in answers]
    if kind in FITTED:
        assert 1 >= reds[0] > reds[1] > reds[2] >= 0
    else:
        assert reds == pytest.approx([(level + 7.5) / 255 for level in LEVELS.values()], abs=0.01)


# -- what is said of them ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("deepface_analyze", "analyze returns percentages: they are divided by 100."),
        (
            "deepface_analyze",
            "analyze also returns dominant_emotion, dominant_gender, dominant_race, region: no scores,",
        ),
        (
            "sklearn_pixels",
            "is given pictures of 16 x 16 pixels, RGB, 0 to 255: the size and the scale of what",
        ),
        (
            "sklearn_flatten_step",
            "is given pictures of 8 x 8 pixels, RGB, 0 to 1: the size and the scale of what it",
        ),
        (
            "torch_network",
            "score does not take a list of arrays: it is given one tensor (N, 3, H, W) in [0, 1].",
        ),
    ],
)
def test_what_was_decided_is_said(gslopes, photos, kind, sentence):
    shutil.copy(NATURAL / f"{kind}.py", ".")
    done = gslopes("try", command(kind), *photos)
    assert sentence in " ".join(done.out.split())


def answers(function: Any, *levels: int, **options: Any) -> tuple[list[Any], list[str]]:
    """Labels with scores of plain pictures, and the notes."""
    made = as_classifier(function, **options)
    pictures = [png(np.full((6, 8, 3), level, np.uint8)) for level in levels]
    return [dict(made.parse(raw).labels) for raw in made.ask(pictures)], made.notes


def test_logits_are_asked_about_and_an_activation_makes_scores_of_them():
    def logits(image):
        return {"a": image.mean() / 10, "b": -1.5}

    (first, _), (note,) = answers(logits, 0, 100)
    assert first == {"a": 0, "b": -1.5}
    assert note.startswith(
        "logits returns numbers beyond [0, 1], from -1.5 to 10, which are read as they are."
    )
    assert "activation=sigmoid (independent labels) or softmax (one of many)" in note
    (first, _), notes = answers(logits, 0, 100, activation="sigmoid")
    assert first == {"a": 0.5, "b": pytest.approx(0.18243, abs=1e-5)}
    assert not notes
    versions = {
        as_classifier(logits, activation=one).version for one in ("none", "sigmoid", "softmax")
    }
    assert len(versions) == 3
    assert not answers(logits, 0, 100, unit="points")[1]
    assert not answers(lambda image: {"age": 20 + image.mean(), "smile": 0.3}, 0, 100)[1]
    with pytest.raises(
        ConfigError, match="activation must be one of none, sigmoid, softmax, not 'relu'"
    ):
        as_classifier(logits, activation="relu")


def test_what_adds_up_to_100_by_chance_is_no_percentage():
    """One of the first pictures shows it, or a unit does; what was decided holds for all that follow."""

    def weights(image):
        return {"a": 60 + image.mean(), "b": 40}

    (first, second), _ = answers(weights, 0, 100)
    assert (first["a"], second["a"]) == (60, 160)
    assert answers(lambda image: {"a": 60, "b": 40}, 0, 100, unit="kg")[0][0] == {"a": 60, "b": 40}
    made = as_classifier(lambda image: {"a": 60.0, "b": 40.0 - (image.mean() > 99)})
    asked = [made.ask([png(np.full((6, 8, 3), level, np.uint8))]) for level in (0, 50, 200)]
    assert [one[0]["a"] for one in asked] == [0.6, 0.6, 0.6]


def test_photos_of_several_sizes_come_alone_in_a_batch():
    shapes = []

    def predict(batch: torch.Tensor):
        shapes.append(tuple(batch.shape))
        return batch.mean((1, 2, 3))

    made = as_classifier(predict)
    pictures = [png(np.full((6, width, 3), 51, np.uint8)) for width in (8, 9)]
    assert made.ask(pictures) == [{"predict": pytest.approx(0.2)}] * 2
    assert shapes == [(1, 3, 6, 8), (1, 3, 6, 9)]
    made.ask(pictures[:1] * 5)
    assert shapes[-1] == (5, 3, 6, 8)


def test_an_async_function_is_awaited_where_a_loop_is_running():
    """As in a notebook."""

    async def size(image: bytes):
        await asyncio.sleep(0)
        return {"size": len(image)}

    async def cell():
        return answers(size, 0, 100)

    (first, _), _ = asyncio.run(cell())
    assert first["size"] > 50


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["sklearn_features", "torch_batch", "async_batch", "deepface_analyze"]
)
def test_a_whole_audit_goes_through(draw, home, photos, kind):
    faces = draw(3)
    shutil.copy(NATURAL / f"{kind}.py", ".")
    found = gslopes_package.audit(
        faces.photos,
        "run",
        classifier=f"python:{command(kind)}",
        steps=3,
        **faces.known | {"placebo": False, "gate": False},
    )
    assert LABELS.get(kind, "red") in set(found.findings["label"])
