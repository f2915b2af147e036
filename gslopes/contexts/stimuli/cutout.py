"""People cut out of their backdrop: which pixels are theirs, how much of each, and in what colour.

``eraser`` reproduces the paper (flood fill from both top corners).  ``studio`` is for a lit backdrop: a quadratic
surface of its colour in CIELAB, then GrabCut.  Whatever found the mask, its edge is softened, see ``matte``.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core import frozen_identity
from gslopes.core.arrays import Array, Flags
from gslopes.core.records import ByteArray, FloatArray

NEAR = 6.0  # ΔE within which a pixel may be backdrop
_REFITS = 6
_STRIP = 0.04
_MOST = 20_000  # pixels that a fit takes


class Backdrop(NamedTuple):
    """The surface, and what of the photo differs from it.

    colour: (H, W, 3) float32 RGB in [0, 255].  residual: (H, W) float32, ΔE of the photo from it.
    difference: (H, W, 3) float32 CIELAB, photo minus surface.
    """

    colour: FloatArray
    residual: FloatArray
    difference: FloatArray


def fit_backdrop(pixels: ByteArray, lowest: int) -> Backdrop:
    """The backdrop behind a portrait.

    Six terms in x and y for L*, a* and b*, fitted to a strip at the top and strips at both sides of the upper half,
    then refitted to the pixels within ΔE 6 that are connected to the top row.

    pixels: (H, W, 3) uint8 RGB.  lowest: row from which on nothing is fitted: a white shirt before a gray backdrop is
    within ΔE 6 of it and would bend the surface towards itself.
    """
    lab = np.asarray(cv2.cvtColor(pixels / np.float32(255), cv2.COLOR_RGB2LAB), np.float32)
    height, width = lab.shape[:2]
    y, x = np.indices((height, width), np.float32)
    x = 2 * x / max(width - 1, 1) - 1
    y = 2 * y / max(height - 1, 1) - 1
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], -1)
    wide = max(1, round(_STRIP * width))
    high = max(1, round(_STRIP * height))
    use = np.zeros((height, width), bool)
    use[:high] = True
    use[: height // 2, :wide] = use[: height // 2, -wide:] = True
    surface, residual = _fit(lab, terms, use)
    for _ in range(_REFITS):
        near = from_the_top(residual < NEAR)
        near[max(lowest, high) :] = False
        if near.sum() < 0.01 * near.size:
            break
        surface, residual = _fit(lab, terms, near)
    colour: FloatArray = np.clip(255 * cv2.cvtColor(surface, cv2.COLOR_LAB2RGB), 0, 255)
    return Backdrop(colour, residual, lab - surface)


def _fit(lab: FloatArray, terms: FloatArray, use: Flags) -> tuple[FloatArray, FloatArray]:
    step = max(1, int(use.sum()) // _MOST)
    rows = terms[use][::step].astype(float)
    values = lab[use][::step].astype(float)
    weights = np.linalg.lstsq(rows, values, rcond=None)[0]
    surface = terms @ weights.astype(np.float32)
    return surface, np.linalg.norm(lab - surface, axis=2)


def _parts(mask: Flags, connectivity: int = 4) -> NDArray[np.int32]:
    """(H, W) the number of each pixel's connected part of a mask, from 1; 0 outside."""
    labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=connectivity)[1]
    return np.asarray(labels, np.int32)


def from_the_top(mask: Flags) -> Flags:
    """The parts of a mask (H, W) that touch the top row."""
    labels = _parts(mask)
    return mask & np.isin(labels, labels[0])


def _opened(mask: Flags, side: int = 3) -> Flags:
    """A mask (H, W) without what is smaller than a square."""
    square = np.ones((side, side), np.uint8)
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, square) > 0


def _eroded(mask: Flags) -> Flags:
    """A mask (H, W) without its edge of one pixel."""
    return cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0


# In units of the face's width: half the column under and over the face; the trapezoid under the chin.
COLUMN = 0.37
CHIN = 0.30
SHOULDER = 0.48
SLOPE = 1.6
KEYED = 3.5  # ΔE under which what hair encloses is backdrop
ERASER = 32  # levels, as in the published script
FLAT = 12.0  # levels over which the brightest channel of a flat backdrop may range
_ITERATIONS = 4
_GAIN = 4.0  # of the difference from the backdrop, as GrabCut sees it
_LARGEST = 768  # GrabCut works on a picture of at most this side
# Limits of a good cut-out; outside of them it is flagged.
SHARE = (0.15, 0.75)  # of the photo that is person
BOTTOM = 0.75  # least part of the bottom row that is person, if the photo cuts the body
BELOW = 1.5  # how far a body that ends in the photo goes on under the face, in heights of the face
HOLES = 0.02  # most of the photo in holes before filling
LEFT = 0.02  # most of the person that has the backdrop's colour
COVERED = 0.98  # least part of the oval in the face box
SOLIDITY = (0.60, 0.95)  # area over convex hull
FEATHER = 0.0015  # of the shorter side: sigma of the edge, 1 pixel at 675
# of the shorter side: how far from the mask's edge colours hold nothing of the backdrop
INSIDE = 0.006
LOOPS = 0.03  # of the shorter side: how deep hair encloses backdrop
LIGHT = 20.0  # ΔE from the backdrop under which a pixel in hair may be a mixture with it
BARE = 4.0
OPEN = (
    0.04  # a gap in hair: at least 4 % of what is near the backdrop's colour is within ΔE 4 of it
)


@frozen_identity
class Person:
    """A mask (H, W) of a person, how it was found, and the part of the photo that was holes in it.

    chin: row below which hair encloses no backdrop: clothes begin.  0 if it is not known.
    """

    mask: Flags
    method: str
    holes: float
    backdrop: Backdrop | None = None
    chin: int = 0


def eraser(pixels: ByteArray, face: FloatArray) -> Person:
    """What a flood fill from both top corners leaves: 4-connected, within ``ERASER`` levels a channel of the corner.

    face: (4,) box; the backdrop's colour is fitted above the shoulders.

    Source: Barlas et al. 2020, section 4.3, "Magic Eraser"; the tolerance is not stated there.
    """
    gone: Flags = np.logical_or(*_floods(pixels))
    return _whole(~gone, "eraser", behind(pixels, face) if gone.any() else None)


def is_flat(pixels: ByteArray, face: FloatArray) -> bool:
    """Whether a backdrop is of one colour: the fills from both top corners find nearly the same."""
    floods = _floods(pixels)
    agree = floods.all(axis=0).sum() / max(floods.any(axis=0).sum(), 1) > 0.98
    return bool(agree and np.ptp(behind(pixels, face).colour, axis=(0, 1)).max() <= FLAT)


def _floods(pixels: ByteArray) -> Flags:
    """(2, H, W) what a flood fill from the left and from the right top corner reaches."""
    height, width = pixels.shape[:2]
    flags = 4 | cv2.FLOODFILL_MASK_ONLY | cv2.FLOODFILL_FIXED_RANGE | (255 << 8)
    levels = (ERASER,) * 3
    filled = np.zeros((2, height + 2, width + 2), np.uint8)
    for mask, x in zip(filled, (0, width - 1), strict=True):
        cv2.floodFill(pixels.copy(), mask, (x, 0), (0, 0, 0), levels, levels, flags)
    return filled[:, 1:-1, 1:-1] > 0


def studio(pixels: ByteArray, face: FloatArray, seed: int = 0) -> Person:
    """The person in front of a backdrop with a gradient.

    GrabCut (Rother, Kolmogorov, Blake 2004) of the photo's difference from the backdrop's surface rather than of the
    photo: in it the backdrop is one colour, and a white shirt before light gray is another.

    face: (4,) x0 y0 x1 y1 of the face in pixels.  seed: of OpenCV's random numbers: the photo's own.
    """
    backdrop = behind(pixels, face)
    height, width = pixels.shape[:2]
    longest = max(height, width)
    scale = min(0.5, _LARGEST / longest) if longest > 400 else 1.0
    size = max(1, round(width * scale)), max(1, round(height * scale))
    contrast = np.clip(128 + _GAIN * backdrop.difference, 0, 255)
    small = cv2.resize(contrast, size, interpolation=cv2.INTER_AREA)
    residual = cv2.resize(backdrop.residual, size, interpolation=cv2.INTER_AREA)
    guess = _guess(np.asarray(residual, np.float32), np.asarray(face, float) * scale)
    cv2.setRNGSeed(seed & 0x7FFFFFFF)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    levels = np.rint(small).astype(np.uint8)
    cv2.grabCut(levels, guess, (0, 0, 1, 1), *models, _ITERATIONS, cv2.GC_INIT_WITH_MASK)
    person = np.isin(guess, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.float32)
    full = cv2.resize(person, (width, height), interpolation=cv2.INTER_CUBIC) > 0.5
    outline = _whole(full, "studio", backdrop)
    # backdrop that hair or neck enclose is taken out: above the shoulders, outside of the face, in patches
    x0, y0, x1, y1 = np.asarray(face, float)
    unit = x1 - x0
    y, x = np.indices(full.shape, np.float32)
    inside = (np.abs(x - (x0 + x1) / 2) < 0.42 * unit) & (y > y0 - 0.35 * unit) & (y < y1)
    patches = _opened(outline.mask & (backdrop.residual < KEYED) & (y < y1) & ~inside)
    return replace(outline, mask=outline.mask & ~patches, chin=round(float(y1 + 0.25 * unit)))


def behind(pixels: ByteArray, face: FloatArray) -> Backdrop:
    """The backdrop of a portrait, fitted above the shoulders: down to 0.6 of the face box."""
    return fit_backdrop(pixels, round(float(face[1] + 0.6 * (face[3] - face[1]))))


def _guess(residual: FloatArray, face: Array) -> ByteArray:
    """GrabCut's start: sure and probable, background and person."""
    height, width = residual.shape
    x0, y0, x1, chin = face
    unit = x1 - x0
    y, x = np.indices(residual.shape, np.float32)
    aside = np.abs(x - (x0 + x1) / 2)
    down = y - (chin + CHIN * unit)
    guess = np.full(residual.shape, cv2.GC_PR_BGD, np.uint8)
    shoulders = (down > 0) & (aside < SHOULDER * unit + SLOPE * down)
    guess[shoulders | (residual > 5)] = cv2.GC_PR_FGD
    guess[_eroded(from_the_top(residual <= KEYED))] = cv2.GC_BGD
    column = (aside < COLUMN * unit) & (y > y0 + 0.2 * (chin - y0))
    # narrower than a face: backdrop on both sides
    neck = (y > chin - 0.25 * unit) & (down < 0.25 * unit)
    column &= ~neck | (residual > 6)
    base = (y > 0.97 * height) & (np.abs(x - width / 2) < width / 4)
    standing_out = _eroded(residual > 6) & (residual > 8) & (y > y0)
    guess[column | base | standing_out] = cv2.GC_FGD
    return guess


def _whole(mask: Flags, method: str, backdrop: Backdrop | None) -> Person:
    """The largest part, its holes filled."""
    mask = _opened(mask)
    labels = _parts(mask)
    if mask.any():
        mask = labels == np.bincount(labels[mask]).argmax()
    # what the outside cannot reach is a hole; below the photo the body goes on, so that edge is closed
    outside = np.pad(~mask, ((1, 0), (1, 1)), constant_values=True)
    parts = _parts(outside)
    reached = (parts == parts[0, 0])[1:, 1:-1]
    holes = ~mask & ~reached
    return Person(mask | holes, method, float(holes.mean()), backdrop)


def matte(pixels: ByteArray, person: Person) -> tuple[ByteArray, FloatArray]:
    """The person's own colours (H, W, 3) and alpha (H, W) in [0, 1].

    The mask's edge is eroded and softened by the same width, so that nothing of the backdrop shines through; in gaps of
    the hair alpha rises with the distance from the backdrop's colour.  What is not opaque has the colour of the nearest
    pixel well inside, a little smoothed.

    pixels: (H, W, 3) uint8 RGB.
    """
    side = min(person.mask.shape)
    within = cv2.distanceTransform(person.mask.astype(np.uint8), cv2.DIST_L2, 5)
    sigma = FEATHER * side
    core = (within > sigma).astype(np.float32)
    soft = cv2.GaussianBlur(core, (0, 0), max(sigma, 0.3), None, 0, cv2.BORDER_REPLICATE)
    alpha = np.clip(soft, 0, 1).astype(np.float32)
    sure = within > max(2.0, INSIDE * side)
    if person.backdrop is not None:
        residual = person.backdrop.residual
        gaps = _gaps(person, residual, within <= LOOPS * side)
        opacity = np.clip((residual - BARE) / (LIGHT - BARE), 0, 1)
        alpha = np.where(gaps, np.minimum(alpha, opacity), alpha)
        sure &= ~gaps
    if not sure.any():
        return pixels, alpha
    weight = sure.astype(np.float32)
    smooth = cv2.GaussianBlur(pixels * weight[..., None], (0, 0), 2)
    smooth /= np.maximum(cv2.GaussianBlur(weight, (0, 0), 2), 1e-3)[..., None]
    outside = (~sure).astype(np.uint8)
    labels = cv2.distanceTransformWithLabels(
        outside, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )[1]
    nearest = np.zeros((int(labels.max()) + 1, 3), np.float32)
    nearest[labels[sure]] = smooth[sure]
    return np.where((alpha < 0.999)[..., None], nearest[labels], pixels).astype(np.uint8), alpha


def _gaps(person: Person, residual: FloatArray, near_edge: Flags) -> Flags:
    """Where backdrop shows through hair: parts near its colour that reach the edge, some of each bare of hair."""
    light = person.mask & (residual < LIGHT)
    light[person.chin :] = False
    parts = _parts(light, 8)
    size = np.bincount(parts.ravel())
    bare = np.bincount(parts[residual < BARE], minlength=len(size))
    gap = (bare >= OPEN * size) & np.isin(np.arange(len(size)), parts[near_edge])
    gap[0] = False
    return gap[parts]


# -- checks -----------------------------------------------------------------------------------------------------------


def measure(person: Person, face: FloatArray) -> dict[str, float]:
    """Numbers for the checks: share, bottom, holes, below, left, solidity, covered.

    left: part of the person that has the backdrop's colour, in patches, above the chin: what an eraser did not reach.
    """
    mask = person.mask
    x0, y0, x1, y1 = np.asarray(face, float)
    width = max(x1 - x0, 1.0)
    height = max(y1 - y0, 1.0)
    y, x = np.indices(mask.shape)
    oval = ((x - (x0 + x1) / 2) / width) ** 2 + ((y - (y0 + y1) / 2) / height) ** 2 < 0.25
    patches = np.zeros_like(mask)
    if person.backdrop is not None:
        patches = mask & (person.backdrop.residual < KEYED) & (y < max(0, round(y1)))
    points = np.argwhere(mask)[:, ::-1].astype(np.int32)
    lowest = y1
    solidity = math.nan
    if len(points):
        lowest = float(points[:, 1].max())
        hull = cv2.contourArea(cv2.convexHull(points))
        solidity = min(1.0, len(points) / hull) if hull else math.nan
    return {
        "share": float(mask.mean()),
        "bottom": float(mask[-1].mean()),
        "holes": person.holes,
        "solidity": solidity,
        "below": (lowest - y1) / height,
        "left": float(_opened(patches, 5).sum() / max(len(points), 1)),
        "covered": float(mask[oval].mean()) if oval.any() else math.nan,
    }


def flaws(measured: Mapping[str, Any]) -> list[str]:
    """Which checks a cut-out fails, each with its number.  measured: as from ``measure``."""
    share = measured["share"]
    bottom = measured["bottom"]
    solidity = measured["solidity"]
    if share == 0:
        return ["all of the picture was removed"]
    if share > 0.995:
        return ["no backdrop was found"]
    checks = (
        (not SHARE[0] <= share <= SHARE[1], f"the person is {share:.0%} of the photo"),
        (bottom == 0 and measured["below"] < BELOW, "the body under the face was lost"),
        (0 < bottom < BOTTOM, f"{bottom:.0%} of the bottom row is person"),
        (measured["holes"] > HOLES, f"holes of {measured['holes']:.1%}"),
        (measured["left"] > LEFT, f"{measured['left']:.0%} of the person looks like the backdrop"),
        (measured["covered"] < COVERED, f"{measured['covered']:.1%} of the face is covered"),
        (not SOLIDITY[0] <= solidity <= SOLIDITY[1], f"solidity {solidity:.2f}"),
    )
    return [text for failed, text in checks if failed]
