"""Where an audit may change a chip: the face parser's regions, made once for a training set, softened in the loop."""

from __future__ import annotations

import hashlib
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm

from gslopes.core.records import ByteArray
from gslopes.train.augment import to_float
from gslopes.train.chips import cache_folder
from gslopes.zoo import load

# The regions that an edit may change, see compose.skin.
FACE = ("skin", "nose", "left brow", "right brow", "left eye", "right eye", "mouth", "upper lip", "lower lip")
SKIN = ("skin", "nose")

BORDER = 14 / 128  # of the chip's side, over which a mask comes down to zero, as in compose.masks


def parsed(pixels: ByteArray, device: str) -> ByteArray:
    """The regions of chips (n, S, S, 3) uint8 RGB: (n, S, S) uint8, 0 elsewhere, 1 face, 2 skin; kept in the cache.

    Raises: UnknownName, ModelError if the parser is not there.
    """
    model = load("parser", device)
    digest = hashlib.sha256(
        model.sha256.encode() + np.ascontiguousarray(pixels[::97]).tobytes() + bytes([len(pixels) % 251])
    )
    kept = cache_folder() / f"regions-{digest.hexdigest()[:12]}.npy"
    if kept.is_file():
        return cast(ByteArray, np.load(kept))
    code = torch.tensor([(name in FACE) + (name in SKIN) for name in model.spec.labels], dtype=torch.uint8).to(device)
    out = np.zeros(pixels.shape[:3], np.uint8)
    with torch.inference_mode():
        for start in tqdm(range(0, len(pixels), 64), desc="parse faces", unit="batch"):
            x = to_float(
                torch.from_numpy(np.array(pixels[start : start + 64])).to(device), model.spec.mean, model.spec.std
            )
            out[start : start + 64] = code[model.module(x).argmax(1)].cpu().numpy()
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept, out)
    return out


def softened(codes: Tensor, skin: float, generator: torch.Generator) -> Tensor:
    """Blending masks (B, 1, S, S) in [0, 1] of regions (B, 1, S, S), as ``parsed`` codes them; the soft edge is inside.

    skin: share of the masks that hold skin and nose only, drawn at random; the others hold the whole face.
    """
    only = (torch.rand(len(codes), generator=generator, device=generator.device) < skin).to(codes.device)
    inside = (codes > 0.5 + only[:, None, None, None].float()).float()
    blurred = F.avg_pool2d(F.avg_pool2d(inside, 5, 1, 2, count_include_pad=False), 5, 1, 2, count_include_pad=False)
    return torch.minimum((2 * blurred - 1).clamp(min=0), inside) * _ramp(codes)


def _ramp(like: Tensor) -> Tensor:
    """1 inside, falling to 0 at the border of the chip, half a cosine long."""
    size = like.shape[-1]
    line = torch.arange(size, device=like.device)
    inwards = torch.minimum(line, size - 1 - line) / (BORDER * size)
    edge = (1 - torch.cos(torch.pi * inwards.clamp(max=1))) / 2
    return edge[:, None] * edge
