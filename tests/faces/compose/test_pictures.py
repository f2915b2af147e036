"""Whole pictures in their photo: the formulas, the photo's own pixels elsewhere, and gray that stays gray."""

from pathlib import Path

import numpy as np
import pytest

from gslopes.core.geometry import LUMA, similarity
from gslopes.core.records import Face, Photo
from gslopes.faces.compose.masks import border_ramp
from gslopes.faces.compose.paste import composite_of
from gslopes.faces.zoo.framing import CHIP

HEIGHT, WIDTH = 180, 150
POINTS = np.array([(55, 75), (95, 75), (75, 95), (60, 115), (90, 115)], np.float32)
MASK = border_ramp(128, 20)


def scene(gray: bool = False) -> tuple[Photo, Face, np.ndarray]:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    if gray:
        pixels = np.repeat(pixels[..., :1], 3, axis=-1)
    matrix = similarity(POINTS, CHIP * 128 - 0.5)
    assert matrix is not None
    face = Face(np.array([45, 55, 105, 130], np.float32), POINTS, 1.0, 1, matrix)
    pictures = rng.integers(0, 256, (3, HEIGHT, WIDTH, 3), np.uint8)
    return Photo("", Path("photo.png"), pixels, gray), face, pictures


@pytest.mark.parametrize("gray", [False, True])
@pytest.mark.parametrize("blend", ["paste", "difference"])
def test_blends_are_their_formulas_and_the_photo_stays_elsewhere(blend, gray: bool) -> None:
    photo, face, pictures = scene(gray)
    made = composite_of(photo, face, MASK, pictures, blend, neutral=pictures[1])
    x0, y0, x1, y1 = made.box
    weight = np.zeros((HEIGHT, WIDTH, 1))
    weight[y0:y1, x0:x1, 0] = made.weight
    inside = weight[..., 0] > 0
    assert 0.02 < inside.mean() == pytest.approx(made.mask_area)
    assert (made.pictures[:, ~inside] == photo.pixels[~inside]).all()
    shown = pictures.astype(float)
    if gray:
        shown = np.rint(shown @ LUMA)[..., None].repeat(3, -1)
        assert (made.pictures == made.pictures[..., :1]).all()
    base = shown[1] if blend == "difference" else photo.pixels
    want = np.clip(photo.pixels + weight * (shown - base), 0, 255)
    assert np.abs(made.pictures - want).max() < (1.51 if gray else 0.51)
    if blend == "difference":
        np.testing.assert_array_equal(made.picture(1), photo.pixels)


def test_a_mask_that_covers_nothing_leaves_the_photo() -> None:
    photo, face, pictures = scene()
    made = composite_of(photo, face, np.zeros_like(MASK), pictures, "paste")
    assert (made.pictures == photo.pixels).all()
    assert made.mask_area == 0


@pytest.mark.parametrize("gray", [False, True])
def test_the_whole_picture_is_kept(gray: bool) -> None:
    photo, face, pictures = scene(gray)
    made = composite_of(photo, face, MASK, pictures, "whole")
    if gray:
        assert (made.pictures == made.pictures[..., :1]).all()
    else:
        np.testing.assert_array_equal(made.pictures, pictures)
    assert (made.mask_area, made.box) == (1, (0, 0, WIDTH, HEIGHT))
    assert made.weight.shape == (HEIGHT, WIDTH)
    assert (made.weight == 1).all()
