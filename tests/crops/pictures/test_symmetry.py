from __future__ import annotations

import numpy as np
import pytest

from gslopes.crops.pictures.geometry import crop_rectangle
from gslopes.crops.pictures.symmetry import LIMIT, is_symmetric, symmetric_point, symmetry_score

J, I = np.meshgrid(np.arange(10), np.arange(10))  # noqa: E741
ONE = np.zeros((10, 10))
ONE[3, 4] = 255
EDGE = np.zeros((10, 10))
EDGE[:, 0] = 255
GOLDEN = [
    (np.full((10, 10), 128), 0.0, 0.0),
    (20 * J, 145.0588, 129.7895),
    (3 * J, 108.7941, 99.9730),
    (100 + 10 * (J >= 5), 137.0, 68.5),
    (245 * (I < 5) + 10 * (J >= 5), 137.0, 5.1698),
    (ONE, 0.0, 0.0),
    (EDGE, 131.8302, 131.8302),
]


@pytest.mark.parametrize(("array", "notebook", "program"), GOLDEN)
def test_both_published_scores(array, notebook, program):
    """No 5: notebook and program take different ranges and percentiles."""
    colours = np.repeat(array[..., None], 3, axis=2)
    assert symmetry_score(colours, "notebook") == pytest.approx(notebook, abs=6e-5)
    assert symmetry_score(colours, "program") == pytest.approx(program, abs=6e-5)


def test_one_picture_on_which_they_disagree():
    array = 245 * (I < 5) + 10 * (J >= 5)
    assert symmetry_score(array, "program") < LIMIT < symmetry_score(array, "notebook")


def test_pictures_and_maps():
    generator = np.random.default_rng(0)
    half = generator.integers(0, 255, (60, 30, 3)).astype(np.uint8)
    mirrored = np.concatenate([half, half[:, ::-1]], axis=1)
    assert is_symmetric(mirrored)
    assert not is_symmetric(
        np.repeat((np.arange(60) * 4).astype(np.uint8)[None, :, None], 60, axis=0).repeat(3, axis=2)
    )
    assert not is_symmetric(mirrored, "off")
    assert is_symmetric(np.ones((8, 8), np.float32), "saliency")
    assert not is_symmetric(np.tile(np.linspace(-3, 3, 20), (20, 1)).astype(np.float32), "saliency")


def test_a_symmetric_picture_is_not_cropped_to_its_right_edge():
    """No 4: the published Python does that; the default centres sideways and leaves y."""
    assert symmetric_point(100, 50, 20, 7) == (50, 7)
    assert symmetric_point(100, 50, 20, 7, "both") == (50, 25)
    right = symmetric_point(100, 50, 20, 7, "right")
    assert crop_rectangle(100, 50, *right, 1.0).left == 50
    assert crop_rectangle(100, 50, *symmetric_point(100, 50, 20, 7), 1.0).left == 25
