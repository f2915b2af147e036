"""Augmentation of batches on the device, reproducible from one generator."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def to_float(pixels: Tensor, mean: tuple[float, ...], std: tuple[float, ...]) -> Tensor:
    """(B, H, W, 3) uint8 RGB to (B, 3, H, W) float, normalised: (rgb / 255 - mean) / std."""
    scale = pixels.new_tensor(std, dtype=torch.float32) * 255
    shift = pixels.new_tensor(mean, dtype=torch.float32) * 255
    return ((pixels.float() - shift) / scale).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)


def places(batch: int, generator: torch.Generator, *, zoom: float, turn: float, shift: float) -> Tensor:
    """Random similarities with a flip, (B, 2, 3), as ``F.affine_grid`` takes them.

    zoom: largest change of scale (0.1: 0.9 to 1.1).  turn: radians.  shift: share of the side.
    """
    u = torch.rand(batch, 5, generator=generator, device=generator.device) * 2 - 1
    scale, angle = 1 + zoom * u[:, 0], turn * u[:, 1]
    flip = torch.where(u[:, 4] < 0, -1.0, 1.0)
    cos, sin = scale * angle.cos(), scale * angle.sin()
    rows = [
        torch.stack([flip * cos, -sin, 2 * shift * u[:, 2]], 1),
        torch.stack([flip * sin, cos, 2 * shift * u[:, 3]], 1),
    ]
    return torch.stack(rows, 1)


def moved(x: Tensor, places: Tensor, mode: str = "bilinear") -> Tensor:
    """Pictures (B, C, H, W) moved by ``places``; beyond the border they are mirrored."""
    grid = F.affine_grid(places.to(x.device), list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, mode=mode, padding_mode="reflection", align_corners=False)


def coloured(x: Tensor, generator: torch.Generator, *, strength: float) -> Tensor:
    """Random brightness, contrast and colour cast of (B, 3, H, W) pictures in [-1, 1], each up to ``strength``."""
    u = (torch.rand(len(x), 5, 1, 1, generator=generator, device=generator.device) * 2 - 1).to(x.device)
    mean = x.mean((1, 2, 3), keepdim=True)
    return (x - mean) * (1 + strength * u[:, :1]) + mean + strength * u[:, 1:2] + 0.4 * strength * u[:, 2:5]


def blurred(x: Tensor, generator: torch.Generator, *, share: float) -> Tensor:
    """About ``share`` of the pictures loses detail, as small or soft photos do: down to a third or more, and up."""
    chosen = (torch.rand(len(x), generator=generator) < share).nonzero().flatten().to(x.device)
    if len(chosen) == 0:
        return x
    factor = 0.33 + 0.33 * float(torch.rand(1, generator=generator))
    small = F.interpolate(x[chosen], scale_factor=factor, mode="area")
    return x.index_copy(0, chosen, F.interpolate(small, size=x.shape[2:], mode="bilinear", align_corners=False))
