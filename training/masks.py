"""Where training chips have face, and where brows and eyes, by the face parser: made once for a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.faces.compose.masks import BORDER, SIGMA
from gslopes.faces.compose.skin import EDGE, LIPS, REGIONS, class_probabilities
from gslopes.faces.zoo import load
from training.field_template import blurred

BATCH = {"cuda": 128, "cpu": 8}  # chips at once: on a CPU 128 take 1.7 times as long, each of them
BROWS = ("left brow", "right brow", "left eye", "right eye")
LIP_NAMES = ("upper lip", "lower lip")
AROUND = 2 / 128  # how far their rims reach, lashes among them, in units of the side


def _classes(pixels: ByteArray, device: str) -> Iterator[Callable[[Sequence[str]], Tensor]]:
    """Of each few chips (n, S, S, 3): how likely pixels are one of some classes of the parser, (b, 1, S, S)."""
    parser = load("face-parser", device)
    index = parser.spec.labels.index
    step = BATCH.get(torch.device(device).type, 8)
    for start in range(0, len(pixels), step):
        chips = np.array(pixels[start : start + step])
        classes = class_probabilities(parser, chips, torch.device(device))
        yield lambda names, classes=classes: classes[:, [index(name) for name in names]].sum(  # type: ignore[misc]
            1, keepdim=True
        )


def _face(likely: Tensor) -> Tensor:
    size = likely.shape[-1]
    line = torch.arange(size, device=likely.device)
    inwards = torch.minimum(line, line.flip(0)).float()
    ramp = (1 - torch.cos(torch.pi * (inwards / (BORDER * size)).clamp(0, 1))) / 2
    sharp = (4 * likely - 1.5).clamp(0, 1)
    mask = torch.minimum((2 * blurred(sharp, SIGMA) - 1).clamp(0, 1), sharp)
    return _bytes(mask * (ramp[:, None] * ramp))


def _brows(likely: Tensor) -> Tensor:
    radius = round(AROUND * likely.shape[-1])
    wide = F.max_pool2d(likely, 2 * radius + 1, 1, radius)
    return _bytes(blurred(wide, AROUND / 2))


def _bytes(shares: Tensor) -> Tensor:
    return (255 * shares.clamp(0, 1)).round().byte()


def face_masks(pixels: ByteArray, device: str) -> Tensor:
    """The masks under which edits are pasted, (n, 1, S, S) uint8: ``faces.compose.masks.soft_mask``, specks not mended.

    pixels: (n, S, S, 3) uint8 RGB, chips.
    """
    return torch.cat([_face(likely(REGIONS["face"])) for likely in _classes(pixels, device)])


def brow_masks(pixels: ByteArray, device: str) -> Tensor:
    """Where chips (n, S, S, 3) uint8 RGB have brows, lashes and eyes, with a soft rim: (n, 1, S, S) uint8."""
    return torch.cat([_brows(likely(BROWS)) for likely in _classes(pixels, device)])


def group_masks(pixels: ByteArray, device: str) -> Tensor:
    """(n, 3, S, S) uint8 of chips (n, S, S, 3) in one pass of the parser.

    ``face_masks``, ``brow_masks``, and how much of the skin's tone a pixel has, as ``faces.compose.masks.Head.skin``.
    """
    masks = []
    for likely in _classes(pixels, device):
        tone = _bytes(blurred(likely(REGIONS["skin"]) + LIPS * likely(LIP_NAMES), EDGE))
        masks.append(torch.cat([_face(likely(REGIONS["face"])), _brows(likely(BROWS)), tone], 1))
    return torch.cat(masks)


def kept_masks(
    pixels: ByteArray,
    folder: Path,
    device: str,
    make: Callable[[ByteArray, str], Tensor] = face_masks,
    kind: str = "masks",
) -> Tensor:
    """As ``make``; made once, then read from ``folder``, so that a run that goes on begins at once."""
    digest = hashlib.sha256(np.ascontiguousarray(pixels).data).hexdigest()[:12]
    file = folder / f"{kind}-{digest}.pt"
    if file.is_file():
        return cast(Tensor, torch.load(file, map_location=device, weights_only=True))
    masks = make(pixels, device)
    torch.save(masks, file.with_suffix(".partial"))
    file.with_suffix(".partial").replace(file)
    return masks
