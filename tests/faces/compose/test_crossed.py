"""A grid of two attributes: each picture along the first one, edited along the second; placebos add up."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from gslopes.core.crossed import Grid, grid_of
from gslopes.core.geometry import warp
from gslopes.core.records import EditedChips, Motion
from gslopes.faces import zoo
from gslopes.faces.compose.composite import Composite, crossed, crossed_placebo
from gslopes.faces.compose.masks import heads_of
from gslopes.faces.compose.paste import compose
from gslopes.faces.compose.placebo import lightened
from gslopes.faces.compose.skin import ParserMasker
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.photos.folder import open_photo
from gslopes.slopes.demo import astronaut

GRID = Grid(("gender", "race"), ((-2.0, 0.0, 2.0), (-2.0, 0.0, 2.0)))
ENDS = [-2.0, 0.0, 2.0]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """One photo, and what edits it along an attribute: pictures of it, values, and whether none is to move it."""
    file = tmp_path_factory.mktemp("photo") / "a.png"
    Image.fromarray(astronaut()[:400, 40:440]).resize((300, 300)).save(file)
    photo = open_photo(file)
    face = choose(MtcnnFinder(20)([photo])[0], 300, 300, 20)
    chips = warp(photo.pixels, face.matrix, 128)[None]
    masker = ParserMasker(zoo.load("face-parser"))
    editors = {name: editor_of(f"{name}-field") for name in ("gender", "race")}
    masks = {
        name: masker([photo], [face], chips, editor.border)[0] for name, editor in editors.items()
    }
    heads = {
        "gender": None,
        "race": heads_of(masker, [photo], [face], chips, editors["race"].border)[0],
    }

    def edited(
        name: str, pictures: np.ndarray, values: list[float], still: bool = False
    ) -> list[Composite]:
        recorded = np.stack([warp(picture, face.matrix, 128) for picture in pictures])
        swept = editors[name].sweep(recorded, np.array(values, np.float32))
        swept = at_own(swept) if still else swept
        where = masks[name], face.matrix, "ratio", heads[name]
        chips = [(picture, photo.gray, swept.of(row)) for row, picture in enumerate(pictures)]
        return [compose(*chip, *where) for chip in chips]

    return photo, edited


def at_own(swept: EditedChips) -> EditedChips:
    """An edit at the photo's own value, whatever the reader takes that for."""
    still = Motion(swept.motion.field, 0 * swept.motion.distances)
    tone = None if swept.tone is None else replace(swept.tone, shares=0 * swept.tone.shares)
    pictures = np.repeat(swept.neutral[:, None], swept.edited.shape[1], 1)
    return replace(swept, edited=pictures, motion=still, tone=tone)


def grid_at(given, genders: list[float], races: list[float], still: str = "") -> Composite:
    photo, edited = given
    (first,) = edited("gender", photo.pixels[None], genders, still == "gender")
    return crossed(first, edited("race", first.pictures, races, still == "race"))


@pytest.mark.parametrize("moved", ["gender", "race"])
def test_where_one_attribute_is_at_the_photos_own_value_the_grid_is_the_others_plain_sweep(
    given, moved
):
    genders, races = (ENDS, [0.0]) if moved == "gender" else ([0.0], ENDS)
    full = grid_at(given, genders, races, still="race" if moved == "gender" else "gender")
    (plain,) = given[1](moved, given[0].pixels[None], ENDS)
    if moved == "gender":
        np.testing.assert_array_equal(full.pictures, plain.pictures)
    else:
        apart = np.abs(full.pictures.astype(int) - plain.pictures)
        assert apart.max() <= 1, "the second editor is given the same picture"
    assert np.abs(plain.pictures[0].astype(int) - plain.pictures[2]).max() > 20


def test_outside_of_both_masks_all_pictures_of_a_grid_are_the_photo(given):
    full = grid_at(given, ENDS, ENDS)
    assert len(full) == 9
    outside = np.ones(given[0].pixels.shape[:2], bool)
    x0, y0, x1, y1 = full.box
    outside[y0:y1, x0:x1] = full.weight == 0
    assert full.mask_area == pytest.approx(1 - outside.mean())
    for picture in full.pictures:
        np.testing.assert_array_equal(picture[outside], given[0].pixels[outside])


def test_the_second_editor_is_given_what_the_first_one_made_motion_and_all(given):
    photo, edited = given
    (first,) = edited("gender", photo.pixels[None], ENDS)
    full = grid_at(given, ENDS, ENDS)
    for step in range(3):
        (alone,) = edited("race", first.picture(step)[None], ENDS)
        apart = np.abs(full.pictures[step::3].astype(int) - alone.pictures)
        assert apart.max() <= 1


def test_a_mask_without_a_pixel_leaves_the_other_one(given):
    photo, edited = given
    (first,) = edited("gender", photo.pixels[None], ENDS)
    nothing = [
        Composite(
            picture,
            np.empty((2, 0, 0, 3), np.uint8),
            np.empty((0, 0), np.float32),
            (0, 0, 0, 0),
            0.0,
        )
        for picture in first.pictures
    ]
    full = crossed(first, nothing)
    np.testing.assert_array_equal(full.pictures, np.concatenate([first.pictures] * 2))
    assert full.mask_area == first.mask_area


def test_a_crossed_placebo_adds_what_the_plain_one_gives_along_each_attribute():
    photo, weight = np.full((8, 8, 3), 100, np.uint8), np.ones((8, 8), np.float32)

    def sweep(base: int, step: int, box: tuple[int, int, int, int]) -> Composite:
        x0, y0, x1, y1 = box
        levels = np.array([base + step * i for i in (-1, 0, 1)], np.uint8)[:, None, None, None]
        patches = np.broadcast_to(levels, (3, y1 - y0, x1 - x0, 3)).astype(np.uint8)
        return Composite(np.full_like(photo, base), patches, weight[y0:y1, x0:x1], box, 1.0)

    first = sweep(100, 10, (0, 0, 8, 4))
    full = crossed(first, [sweep(base, 3, (0, 0, 8, 4)) for base in (90, 100, 110)])
    assert full.box == (0, 0, 8, 4)
    result = crossed_placebo(full, *map(lightened, full.axes, GRID.values))
    np.testing.assert_array_equal(result.patches, full.patches)


def test_a_grid_is_read_back_from_what_run_json_says():
    values = {name: list(value) for name, value in zip(GRID.names, GRID.values, strict=True)}
    steps = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert grid_of(values | {GRID.name: steps, "gender-x-race-same": steps}) == GRID
    assert grid_of(values) is None
    assert grid_of({GRID.name: steps}) is None
