"""What an edit does to the tone of a face: none of its tint where it should change forms, one even tone where it should
change the skin's.
"""

from __future__ import annotations

import cv2
import numpy as np

from gslopes.core.records import FloatArray

LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R BT.601, as Pillow makes gray

# Of the Gaussian that tells slowly varying colour from that of lips and brows, in units of the chip's side.
SIGMA = 12 / 128


def without_tint(layers: FloatArray, mask: FloatArray, kept: float) -> FloatArray:
    """Changes of K chips without their slowly varying colour over the face, and with a share of their fine colour.

    layers: (K, S, S, 3) float32, RGB, changes in levels.  mask: (S, S) in [0, 1], where they will be applied.
    kept: share of the fine colour, that of lips and brows, that stays, 0 to 1.

    Luminance stays as it is, at every pixel; colour is what is left of a pixel when its luminance is taken away.
    """
    total = float(mask.sum())
    if total <= 0:
        return layers
    sigma = SIGMA * mask.shape[0]
    weight = np.maximum(cv2.GaussianBlur(mask, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT), 1e-3)
    out = np.empty_like(layers)
    for index, layer in enumerate(layers):
        luminance = (layer @ LUMA)[..., None]
        color = layer - luminance
        # within the mask alone: what lies beyond it is never shown
        slow = cv2.GaussianBlur(color * mask[..., None], (0, 0), sigma, borderType=cv2.BORDER_CONSTANT)
        color = kept * (color - slow / weight[..., None])
        color = color - (color * mask[..., None]).sum((0, 1)) / total
        out[index] = luminance + color
    return out


SLOW = 0.3  # share of the slow variation of a ratio's luminance that stays


def even_tone(layers: FloatArray, mask: FloatArray) -> FloatArray:
    """Logarithms of ratios of K chips with one colour over the face, and without most of their blotches.

    layers: (K, S, S, 3) float32, RGB, logarithms.  mask: (S, S) in [0, 1], where they will be applied.

    A narrow decoder's colour varies over a face as no skin does. Colour is averaged over the mask; of luminance the
    mean and the fine detail stay, and ``SLOW`` of what varies slowly.
    """
    total = float(mask.sum())
    if total <= 0:
        return layers
    sigma = SIGMA * mask.shape[0]
    weight = np.maximum(cv2.GaussianBlur(mask, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT), 1e-3)
    out = np.empty_like(layers)
    for index, layer in enumerate(layers):
        luminance = layer @ LUMA
        mean = float((luminance * mask).sum()) / total
        varying = luminance - mean
        slow = cv2.GaussianBlur(varying * mask, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT) / weight
        color = ((layer - luminance[..., None]) * mask[..., None]).sum((0, 1)) / total
        out[index] = (mean + varying - (1 - SLOW) * slow)[..., None] + color
    return out
