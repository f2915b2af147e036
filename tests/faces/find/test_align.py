import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.core.geometry import outside, similarity
from gslopes.core.records import Detections
from gslopes.faces.find import align
from gslopes.faces.zoo.framing import CHIP

FIVE = (CHIP * 60 + 40).astype(np.float32)


def detections(*boxes: tuple[float, float, float, float]) -> Detections:
    array = np.array(boxes, np.float32).reshape(-1, 4)
    points = np.stack([FIVE + box[:2] for box in array]) if len(array) else np.zeros((0, 5, 2), np.float32)
    return Detections(array, points, np.full(len(array), 0.99, np.float32))


def test_the_face_nearest_the_centre_is_chosen_and_the_others_are_counted():
    face = align.choose(detections((0, 0, 60, 60), (80, 60, 140, 130), (150, 0, 200, 60)), 220, 200, 32)
    assert face.box.tolist() == [80, 60, 140, 130]
    assert face.faces == 3


def test_a_confident_face_at_the_edge_does_not_win_over_one_in_the_middle():
    found = detections((0, 0, 60, 60), (80, 60, 140, 130))
    found = Detections(found.boxes, found.points, np.array([1.0, 0.75], np.float32))
    assert align.choose(found, 220, 200, 32).score == 0.75


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (detections(), "no face found"),
        (detections((90, 90, 110, 150)), "face too small (20 px, at least 32 wanted)"),
        (detections((90, 90, 121.9, 150)), "face too small (31 px, at least 32 wanted)"),
        (
            Detections(
                np.array([[0, 0, 99, 99]], np.float32), np.full((1, 5, 2), 7, np.float32), np.ones(1, np.float32)
            ),
            "face cannot be aligned (its five points do not span a plane)",
        ),
        (
            Detections(
                np.array([[0, 0, 99, 99]], np.float32), np.full((1, 5, 2), np.nan, np.float32), np.ones(1, np.float32)
            ),
            "face cannot be aligned (its five points do not span a plane)",
        ),
    ],
)
def test_an_unusable_face_gives_its_reason(found, reason):
    assert align.choose(found, 200, 200, 32) == reason


@given(angle=st.floats(-3.1, 3.1), scale=st.floats(0.05, 20), x=st.floats(-500, 500), y=st.floats(-500, 500))
def test_a_similarity_is_recovered_from_the_points_it_moved(angle, scale, x, y):
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    source = CHIP * 100
    matrix = similarity(source, source @ turn.T + (x, y))
    np.testing.assert_allclose(matrix[:, :2], turn, atol=1e-7 * max(1, scale))
    np.testing.assert_allclose(matrix[:, 2], (x, y), atol=1e-5)


def test_alignment_carries_the_points_onto_the_template():
    face = align.choose(detections((80, 60, 140, 130)), 220, 200, 32, size=64)
    mapped = face.points @ face.matrix[:, :2].T + face.matrix[:, 2]
    np.testing.assert_allclose(mapped, CHIP * 64 - 0.5, atol=1e-3)


def test_the_chip_shows_what_the_matrix_says():
    rng = np.random.default_rng(0)
    photo = cv2.GaussianBlur(rng.integers(0, 256, (300, 400, 3), dtype=np.uint8), (0, 0), 4)
    matrix = np.array([[1.0, 0.0, -100.0], [0.0, 1.0, -50.0]])
    np.testing.assert_array_equal(align.warp(photo, matrix, 128), photo[50:178, 100:228])


def test_a_large_face_is_smoothed_before_it_is_made_small():
    stripes = np.zeros((1000, 1000, 3), np.uint8)
    stripes[:, ::2] = 255
    chip = align.warp(stripes, np.array([[0.13, 0, 0], [0, 0.13, 0]]), 128)
    assert chip[8:-8, 8:-8].std() < 3
    assert abs(chip.mean() - 127.5) < 3


def test_the_chip_does_not_depend_on_what_is_far_from_the_face():
    rng = np.random.default_rng(1)
    photo = rng.integers(0, 256, (600, 800, 3), dtype=np.uint8)
    other = photo.copy()
    other[:, 600:] = 0
    matrix = np.array([[0.8, 0.1, -100.0], [-0.1, 0.8, -50.0]])
    np.testing.assert_array_equal(align.warp(photo, matrix, 128), align.warp(other, matrix, 128))


def test_outside_is_the_share_of_the_chip_beyond_the_photo():
    shift = np.array([[1.0, 0, 64], [0, 1.0, 0]])
    assert outside(shift, 500, 500, 128) == pytest.approx(0.5)
    assert outside(np.array([[1.0, 0, -10], [0, 1.0, -10]]), 500, 500, 128) == 0
