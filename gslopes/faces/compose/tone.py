"""Take the tint out of an edit that should change forms, not the skin's tone: brows, lips and stubble keep theirs."""

from __future__ import annotations

import cv2
import numpy as np

from gslopes.core.levels import LUMA
from gslopes.core.records import FloatArray

# Of the Gaussian that separates slowly varying colour from that of lips and brows, in units of the chip's side.
SIGMA = 12 / 128


def without_tint(layers: FloatArray, mask: FloatArray, kept: float) -> FloatArray:
    """Changes of K chips without their slowly varying colour and mean luminance over the face, and less fine colour.

    layers: (K, S, S, 3) float32, RGB, changes in levels.  mask: (S, S) in [0, 1], where they will be applied.
    kept: share of the fine colour, that of lips and brows, that stays, 0 to 1.

    Luminance keeps its form and loses its mean; colour is what is left of a pixel when its luminance is taken away.
    """
    total = float(mask.sum())
    if total <= 0:
        return layers
    sigma = SIGMA * mask.shape[0]
    weight = np.maximum(cv2.GaussianBlur(mask, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT), 1e-3)
    out = np.empty_like(layers)
    for index, layer in enumerate(layers):
        luminance = (layer @ np.array(LUMA, np.float32))[..., None]
        color = layer - luminance
        # within the mask alone: what lies beyond it is never shown
        slow = cv2.GaussianBlur(color * mask[..., None], (0, 0), sigma, borderType=cv2.BORDER_CONSTANT)
        color = kept * (color - slow / weight[..., None])
        color = color - (color * mask[..., None]).sum((0, 1)) / total
        out[index] = luminance - float((luminance[..., 0] * mask).sum()) / total + color
    return out
