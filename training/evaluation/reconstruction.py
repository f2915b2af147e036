"""How much of a face is lost between encoder and decoder, at the face's own value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import ByteArray
from gslopes.validate import estimates
from gslopes.validate.estimates import Estimate, Floats

Features = Callable[[ByteArray], Sequence[NDArray[np.floating[Any]]]]

_BATCH = 64


def l1(a: ByteArray, b: ByteArray) -> Estimate:
    """Mean absolute difference of chips (n, S, S, 3) uint8, as a share of the full range: in [0, 1]."""
    return estimates.mean(_per_photo(lambda d: np.abs(d), a, b) / 255)


def psnr(a: ByteArray, b: ByteArray) -> Estimate:
    """Mean over photos of each photo's peak signal-to-noise ratio, dB; equal photos count as 100 dB.

    a, b: (n, S, S, 3) uint8.
    """
    squared = _per_photo(lambda d: d**2, a, b)
    return estimates.mean(np.minimum(100.0, 10 * np.log10(255**2 / np.maximum(squared, 1e-12))))


def perceptual(a: ByteArray, b: ByteArray, features: Features) -> Estimate:
    """LPIPS's distance on the given features: 0 for equal chips.

    a, b: (n, S, S, 3) uint8 RGB.
    features: chips (m, S, S, 3) uint8 RGB to a list of stages (m, C, h, w).

    At every position of a stage the channels are scaled to length 1; the squared distance of the two vectors is
    averaged over positions and summed over stages. All weights are 1, so values compare on the same features alone.

    Source: Zhang et al. 2018, The unreasonable effectiveness of deep features as a perceptual metric, eq. 1.
    """
    found = []
    for start in range(0, len(a), _BATCH):
        rows = slice(start, start + _BATCH)
        stages = zip(features(a[rows]), features(b[rows]), strict=True)
        found.append(sum(((_unit(x) - _unit(y)) ** 2).sum(1).mean((1, 2)) for x, y in stages))
    return estimates.mean(np.concatenate(found) if found else [])


def _unit(stage: NDArray[np.floating[Any]]) -> Floats:
    wide = np.asarray(stage, np.float64)
    return wide / (np.sqrt((wide**2).sum(1, keepdims=True)) + 1e-10)


def _per_photo(measure: Callable[[Floats], Floats], a: ByteArray, b: ByteArray) -> Floats:
    """The mean of a measure of the difference, photo by photo: little memory at a time."""
    return np.array([measure(x.astype(np.float64) - y).mean() for x, y in zip(a, b, strict=True)])
