"""Pictures go to the mean shape and back; unseen landmarks are put where the others let one expect them."""

import pytest
import torch

from gslopes.edit.face_shape import STEEPEST, FaceShape
from gslopes.edit.landmarks import COUNT, mirrored
from gslopes.zoo import load

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


@pytest.mark.parametrize("deviations", [1.0, 4.0, 16.0])
def test_no_displacement_folds_and_its_inverse_is_exact(deviations):
    network = load("fader-gender").module
    shape = FaceShape(network.landmark_mean, network.landmark_covariance)
    noise = torch.randn(40, COUNT, 2, generator=torch.Generator().manual_seed(1))
    offsets = shape.offsets(shape.mean + deviations * shape.deviation.view(-1, 2).float() * noise)
    assert 0.5 < shape.steepness(offsets).max() < STEEPEST + 1e-4
    y, x = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    place = torch.stack([x, y])
    there = shape.to_faces(place, offsets)  # where in the mean shape each pixel of a face lies
    across, down = there.diff(dim=3)[:, :, 1:], there.diff(dim=2)[:, :, :, 1:]
    inner = slice(32, -32)
    area = (across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])[:, inner, inner]
    assert area.min() > 0  # nowhere turned over
    apart = (shape.to_mean(there, offsets) - place)[:, :, inner, inner].norm(dim=1)
    assert apart.mean() < 0.01
    assert apart.flatten().quantile(0.999) < 0.2  # what is left is bilinear sampling of a bent field


def test_a_plain_face_is_left_as_it_is(shape, points):
    offsets = 0.15 * (points[:8] - shape.mean)
    assert shape.steepness(offsets).max() < STEEPEST
    assert (shape.offsets(shape.mean + offsets) - offsets).abs().mean() < 0.1 * offsets.abs().mean()


def test_a_face_that_its_five_points_put_elsewhere_is_followed(shape, points):
    apart = points[:8] - shape.mean
    placed = shape.mean + 0.1 * apart + torch.tensor([3.0, -4.0])
    placed = shape.mean + 1.05 * (placed - shape.mean)
    placed[:, 8:11] = torch.nan
    expected = placed - shape.mean
    seen = torch.isfinite(expected)
    assert (shape.offsets(placed) - expected)[seen].abs().mean() < 0.1 * expected[seen].abs().mean()
    assert (shape.offsets(placed)[:, 8:11] - torch.tensor([3.0, -4.0])).abs().mean() < 1


def test_a_landmark_that_the_others_contradict_is_put_where_they_expect_it(shape, points):
    wrong = points[:20].clone()
    wrong[:, 5] += 25
    hidden = points[:20].clone()
    hidden[:, 5] = torch.nan
    torch.testing.assert_close(shape.offsets(wrong), shape.offsets(hidden))


def test_an_outlier_counts_for_no_more_than_three_deviations(points):
    wild = points.clone()
    wild[0] += 500
    assert (FaceShape.of(wild).mean - FaceShape.of(points).mean).abs().max() < 0.5
    shape = FaceShape.of(points)
    assert shape.offsets(points[:1] + 500).abs().max() < 4 * shape.deviation.max()
