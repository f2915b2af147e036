"""Running sums and overlapping boxes, against torch's and torchvision's own."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import interpolate
from torchvision import ops

from gslopes.faces.networks.boxes import Areas, apply_deltas, batched_nms, nms_min_area, to_square


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


def test_no_boxes_are_no_boxes():
    none = torch.zeros(0, 4)
    assert len(batched_nms(none, none[:, 0], torch.zeros(0, dtype=torch.long), 0.5)) == 0
    assert len(nms_min_area(none, none[:, 0], torch.zeros(0, dtype=torch.long), 0.5)) == 0


def test_squares_stand_around_the_centre():
    assert to_square(torch.tensor([[10.0, 10, 30, 20]])).tolist() == [[10, 5, 30, 25]]
    assert apply_deltas(torch.tensor([[0.0, 0, 9, 19]]), torch.tensor([[0.1, 0.1, -0.1, 0]]), 1).tolist() == [
        [1, 2, 8, 19]
    ]
