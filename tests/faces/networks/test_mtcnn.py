import numpy as np
import pytest
import torch
from facenet_pytorch import MTCNN
from hypothesis import given, strategies as st
from PIL import Image
from torch.nn.functional import interpolate
from torchvision.ops import batched_nms

from gslopes.faces.networks.mtcnn import STRIDE, Areas, Mtcnn, best_boxes, nms_min_area
from gslopes.slopes.demo import astronaut


@pytest.fixture(scope="module")
def detector() -> Mtcnn:
    return Mtcnn(min_face=32)


def test_photos_of_mixed_sizes_give_what_each_gives_alone(detector):
    photo = astronaut()
    photos = [photo, photo[:300, 100:400], np.zeros((40, 50, 3), np.uint8), photo[:, ::-1].copy()]
    together = detector([np.ascontiguousarray(p) for p in photos])
    for picture, result in zip(photos, together, strict=True):
        alone = detector([np.ascontiguousarray(picture)])[0]
        np.testing.assert_allclose(result.boxes, alone.boxes, atol=0.01)
        np.testing.assert_allclose(result.points, alone.points, atol=0.01)


@pytest.mark.parametrize("shape", [(1, 1), (5, 400), (31, 31), (64, 64)])
def test_a_photo_with_no_room_or_no_face_has_none(detector, shape):
    result = detector([np.full((*shape, 3), 127, np.uint8)])[0]
    assert result.boxes.shape == (0, 4)
    assert result.points.shape == (0, 5, 2)


@pytest.mark.parametrize("min_face", [20, 40])
def test_faces_in_photos_are_those_of_facenet_pytorch_one_by_one(unpacked, min_face):
    files = sorted(unpacked("idenprof-test").rglob("*.jpg"))[::250][:8]
    photos = [np.asarray(Image.open(file).convert("RGB")) for file in files]
    theirs = MTCNN(min_face_size=min_face, keep_all=True)
    values = 0
    for photo, ours in zip(photos, Mtcnn(min_face)(photos), strict=True):
        boxes, scores, points = theirs.detect(photo, landmarks=True)
        if boxes is None:
            assert len(ours.scores) == 0
            continue
        order = np.argsort(-np.asarray(scores, np.float32), kind="stable")  # it sorts by size
        values += len(order) > 1
        np.testing.assert_allclose(ours.boxes, np.asarray(boxes, np.float32)[order], atol=0.01)
        np.testing.assert_allclose(ours.points, np.asarray(points, np.float32)[order], atol=0.01)
    assert values


# --- Running sums and overlapping boxes, against torch's and torchvision's own ----------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([24, 48]))
def test_crops_are_those_of_area_interpolation(seed, size):
    torch.manual_seed(seed)
    pictures = [
        torch.randint(0, 256, (h, w, 3), dtype=torch.uint8) for h, w in ((60, 45), (33, 80))
    ]
    areas = Areas(pictures)
    low = torch.rand(6, 2) * 20 - 5
    boxes = torch.cat([low, low + 1 + torch.rand(6, 2) * 70], 1)
    owner = torch.tensor([0, 1, 0, 1, 1, 0])
    inside = areas.inside(boxes, owner)
    present = (inside[:, 2:] > inside[:, :2]).all(1)
    crops = areas.resized(inside[present], owner[present], size)
    for (x0, y0, x1, y1), picture, crop in zip(
        inside[present].tolist(), owner[present].tolist(), crops, strict=True
    ):
        cut = pictures[picture][y0:y1, x0:x1].permute(2, 0, 1)[None].float()
        torch.testing.assert_close(
            crop, interpolate(cut, size=(size, size), mode="area")[0], atol=1e-3, rtol=0
        )


def test_sums_and_crops_of_pictures_of_mixed_sizes_are_exact():
    generator = np.random.default_rng(3)
    pictures = [
        generator.integers(0, 256, (*shape, 3), np.uint8)
        for shape in ((40, 31), (1, 1), (25, 60), (40, 31))
    ]
    areas = Areas([torch.from_numpy(picture) for picture in pictures])
    for index, picture in enumerate(pictures):
        sums = areas.sums[areas.starts[index] : areas.starts[index + 1]]
        plain = np.pad(picture.astype(np.int32).cumsum(0).cumsum(1), ((1, 0), (1, 0), (0, 0)))
        np.testing.assert_array_equal(sums.numpy(), plain.reshape(-1, 3))
    inside = torch.tensor([[2, 3, 31, 40], [0, 0, 1, 1], [9, 1, 60, 20]])
    crops = areas.resized(inside, torch.tensor([0, 1, 2]), 24)
    for (x0, y0, x1, y1), picture, crop in zip(inside.tolist(), pictures, crops, strict=False):
        part = picture[y0:y1, x0:x1].astype(np.float32)
        for row, column in ((0, 0), (7, 23), (23, 11)):
            low = [row * len(part) // 24, column * part.shape[1] // 24]
            high = [-(-(row + 1) * len(part) // 24), -(-(column + 1) * part.shape[1] // 24)]
            under = part[low[0] : high[0], low[1] : high[1]]
            total = under.sum((0, 1)) / np.float32(under[..., 0].size)
            np.testing.assert_array_equal(crop[:, row, column].numpy(), total)


@given(st.integers(0, 10_000), st.integers(12, 90), st.integers(12, 90), st.integers(1, 3))
def test_a_level_of_the_pyramid_is_that_of_area_interpolation(seed, height, width, count):
    torch.manual_seed(seed)
    pictures = [torch.randint(0, 256, (61, 47, 3), dtype=torch.uint8) for _ in range(count)]
    second = torch.randint(0, 256, (33, 80, 3), dtype=torch.uint8)
    shrunk = Areas([second, *pictures]).shrunk([*range(1, count + 1)], (height, width))
    expected = interpolate(
        torch.stack(pictures).permute(0, 3, 1, 2).float(), size=(height, width), mode="area"
    )
    torch.testing.assert_close(shrunk, expected, rtol=0, atol=1e-3)


def test_what_the_first_network_says_of_a_place_is_what_it_says_of_all(detector):
    photo = torch.from_numpy(astronaut()[None, :300, 100:400]).permute(0, 3, 1, 2).float()
    level = (
        interpolate(torch.cat([photo, photo.flip(3)]), size=(40, 40), mode="area") - 127.5
    ) / 128
    with torch.inference_mode():
        owner, corner, score, by = detector._places(level)
        moves, chances = detector.pnet(level)
    x, y = (corner / STRIDE).long().T
    assert len(score) == int((chances[:, 1] >= 0.6).sum()) > 0
    torch.testing.assert_close(score, chances[owner, 1, y, x], rtol=0, atol=1e-5)
    torch.testing.assert_close(by, moves[owner, :, y, x], rtol=0, atol=1e-5)


def test_sums_that_run_over_32_bits_still_give_the_means():
    white = torch.full((3000, 3000, 3), 255, dtype=torch.uint8)  # 2.3 thousand million in all
    areas = Areas([white])
    inside = torch.tensor([[2900, 2900, 3000, 3000], [0, 0, 3000, 3000]])
    assert (areas.resized(inside, torch.tensor([0, 0]), 24) == 255).all()


@given(st.integers(0, 10_000), st.integers(0, 400), st.booleans(), st.sampled_from([0.5, 0.7]))
def test_the_boxes_that_stay_are_those_of_torchvision_in_its_order(seed, count, whole, overlap):
    torch.manual_seed(seed)
    low = torch.rand(count, 2) * 40
    boxes = torch.cat([low, low + 4 + torch.rand(count, 2) * 20], 1)
    boxes = boxes.floor() if whole else boxes  # ties of the overlap with its limit
    owner, scores = torch.randint(0, 4, (count,)), torch.randperm(count) / 400
    theirs = batched_nms(boxes.double(), scores.double(), owner, overlap)
    assert best_boxes(boxes, scores, owner, overlap).tolist() == theirs.tolist()


def test_a_box_within_a_better_one_falls_away_and_one_of_another_picture_stays():
    boxes = torch.tensor(
        [[0.0, 0, 100, 100], [40, 40, 60, 60], [40, 40, 60, 60], [200, 200, 240, 240]]
    )
    scores = torch.tensor([0.9, 0.8, 0.7, 0.6])
    assert sorted(nms_min_area(boxes, scores, torch.tensor([0, 0, 1, 0]), 0.7).tolist()) == [
        0,
        2,
        3,
    ]
