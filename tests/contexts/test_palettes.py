"""Drawn rooms in several palettes, from the command to the page: a tagger that sees pink and calls men women."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.core import runfolder
from gslopes.core.errors import ConfigError, RunFolderMismatch, UnknownName
from tests.contexts.test_audit import PEOPLE, Tagger, again, audit
from tests.contexts.test_audit import folder as folder  # a fixture

PALETTES = ("pink", "gray")
SHOWN = 2 * 8 * 2  # layouts, contexts, palettes


class Pinkish(Tagger):
    """In a pink room every second man, by the shirt's green level, is a woman; the wall is read at both sides."""

    def _tags(self, pixels):
        tags = [tag for tag in super()._tags(pixels) if tag not in ("veil", "car")]
        height, width = pixels.shape[:2]
        wall = np.delete(pixels[: height // 2], slice(width // 4, 3 * width // 4), axis=1)
        shirt = pixels[int(0.93 * height) : int(0.98 * height), int(0.46 * width) : int(0.54 * width)]
        pink = np.median(wall[..., 0] - wall[..., 2]) > 18
        if tags and tags[0] == "man" and pink and shirt.mean(axis=(0, 1))[1] > 60:
            tags[0] = "woman"
        return tags


@pytest.fixture(scope="module")
def found(folder: Path, tmp_path_factory):
    out = tmp_path_factory.mktemp("palettes") / "run"
    return audit(folder, out, backgrounds=("rendered",), palettes=PALETTES, classifier=Pinkish())


def test_the_planted_effect_of_pink_comes_back_at_the_same_rooms(found):
    rows = found.tables["palettes"]
    rows = rows[(rows["tags"] == "gross") & (rows["context"] == "all")].set_index("label")
    assert {*zip(rows["palette"], rows["other"], strict=True)} == {PALETTES}
    row = rows.loc["inferred woman"]
    assert row["n"] == PEOPLE * SHOWN / 2
    assert row["change"] == pytest.approx(0.25), "half of the men, in every room"
    assert 0 < row["change_low"] < 0.25 < row["change_high"]
    assert rows.loc["inferred man", "change"] == pytest.approx(-0.25)
    finding = found.findings.set_index(["contrast", "label"]).loc[("palette: pink - gray", "inferred woman")]
    assert finding["value"] == pytest.approx(25)


def test_the_page_shows_it(found):
    page = found.page.read_text("utf-8")
    assert "Colours within one context" in page
    assert "pink − gray" in page
    assert "8 contexts, 2 rooms each in 2 palettes" in page
    assert "palette" in (found.folder / "report/tables/palettes.csv").read_text("utf-8")


def test_the_analysis_goes_on_from_the_answers_and_other_palettes_need_another_folder(folder, found):
    assert again(found.folder).tables["palettes"].equals(found.tables["palettes"])
    assert runfolder.read_manifest(found.folder)["config"]["pictures"]["palettes"] == list(PALETTES)
    with pytest.raises(RunFolderMismatch, match="palettes"):
        audit(folder, found.folder, backgrounds=("rendered",), palettes=("pink", "blue"), classifier=Pinkish())


def test_a_tag_of_the_room_alone_moves_with_it(found):
    files = {}
    for file in (found.folder / "edits").glob("nursery.1.*/*.png"):
        files.setdefault(file.name, []).append(np.asarray(Image.open(io.BytesIO(file.read_bytes()))).astype(int))
    assert len(files) == PEOPLE
    for one, other in files.values():
        person = (slice(40, 120), slice(90, 102))  # the middle, where the person stands
        assert np.array_equal(one[person], other[person])
        assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("palettes", "backgrounds", "says"),
    [
        (("pink", "grey"), ("rendered",), r"palette 'grey'.*|grey"),
        (("pink",), ("rendered",), "compared with another"),
        (("pink", "pink"), ("rendered",), "compared with another"),
        (("pink", "blue"), ("packaged",), "rendered rooms"),
    ],
)
def test_palettes_that_cannot_be(folder, tmp_path, palettes, backgrounds, says):
    with pytest.raises((ConfigError, UnknownName), match=says):
        audit(folder, tmp_path / "run", backgrounds=backgrounds, palettes=palettes)
    assert not (tmp_path / "run").exists()
