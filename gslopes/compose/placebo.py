"""Placebo sweeps: pictures that go through the same walk and should move no classifier by way of the attribute.

``same``: the picture at the centre value K times, encoded anew each time: what the classifier's answers do by
themselves. ``light``: the masked region made darker or lighter by as much, pixel for pixel on average, as the edit
changed it, and brighter towards the end where the edit brightens: what the light of this place and size does.
``random``: a smooth random change of the masked region, by as much again, with nothing of the edit's own change in it
and no brighter or darker on average: what a change of this place and size does that has nothing to do with the
attribute.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.compose.encode import QUALITY
from gslopes.compose.paste import Composite
from gslopes.core.levels import LUMA
from gslopes.core.records import FloatArray

GRAIN = 0.15  # of the longer side of the masked box: the width of the random change's blobs


def qualities(photo: str, steps: int, seed: int) -> list[int]:
    """The JPEG quality of each of K re-encodings: K neighbouring ones in an order drawn for each photo.

    photo: its id.  The order is drawn so that quality does not go along with the step.
    """
    order = np.random.default_rng(_key(photo, seed)).permutation(steps)
    return [QUALITY - int(place) for place in order]


def brightens(whole: Composite, values: Sequence[float]) -> float:
    """Mean change of the masked region's luma per unit of the attribute, 0 to 255; its sign is the light placebo's."""
    if not whole.weight.size:
        return 0.0
    weight = whole.weight / max(float(whole.weight.sum()), 1e-6)
    luma = np.array(
        [float(((patch.astype(np.float32) @ np.array(LUMA, np.float32)) * weight).sum()) for patch in whole.patches]
    )
    centred = np.asarray(values, np.float64) - np.mean(values)
    return float(luma @ centred / (centred @ centred))


def lightened(whole: Composite, values: Sequence[float]) -> Composite:
    """The centre picture with its masked region made lighter towards the end where the edit brightens, darker towards
    the other; where the edit does neither, lighter above the centre.

    whole: the edited photo at K values, K odd.  values: (K,), increasing.

    At each value the mean absolute change of the masked pixels, before rounding and clipping, is that of the edit.
    """
    sign = -1.0 if brightens(whole, values) < 0 else 1.0
    return _changed(whole, values, np.full((*whole.weight.shape, 3), sign, np.float32))


def randomised(whole: Composite, values: Sequence[float], photo: str, seed: int) -> Composite:
    """The centre picture with a smooth random change of its masked region, its sign that of the value.

    whole, values: as for ``lightened``.  photo: its id; each photo has its own change.

    The change is orthogonal, over the masked pixels, to that of the edit from its first value to its last and to light;
    its mean absolute size at each value, before rounding and clipping, is that of the edit.
    """
    if not whole.weight.size:
        return _changed(whole, values, np.zeros((*whole.weight.shape, 3), np.float32))
    weight = whole.weight[..., None]
    field = _field(whole, np.random.default_rng(_key(photo, seed, "random"))) * weight
    edit = whole.patches[-1].astype(np.float32) - whole.patches[0].astype(np.float32)
    light = np.broadcast_to(weight, field.shape).astype(np.float32)
    for direction in _orthonormal(light, edit):
        field = field - float((field * direction).sum()) * direction
    return _changed(whole, values, np.asarray(field / np.maximum(weight, 1e-3), np.float32))


def _key(photo: str, seed: int, what: str = "") -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{photo}{what}".encode()).digest()[:8])


def _field(whole: Composite, generator: np.random.Generator) -> FloatArray:
    """(h, w, 3) smooth noise; gray where the picture is."""
    height, width = whole.weight.shape
    gray = bool((whole.patches == whole.patches[..., :1]).all())
    noise = generator.standard_normal((height, width, 1 if gray else 3)).astype(np.float32)
    sigma = max(1.0, GRAIN * max(height, width))
    smooth = cv2.GaussianBlur(noise, (0, 0), sigma, borderType=cv2.BORDER_REFLECT).reshape(height, width, -1)
    return np.asarray(np.broadcast_to(smooth / max(float(smooth.std()), 1e-9), (height, width, 3)), np.float32)


def _orthonormal(*vectors: FloatArray) -> list[FloatArray]:
    """The directions that the vectors span."""
    found: list[FloatArray] = []
    for vector in vectors:
        left = vector.astype(np.float32)
        for direction in found:
            left = left - float((left * direction).sum()) * direction
        size = float(np.sqrt(np.square(left, dtype=np.float64).sum()))
        if size > 1e-3:
            found.append(left / np.float32(size))
    return found


def _changed(whole: Composite, values: Sequence[float], change: NDArray[np.float32]) -> Composite:
    """The centre picture plus ``change`` in the mask, scaled at each value to the size of the edit's change."""
    centre = len(values) // 2
    base = whole.patches[centre].astype(np.float32)
    masked = whole.weight[..., None] * change
    size = float(np.abs(masked).mean()) if masked.size else 0.0
    patches = np.empty_like(whole.patches)
    for k, patch in enumerate(patches):
        change_size = float(np.abs(whole.patches[k].astype(np.float32) - base).mean()) if size else 0.0
        amount = np.sign(values[k] - values[centre]) * change_size / size if size else 0.0
        patch[:] = np.clip(np.rint(base + np.float32(amount) * masked), 0, 255).astype(np.uint8)
    return Composite(whole.photo, patches, whole.weight, whole.box, whole.mask_area)
