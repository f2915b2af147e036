""""""

import numpy as np
from PIL import Image

from gslopes.core.geometry import LUMA
from training.chips import typology_angle_of


def test_luma_is_what_pillow_makes_gray():
    pixels = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    gray = np.asarray(Image.fromarray(pixels).convert("L"))
    np.testing.assert_allclose(pixels @ LUMA, gray, atol=0.6)


def test_the_angle_is_of_the_skin_alone_and_0_without_any():
    half = np.full((4, 4, 3), (90, 55, 40), np.uint8)
    half[:2] = 255
    skin = np.zeros((4, 4), bool)
    skin[2:] = True
    assert typology_angle_of(half, skin) < -30
    assert typology_angle_of(half, ~skin & False) == 0
