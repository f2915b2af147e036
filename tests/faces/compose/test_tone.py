import numpy as np
import pytest

from gslopes.core.levels import LUMA
from gslopes.faces.compose.tone import without_tint

SIZE = 64


@pytest.fixture
def mask() -> np.ndarray:
    y, x = np.mgrid[:SIZE, :SIZE] - SIZE / 2
    return (np.hypot(x, y) < 24).astype(np.float32)


def test_a_cast_over_the_whole_face_goes_with_its_luminance(mask):
    layer = np.broadcast_to(np.float32([30, -10, 4]), (1, SIZE, SIZE, 3)).copy()
    out = without_tint(layer, mask, kept=0.5)
    np.testing.assert_allclose(out[0][mask > 0], 0, atol=0.5)


def test_luminance_loses_its_mean_and_nothing_else(mask):
    layers = np.random.default_rng(0).normal(5, 20, (2, SIZE, SIZE, 3)).astype(np.float32)
    gone = layers @ LUMA - without_tint(layers, mask, kept=0.5) @ LUMA
    means = (layers @ LUMA * mask).sum((1, 2)) / mask.sum()
    np.testing.assert_allclose(gone, np.broadcast_to(means[:, None, None], gone.shape), atol=1e-3)


def test_half_the_colour_of_something_as_small_as_lips_stays(mask):
    layers = np.zeros((1, SIZE, SIZE, 3), np.float32)
    layers[0, 40:43, 26:38] = (24, -12, -6)
    out = without_tint(layers, mask, kept=0.5)[0, 41, 32]
    color = np.float32([24, -12, -6]) - np.float32([24, -12, -6]) @ LUMA
    assert (out - out @ LUMA) @ color > 0.35 * color @ color


def test_an_empty_mask_changes_nothing(mask):
    layers = np.ones((1, SIZE, SIZE, 3), np.float32)
    assert without_tint(layers, 0 * mask, kept=0.5) is layers
