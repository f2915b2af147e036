"""Augmentation of batches on the device, reproducible from one generator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from training.parallel import drawn, mine, world


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How photos vary.

    zoom, turn, shift: as of ``random_affine``.  color: strength of the colour jitter.
    mirrored: share of the chips that are cut to a tight rectangle and mirrored beyond it, like the chips of a
        tightly cropped photo.
    """

    zoom: float = 0.04
    turn: float = 0.05
    shift: float = 0.015
    color: float = 0.08
    mirrored: float = 0.0

    def affine(self, batch: int, generator: torch.Generator) -> Tensor:
        """Random similarities, (batch, 2, 3)."""
        return random_affine(batch, generator, zoom=self.zoom, turn=self.turn, shift=self.shift)


def to_float(pixels: Tensor, mean: tuple[float, ...], std: tuple[float, ...]) -> Tensor:
    """(B, H, W, 3) uint8 RGB to (B, 3, H, W) float, normalised: (rgb / 255 - mean) / std."""
    scale = pixels.new_tensor(std, dtype=torch.float32) * 255
    shift = pixels.new_tensor(mean, dtype=torch.float32) * 255
    return (
        ((pixels.float() - shift) / scale)
        .permute(0, 3, 1, 2)
        .contiguous(memory_format=torch.channels_last)
    )


def random_affine(
    batch: int, generator: torch.Generator, *, zoom: float, turn: float, shift: float
) -> Tensor:
    """Random similarities with a flip, (B, 2, 3), as ``F.affine_grid`` takes them.

    zoom: largest change of scale (0.1: 0.9 to 1.1).  turn: radians.  shift: share of the side.
    """
    u = drawn(torch.rand, (batch, 5), generator) * 2 - 1
    scale = 1 + zoom * u[:, 0]
    angle = turn * u[:, 1]
    flip = torch.where(u[:, 4] < 0, -1.0, 1.0)
    cos = scale * angle.cos()
    sin = scale * angle.sin()
    rows = [
        torch.stack([flip * cos, -sin, 2 * shift * u[:, 2]], 1),
        torch.stack([flip * sin, cos, 2 * shift * u[:, 3]], 1),
    ]
    return torch.stack(rows, 1)


def warp(x: Tensor, affine: Tensor, mode: str = "bilinear") -> Tensor:
    """Pictures (B, C, H, W) carried by ``affine`` (B, 2, 3); beyond the border they are mirrored."""
    grid = F.affine_grid(affine.to(x.device), list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, mode=mode, padding_mode="reflection", align_corners=False)


CUT = (
    14 / 128
)  # over which a mask comes down to 0 before the edge of a cut photo, as at a chip's border
HIDDEN = 0.3  # side of the square that is hidden from a critic, of the picture's

# The tightest rectangle that a face is cut to, in units of the chip's side: UTKFace's own rectangles end there.
TIGHTEST = (0.17, 0.30, 0.83, 0.93)  # left, top, right, bottom


def random_rectangle(batch: int, generator: torch.Generator, *, share: float) -> Tensor:
    """(B, 4) left, top, right, bottom in [0, 1]: between the whole chip and ``TIGHTEST``; the whole for 1 - share."""
    u = drawn(torch.rand, (batch, 5), generator)
    full, tightest = _rectangles(u.device)
    inwards = u[:, :4] * (u[:, 4:] < share)
    return full + inwards * (tightest - full)


@cache
def _rectangles(device: torch.device) -> tuple[Tensor, Tensor]:
    """The whole chip and ``TIGHTEST``: copied to a device once, since a copy waits for all that it computes."""
    return torch.tensor([0.0, 0.0, 1.0, 1.0], device=device), torch.tensor(TIGHTEST, device=device)


def mirrored_outside(x: Tensor, rectangle: Tensor) -> Tensor:
    """Pictures (B, C, S, S) seen through rectangles (B, 4) as above, mirrored beyond them, to the nearest pixel."""
    size = x.shape[-1]
    edges = (rectangle * size).round().long().to(x.device)
    line = torch.arange(size, device=x.device)[None]

    def mirrored(low: Tensor, high: Tensor) -> Tensor:
        period = 2 * (high - low)
        offset = (line - low[:, None]).remainder(period[:, None])
        return low[:, None] + torch.minimum(offset, period[:, None] - 1 - offset)

    columns = mirrored(edges[:, 0], edges[:, 2])
    rows = mirrored(edges[:, 1], edges[:, 3])
    index = torch.arange(len(x), device=x.device)[:, None, None]
    # one gather; in channels-last memory a pixel's channels lie together
    return x.permute(0, 2, 3, 1)[index, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def color_jitter(x: Tensor, generator: torch.Generator, *, strength: float) -> Tensor:
    """Random brightness, contrast and colour cast of (B, 3, H, W) pictures in [-1, 1], each up to ``strength``."""
    u = (drawn(torch.rand, (len(x), 5, 1, 1), generator) * 2 - 1).to(x.device)
    mean = x.mean((1, 2, 3), keepdim=True)
    return (
        (x - mean) * (1 + strength * u[:, :1])
        + mean
        + strength * u[:, 1:2]
        + 0.4 * strength * u[:, 2:5]
    )


def random_blur(x: Tensor, generator: torch.Generator, *, share: float) -> Tensor:
    """About ``share`` of the pictures loses detail, as small or soft photos do: down to a third or more, and up."""
    every = torch.rand(len(x) * world(), generator=generator) < share
    if not every.any():
        return x
    factor = 0.33 + 0.33 * float(torch.rand(1, generator=generator))
    chosen = mine(every).nonzero().flatten().to(x.device)
    if len(chosen) == 0:
        return x
    small = F.interpolate(x[chosen], scale_factor=factor, mode="area")
    return x.index_copy(
        0, chosen, F.interpolate(small, size=x.shape[2:], mode="bilinear", align_corners=False)
    )


def seen_through(both: Tensor, rectangle: Tensor) -> Tensor:
    """Chips and their masks (B, 4, S, S) seen through rectangles (B, 4); masks come down to 0 before a cut edge."""
    size = both.shape[-1]
    chips = mirrored_outside(both[:, :3], rectangle)
    masks = both[:, 3:]
    line = (torch.arange(size, device=both.device) + 0.5) / size
    edges = rectangle.to(both.device)

    def inside(low: Tensor, high: Tensor) -> Tensor:
        after = torch.where(low[:, None] > 0, ((line - low[:, None]) / CUT).clamp(0, 1), 1.0)
        return after * torch.where(
            high[:, None] < 1, ((high[:, None] - line) / CUT).clamp(0, 1), 1.0
        )

    down = inside(edges[:, 1], edges[:, 3])
    across = inside(edges[:, 0], edges[:, 2])
    return torch.cat([chips, masks * (down[:, :, None] * across[:, None, :])[:, None]], 1)


def disturbed(x: Tensor, generator: torch.Generator) -> Tensor:
    """A critic's pictures (B, C, S, S) moved, in contrast and level, half of them with a square hidden.

    So that it does not memorise the photos. Source: Zhao et al. 2020, Differentiable augmentation for
    data-efficient GAN training, §3.
    """
    size = x.shape[-1]
    x = warp(x, random_affine(len(x), generator, zoom=0.06, turn=0.08, shift=0.04))
    u = drawn(torch.rand, (len(x), 4, 1, 1), generator).to(x.device)
    level = drawn(torch.randn, (len(x), x.shape[1], 1, 1), generator).to(x.device)
    x = x * (1 + 0.3 * (2 * u[:, :1] - 1)) + 0.1 * level
    line = torch.arange(size, device=x.device) / size
    hidden = ((line - u[:, 1:2]).abs() < HIDDEN / 2) & (
        (line[:, None] - u[:, 2:3]).abs() < HIDDEN / 2
    )
    return x.masked_fill(hidden & (u[:, 3:] < 0.5), 0.0)


def varied(photos: Tensor, augmentation: Augmentation, generator: torch.Generator) -> Tensor:
    """Chips (B, S, S, 3) uint8 RGB as (B, 3, S, S) in [-1, 1], some of them cut tight, moved and recoloured."""
    x = photos.permute(0, 3, 1, 2).float() / 255
    x = seen_through(x, random_rectangle(len(x), generator, share=augmentation.mirrored))
    x = warp(x, augmentation.affine(len(x), generator))
    x = color_jitter(2 * x - 1, generator, strength=augmentation.color).clamp(-1, 1)
    return x.contiguous(memory_format=torch.channels_last)
