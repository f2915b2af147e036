from __future__ import annotations

import numpy as np
import pytest

from gslopes.ask.boxes import Box
from gslopes.crops.covariates import covariates, face_discs, is_symmetric, symmetry_score

POINTS = np.array([[40, 40], [60, 40], [50, 50], [42, 62], [58, 62]], np.float32)
HEAD = Box(25, 20, 75, 80)


def face(skin, background, eyes=(20, 20, 20)):
    photo = np.full((120, 100, 3), background, np.uint8)
    photo[20:80, 25:75] = skin
    cheeks, dark = face_discs(POINTS, 120, 100)
    assert not (cheeks & dark).any()
    photo[dark] = eyes
    return photo


def test_every_covariate_is_a_number():
    found = covariates(face((200, 160, 140), (30, 30, 30)), HEAD, POINTS)
    assert all(np.isfinite(value) for value in found.values())
    assert found["head_height"] == pytest.approx(0.5)


def test_lighter_skin_is_lighter_and_its_contrast_depends_on_the_background():
    light, dark = (covariates(face(skin, (30, 30, 30)), HEAD, POINTS) for skin in ((220, 190, 175), (90, 60, 50)))
    assert light["skin_luminance"] > dark["skin_luminance"]
    assert light["ita"] > dark["ita"]
    assert light["skin_contrast"] > dark["skin_contrast"]
    on_white = covariates(face((220, 190, 175), (255, 255, 255)), HEAD, POINTS)
    assert on_white["skin_contrast"] < light["skin_contrast"]
    assert light["eye_contrast"] > dark["eye_contrast"] > 0


J, I = np.meshgrid(np.arange(10), np.arange(10))  # noqa: E741
ONE, EDGE = np.zeros((10, 10)), np.zeros((10, 10))
ONE[3, 4] = EDGE[:, 0] = 255


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.full((10, 10), 128), 0.0),
        (20 * J, 129.7895),
        (3 * J, 99.9730),
        (100 + 10 * (J >= 5), 68.5),
        (245 * (I < 5) + 10 * (J >= 5), 5.1698),
        (ONE, 0.0),
        (EDGE, 131.8302),
    ],
)
def test_the_published_score(array, expected):
    """No 5: the program's."""
    colours = np.repeat(array[..., None], 3, axis=2)
    assert symmetry_score(colours) == pytest.approx(expected, abs=6e-5)


def test_mirrored_pictures_are_symmetric():
    half = np.random.default_rng(0).integers(0, 255, (60, 30, 3)).astype(np.uint8)
    assert is_symmetric(np.concatenate([half, half[:, ::-1]], axis=1))
    rising = np.repeat((np.arange(60) * 4).astype(np.uint8)[None, :, None], 60, axis=0).repeat(3, axis=2)
    assert not is_symmetric(rising)
