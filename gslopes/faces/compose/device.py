"""What ``paste`` draws with OpenCV, drawn on the device that holds the networks; edits on it stay on it.

The same arithmetic: cubic interpolation with a = -0.75 at exact places, borders replicated. Single values before
rounding differ by some thousandths of a level, so that a pixel in ten thousand or so is rounded the other way.
"""

from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray, EditedChip, Motion
from gslopes.faces.compose.composite import FRACTIONS, Footprint, check_finite, cut
from gslopes.faces.compose.masks import LEFT, MEAN, NEAR, SIDE, Head
from gslopes.faces.compose.paste import carried
from gslopes.faces.compose.tone import toned
from gslopes.faces.zoo.spec import Blend


@torch.inference_mode()
def patches(
    footprint: Footprint, chip: EditedChip, blend: Blend, head: Head | None, device: str
) -> ByteArray:
    """As ``paste.patches``; the chip's ``edited`` may be a tensor, on this device."""
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        edited = torch.as_tensor(chip.edited, device=device)
        neutral = torch.as_tensor(chip.neutral, device=device)
        layers = carried(edited, neutral, blend, torch.log).permute(0, 3, 1, 2).contiguous()
        check_finite(bool(torch.isfinite(layers).all()))
        if head is not None:
            _tone(layers, chip, head, blend)
            layers = _widened(layers, head)
        if not footprint.weight.size:
            return np.empty((len(layers), 0, 0, 3), np.uint8)
        levels = _blended(footprint, layers, blend).round_().clamp_(0, 255).to(torch.uint8)
    levels = levels.permute(0, 2, 3, 1).contiguous()
    pinned = torch.empty(levels.shape, dtype=torch.uint8, pin_memory=levels.is_cuda)
    return pinned.copy_(levels).numpy().copy()


# --- What is carried into the photo: (K, 3, S, S) ---------------------------------------------------------------------


def _tone(layers: Tensor, chip: EditedChip, head: Head, blend: Blend) -> None:
    """As ``tone.toned``, if the blend is ``ratio`` and the chip has a tone."""

    def on_device(plane: Any) -> Tensor:
        return torch.as_tensor(plane).to(layers)

    if chip.tone is not None and blend == "ratio":
        toned(layers.permute(0, 2, 3, 1), chip.neutral, head.skin, chip.tone, torch.log, on_device)


def _widened(layers: Tensor, head: Head) -> Tensor:
    """As ``Head.widened``."""
    size = layers.shape[-1]
    side = round(SIDE * size)
    margin = round(LEFT * size)
    around = (margin, side - margin - size, 0, side - size)
    face = F.pad(torch.as_tensor(head.face).to(layers), around)
    inner = F.pad(layers, around) * face
    mean = inner.sum((2, 3), keepdim=True) / face.sum().clamp(min=1e-6)
    near = _gaussian(face[None, None], NEAR * size, "constant")
    spread = _gaussian(inner, NEAR * size, "constant")
    return inner + (1 - face) * ((spread + MEAN * mean) / (near + MEAN))


def _gaussian(layers: Tensor, sigma: float, beyond: str) -> Tensor:
    """(K, C, S, S) after the Gaussian, as wide as OpenCV has it."""
    length = round(8 * sigma + 1) | 1
    half = length // 2
    line = torch.as_tensor(cv2.getGaussianKernel(length, sigma, cv2.CV_32F)[:, 0]).to(layers)
    planes = layers.flatten(0, 1)[:, None]
    planes = F.conv2d(F.pad(planes, (0, 0, half, half), beyond), line.view(1, 1, -1, 1))
    planes = F.conv2d(F.pad(planes, (half, half, 0, 0), beyond), line.view(1, 1, 1, -1))
    return planes.view(layers.shape)


# --- In the photo's box: (K, 3, h, w) ---------------------------------------------------------------------------------


def _blended(footprint: Footprint, layers: Tensor, blend: Blend) -> Tensor:
    if footprint.sigma:
        layers = _gaussian(layers, footprint.sigma, "replicate")
    if footprint.gray:
        luma = layers.new_tensor(LUMA)[:, None, None]
        layers = (layers * luma).sum(1, keepdim=True).expand_as(layers)
    channels = layers.flatten(0, 1)[None]
    grid = _grid(footprint, layers)
    edit = F.grid_sample(channels, grid, "bicubic", padding_mode="border", align_corners=True)
    # cubic interpolation runs beyond the chip's own values
    least = channels.amin((2, 3), keepdim=True)
    greatest = channels.amax((2, 3), keepdim=True)
    edit = edit.clamp(least, greatest).view(*layers.shape[:2], *footprint.weight.shape)
    pixels = np.ascontiguousarray(cut(footprint.pixels, footprint.box))
    photo = torch.from_numpy(pixels).to(layers.device).permute(2, 0, 1).float()
    weight = torch.from_numpy(footprint.weight).to(layers.device)
    if blend == "ratio":
        mixed = photo + (photo + OFFSET) * torch.expm1(weight * edit)
    else:
        mixed = photo + weight * (edit - photo if blend == "paste" else edit)
    if footprint.motion is not None:
        return _moved(mixed, weight, footprint.motion)
    return mixed


def _grid(footprint: Footprint, layers: Tensor) -> Tensor:
    """Where the box' pixels lie in the layers, (1, h, w, 2), as ``grid_sample`` has it."""
    shifted = np.array(footprint.matrix, np.float64)
    shifted[:, 2] += shifted[:, :2] @ footprint.box[:2]
    rows = torch.from_numpy(shifted).to(layers.device)
    y, x = (torch.arange(side).to(rows) for side in footprint.weight.shape)
    # in 64 bits, as OpenCV adds them
    points = rows[:, 0] * x[:, None] + rows[:, 1] * y[:, None, None] + rows[:, 2]
    return (points * (2 / (layers.shape[-1] - 1)) - 1).float()[None]


def _moved(mixed: Tensor, weight: Tensor, motion: Motion) -> Tensor:
    """As ``paste.Mover``, within the mask and at other distances than 0."""
    height, width = weight.shape
    field = torch.from_numpy(motion.field).to(mixed)
    units = torch.from_numpy(motion.distances).to(mixed)[:, None, None, None]
    y, x = torch.meshgrid(
        torch.arange(height).to(mixed), torch.arange(width).to(mixed), indexing="ij"
    )
    moved_by = (field * (FRACTIONS * units)).round() / FRACTIONS  # (K, h, w, 2)
    sources = torch.stack([x, y], -1) - moved_by
    grid = (2 * sources + 1) / mixed.new_tensor([width, height]) - 1
    moved = F.grid_sample(mixed, grid, "bicubic", padding_mode="border", align_corners=False)
    return torch.where((weight > 0) & (units != 0), moved, mixed)
