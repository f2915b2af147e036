"""Cut-outs of drawn people, whose masks are known."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from gslopes.audits.context.cutout import corners_agree, eraser, flaws, studio

FACE = np.array([120, 70, 200, 180], np.float32)


def portrait(gradient: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(pixels (360, 320, 3), mask) of a head on shoulders before a backdrop that falls off by so many levels."""
    height, width = 360, 320
    y, x = np.mgrid[0:height, 0:width]
    mask = ((x - 160) / 52) ** 2 + ((y - 125) / 68) ** 2 < 1
    mask |= (np.abs(x - 160) < 30) & (y > 150)
    mask |= ((x - 160) / 125) ** 2 + ((y - 380) / 150) ** 2 < 1
    backdrop = 205 - gradient * np.hypot((x - 160) / 160, (y - 60) / 300)[..., None] / np.hypot(1, 1)
    pixels = np.broadcast_to(backdrop, (height, width, 3)).copy()
    pixels[mask] = (150, 105, 80)
    pixels[mask & (y > 240)] = (60, 80, 140)
    pixels[mask & (y < 85)] = (40, 30, 28)
    smooth = cv2.GaussianBlur(pixels, (0, 0), 0.7) if gradient else pixels
    return np.rint(smooth).astype(np.uint8), mask


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    return float((one & other).sum() / (one | other).sum())


def test_the_eraser_removes_a_flat_backdrop_and_nothing_else():
    pixels, mask = portrait()
    assert corners_agree(pixels)
    assert overlap(eraser(pixels).mask, mask) > 0.999


def test_the_same_photo_gives_the_same_cutout():
    pixels, _ = portrait(gradient=40)
    one, other = (studio(pixels, FACE, seed=5).mask for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"share": 0.1}, "10% of the photo"),
        ({"share": 0.0}, "all of the picture"),
        ({"share": 1.0}, "no backdrop"),
        ({"bottom": 0.5}, "50% of the bottom row"),
        ({"holes": 0.05}, "holes of 5.0%"),
        ({"covered": 0.9}, "90.0% of the face"),
        ({"solidity": 0.4}, "solidity 0.40"),
        ({"halo": 0.4}, "40% of the edge"),
    ],
)
def test_each_check_names_its_number(changed, message):
    good = {"share": 0.38, "bottom": 0.9, "holes": 0.0, "solidity": 0.75, "covered": 1.0, "halo": 0.1}
    assert flaws(good) == []
    (flaw,) = flaws({**good, **changed})
    assert message in flaw
