"""Edits applied and pasted on the device as the walk does it, so that a critic judges what will be shown."""

from __future__ import annotations

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.compose.masks import BORDER, SIGMA
from gslopes.compose.motion import FADE, INSIDE
from gslopes.core.levels import LUMA, OFFSET
from gslopes.core.records import ByteArray
from gslopes.zoo import load
from gslopes.zoo.parsing import FACE, class_probabilities
from training.field_editor import as_template
from training.field_template import TemplateEdits, TemplateUse, blurred

BATCH = 128
INNER = (0.6, 0.9)  # share of the training faces that have face there: below the first a critic sees nothing


def face_masks(pixels: ByteArray, device: str) -> Tensor:
    """The masks under which edits are pasted, (n, 1, S, S) uint8: ``compose.masks.soft_mask``, specks not mended.

    pixels: (n, S, S, 3) uint8 RGB, chips.
    """
    parser = load("face-parser", device)
    members = [parser.spec.labels.index(name) for name in FACE]
    size = pixels.shape[1]
    line = torch.arange(size, device=device)
    inwards = torch.minimum(line, line.flip(0)).float()
    ramp = (1 - torch.cos(torch.pi * (inwards / (BORDER * size)).clamp(0, 1))) / 2
    masks = []
    for start in range(0, len(pixels), BATCH):
        chips = np.array(pixels[start : start + BATCH])
        likely = class_probabilities(parser, chips, torch.device(device))[:, members].sum(1, keepdim=True)
        sharp = (4 * likely - 1.5).clamp(0, 1)
        mask = torch.minimum((2 * blurred(sharp, SIGMA) - 1).clamp(0, 1), sharp) * (ramp[:, None] * ramp)
        masks.append((255 * mask).round().byte())
    return torch.cat(masks)


def well_inside(masks: Tensor) -> Tensor:
    """How far parts may move, as ``compose.motion.within``: masks (B, 1, S, S) in [0, 1] without their rim."""
    radius = round(INSIDE * masks.shape[-1])
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
    around = F.pad(1 - masks, [0, 0, radius, radius], value=1.0)  # beyond the chip there is no face
    deep = torch.zeros_like(masks)
    for down, row in enumerate(kernel):
        half = int(row.sum()) // 2
        line = around[:, :, down : down + masks.shape[2]]
        deep = torch.maximum(deep, F.max_pool2d(F.pad(line, [half, half], value=1.0), (1, 2 * half + 1), 1))
    return blurred(1 - deep, FADE)


def composite(
    chips: Tensor, masks: Tensor, form: Tensor, motion: Tensor, units: Tensor, face: Tensor, lightness: float
) -> Tensor:
    """Chips (B, 3, S, S) in [0, 1] after ``units`` (B, 1) of an edit field, pasted by ratio and moved.

    masks: (B, 1, S, S) in [0, 1].  form, motion: as of ``networks.edit_field``.  face, lightness: as of
        ``train.field_template``.
    """
    edits = TemplateEdits(chips, as_template(form), face, TemplateUse(lightness))(units)[:, 0]
    mixed = ((255 * chips + OFFSET) * (masks * edits).exp() - OFFSET) / 255
    size = chips.shape[-1]
    line = torch.arange(size, device=chips.device, dtype=chips.dtype)
    y, x = torch.meshgrid(line, line, indexing="ij")
    field = motion * well_inside(masks) * units[:, :, None, None]
    places = (2 * (torch.stack([x, y], -1) - field.permute(0, 2, 3, 1)) + 1) / size - 1
    return F.grid_sample(mixed, places, mode="bilinear", padding_mode="border", align_corners=False)


def inner_face(masks: Tensor) -> Tensor:
    """Where most of the training faces have face, (1, S, S) in [0, 1].  masks: (n, 1, S, S) uint8."""
    share = torch.stack([part.float().sum(0) for part in masks.split(2048)]).sum(0) / (255 * len(masks))
    return ((share - INNER[0]) / (INNER[1] - INNER[0])).clamp(0, 1)


def as_critic_sees(chips: Tensor, masks: Tensor, inner: Tensor, gray: bool) -> Tensor:
    """What a critic may go by: the inner face of chips (B, 3, S, S) in [0, 1] without its tone and cast.

    Returns (B, 3, S, S), or (B, 1, S, S) where gray. What an editor must not change, hair, light and exposure, must not
    decide. gray: luminance alone, its spread made equal as well: an edit of lightness alone cannot change colours, and
    tone of skin is set apart from form.
    """
    window = inner * masks
    area = window.sum((2, 3), keepdim=True).clamp(min=100)
    if gray:
        chips = (chips * chips.new_tensor(LUMA)[:, None, None]).sum(1, keepdim=True)
    logs = (255 * chips.clamp(0, 1) + OFFSET).log()
    logs = logs - (logs * window).sum((2, 3), keepdim=True) / area
    if gray:
        variance = (logs.square() * window).sum((2, 3), keepdim=True) / area
        logs = 0.35 * logs / variance.clamp(min=0.05**2).sqrt()  # the root of 0, of a chip without a face, has no slope
    return (1.5 * logs).clamp(-2.5, 1.5) * window
