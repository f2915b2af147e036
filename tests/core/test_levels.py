from __future__ import annotations

import numpy as np
from PIL import Image

from gslopes.core.levels import LUMA, OFFSET


def test_luma_is_what_pillow_makes_gray():
    pixels = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    gray = np.asarray(Image.fromarray(pixels).convert("L"))
    np.testing.assert_allclose(pixels @ LUMA, gray, atol=0.6)


def test_black_has_a_logarithm():
    assert np.isfinite(np.log(0 + OFFSET))
