"""``paste.compose`` for many photos at once, on the device that holds the networks; edits on it stay on it.

The same arithmetic as OpenCV's: cubic interpolation with a = -0.75 at exact places, borders replicated. Single values
before rounding differ by some thousandths of a level, so that a pixel in ten thousand or so is rounded the other way.
Photos of all sizes share one canvas, padded; what comes down is uint8, only the boxes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.arrays import Array
from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray, EditedChips, FloatArray, Motion
from gslopes.core.runtime import batch_size
from gslopes.faces.compose.composite import FRACTIONS, Composite, Footprint, check_finite, cut
from gslopes.faces.compose.masks import LEFT, MEAN, NEAR, SIDE, Head
from gslopes.faces.compose.tone import toned
from gslopes.faces.zoo.spec import Blend

PIXEL = 80  # bytes that a pixel of the canvas takes for each of K pictures


@torch.inference_mode()
def compose_batch(
    photos: Sequence[tuple[ByteArray, bool]],
    swept: EditedChips,
    masks: Sequence[FloatArray],
    matrices: Sequence[Array],
    blend: Blend,
    device: str,
    heads: Sequence[Head | None],
) -> list[Composite]:
    """One ``Composite`` a photo.

    photos: each with whether it is gray.  swept: of all of them; ``edited`` may be a tensor, on this device.
    masks, matrices, blend, heads: as for ``paste.compose``, one a photo.

    Raises: ModelError if a chip holds values that are not numbers.
    """
    if blend == "paste":
        heads = [None] * len(photos)
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        layers = _layers(swept, blend, device)
        check_finite(bool(torch.isfinite(layers).all()))
        around = [head for head in heads if head is not None]
        if around:
            if swept.tone is not None and blend == "ratio":
                _tone(layers, swept, around)
            layers = _widened(layers, around)
        footprints = []
        for row, where in enumerate(zip(photos, masks, matrices, heads, strict=True)):
            photo, mask, matrix, head = where
            footprints.append(Footprint(photo, swept.of(row).motion, mask, matrix, head))
        if any(footprint.sigma for footprint in footprints):
            layers = _gaussian(layers, [footprint.sigma for footprint in footprints], "replicate")
        steps = layers.shape[1]
        patches = [
            np.empty((steps, *footprint.weight.shape, 3), np.uint8) for footprint in footprints
        ]
        for rows in _parts(footprints, steps, device):
            _blend(
                [footprints[row] for row in rows],
                [patches[row] for row in rows],
                layers[rows],
                blend,
            )
    return [
        footprint.composite(patch) for footprint, patch in zip(footprints, patches, strict=True)
    ]


def _parts(footprints: list[Footprint], steps: int, device: str) -> Iterator[list[int]]:
    """Rows that share a canvas, of about one size; those without a box are in none."""
    sizes = [footprint.weight.size for footprint in footprints]
    rows = sorted(filter(sizes.__getitem__, range(len(footprints))), key=sizes.__getitem__)
    while rows:
        height, width = _shape([footprints[row] for row in rows])
        fit = max(1, batch_size(device, PIXEL * steps * height * width, 32))
        yield rows[-fit:]
        rows = rows[:-fit]


def _shape(footprints: list[Footprint]) -> tuple[int, int]:
    """Height and width of a canvas that holds the box of each."""
    heights, widths = zip(*(footprint.weight.shape for footprint in footprints), strict=True)
    return max(heights), max(widths)


# --- What is carried into the photo, of B chips at K values: (B, K, 3, S, S) ------------------------------------------


def _layers(swept: EditedChips, blend: Blend, device: str) -> Tensor:
    layers = torch.as_tensor(swept.edited, device=device)
    neutral = torch.as_tensor(swept.neutral, device=device)[:, None]
    if blend == "ratio":
        layers = _logs(layers) - _logs(neutral)
    elif blend == "difference":
        layers = layers - neutral
    return layers.permute(0, 1, 4, 2, 3).contiguous()


def _logs(levels: Tensor) -> Tensor:
    return (levels + OFFSET).clamp_(min=OFFSET / 2).log_()


def _tone(layers: Tensor, swept: EditedChips, heads: list[Head]) -> None:
    """As ``tone.toned``, each chip."""

    def beside(plane: Any) -> Tensor:
        return torch.as_tensor(plane).to(layers)

    for row, (layer, head) in enumerate(zip(layers, heads, strict=True)):
        chip = swept.of(row)
        if chip.tone is not None:
            toned(layer.permute(0, 2, 3, 1), chip.neutral, head.skin, chip.tone, torch.log, beside)


def _widened(layers: Tensor, heads: list[Head]) -> Tensor:
    """As ``Head.widened``."""
    size = layers.shape[-1]
    side = round(SIDE * size)
    margin = round(LEFT * size)
    around = (margin, side - margin - size, 0, side - size)
    faces = torch.as_tensor(np.stack([head.face for head in heads])).to(layers)
    face = F.pad(faces, around)[:, None, None]
    inner = F.pad(layers, around) * face
    mean = inner.sum((3, 4), keepdim=True) / face.sum((3, 4), keepdim=True).clamp(min=1e-6)
    sigmas = [NEAR * size] * len(heads)
    near = _gaussian(face, sigmas, "constant")
    carried = _gaussian(inner, sigmas, "constant")
    return inner + (1 - face) * ((carried + MEAN * mean) / (near + MEAN))


def _gaussian(layers: Tensor, sigmas: list[float], beyond: str) -> Tensor:
    """(B, K, C, S, S), the Gaussian of each of B as wide as OpenCV has it."""
    lengths = [
        round(8 * sigma + 1) | 1 for sigma in sigmas
    ]  # 1 for a sigma of 0: it changes nothing
    half = max(lengths) // 2
    kernels = torch.zeros(len(lengths), 2 * half + 1)
    for kernel, length, sigma in zip(kernels, lengths, sigmas, strict=True):
        line = cv2.getGaussianKernel(length, sigma, cv2.CV_32F)[:, 0]
        kernel[half - length // 2 :][:length] = torch.as_tensor(line)
    channels = layers.flatten(1, 2)
    weight = kernels.to(layers.device).repeat_interleave(channels.shape[1], 0)[:, None, :, None]
    flat = channels.flatten(0, 1)[None]
    flat = F.conv2d(F.pad(flat, (0, 0, half, half), beyond), weight, groups=len(weight))
    flat = F.conv2d(
        F.pad(flat, (half, half, 0, 0), beyond), weight.transpose(2, 3), groups=len(weight)
    )
    return flat.view(layers.shape)


# --- On canvases (B, K, 3, H, W) --------------------------------------------------------------------------------------


def _blend(
    footprints: list[Footprint], patches: list[ByteArray], layers: Tensor, blend: Blend
) -> None:
    """Draw the patches of each."""
    size = _shape(footprints)
    photo = _canvas(
        [cut(footprint.pixels, footprint.box) for footprint in footprints], size, layers
    )
    mask = _canvas([footprint.weight[..., None] for footprint in footprints], size, layers)[:, None]
    gray = [row for row, footprint in enumerate(footprints) if footprint.gray]
    if gray:
        luma = layers.new_tensor(LUMA)[:, None, None]
        layers[gray] = (layers[gray] * luma).sum(2, keepdim=True).expand_as(layers[gray])
    chips = layers.flatten(1, 2)
    grid = torch.stack([_grid(footprint, size, layers) for footprint in footprints])
    carried = F.grid_sample(chips, grid, "bicubic", padding_mode="border", align_corners=True)
    # cubic interpolation runs beyond the chip's own values
    carried = carried.clamp(chips.amin((2, 3), keepdim=True), chips.amax((2, 3), keepdim=True))
    carried = carried.view(*layers.shape[:3], *size)
    photo = photo[:, None].float()
    if blend == "ratio":
        mixed = photo + (photo + OFFSET) * torch.expm1(mask * carried)
    else:
        mixed = photo + mask * (carried - photo if blend == "paste" else carried)
    if any(footprint.motion is not None for footprint in footprints):
        mixed = _moved(mixed, mask, footprints)
    levels = mixed.round_().clamp_(0, 255).to(torch.uint8).permute(0, 1, 3, 4, 2).contiguous()
    pinned = torch.empty(levels.shape, dtype=torch.uint8, pin_memory=levels.is_cuda)
    for patch, picture in zip(patches, pinned.copy_(levels).numpy(), strict=True):
        patch[:] = picture[:, : patch.shape[1], : patch.shape[2]]


def _canvas(pictures: Sequence[NDArray[np.generic]], size: Sequence[int], like: Tensor) -> Tensor:
    """Pictures (h, w, C) in the top left corners of (B, C, *size), 0 around them, on the device of ``like``."""
    canvas = np.zeros((len(pictures), *size, pictures[0].shape[2]), pictures[0].dtype)
    for sheet, picture in zip(canvas, pictures, strict=True):
        sheet[: picture.shape[0], : picture.shape[1]] = picture
    return torch.from_numpy(canvas).to(like.device).permute(0, 3, 1, 2)


def _grid(footprint: Footprint, size: tuple[int, int], chips: Tensor) -> Tensor:
    """Where the canvas' pixels lie in the chip, (*size, 2), as ``grid_sample`` has it."""
    shifted = np.array(footprint.matrix, np.float64)
    shifted[:, 2] += shifted[:, :2] @ footprint.box[:2]
    rows = torch.from_numpy(shifted).to(chips.device)
    y, x = (torch.arange(n, device=chips.device, dtype=torch.float64) for n in size)
    # in 64 bits, as OpenCV adds them
    points = rows[:, 0] * x[:, None] + rows[:, 1] * y[:, None, None] + rows[:, 2]
    return (points * (2 / (chips.shape[-1] - 1)) - 1).float()


def _moved(mixed: Tensor, mask: Tensor, footprints: list[Footprint]) -> Tensor:
    """As ``paste.Mover``, within the mask and at other distances than 0."""
    steps = mixed.shape[1]
    size = mixed.shape[3:]
    shapes = [footprint.weight.shape for footprint in footprints]
    still = [
        Motion(np.zeros((*shape, 2), np.float32), np.zeros(steps, np.float32)) for shape in shapes
    ]
    motions = [footprint.motion or none for footprint, none in zip(footprints, still, strict=True)]
    field = _canvas([motion.field for motion in motions], size, mixed)
    field = field.permute(0, 2, 3, 1)[:, None]
    distances = torch.from_numpy(np.stack([motion.distances for motion in motions])).to(mixed)
    units = distances[:, :, None, None, None]
    # beyond its edge each picture goes on as it ends
    rows, columns = (
        torch.minimum(
            torch.arange(length, device=mixed.device), mixed.new_tensor(ends).long()[:, None] - 1
        )
        for length, ends in zip(size, zip(*shapes, strict=True), strict=True)
    )
    mixed = mixed.gather(3, rows[:, None, None, :, None].expand_as(mixed))
    mixed = mixed.gather(4, columns[:, None, None, None, :].expand_as(mixed))
    y, x = torch.meshgrid(*(torch.arange(n).to(mixed) for n in size), indexing="ij")
    moved_by = (field * (FRACTIONS * units)).round() / FRACTIONS  # (B, K, height, width, 2)
    sources = torch.stack([x, y], -1) - moved_by
    grid = ((2 * sources + 1) / mixed.new_tensor(size[::-1]) - 1).flatten(0, 1)
    flat = F.grid_sample(
        mixed.flatten(0, 1), grid, "bicubic", padding_mode="border", align_corners=False
    )
    return torch.where((mask > 0) & (units != 0), flat.view_as(mixed), mixed)
