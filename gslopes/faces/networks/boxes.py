"""Boxes of a detector's cascade: what is cut out of pictures for them, and which of them are duplicates.

Boxes are (n, 4) float, x0 y0 x1 y1 in pixels of their picture; ``owner`` (n,) is the index of that picture. Conventions
of whole pixels (a box of one pixel has x0 == x1) are those of the cascade's training.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision.ops import nms


class Areas:
    """Mean colours of any rectangles of pictures in constant time, from running sums (Crow 1984, summed-area tables).

    pictures: each (H, W, 3) uint8 on one device, of any sizes.
    """

    def __init__(self, pictures: list[Tensor]) -> None:
        flat, starts, at = [], [], 0
        for picture in pictures:
            height, width = picture.shape[:2]
            # 32 bits may run over in large pictures; differences come back, since no bin holds 8 million pixels
            sums = picture.new_zeros((height + 1, width + 1, 3), dtype=torch.int32)
            torch.cumsum(picture.cumsum(0, dtype=torch.int32), 1, dtype=torch.int32, out=sums[1:, 1:])
            starts.append(at)
            at += (height + 1) * (width + 1)
            flat.append(sums.view(-1, 3))
        device = pictures[0].device
        self.sums = torch.cat(flat)
        self.starts = torch.tensor(starts, device=device)
        self.heights = torch.tensor([p.shape[0] for p in pictures], device=device)
        self.widths = torch.tensor([p.shape[1] for p in pictures], device=device)

    def inside(self, boxes: Tensor, owner: Tensor) -> Tensor:
        """The pixels of each box that its picture has, (n, 4) int64: first column and row, one past the last."""
        corner = boxes.trunc().long()
        low = corner[:, :2].clamp(min=1) - 1
        return torch.cat([low, torch.minimum(corner[:, 2:], torch.stack([self.widths, self.heights], 1)[owner])], 1)

    def resized(self, inside: Tensor, owner: Tensor, size: int) -> Tensor:
        """The pixels of each box as (n, 3, size, size) float in [0, 255], every new pixel the mean of those under it.

        inside: as ``inside`` gives them, none empty.

        The same bins as torch's ``adaptive_avg_pool2d`` ("area" interpolation).
        """
        x0, x1 = _bins(inside[:, 0], inside[:, 2], size)  # (n, size) each
        y0, y1 = _bins(inside[:, 1], inside[:, 3], size)
        pitch = (self.widths + 1)[owner][:, None]
        rows = torch.cat([y0, y1], 1) * pitch + self.starts[owner][:, None]
        index = rows[:, :, None] + torch.cat([x0, x1], 1)[:, None]  # (n, 2 size, 2 size)
        corners = self.sums.index_select(0, index.reshape(-1)).view(len(owner), 2, size, 2, size, 3)
        total = corners[:, 1, :, 1] - corners[:, 0, :, 1] - corners[:, 1, :, 0] + corners[:, 0, :, 0]
        pixels = (y1 - y0)[:, :, None] * (x1 - x0)[:, None]
        return (total.float() / pixels[..., None]).permute(0, 3, 1, 2)


def _bins(first: Tensor, last: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Where each of ``count`` bins of the pixels from ``first`` to ``last`` begins and ends, (n, count) each."""
    length = (last - first)[:, None]
    steps = torch.arange(count, device=first.device)
    ends = -((-(steps + 1) * length) // count)
    return first[:, None] + (steps * length) // count, first[:, None] + ends


def batched_nms(boxes: Tensor, scores: Tensor, owner: Tensor, overlap: float) -> Tensor:
    """Indices of the boxes that stay when, in each picture, those that overlap a better one fall away.

    overlap: intersection over union from which two boxes are duplicates.
    """
    if len(boxes) == 0:
        return owner.new_zeros(0)
    if boxes.is_cuda:  # one call; in 64 bits moving the pictures apart moves no box
        offsets = owner.double()[:, None] * (boxes.max().double() - boxes.min().double() + 1)
        return nms(boxes.double() + offsets, scores.double(), overlap)
    order = torch.argsort(owner, stable=True)
    parts = order.split(torch.bincount(owner).tolist())
    return torch.cat([part[nms(boxes[part], scores[part], overlap)] for part in parts if len(part)])


def nms_min_area(boxes: Tensor, scores: Tensor, owner: Tensor, overlap: float) -> Tensor:
    """As ``batched_nms``, but for the share of the smaller box that the intersection is: a box in a box goes too.

    For few boxes on the CPU.
    """
    keep: list[int] = []
    for part in torch.argsort(owner, stable=True).split(torch.bincount(owner).tolist()) if len(owner) else []:
        left = part[torch.argsort(scores[part], descending=True, stable=True)]
        while len(left):
            best, left = left[0], left[1:]
            keep.append(int(best))
            left = left[_of_the_smaller(boxes[best], boxes[left]) <= overlap]
    return torch.tensor(keep, dtype=torch.long)


def _of_the_smaller(box: Tensor, others: Tensor) -> Tensor:
    shared = (torch.minimum(box[2:], others[:, 2:]) - torch.maximum(box[:2], others[:, :2]) + 1).clamp(min=0).prod(1)
    return shared / torch.minimum((box[2:] - box[:2] + 1).prod(), (others[:, 2:] - others[:, :2] + 1).prod(1))


def to_square(boxes: Tensor) -> Tensor:
    """The squares around the boxes' centres, as wide as their longer sides."""
    side = (boxes[:, 2:] - boxes[:, :2]).amax(1, keepdim=True)
    low = boxes[:, :2] + (boxes[:, 2:] - boxes[:, :2]) * 0.5 - side * 0.5
    return torch.cat([low, low + side], 1)


def apply_deltas(boxes: Tensor, deltas: Tensor, extra: float) -> Tensor:
    """Boxes with each side moved by the share ``deltas`` (n, 4) of their width or height, taken ``extra`` longer."""
    sides = boxes[:, 2:] - boxes[:, :2] + extra
    return boxes + deltas * sides.repeat(1, 2)
