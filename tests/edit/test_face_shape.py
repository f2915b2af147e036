"""Pictures go to the mean shape and back; unseen landmarks are put where the others let one expect them."""

import pytest
import torch

from gslopes.edit.face_shape import FaceShape
from gslopes.edit.landmarks import COUNT, mirrored

SIDE = 128


@pytest.fixture(scope="module")
def points() -> torch.Tensor:
    """Landmarks of 400 faces: one mean, and three ways in which they vary together."""
    random = torch.Generator().manual_seed(0)
    mean = 24 + 80 * torch.rand(COUNT, 2, generator=random)
    mean = (mean + mirrored(mean)) / 2
    ways = 2 * torch.randn(3, COUNT, 2, generator=random)
    return mean + torch.einsum("nw,wlc->nlc", torch.randn(400, 3, generator=random), ways)


@pytest.fixture(scope="module")
def shape(points) -> FaceShape:
    return FaceShape.of(points)


def smooth_picture() -> torch.Tensor:
    y, x = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    return torch.stack([(x / 9).sin(), (y / 11).cos(), (x + y) / SIDE])


def test_the_mean_is_its_own_mirror_image_and_no_offset_moves_nothing(shape):
    torch.testing.assert_close(mirrored(shape.mean), shape.mean, atol=1e-3, rtol=0)
    picture = smooth_picture()
    still = torch.zeros(1, COUNT, 2)
    torch.testing.assert_close(shape.to_mean(picture[None], still)[0], picture, atol=1e-5, rtol=0)
    torch.testing.assert_close(shape.to_faces(picture, still)[0], picture, atol=1e-5, rtol=0)


def test_a_mark_at_a_faces_landmark_comes_to_the_mean_landmark(shape, points):
    offsets = shape.offsets(points[:8])
    assert offsets.abs().max() > 3
    y, x = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    carried = shape.to_mean(torch.stack([x, y])[None].expand(8, -1, -1, -1), offsets)  # where each pixel comes from
    for landmark in range(0, COUNT, 5):
        column, row = shape.mean[landmark].round().long().tolist()
        nearby = carried[:, :, row, column] - shape.mean[landmark].round()
        assert (nearby - offsets[:, landmark]).abs().mean() < 1.5


def test_there_and_back_is_the_same_picture(shape, points):
    picture = smooth_picture()
    offsets = shape.offsets(points[:4]) / 2
    back = shape.to_mean(shape.to_faces(picture, offsets), offsets)
    inner = slice(16, -16)
    assert (back - picture)[:, :, inner, inner].abs().mean() < 0.02


def test_unseen_landmarks_are_expected_from_the_others(shape, points):
    whole = points[:50]
    hidden = whole.clone()
    hidden[:, :8] = torch.nan
    expected, known = shape.offsets(hidden)[:, :8], shape.offsets(whole)[:, :8]
    assert (expected - known).abs().mean() < 0.25 * known.abs().mean()
    assert shape.offsets(torch.full((1, COUNT, 2), torch.nan)).abs().max() < 1e-4


def test_an_outlier_counts_for_no_more_than_three_deviations(points):
    wild = points.clone()
    wild[0] += 500
    assert (FaceShape.of(wild).mean - FaceShape.of(points).mean).abs().max() < 0.5
    shape = FaceShape.of(points)
    assert shape.offsets(points[:1] + 500).abs().max() < 4 * shape.deviation.max()
