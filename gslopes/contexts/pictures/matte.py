"""The edge of a cut-out: how much of each pixel is the person, in the person's own colour.

Where the backdrop's colour is known and differs from the person's, a pixel of the edge lies on the line between the
two (alpha = its position on that line): strands of hair keep their width.  Elsewhere the edge is feathered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.contexts.pictures.cutout import Person
from gslopes.core.records import ByteArray, FloatArray

FEATHER = 0.0015  # of the shorter side: sigma of the edge, 1 pixel at 675
OUTSIDE, INSIDE = 0.022, 0.006  # of the shorter side: how far from the mask's edge pixels are considered
LIGHT = 20.0  # ΔE from the backdrop under which a pixel near the edge may be a mixture with it
LOOPS = 0.03  # of the shorter side: how deep hair encloses backdrop
BARE, OPEN = 4.0, 0.04  # a gap in hair: where at least 4 % of what is near the backdrop's colour is within ΔE 4 of it
OFF_AXIS = 24.0  # levels off the line between person and backdrop beyond which a pixel is no mixture of the two
MIN_CONTRAST = 36.0  # levels between person and backdrop beyond which their mixture can be measured
NOISE = 0.12  # of a backdrop's grain: less than this is none of the person


@dataclass(frozen=True, slots=True, eq=False)
class Matte:
    """alpha: (H, W) float32 in [0, 1].  colour: (H, W, 3) uint8 RGB, the person's own where alpha is above 0."""

    alpha: FloatArray
    colour: ByteArray


def matte(pixels: ByteArray, person: Person) -> Matte:
    """The cut-out of a person.  pixels: (H, W, 3) uint8 RGB."""
    side = min(pixels.shape[:2])
    mask = person.mask
    within, beyond, sigma = _distance(mask), _distance(~mask), FEATHER * side
    # the mask's own edge, eroded by as much as it is softened: nothing of the backdrop shines through
    inside = (within > sigma).astype(np.float32)
    feathered = np.clip(cv2.GaussianBlur(inside, (0, 0), max(sigma, 0.3), borderType=cv2.BORDER_REPLICATE), 0, 1)
    sure = within > max(2.0, INSIDE * side)
    if person.backdrop is not None:
        sure &= ~_light(person, within, side)
    if not sure.any():
        return Matte(feathered, pixels.copy())
    inner = _nearest(pixels, sure)
    if person.backdrop is None:
        return Matte(feathered, np.where((feathered < 0.999)[..., None], inner, pixels).astype(np.uint8))
    edge = ~sure & (beyond <= OUTSIDE * side)
    alpha = _keyed(pixels, inner, person.backdrop.colour, feathered, edge, beyond / max(OUTSIDE * side, 1.0))
    return Matte(alpha, _unmixed(pixels, alpha, inner, person.backdrop.colour, edge))


def _light(person: Person, within: FloatArray, side: int) -> NDArray[np.bool_]:
    """Where backdrop may show through hair: near its colour, on the person's side of it, and some of it bare.

    A shirt that is brighter than a backdrop from which skin and hair differ by being darker is no mixture of them.
    """
    assert person.backdrop is not None
    mask, residual, lightness = person.mask, person.backdrop.residual, person.backdrop.difference[..., 0]
    strong = lightness[mask & (residual > LIGHT)]
    darker = 1.0 if len(strong) and np.median(strong) > 0 else -1.0
    light = (residual < LIGHT) & (within <= 2 * LOOPS * side) & (darker * lightness > -4)
    light[person.chin :] = False
    light &= mask
    count, parts = cv2.connectedComponents(light.astype(np.uint8), connectivity=8)
    size = np.bincount(parts.ravel(), minlength=count)
    bare = np.bincount(parts[light & (residual < BARE)], minlength=count)
    near = np.bincount(parts[light & (within <= LOOPS * side)], minlength=count)
    gap = (bare >= OPEN * size) & (near > 0)
    gap[0] = False
    return np.asarray(gap[parts])


def _distance(mask: NDArray[np.bool_]) -> FloatArray:
    """Of each pixel of a mask to its edge; the photo's own edges are none."""
    return cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5).astype(np.float32, copy=False)


def _nearest(pixels: ByteArray, sure: NDArray[np.bool_]) -> FloatArray:
    """(H, W, 3) float32: the colour, a little smoothed, of the nearest sure pixel."""
    weight = cv2.GaussianBlur(sure.astype(np.float32), (0, 0), 2)
    smooth = cv2.GaussianBlur(pixels.astype(np.float32) * sure[..., None], (0, 0), 2)
    smooth = smooth / np.maximum(weight, 1e-3)[..., None]
    _, labels = cv2.distanceTransformWithLabels(
        (~sure).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    table = np.zeros((int(labels.max()) + 1, 3), np.float32)
    table[labels[sure]] = smooth[sure]
    return np.asarray(table[labels], np.float32)


def _keyed(
    pixels: ByteArray,
    inner: FloatArray,
    backdrop: FloatArray,
    feathered: FloatArray,
    edge: NDArray[np.bool_],
    outside: FloatArray,
) -> FloatArray:
    """Alpha by each edge pixel's position between backdrop and person; feathered where the two are alike.

    outside: (H, W) distance from the mask, 1 where the edge ends.
    """
    axis = inner - backdrop
    length = np.linalg.norm(axis, axis=2)
    away = pixels.astype(np.float32) - backdrop
    position = (away * axis).sum(axis=2) / np.maximum(length**2, 1.0)
    off_axis_distance = np.linalg.norm(away - np.clip(position, 0, 1)[..., None] * axis, axis=2)
    position = np.clip((position - NOISE) / (0.92 - NOISE), 0, 1)
    # a strand is no thicker than its own light: what is near the body in colour only by chance fades with distance
    trust = (
        np.clip((length - MIN_CONTRAST) / MIN_CONTRAST, 0, 1) * np.clip(2 - off_axis_distance / OFF_AXIS, 0, 1) * edge
    )
    trust = cv2.GaussianBlur(trust.astype(np.float32), (0, 0), 1.0) * edge
    position = position * (1 - np.clip(outside, 0, 1) ** 2)
    return np.clip(trust * position + (1 - trust) * feathered, 0, 1).astype(np.float32)


def _unmixed(
    pixels: ByteArray, alpha: FloatArray, inner: FloatArray, backdrop: FloatArray, edge: NDArray[np.bool_]
) -> ByteArray:
    """The person's own colour: the backdrop's part taken out; where little is left, the nearest sure colour."""
    photo = pixels.astype(np.float32)
    part = np.maximum(alpha, 0.05)[..., None]
    foreground = np.clip((photo - (1 - part) * backdrop) / part, 0, 255)
    blend_weight = np.clip((alpha - 0.3) / 0.5, 0, 1)[..., None]
    mixed = blend_weight * foreground + (1 - blend_weight) * inner
    return np.where((edge & (alpha < 0.999))[..., None], np.rint(mixed), photo).astype(np.uint8)


# -- measures ---------------------------------------------------------------------------------------------------------


def halo(cut: Matte, person: Person, side: int) -> float:
    """How much of the backdrop is left in the colours of the edge, 0 to 1: 0 none, 1 an edge of the backdrop's colour.

    Mean, weighted by alpha, of the edge colours' positions between the person's colour further in and the backdrop.
    """
    if person.backdrop is None:
        return math.nan
    within = _distance(person.mask)
    deep = within > 3 * max(2.0, INSIDE * side)
    edge = (cut.alpha > 0.05) & (within < max(2.0, INSIDE * side))
    if not deep.any() or not edge.any():
        return math.nan
    inner = _nearest(cut.colour, deep)
    axis = person.backdrop.colour - inner
    length = np.linalg.norm(axis, axis=2)
    use = edge & (length > 2 * MIN_CONTRAST)
    if not use.any():
        return 0.0
    position = ((cut.colour.astype(np.float32) - inner) * axis).sum(axis=2) / np.maximum(length**2, 1.0)
    return float(np.average(np.clip(position[use], 0, 1), weights=cut.alpha[use]))
