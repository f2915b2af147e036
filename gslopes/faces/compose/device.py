"""``paste.compose`` for many photos at once, on the device that holds the networks; edits that are there stay there.

The same arithmetic as OpenCV's: cubic interpolation with a = -0.75 at exact places, borders replicated. Single values
before rounding differ by some thousandths of a level, so that a pixel in ten thousand or so is rounded the other way.
Photos of all sizes share one canvas, padded; what comes down is uint8, the boxes alone.
"""

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.arrays import Array
from gslopes.core.errors import ModelError
from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray, EditedChips, FloatArray, Tone
from gslopes.core.runtime import batch_size
from gslopes.faces.compose.masks import LEFT, MEAN, NEAR, SIDE, Head
from gslopes.faces.compose.paste import FRACTIONS, Box, Composite, Place
from gslopes.faces.compose.tone import Turn, step, turn_of
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

    Raises: ModelError if a chip holds values that are no numbers.
    """
    heads = [None] * len(photos) if blend == "paste" else heads
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        layers = _layers(swept, blend, device)
        if not bool(torch.isfinite(layers).all()):
            raise ModelError("The editor gave a picture with values that are not finite numbers.")
        known = [head for head in heads if head is not None]
        if known:
            if swept.tone is not None and blend == "ratio":
                layers = _toned(layers, swept, known, swept.tone)
            layers = _widened(layers, known)
        each = zip(photos, masks, matrices, heads, strict=True)
        placed = [Place(swept.motion_of(row), *rest) for row, rest in enumerate(each)]
        layers = _smoothed(layers, [place.sigma for place in placed])
        for rows in _parts(placed, layers.shape[1], device):
            _blend([placed[row] for row in rows], layers[rows], blend)
    return [place.composite for place in placed]


def _parts(placed: list[Place], steps: int, device: str) -> Iterator[list[int]]:
    """Rows that share a canvas, of about one size; those without a box are in none."""
    rows = sorted(
        (row for row, place in enumerate(placed) if place.weight.size),
        key=lambda r: placed[r].weight.size,
    )
    for row in set(range(len(placed))) - set(rows):
        placed[row].patches = np.empty((steps, 0, 0, 3), np.uint8)
    while rows:
        height, width = (max(placed[row].weight.shape[axis] for row in rows) for axis in (0, 1))
        fit = max(1, batch_size(device, PIXEL * steps * height * width, 32))
        part = rows[-fit:]
        rows = rows[:-fit]
        yield part


# --- What is carried into the photo, of B chips at K values: (B, K, 3, S, S) ------------------------------------------


def _layers(swept: EditedChips, blend: Blend, device: str) -> Tensor:
    edited, neutral = (
        torch.as_tensor(each, device=device) for each in (swept.edited, swept.neutral)
    )
    if blend == "ratio":
        edited, neutral = (
            (each + OFFSET).clamp_(min=OFFSET / 2).log_() for each in (edited, neutral)
        )
    layers = edited if blend == "paste" else edited - neutral[:, None]
    return layers.permute(0, 1, 4, 2, 3).contiguous()


def _toned(layers: Tensor, swept: EditedChips, heads: list[Head], tone: Tone) -> Tensor:
    """As ``tone.toned``."""
    turns = [turn_of(swept.neutral[row], head.skin, tone.of(row)) for row, head in enumerate(heads)]
    for row, (turn, head) in enumerate(zip(turns, heads, strict=True)):
        if turn is not None:
            layers[row] += _turned(layers[row], turn, torch.as_tensor(head.skin).to(layers.device))
    return layers


def _turned(layers: Tensor, turn: Turn, skin: Tensor) -> Tensor:
    light, rich = (torch.as_tensor(each).to(layers.device) for each in (turn.light, turn.rich))
    moved = [
        s.even * s.evenly + (1 - s.even) * step(light, s.at, s.to, torch.log) for s in turn.steps
    ]
    turned = layers.new_tensor(np.stack([s.turned for s in turn.steps]))[:, :, None, None]
    mean = layers[:, :, skin > 0.5].mean(2)[:, :, None, None]
    return skin * (torch.stack(moved)[:, None] + rich * turned - mean)


def _widened(layers: Tensor, heads: list[Head]) -> Tensor:
    """As ``Head.widened``."""
    size = layers.shape[-1]
    side = round(SIDE * size)
    left = round(LEFT * size)
    around = (left, side - left - size, 0, side - size)
    face = F.pad(torch.as_tensor(np.stack([head.face for head in heads])).to(layers), around)[
        :, None, None
    ]
    inner = F.pad(layers, around) * face
    mean = inner.sum((3, 4), keepdim=True) / face.sum((3, 4), keepdim=True).clamp(min=1e-6)
    near, carried = (
        _gaussian(each, [NEAR * size] * len(heads), "constant") for each in (face, inner)
    )
    return inner + (1 - face) * ((carried + MEAN * mean) / (near + MEAN))


def _smoothed(layers: Tensor, sigmas: list[float]) -> Tensor:
    """Each chip smoothed by its own Gaussian; 0 for none."""
    if any(sigmas):
        return _gaussian(layers, sigmas, "replicate")
    return layers


def _gaussian(layers: Tensor, sigmas: list[float], beyond: str) -> Tensor:
    """(B, K, C, S, S), the Gaussian of each of B as wide as OpenCV has it."""
    lines = [
        cv2.getGaussianKernel(round(8 * one + 1) | 1, one, cv2.CV_32F)[:, 0] if one else [1.0]
        for one in sigmas
    ]
    half = max(len(line) for line in lines) // 2
    kernels = torch.zeros(len(lines), 2 * half + 1)
    for kernel, line in zip(kernels, lines, strict=True):
        kernel[half - len(line) // 2 : half + len(line) // 2 + 1] = torch.as_tensor(line)
    channels = layers.flatten(1, 2)
    weight = kernels.to(layers.device).repeat_interleave(channels.shape[1], 0)[:, None, :, None]
    flat = channels.flatten(0, 1)[None]
    flat = F.conv2d(F.pad(flat, (0, 0, half, half), beyond), weight, groups=len(weight))
    flat = F.conv2d(
        F.pad(flat, (half, half, 0, 0), beyond), weight.transpose(2, 3), groups=len(weight)
    )
    return flat.view(layers.shape)


# --- On canvases (B, K, 3, H, W) --------------------------------------------------------------------------------------


def _blend(placed: list[Place], layers: Tensor, blend: Blend) -> None:
    """Give each its patches."""
    height, width = (max(place.weight.shape[axis] for place in placed) for axis in (0, 1))
    shapes = [place.weight.shape for place in placed]
    photo = _canvas([_cut(place.pixels, place.box) for place in placed], height, width, layers)
    mask = _canvas([place.weight[..., None] for place in placed], height, width, layers)[:, None]
    gray = [row for row, place in enumerate(placed) if place.gray]
    if gray:
        luma = layers.new_tensor(LUMA)[:, None, None]
        layers[gray] = (layers[gray] * luma).sum(2, keepdim=True).expand_as(layers[gray])
    chips = layers.flatten(1, 2)
    grid = torch.stack([_grid(place.matrix, place.box, height, width, layers) for place in placed])
    carried = F.grid_sample(chips, grid, "bicubic", padding_mode="border", align_corners=True)
    # cubic interpolation runs beyond the chip's own values, where nothing was drawn
    carried = carried.clamp(chips.amin((2, 3), keepdim=True), chips.amax((2, 3), keepdim=True))
    carried = carried.view(*layers.shape[:3], height, width)
    photo = photo[:, None].float()
    if blend == "ratio":
        mixed = photo + (photo + OFFSET) * torch.expm1(mask * carried)
    else:
        mixed = photo + mask * (carried - photo if blend == "paste" else carried)
    if any(place.motion is not None for place in placed):
        mixed = _moved(mixed, mask, placed, shapes)
    levels = mixed.round_().clamp_(0, 255).to(torch.uint8).permute(0, 1, 3, 4, 2).contiguous()
    pinned = torch.empty(levels.shape, dtype=torch.uint8, pin_memory=levels.is_cuda)
    down = pinned.copy_(levels).numpy()
    for place, picture, (rows, columns) in zip(placed, down, shapes, strict=True):
        place.patches = picture[:, :rows, :columns].copy()


def _cut(pixels: ByteArray, box: Box) -> ByteArray:
    x0, y0, x1, y1 = box
    return pixels[y0:y1, x0:x1]


def _canvas(
    pictures: Sequence[NDArray[np.generic]], height: int, width: int, like: Tensor
) -> Tensor:
    """Pictures (h, w, C) in the top left corners of (B, C, height, width), 0 around them, on the device of ``like``."""
    canvas = np.zeros((len(pictures), height, width, pictures[0].shape[2]), pictures[0].dtype)
    for place, picture in zip(canvas, pictures, strict=True):
        place[: picture.shape[0], : picture.shape[1]] = picture
    return torch.from_numpy(canvas).to(like.device).permute(0, 3, 1, 2)


def _grid(matrix: Array, box: Box, height: int, width: int, chips: Tensor) -> Tensor:
    """Where the canvas' pixels lie in the chip, (height, width, 2), as ``grid_sample`` has it."""
    shifted = np.array(matrix, np.float64)
    shifted[:, 2] += shifted[:, :2] @ box[:2]
    rows = torch.from_numpy(shifted).to(chips.device)
    y, x = (torch.arange(n, device=chips.device, dtype=torch.float64) for n in (height, width))
    points = (
        rows[:, 0] * x[:, None] + rows[:, 1] * y[:, None, None] + rows[:, 2]
    )  # in 64 bits, as OpenCV adds them
    return (points * (2 / (chips.shape[-1] - 1)) - 1).float()


def _moved(
    mixed: Tensor, mask: Tensor, placed: list[Place], shapes: list[tuple[int, ...]]
) -> Tensor:
    """As ``paste.Mover``, where there is something of the mask and a distance."""
    _, steps, _, height, width = mixed.shape
    still = [(np.zeros((*shape, 2), np.float32), np.zeros(steps, np.float32)) for shape in shapes]
    motions = [one if place.motion is None else (place.motion.field, place.motion.distances)
               for place, one in zip(placed, still, strict=True)]  # fmt: skip
    field = _canvas([field for field, _ in motions], height, width, mixed).permute(0, 2, 3, 1)[
        :, None
    ]
    units = torch.from_numpy(np.stack([distances for _, distances in motions])).to(mixed)[
        :, :, None, None, None
    ]
    for axis, size in (
        (3, height),
        (4, width),
    ):  # beyond its own edge each picture goes on as it ends
        ends = mixed.new_tensor([shape[axis - 3] - 1 for shape in shapes]).long()[:, None]
        at = torch.minimum(torch.arange(size, device=mixed.device), ends)
        at = at[:, None, None, :, None] if axis == 3 else at[:, None, None, None, :]
        mixed = mixed.gather(axis, at.expand_as(mixed))
    y, x = torch.meshgrid(*(torch.arange(n).to(mixed) for n in (height, width)), indexing="ij")
    moved_by = (field * (FRACTIONS * units)).round() / FRACTIONS  # (B, K, height, width, 2)
    grid = (2 * (torch.stack([x, y], -1) - moved_by) + 1) / mixed.new_tensor([width, height]) - 1
    flat = F.grid_sample(
        mixed.flatten(0, 1),
        grid.flatten(0, 1),
        "bicubic",
        padding_mode="border",
        align_corners=False,
    )
    return torch.where((mask > 0) & (units != 0), flat.view_as(mixed), mixed)
