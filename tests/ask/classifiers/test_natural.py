"""Functions as strangers write them, each a file of its own in ``natural``, by the command in its first line.

What each answers is known: ``red`` is the mean of the red levels of a photo as a share, or grows with it.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

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
