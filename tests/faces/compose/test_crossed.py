"""A grid of two attributes: where one is at the photo's own value the other's plain sweep, once into the photo."""

import numpy as np
import pytest
from PIL import Image

from gslopes.core.crossed import Grid, grid_of
from gslopes.core.geometry import warp
from gslopes.core.records import Motion
from gslopes.faces import zoo
from gslopes.faces.compose.crossed import chips_between, compose_grids, crossed_placebo
from gslopes.faces.compose.device import compose_batch
from gslopes.faces.compose.masks import heads_of
from gslopes.faces.compose.paste import STEEPEST, Composite, Edit, Edits, compose_each, compose_edits, unfolded
from gslopes.faces.compose.placebo import lightened
from gslopes.faces.compose.skin import ParserMasker
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.photos.folder import open_photo
from gslopes.slopes.demo import astronaut

GRID = Grid(("gender", "race"), ((-2.0, 0.0, 2.0), (-2.0, 0.0, 2.0)))


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """One photo with its face, chip, and what both editors need."""
    file = tmp_path_factory.mktemp("photo") / "a.png"
    Image.fromarray(astronaut()[:400, 40:440]).resize((300, 300)).save(file)
    photo = open_photo(file)
    face = choose(MtcnnFinder(20)([photo])[0], 300, 300, 20)
    chips = warp(photo.pixels, face.matrix, 128)[None]
    masker = ParserMasker(zoo.load("face-parser"))
    editors = {name: editor_of(f"{name}-field") for name in ("gender", "race")}
    masks = {name: masker([photo], [face], chips, editor.border) for name, editor in editors.items()}
    heads = {"gender": [None], "race": heads_of(masker, [photo], [face], chips, editors["race"].border)}

    def edits(name: str, of: np.ndarray, values: list[float]) -> Edits:
        swept = editors[name].sweep(of, np.array(values, np.float32))
        return Edits(swept, list(masks[name]), "ratio", heads[name])

    return photo, face, chips, edits


def grid_at(given, genders: list[float], races: list[float]) -> Composite:
    photo, face, chips, edits = given
    first = edits("gender", chips, genders)
    second = edits("race", chips_between(chips, first), races)
    (whole,) = compose_grids([photo], [face], first, second, "cpu")
    return whole


def neutral(edits: Edits) -> Edits:
    """An edit at the photo's own value, whatever the reader says that is."""
    swept = edits.swept
    still = Motion(swept.motion.field, 0 * swept.motion.distances)
    tone = None if swept.tone is None else type(swept.tone)(0 * swept.tone.shares, swept.tone.ends)
    edited = np.broadcast_to(swept.neutral[:, None], swept.edited.shape).copy()
    return Edits(type(swept)(edited, swept.neutral, still, tone), edits.masks, edits.blend, edits.heads)


@pytest.mark.parametrize("moved", ["gender", "race"])
def test_where_one_attribute_is_at_the_photos_own_value_the_grid_is_the_others_plain_sweep(given, moved):
    photo, face, chips, edits = given
    values = [-2.0, 0.0, 2.0]
    first = edits("gender", chips, values if moved == "gender" else [0.0])
    first = first if moved == "gender" else neutral(first)
    second = edits("race", chips_between(chips, first), values if moved == "race" else [0.0])
    second = second if moved == "race" else neutral(second)
    (whole,) = compose_grids([photo], [face], first, second, "cpu")
    (plain,) = compose_each([photo], [face], [edits(moved, chips, values)], "cpu")
    apart = np.abs(whole.pictures.astype(int) - plain.pictures)
    assert apart.max() <= 2  # of 255
    assert (apart > 0).mean() < 0.001
    assert np.abs(plain.pictures[0].astype(int) - plain.pictures[2]).max() > 20


def test_on_the_device_a_grid_is_what_it_is_on_the_cpu_but_for_rounding(given, monkeypatch):
    here = grid_at(given, [-2.0, 0.0, 2.0], [-1.0, 0.5, 2.0])
    monkeypatch.setattr(
        "gslopes.faces.compose.crossed.compose_each",
        lambda photos, faces, edits, _: iter(
            compose_batch([(p.pixels, p.gray) for p in photos], edits, [f.matrix for f in faces], "cpu")
        ),
    )
    there = grid_at(given, [-2.0, 0.0, 2.0], [-1.0, 0.5, 2.0])
    assert len(here) == len(there) == 9
    assert (here.box, here.mask_area) == (there.box, there.mask_area)
    np.testing.assert_array_equal(here.weight, there.weight)
    apart = np.abs(here.patches.astype(int) - there.patches)
    assert apart.max() <= 2
    assert (apart > 0).mean() < 0.003
    assert apart[:, here.weight == 0].max(initial=0) == 0


def test_outside_of_both_masks_all_pictures_of_a_grid_are_the_photo(given):
    whole = grid_at(given, [-2.0, 0.0, 2.0], [-2.0, 0.0, 2.0])
    outside = np.ones(given[0].pixels.shape[:2], bool)
    x0, y0, x1, y1 = whole.box
    outside[y0:y1, x0:x1] = whole.weight == 0
    for picture in whole.pictures:
        np.testing.assert_array_equal(picture[outside], given[0].pixels[outside])


def test_the_second_editor_sees_the_firsts_change_within_its_mask_alone(given):
    _, _, chips, edits = given
    first = edits("gender", chips, [-2.0, 2.0])
    between = chips_between(chips, first)
    assert between.shape == (2, 128, 128, 3)
    outside = first.masks[0] == 0
    np.testing.assert_array_equal(between[:, outside], np.broadcast_to(chips[0][outside], (2, outside.sum(), 3)))
    inside = first.masks[0] == 1
    np.testing.assert_allclose(between[:, inside], first.swept.edited[0][:, inside].clip(0, 255), atol=1e-3)


def test_two_motions_that_would_fold_together_are_shortened_and_one_alone_is_not():
    ramp = np.zeros((64, 64, 2), np.float32)
    ramp[..., 0] = 0.35 * np.arange(64)[None]
    motions = [Motion(ramp, np.array([2.0, -2.0], np.float32)), Motion(ramp, np.array([0.0, 2.0], np.float32))]
    (alone, none), (a, b) = unfolded([ramp, ramp], motions)
    assert (alone, none) == (pytest.approx(2.0), 0.0)
    assert 0.35 * (a + b) == pytest.approx(STEEPEST, rel=1e-4)
    assert a == pytest.approx(b)


def test_motions_of_two_edits_add_up_and_the_photo_is_sampled_once():
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, (64, 64, 3)).astype(np.uint8)
    mask, matrix = np.pad(np.ones((44, 44), np.float32), 10), np.eye(2, 3)
    chips = np.full((1, 64, 64, 3), 100, np.float32)
    there = Motion(np.broadcast_to(np.array([1, 0], np.float32), (64, 64, 2)), np.array([2.0], np.float32))
    back = Motion(there.field, -there.distances)
    edits = [Edit(chips, chips[0], mask, "ratio", one) for one in (there, back)]
    np.testing.assert_array_equal(compose_edits(pixels, False, edits, matrix).picture(0), pixels)


def test_a_crossed_placebo_adds_what_the_plain_one_gives_along_each_attribute():
    photo = np.full((8, 8, 3), 100, np.uint8)
    steps = np.array([[10 * i + 3 * j for j in (-1, 0, 1)] for i in (-1, 0, 1)]).ravel()
    patches = np.broadcast_to(100 + steps[:, None, None, None], (9, 8, 8, 3)).astype(np.uint8)
    whole = Composite(photo, patches, np.ones((8, 8), np.float32), (0, 0, 8, 8), 1.0)
    made = crossed_placebo(whole, GRID, lambda part, values, _: lightened(part, values))
    np.testing.assert_array_equal(made.patches, patches)


def test_a_grid_is_read_back_from_what_run_json_says():
    assert grid_of({"grid": {name: list(values) for name, values in GRID.by_name.items()}}) == GRID
    assert grid_of({}) is None
    assert GRID.steps == list(range(9))
