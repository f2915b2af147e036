import numpy as np
import pytest
from facenet_pytorch import MTCNN
from PIL import Image
from skimage.data import astronaut

from gslopes.faces.networks.mtcnn import Mtcnn


@pytest.fixture(scope="module")
def detector() -> Mtcnn:
    return Mtcnn(min_face=32)


def test_one_face_is_found_in_the_astronaut_photo(detector):
    found = detector([astronaut()])[0]
    assert len(found.scores) == 1
    assert found.scores[0] > 0.99
    left_eye, right_eye, nose, left_mouth, right_mouth = found.points[0]
    assert left_eye[0] < nose[0] < right_eye[0]
    assert left_eye[1] < nose[1] < left_mouth[1]
    assert left_mouth[0] < right_mouth[0]


def test_boxes_are_those_of_facenet_pytorch(detector):
    photo = astronaut()
    theirs = MTCNN(min_face_size=32, keep_all=True)
    boxes, scores, points = theirs.detect(photo, landmarks=True)
    boxes, scores, points = (np.asarray(a, np.float32) for a in (boxes, scores, points))
    ours = detector([photo])[0]
    np.testing.assert_allclose(ours.boxes, boxes, atol=1e-3)
    np.testing.assert_allclose(ours.scores, scores, atol=1e-5)
    np.testing.assert_allclose(ours.points, points, atol=1e-3)


def test_photos_of_mixed_sizes_give_what_each_gives_alone(detector):
    photo = astronaut()
    photos = [photo, photo[:300, 100:400], np.zeros((40, 50, 3), np.uint8), photo[:, ::-1].copy()]
    together = detector([np.ascontiguousarray(p) for p in photos])
    for picture, found in zip(photos, together, strict=True):
        alone = detector([np.ascontiguousarray(picture)])[0]
        np.testing.assert_allclose(found.boxes, alone.boxes, atol=0.01)
        np.testing.assert_allclose(found.points, alone.points, atol=0.01)


@pytest.mark.parametrize("shape", [(1, 1), (5, 400), (31, 31), (64, 64)])
def test_a_photo_with_no_room_or_no_face_has_none(detector, shape):
    found = detector([np.full((*shape, 3), 127, np.uint8)])[0]
    assert found.boxes.shape == (0, 4)
    assert found.points.shape == (0, 5, 2)


@pytest.fixture(scope="module")
def photos(unpacked) -> list[np.ndarray]:
    files = sorted(unpacked("idenprof-test").rglob("*.jpg"))[::125][:16]
    assert len(files) == 16
    return [np.asarray(Image.open(file).convert("RGB")) for file in files]


@pytest.mark.parametrize("min_face", [20, 40])
def test_faces_in_photos_are_those_of_facenet_pytorch_one_by_one(photos, min_face):
    theirs = MTCNN(min_face_size=min_face, keep_all=True)
    several = 0
    for photo, ours in zip(photos, Mtcnn(min_face)(photos), strict=True):
        boxes, scores, points = theirs.detect(photo, landmarks=True)
        if boxes is None:
            assert len(ours.scores) == 0
            continue
        order = np.argsort(-np.asarray(scores, np.float32), kind="stable")  # it sorts by size
        several += len(order) > 1
        np.testing.assert_allclose(ours.boxes, np.asarray(boxes, np.float32)[order], atol=0.01)
        np.testing.assert_allclose(ours.points, np.asarray(points, np.float32)[order], atol=0.01)
    assert several


def test_sharing_a_canvas_changes_nothing(photos):
    cut = [photo[: 150 + 4 * i, : 224 - 3 * i] for i, photo in enumerate(photos)]
    alone, shared = Mtcnn(20, canvases=False)(cut), Mtcnn(20, canvases=True)(cut)
    assert sum(len(found.scores) for found in alone) > 10
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_allclose(one.boxes, other.boxes, atol=1e-3)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
