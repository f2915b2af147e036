"""Landmarks are where the parser sees the parts; what hair hides is left open."""

import numpy as np
import pytest
import torch
from skimage.data import astronaut

from gslopes.core.geometry import warp
from gslopes.edit.landmarks import COUNT, MIRRORED, landmarks, mirrored
from gslopes.find.align import choose
from gslopes.networks.mtcnn import Mtcnn
from gslopes.zoo import load
from gslopes.zoo.parsing import class_probabilities

LABELS = load("parser").spec.labels


@pytest.fixture(scope="module")
def seen() -> torch.Tensor:
    """What the parser sees in a real face, and in its mirror image, (2, 19, 128, 128)."""
    photo = astronaut()
    chip = warp(photo, choose(Mtcnn(32)([photo])[0], 512, 512, 32).matrix, 128)
    return class_probabilities(load("parser"), np.stack([chip, chip[:, ::-1]]), torch.device("cpu"))


def drawn(parts: dict[str, tuple[slice, slice]]) -> torch.Tensor:
    """Probabilities (1, 19, 128, 128) of rectangles on background."""
    seen = torch.zeros(1, len(LABELS), 128, 128)
    seen[:, LABELS.index("background")] = 1
    for name, place in parts.items():
        seen[(0, slice(None), *place)] = 0
        seen[(0, LABELS.index(name), *place)] = 1
    return seen


def test_the_points_of_a_real_face_lie_where_its_parts_are(seen):
    points = landmarks(seen, LABELS)[0]
    assert points.shape == (COUNT, 2)
    assert torch.isfinite(points).all()
    x, y = points.T
    assert (x[:4] < 63).all()
    assert (x[4:8] > 63).all()
    assert y[2] < y[0] < y[3]
    assert x[0] < x[2] < x[1]
    assert (y[8:14] < y[0]).all()  # brows above the eyes
    assert (y[14:17] > y[3]).all()
    assert (y[14:17] < y[19]).all()
    assert y[21] < y[22] < y[23]  # upper lip, lower lip, chin
    assert y[24] < y[8]  # forehead
    assert (x[25::2] < x[17]).all()
    assert (x[26::2] > x[18]).all()


def test_a_mirror_image_has_mirrored_points(seen):
    points = landmarks(seen, LABELS)
    torch.testing.assert_close(landmarks(seen.flip(3), LABELS), mirrored(points), atol=1e-3, rtol=0)
    assert (mirrored(points[:1]) - points[1:]).abs().mean() < 1  # the parser itself is not quite symmetric
    assert sorted(MIRRORED) == list(range(COUNT))


def test_the_ends_of_a_part_are_where_it_was_drawn():
    points = landmarks(
        drawn({"left eye": (slice(52, 61), slice(36, 53)), "skin": (slice(90, 120), slice(20, 110))}), LABELS
    )
    left, right, above, below = points[0, :4]
    assert left[0] == pytest.approx(44 - 1.9 * np.sqrt(17**2 / 12 - 1 / 12), abs=0.02)
    assert right[0] == pytest.approx(44 + 1.9 * np.sqrt(17**2 / 12 - 1 / 12), abs=0.02)
    assert (left[1] + right[1]) / 2 == pytest.approx(56, abs=0.01)
    assert below[1] - above[1] == pytest.approx(2 * 1.9 * np.sqrt(9**2 / 12 - 1 / 12), abs=0.02)


def test_what_is_not_seen_is_nan_and_the_chin_ends_with_the_face():
    points = landmarks(drawn({"skin": (slice(40, 118), slice(30, 98))}), LABELS)[0]
    assert torch.isnan(points[:23]).all()
    assert points[23, 1] == pytest.approx(95 + 22, abs=0.01)  # rows 96 to 117 below the lips' usual row
    torch.testing.assert_close(points[27], torch.tensor([63.5 - 34, 80.0]))
    torch.testing.assert_close(points[28], torch.tensor([63.5 + 34, 80.0]))
    assert torch.isnan(landmarks(drawn({}), LABELS)).all()


def test_mirrored_brows_and_faces_beyond_the_photo_do_not_count():
    brow, face = (slice(44, 49), slice(34, 52)), (slice(39, 124), slice(24, 103))
    alone = {"skin": face, "left brow": brow}
    beyond = {
        "skin": (slice(0, 124), slice(24, 103)),  # the photo ends at row 39
        "left brow": brow,
        "left eye": (slice(52, 61), slice(36, 53)),
    }
    seen = drawn(beyond)
    for name, place in (("left brow", (slice(29, 34), slice(34, 52))), ("skin", (slice(39, 124), slice(110, 128)))):
        seen[(0, slice(None), *place)] = 0
        seen[(0, LABELS.index(name), *place)] = 1
    points, expected = landmarks(seen, LABELS)[0], landmarks(drawn(alone), LABELS)[0]
    torch.testing.assert_close(points[8:11], expected[8:11])
    torch.testing.assert_close(points[25:31], expected[25:31])
    assert torch.isnan(points[24]).all()  # the forehead goes on to the chip's edge
    assert torch.isfinite(expected[24]).all()
