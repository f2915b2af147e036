"""Placebo sweeps: pictures that go through the same walk and should move no classifier by way of the attribute.

``same``: the picture at the centre value K times, encoded again each time: what the classifier's answers do by
themselves. ``light``: the masked region made darker or lighter by as much, pixel for pixel on average, as the edit
changed it, and brighter towards the end at which the edit brightens: what the light of this place and size does.
``random``: a smooth random change of the masked region, by as much again, with nothing of the edit's own change in it
and no brighter or darker on average; if the edit moves parts of the face, they are moved first, by as much and in
random directions: what a change of this place and size does that has nothing to do with the attribute.
"""

import hashlib
from collections.abc import Sequence

import cv2
import numpy as np

from gslopes.core.geometry import LUMA, smoothed
from gslopes.core.records import FloatArray, Motion, as_levels, doubles, floats
from gslopes.faces.compose.composite import STEEPEST, Composite, steepness
from gslopes.faces.compose.encode import QUALITY
from gslopes.faces.compose.paste import Mover

# In units of the longer side of the masked box.
GRAIN = 0.15  # the width of the random change's blobs
NEAR = 0.03  # over which the length of the edit's motion is averaged
NEWTON = 6  # steps to the amount of a change


def qualities(photo: str, steps: int, seed: int) -> list[int]:
    """The JPEG quality of each of K re-encodings: K neighbouring ones in an order drawn for each photo (its id)."""
    order = lot(photo, seed).permutation(steps)
    return [QUALITY - int(rank) for rank in order]


def brightens(composite: Composite, values: Sequence[float]) -> float:
    """Mean change of the masked region's luma per unit of the attribute, 0 to 255; its sign is the light placebo's."""
    if not composite.weight.size:
        return 0.0
    weight = composite.weight / max(float(composite.weight.sum()), 1e-6)
    luma = doubles(
        [float(((floats(patch) @ floats(LUMA)) * weight).sum()) for patch in composite.patches]
    )
    centred = doubles(values) - np.mean(values)
    return float(luma @ centred / (centred @ centred))


def lightened(composite: Composite, values: Sequence[float]) -> Composite:
    """The centre picture with its masked region made lighter towards the end at which the edit brightens, darker
    towards the other; by as much, in mean absolute change before rounding and clipping, as the edit at each value.

    composite: the edited photo at K values, K odd.  values: (K,), increasing.
    """
    sign = -1.0 if brightens(composite, values) < 0 else 1.0
    return _changed(composite, values, np.full((*composite.weight.shape, 3), sign, np.float32))


def randomised(composite: Composite, values: Sequence[float], photo: str, seed: int) -> Composite:
    """The centre picture with a smooth random change of its masked region, with the sign of the value.

    composite, values: as for ``lightened``.  photo: its id; each photo has another change.

    If the edit moves parts of the face, the picture is moved by ``_random_motion`` first. The rest of the change is
    orthogonal, over the masked pixels, to the edit's from its first value to its last and to light. The mean
    absolute size of both together at each value, before rounding and clipping, is the edit's, unless the motion
    by itself is larger at a value between the ends.
    """
    if not composite.weight.size:
        return _changed(composite, values, np.zeros((*composite.weight.shape, 3), np.float32))
    generator = lot(photo, seed, "random")
    weight = composite.weight[..., None]
    gray = bool((composite.patches == composite.patches[..., :1]).all())
    noise = _noise(composite, generator, 1 if gray else 3)
    shape = (*composite.weight.shape, 3)
    field = np.broadcast_to(noise / max(float(noise.std()), 1e-9), shape) * weight
    edit = floats(composite.patches[-1]) - composite.patches[0]
    light = np.broadcast_to(weight, shape)
    field = _without(field, _orthonormal(light, edit))
    random_motion = None
    if composite.motion is not None:
        random_motion = _random_motion(composite, composite.motion, values, generator)
    return _changed(composite, values, floats(field / np.maximum(weight, 1e-3)), random_motion)


def _random_motion(
    composite: Composite, motion: Motion, values: Sequence[float], generator: np.random.Generator
) -> FloatArray:
    """A random motion (h, w, 2), photo pixels a unit: at each place about as long as the edit's, with nothing of it,
    and shorter if it would fold, or change the picture by more than the edit does.
    """
    near = max(1.0, NEAR * max(composite.weight.shape))
    whole = motion.field
    if whole.ndim == 4:  # of named ends: from the first value to the last
        whole = whole[-1] - whole[0]
    squares = np.square(whole).sum(-1)
    length = np.sqrt(smoothed(squares, near, cv2.BORDER_CONSTANT))
    field = _noise(composite, generator, 2) * floats(length * composite.weight)[..., None]
    field = _without(field, _orthonormal(whole))
    field[composite.weight == 0] = 0
    field *= np.linalg.norm(whole) / max(float(np.linalg.norm(field)), 1e-9)
    centre = len(values) // 2
    ends = (0, len(values) - 1)
    longest = max(abs(values[k] - values[centre]) for k in ends)
    field *= STEEPEST / max(longest * steepness(field), STEEPEST)
    base = floats(composite.patches[centre])
    shares = [1.0]
    for k in ends:
        moved = _size(Mover(field)(base, values[k] - values[centre]) - base)
        shares.append(_size(composite.patches[k] - base) / max(moved, 1e-9))
    return min(shares) * field


def lot(photo: str, seed: int, what: str = "") -> np.random.Generator:
    """Draws for a photo, by its id: each photo has others, and the same ones whenever they are asked for."""
    text = f"{seed}:{photo}{what}"
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))


def _noise(composite: Composite, generator: np.random.Generator, channels: int) -> FloatArray:
    """(h, w, channels) smooth noise."""
    noise = floats(generator.standard_normal((*composite.weight.shape, channels)))
    sigma = max(1.0, GRAIN * max(composite.weight.shape))
    return smoothed(noise, sigma, cv2.BORDER_REFLECT)


def _orthonormal(*vectors: FloatArray) -> list[FloatArray]:
    """The directions that the vectors span."""
    directions: list[FloatArray] = []
    for vector in vectors:
        rest = _without(vector, directions)
        length = float(np.sqrt(np.square(rest, dtype=np.float64).sum()))
        if length > 1e-3:
            directions.append(rest / np.float32(length))
    return directions


def _without(field: FloatArray, directions: Sequence[FloatArray]) -> FloatArray:
    """What of a field lies along none of the directions."""
    for direction in directions:
        field = field - float((field * direction).sum()) * direction
    return field


def _changed(
    composite: Composite,
    values: Sequence[float],
    change: FloatArray,
    random_motion: FloatArray | None = None,
) -> Composite:
    """The centre picture, moved, plus ``change`` in the mask, scaled at each value to the edit's size."""
    centre = len(values) // 2
    base = floats(composite.patches[centre])
    masked = composite.weight[..., None] * change
    move = None if random_motion is None else Mover(random_motion)
    patches = np.empty_like(composite.patches)
    for k, edited in enumerate(composite.patches):
        distance = values[k] - values[centre]
        moved = base if move is None else move(base, distance)
        signed = np.float32(np.sign(distance)) * masked
        amount = _amount(moved - base, signed, _size(edited - base))
        patches[k] = as_levels(moved + amount * signed)
    return Composite(composite.photo, patches, composite.weight, composite.box, composite.mask_area)


def _amount(start: FloatArray, change: FloatArray, size: float) -> np.float32:
    """How often ``change`` is to be added to ``start`` for a mean absolute value of ``size``, 0 at least."""
    unit = _size(change)
    already = _size(start)
    if unit == 0 or already >= size:
        return np.float32(0)
    # enough; the mean is convex in it, so Newton comes down to the root from there
    amount = (size + already) / unit
    for _ in range(NEWTON if already else 0):
        total = start + np.float32(amount) * change
        slope = float((np.sign(total) * change).mean())
        amount -= (_size(total) - size) / slope
    return np.float32(amount)


def _size(change: FloatArray) -> float:
    """The mean absolute change, 0 for no pixels."""
    if change.size:
        return float(np.abs(change).mean())
    return 0.0
