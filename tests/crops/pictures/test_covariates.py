from __future__ import annotations

import numpy as np
import pytest

from gslopes.crops.pictures.covariates import covariates, face_discs
from gslopes.crops.pictures.geometry import Box

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
