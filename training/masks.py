"""Where training chips have face, and where brows and eyes, by the face parser: made once for each chip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.faces.compose import masks as pasting, skin
from gslopes.faces.compose.masks import BORDER, SIGMA
from gslopes.faces.compose.skin import EDGE, LIPS, REGIONS, class_probabilities
from gslopes.faces.networks import feature_pyramid
from gslopes.faces.zoo.spec import identify
from training.chips import PARSED, network
from training.field_template import blurred
from training.prepared import SHARD, Work, items_of_arrays, kept

BROWS = ("left brow", "right brow", "left eye", "right eye")
LIP_NAMES = ("upper lip", "lower lip")
AROUND = 2 / 128  # how far their rims reach, lashes among them, in units of the side


def _classes(pixels: ByteArray, device: str) -> Iterator[Callable[[Sequence[str]], Tensor]]:
    """Of each few chips (n, S, S, 3): how likely pixels are one of some classes of the parser, (b, 1, S, S)."""
    parser = network("face-parser", identify("face-parser")[1], device)
    index = parser.spec.labels.index
    step = PARSED.get(torch.device(device).type, 8)
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


MakeMasks = Callable[[ByteArray, str], Tensor]


def kept_masks(pixels: ByteArray, device: str, make: MakeMasks = face_masks) -> Tensor:
    """As ``make``, on the device; made once for each chip, see ``training.prepared``."""
    planes = 3 if make is group_masks else 1
    code = (make, _classes, _face, _brows, _bytes, blurred, pasting, skin, feature_pyramid)
    facts = identify("face-parser")[1], AROUND, BROWS, LIP_NAMES
    side = pixels.shape[1]
    work = Work(make.__name__, (planes, side, side), "uint8", SHARD, facts, code)
    masks = kept(
        work, items_of_arrays(pixels), lambda rows: make(pixels[rows], device).cpu().numpy()
    )
    return torch.from_numpy(masks).to(device)
