""""""

from __future__ import annotations

import numpy as np
import pytest
import torch
from facenet_pytorch import MTCNN
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from skimage.data import astronaut
from torch.nn.functional import interpolate
from torchvision import ops

from gslopes.faces.networks.mtcnn import Areas, Mtcnn, batched_nms, nms_min_area


@pytest.fixture(scope="module")
def detector() -> Mtcnn:
    return Mtcnn(min_face=32)


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


# --- Running sums and overlapping boxes, against torch's and torchvision's own ----------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([24, 48]))
def test_crops_are_those_of_area_interpolation(seed, size):
    torch.manual_seed(seed)
    pictures = [torch.randint(0, 256, (h, w, 3), dtype=torch.uint8) for h, w in ((60, 45), (33, 80))]
    areas = Areas(pictures)
    low = torch.rand(6, 2) * 20 - 5
    boxes = torch.cat([low, low + 1 + torch.rand(6, 2) * 70], 1)
    owner = torch.tensor([0, 1, 0, 1, 1, 0])
    inside = areas.inside(boxes, owner)
    there = (inside[:, 2:] > inside[:, :2]).all(1)
    crops = areas.resized(inside[there], owner[there], size)
    for (x0, y0, x1, y1), picture, crop in zip(inside[there].tolist(), owner[there].tolist(), crops, strict=True):
        cut = pictures[picture][y0:y1, x0:x1].permute(2, 0, 1)[None].float()
        torch.testing.assert_close(crop, interpolate(cut, size=(size, size), mode="area")[0], atol=1e-3, rtol=0)


def test_sums_that_run_over_32_bits_still_give_the_means():
    white = torch.full((3000, 3000, 3), 255, dtype=torch.uint8)  # 2.3 thousand million in all
    areas = Areas([white])
    inside = torch.tensor([[2900, 2900, 3000, 3000], [0, 0, 3000, 3000]])
    assert (areas.resized(inside, torch.tensor([0, 0]), 24) == 255).all()


@given(st.integers(0, 10_000))
def test_pictures_do_not_suppress_each_others_boxes(seed):
    torch.manual_seed(seed)
    low = torch.rand(40, 2) * 30
    boxes, scores = torch.cat([low, low + 5 + torch.rand(40, 2) * 20], 1), torch.rand(40)
    owner = torch.randint(0, 4, (40,))
    ours = batched_nms(boxes, scores, owner, 0.5)
    assert set(ours.tolist()) == set(ops.batched_nms(boxes, scores, owner, 0.5).tolist())


def test_a_box_within_a_better_one_falls_away_and_one_of_another_picture_stays():
    boxes = torch.tensor([[0.0, 0, 100, 100], [40, 40, 60, 60], [40, 40, 60, 60], [200, 200, 240, 240]])
    scores = torch.tensor([0.9, 0.8, 0.7, 0.6])
    assert sorted(nms_min_area(boxes, scores, torch.tensor([0, 0, 1, 0]), 0.7).tolist()) == [0, 2, 3]
