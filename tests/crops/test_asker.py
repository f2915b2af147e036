"""Joined pictures: put together from what a model sees of each photo, and what attaching changes of its answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.ask.boxes import SaliencyMap, centres, fitted
from gslopes.ask.croppers import load_cropper
from gslopes.crops.asker import Asker
from gslopes.crops.config import CropsConfig
from gslopes.crops.parity import compared
from tests.crops.drawn import Brightness, audit, draw_people, row, truth

PAIRS = np.array([(i, j) for i in range(5) for j in range(5) if i != j])


def photos(width=200, height=200, count=5):
    generator = np.random.default_rng(2)
    small = generator.integers(0, 255, (count, 12, 12, 3), dtype=np.uint8)
    return [np.asarray(Image.fromarray(one).resize((width, height), Image.Resampling.BICUBIC)) for one in small]


@pytest.mark.parametrize("name", ["spectral-residual", "fine-grained"])
@pytest.mark.parametrize("people", [2, 4])
def test_photos_put_together_are_the_joined_picture_bit_for_bit(name, people):
    """A pair needs two views, not a picture of its own: equal because no sample of the model reaches over a seam."""
    portraits = photos()
    sizes = [(200, 200)] * 5
    pictures = PAIRS if people == 2 else np.array([(0, 1, 2, 3), (4, 3, 2, 1)])
    config, notes = CropsConfig(), []
    quick = Asker(load_cropper(name), portraits.__getitem__, sizes, config, note=notes.append)
    slow = Asker(load_cropper(name), portraits.__getitem__, sizes, config, shortcut=False)
    one, other = (scores_of(asker, pictures) for asker in (quick, slow))
    np.testing.assert_array_equal(one, other)
    assert quick._checked
    assert not notes


def scores_of(asker, pictures):
    batches = list(asker.maps(pictures))
    order = np.argsort(np.concatenate([batch.rows for batch in batches]))
    return np.concatenate([batch.scores for batch in batches])[order]


def test_photos_of_several_sizes_are_joined():
    pictures = [*photos(200, 200, 2), *photos(120, 200, 2)]
    sizes = [(one.shape[1], one.shape[0]) for one in pictures]
    asker = Asker(load_cropper("fine-grained"), pictures.__getitem__, sizes, CropsConfig())
    found = list(asker.maps(np.array([(0, 2), (2, 0), (0, 1)])))
    assert sum(len(batch.rows) for batch in found) == 3
    assert load_cropper("fine-grained").view(((200, 200), (120, 200))) is None


class Detail:
    """Local contrast of the fitted picture in cells of 4 pixels that do not overlap: it sees nothing beyond a cell."""

    name, version = "detail", "1"

    def __init__(self, size=64):
        self.size = size

    def maps(self, pictures):
        found = []
        for picture in pictures:
            small = fitted(picture, self.size, "area").mean(axis=2)
            rows, columns = small.shape[0] // 4, small.shape[1] // 4
            cells = small[: rows * 4, : columns * 4].reshape(rows, 4, columns, 4)
            scores = cells.std(axis=(1, 3)).astype(np.float32)
            found.append(SaliencyMap(scores, *centres(picture.shape[1], picture.shape[0], columns, rows)))
        return found


@pytest.fixture(scope="module")
def fine_and_coarse(tmp_path_factory):
    """The fine group wears checks of one pixel, strong but gone at half the size; the coarse group weaker blocks."""
    folder = tmp_path_factory.mktemp("scale") / "people"
    folder.mkdir()
    down, across = np.mgrid[:64, :64]
    rows = []
    for group, period, strength in (("fine", 1, 70), ("coarse", 4, 30)):
        for index in range(4):
            checks = ((down // period + across // period) % 2) * 2 - 1
            gray = np.clip(120 + (strength + index) * checks * ((down + period // 2) % 64 > 20), 0, 255)
            if period == 4:
                gray = np.roll(gray, (2, 2), (0, 1))
            Image.fromarray(np.repeat(gray[..., None], 3, axis=2).astype(np.uint8)).save(folder / f"{group}{index}.png")
            rows.append(f"{group}{index},{group}")
    table = folder.parent / "people.csv"
    table.write_text("id,team\n" + "\n".join(rows) + "\n")
    return folder, table


def test_what_attaching_changes_is_the_scale(fine_and_coarse, tmp_path):
    """No 7: that attaching changes the outcome does not show that a model looks at the whole picture."""
    found = audit(*fine_and_coarse, tmp_path / "run", Detail())
    p = {
        variant: row(found, "detail", variant=variant, policy="argmax", outcome="favoured")["p"]
        for variant in ("native", "alone, own scale", "alone, matched scale")
    }
    assert p["alone, own scale"] == 0.0  # coarse over fine: the fine checks are seen
    assert p["alone, matched scale"] == p["native"] == 1.0
    assert "only the matched scale may be compared" in found.page.read_text("utf-8")


def test_neither_side_nor_neighbour_changes_what_a_local_model_sees(fine_and_coarse, tmp_path):
    """No 7: swapping sides changes no winner, and a person's own maximum does not depend on who stands beside."""
    audit(*fine_and_coarse, tmp_path / "run", Detail())
    pairs = pd.read_parquet(tmp_path / "run/pairs.parquet").query("cropper == 'detail'")
    maxima = pd.concat([pairs[[side, f"max_{side}"]].set_axis(["photo", "max"], axis=1) for side in ("left", "right")])
    assert maxima.groupby("photo")["max"].agg(np.ptp).max() == 0
    won = {(r.left, r.right): r.won for r in pairs.itertuples()}
    assert all(won[left, right] == 1 - won[right, left] for left, right in won)


@pytest.mark.parametrize(
    ("options", "variant"),
    [
        ({"height": 48}, "height 48"),
        ({"as_published": True, "pairs": 200}, "native, jpeg 75"),
    ],
)
def test_other_ways_to_join(tmp_path, options, variant):
    table, frame = draw_people(tmp_path / "p", {"blue": 5, "green": 5}, {"blue": 10})
    found = audit(tmp_path / "p", table, tmp_path / "run", Brightness(), **options)
    result = row(found, "brightness", variant=variant, policy="argmax", outcome="favoured")
    assert result["p"] == pytest.approx(truth(frame, "blue", "green"), abs=0.05)
    assert found.tables["positions"].set_index("cropper").loc["brightness", "left"] == pytest.approx(0, abs=0.05)
    assert found.page.read_text("utf-8").count("<img") >= 2


def test_ties_of_photos_alone_count_for_neither_group():
    """No 12: the published comparison prints P(a >= b) as 1 - P(a < b), so that a tie is a win of the first group."""
    ties = np.array([1.0, 1.0, 2.0])
    published = 1 - np.less.outer(ties, ties).mean()
    assert published == pytest.approx(7 / 9)
    assert compared(ties, ties).mean() == 0.5
    assert compared(ties, ties[:2]).mean() + compared(ties[:2], ties).mean() == 1


def test_photos_alone_that_tie_are_even_whichever_group_stands_first(tmp_path):
    """No 12, through the audit: every maximum of the blue is a maximum of the green, too."""
    folder = tmp_path / "p"
    folder.mkdir()
    lines = ["id,team"]
    for level in (90, 130, 170):
        for team in ("blue", "green"):
            picture = np.full((64, 64, 3), 20, np.uint8)
            picture[16:48, 16:48] = level
            picture[0, 0] = 21 if team == "blue" else 22  # other bytes, the same maximum
            Image.fromarray(picture).save(folder / f"{team}{level}.png")
            lines.append(f"{team}{level},{team}")
    (tmp_path / "people.csv").write_text("\n".join(lines))
    found = audit(folder, tmp_path / "people.csv", tmp_path / "run", Brightness(), min_group=3)
    result = row(found, "brightness", variant="alone, own scale", outcome="favoured")
    assert (result["p"], result["group"]) == (0.5, "blue")
