import numpy as np
import pytest

from gslopes.core.skin_tone import typology_angle, typology_angle_of


@pytest.mark.parametrize(("lightness", "yellow", "angle"), [(50, 10, 0), (60, 10, 45), (60, 0, 90), (40, 10, -45)])
def test_typology_angle(lightness, yellow, angle):
    assert typology_angle(lightness, yellow) == pytest.approx(angle)


def test_lighter_skin_has_a_larger_typology_angle():
    everywhere = np.ones((4, 4), bool)
    light, dark = (np.full((4, 4, 3), rgb, np.uint8) for rgb in ((235, 200, 180), (90, 55, 40)))
    assert typology_angle_of(light, everywhere) > 41
    assert typology_angle_of(dark, everywhere) < -30


def test_the_angle_is_of_the_skin_alone_and_0_without_any():
    half = np.full((4, 4, 3), (90, 55, 40), np.uint8)
    half[:2] = 255
    skin = np.zeros((4, 4), bool)
    skin[2:] = True
    assert typology_angle_of(half, skin) < -30
    assert typology_angle_of(half, ~skin & False) == 0
