"""The part of ``paste.compose`` that grows with the photo's resolution, on the device that holds the networks.

The same arithmetic as OpenCV's: cubic interpolation with a = -0.75 at exact places, borders replicated. Single values
before rounding differ by some thousandths of a level, so that a pixel in ten thousand or so is rounded the other way.
"""

from __future__ import annotations

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.geometry import OFFSET
from gslopes.core.records import ByteArray, FloatArray
from gslopes.faces.compose.paste import FRACTIONS


@torch.inference_mode()
def blended(
    base: ByteArray,
    layers: FloatArray,
    weight: FloatArray,
    matrix: NDArray[np.float64],
    corner: tuple[int, int],
    sigma: float,
    blend: str,
    field: FloatArray | None,
    distances: FloatArray,
    device: str,
) -> ByteArray:
    """What is in a box of the photo, (K, h, w, C) uint8, for K chips.

    base: (h, w, C) uint8, the photo in the box.  layers: (K, S, S, C) float32, as ``paste.compose`` makes them.
    weight: (h, w) float32 in [0, 1].  matrix: (2, 3), photo frame to chip frame.  corner: x0 y0 of the box.
    sigma: of the Gaussian that smooths the chips first, pixels; 0 for none.
    field: (h, w, 2), how far the blended pixels move for a unit, pixels; None for no motion.  distances: (K,) units.
    """
    chips = torch.from_numpy(np.ascontiguousarray(layers)).to(device).permute(0, 3, 1, 2)
    chips = _smoothed(chips, sigma) if sigma > 0 else chips
    carried = _resampled(chips, matrix, corner, weight.shape)
    # cubic interpolation runs beyond the chip's own values, where nothing was drawn
    carried = carried.clamp(chips.amin((2, 3), keepdim=True), chips.amax((2, 3), keepdim=True)).permute(0, 2, 3, 1)
    photo = torch.from_numpy(np.ascontiguousarray(base)).to(device).float()
    mask = torch.from_numpy(weight).to(device)[..., None]
    if blend == "ratio":
        mixed = photo + (photo + OFFSET) * torch.expm1(mask * carried)
    else:
        mixed = photo + mask * (carried - photo if blend == "paste" else carried)
    if field is not None:
        units = torch.from_numpy(np.ascontiguousarray(distances)).to(device)
        moved = _moved(mixed, torch.from_numpy(field).to(device), units)
        mixed = torch.where((mask > 0) & (units[:, None, None, None] != 0), moved, mixed)
    result: ByteArray = mixed.round_().clamp_(0, 255).to(torch.uint8).cpu().numpy()
    return result


def _moved(pictures: Tensor, field: Tensor, distances: Tensor) -> Tensor:
    """As ``motion.Mover``, of K pictures (K, h, w, C)."""
    height, width = field.shape[:2]
    y, x = torch.meshgrid(*(torch.arange(n).to(field) for n in (height, width)), indexing="ij")
    steps = (field * (FRACTIONS * distances)[:, None, None, None]).round() / FRACTIONS
    at = 2 * (torch.stack([x, y], -1) - steps) + 1
    grid = at / at.new_tensor([width, height]) - 1
    channels = pictures.permute(0, 3, 1, 2)
    moved = F.grid_sample(channels, grid, "bicubic", padding_mode="border", align_corners=False)
    return moved.permute(0, 2, 3, 1)


def _smoothed(chips: Tensor, sigma: float) -> Tensor:
    """A Gaussian over (K, C, S, S), with the width that OpenCV gives it."""
    width = round(8 * sigma + 1) | 1
    line = torch.from_numpy(cv2.getGaussianKernel(width, sigma, cv2.CV_32F)).to(chips)  # (width, 1)
    single = chips.flatten(0, 1)[:, None]
    half = width // 2
    single = F.conv2d(F.pad(single, (0, 0, half, half), "replicate"), line[None, None])
    single = F.conv2d(F.pad(single, (half, half, 0, 0), "replicate"), line.T[None, None])
    return single.view(chips.shape)


def _resampled(chips: Tensor, matrix: NDArray[np.float64], corner: tuple[int, int], shape: tuple[int, ...]) -> Tensor:
    """The chips (K, C, S, S) at the photo's pixels of a box, (K, C, h, w)."""
    shifted = np.array(matrix, np.float64)
    shifted[:, 2] += shifted[:, :2] @ corner
    height, width = shape
    x, y = np.arange(width), np.arange(height)[:, None]
    points = np.stack([row[0] * x + row[1] * y + row[2] for row in shifted], -1)  # in 64 bits, as OpenCV adds them
    grid = torch.from_numpy((points * (2 / (chips.shape[-1] - 1)) - 1).astype(np.float32)).to(chips.device)
    everywhere = grid.expand(len(chips), -1, -1, -1)
    return F.grid_sample(chips, everywhere, "bicubic", padding_mode="border", align_corners=True)
