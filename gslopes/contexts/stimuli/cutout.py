"""People cut out of their backdrop: which pixels are theirs, and the checks of it.

``eraser`` reproduces the paper (flood fill from both top corners).  ``studio`` asks the face parser for person and
hair.  Either way the edge between what is surely person and what is surely behind is matted, see ``matting``.
"""

from math import nan

import cv2
import numpy as np

from gslopes.contexts import HOME
from gslopes.contexts.stimuli.matting import backdrop_of, lab_of, opacity
from gslopes.core import Facts, frozen_identity
from gslopes.core.records import ByteArray, Flags, FloatArray, Int32Array, doubles, floats
from gslopes.report.inline import plain

ERASER = 32  # levels, as in the published script
# Where the parser is sure of a person; where a person may be; where hair is.
SURE = 0.97
MAYBE = (0.02, 0.05, 0.5)  # nobody, hardly anybody, more likely somebody
HAIR = 0.2
SHIRT = 6.0  # ΔE from the backdrop of what only the view from afar takes for a person
BARE = 7  # pixels of a square of the backdrop's colour
# Of the shorter side: how far from its edge a person is sure, elsewhere and in hair.
EDGE = 0.006
STRANDS = 0.02
SHOULDERS = 0.3  # widths of the face below its box: above it gaps in hair are backdrop, below it they are clothes
FAINT = 0.05  # alpha above which a pixel belongs to the largest part
SOLID = 0.95  # alpha below which it may be a hole
FAR = 0.04  # of the shorter side: from how far outside the backdrop is taken for the check, and how deep it looks
BESIDE = 0.1  # widths of the face below its box down to which is looked for backdrop
KEYED = (
    3.0,
    12.0,
)  # ΔE from it at which a pixel may begin to be opaque, and until it may be wholly


@frozen_identity
class Person:
    """How much of each pixel is the person, (H, W) in [0, 1], how it was found, and the part of the photo in holes."""

    alpha: FloatArray
    method: str
    holes: float = 0.0

    @property
    def mask(self) -> Flags:
        """(H, W) what is more person than backdrop."""
        return self.alpha >= 0.5


def eraser(pixels: ByteArray) -> Person:
    """What a flood fill from both top corners leaves: 4-connected, within ``ERASER`` levels a channel of the corner.

    Source: Barlas et al. 2020, section 4.3, "Magic Eraser"; the tolerance is not stated there.
    """
    height, width = pixels.shape[:2]
    flags = 4 | cv2.FLOODFILL_MASK_ONLY | cv2.FLOODFILL_FIXED_RANGE | (255 << 8)
    levels = (ERASER,) * 3
    filled = np.zeros((height + 2, width + 2), np.uint8)
    for x in (0, width - 1):
        if not filled[1, 1 + x]:
            cv2.floodFill(pixels.copy(), filled, (x, 0), (0, 0, 0), levels, levels, flags)
    gone = filled[1:-1, 1:-1] > 0
    edge = EDGE * min(height, width)
    alpha = opacity(pixels, _within(~gone) > edge, _within(gone) > edge, np.zeros_like(gone))
    return _whole(alpha, "eraser")


def studio(pixels: ByteArray, face: FloatArray, points: FloatArray) -> Person:
    """The person that the face parser sees, in two views.

    face: (4,) x0 y0 x1 y1.  points: (5, 2); of the face, pixels.  Raises: ModelError.
    """
    from gslopes.contexts.stimuli.parsing import BODY, HEAD, parsed

    head = parsed(pixels, points, HEAD)
    body = parsed(pixels, points, BODY)
    likely = np.maximum(head.person, body.person)
    hair = np.maximum(head.hair, body.hair)
    shoulders = round(float(face[3] + SHOULDERS * (face[2] - face[0])))
    # a body goes on downwards, also where the parser loses a white shirt
    likely[shoulders:] = np.maximum.accumulate(likely[shoulders:])
    nobody = likely < MAYBE[0]
    if not nobody.any():
        return Person(np.ones_like(likely), "studio")
    backdrop = backdrop_of(lab_of(pixels), nobody)
    between = head.person < MAYBE[2]
    between[shoulders:] = False
    bare = _opened(backdrop.residual < 2 + 2 * backdrop.noise, BARE)
    bare &= between | (likely < MAYBE[2])
    behind = bare | (likely < MAYBE[1])
    side = min(likely.shape)
    # of the head what both views see: near the upper border of its view the parser sees hair
    seen = (head.person > SURE) & (body.person > MAYBE[2])
    deep = _within(seen | ((body.person > SURE) & (backdrop.residual > SHIRT)))
    sure = (deep > EDGE * side) & ((hair < HAIR) | (deep > STRANDS * side)) & ~behind
    clothes = _within(body.person > SURE) > STRANDS * side
    clothes[:shoulders] = False
    sure |= clothes & ~behind
    reached = behind.copy()
    reached[0] = reached[:, 0] = reached[:, -1] = True
    doubtful = _parts(~sure)
    sure |= ~np.isin(doubtful, doubtful[reached])  # highlights, which no backdrop reaches
    strands = _within(hair < HAIR) <= STRANDS * side
    return _whole(opacity(pixels, sure, behind, strands), "studio", shoulders)


def _within(mask: Flags) -> FloatArray:
    """(H, W) how far each pixel of a mask lies from its edge, pixels; 0 outside."""
    return floats(cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5))


def _parts(mask: Flags) -> Int32Array:
    """(H, W) the number of each pixel's connected part of a mask, from 1; 0 outside."""
    labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=4)[1]
    return np.asarray(labels, np.int32)


def _opened(mask: Flags, side: int) -> Flags:
    """A mask (H, W) without what is smaller than a square."""
    square = np.ones((side, side), np.uint8)
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, square) > 0


def _whole(alpha: FloatArray, method: str, shoulders: int = 0) -> Person:
    """The largest part, its holes filled from the shoulders down: above them they are gaps in hair."""
    labels = _parts(alpha > FAINT)
    if labels.any():
        alpha = np.where(labels == np.bincount(labels[labels > 0]).argmax(), alpha, 0)
    # what the outside cannot reach is a hole; below the photo the body goes on, so that edge is closed
    outside = _parts(np.pad(alpha < SOLID, ((1, 0), (1, 1)), constant_values=True))
    holes = ((outside > 0) & (outside != outside[0, 0]))[1:, 1:-1]
    holes[:shoulders] = False
    return Person(floats(np.where(holes, 1, alpha)), method, float(holes.mean()))


# -- checks -----------------------------------------------------------------------------------------------------------


def measure(pixels: ByteArray, person: Person, face: FloatArray) -> dict[str, float]:
    """Numbers for the checks: share, bottom, holes, below, left, solidity, covered."""
    mask = person.mask
    x0, y0, x1, y1 = doubles(face)
    width = max(x1 - x0, 1.0)
    height = max(y1 - y0, 1.0)
    y, x = np.indices(mask.shape)
    oval = ((x - (x0 + x1) / 2) / width) ** 2 + ((y - (y0 + y1) / 2) / height) ** 2 < 0.25
    left = _residue(pixels, person.alpha) & ~oval & (y < y1 + BESIDE * width)
    left &= _within(mask) < FAR * min(mask.shape)  # deeper inside it is a highlight
    points = np.argwhere(mask)[:, ::-1].astype(np.int32)
    lowest = y1
    solidity = nan
    if len(points):
        lowest = float(points[:, 1].max())
        hull = cv2.contourArea(cv2.convexHull(points))
        solidity = min(1.0, len(points) / hull) if hull else nan
    return {
        "share": float(mask.mean()),
        "bottom": float(mask[-1].mean()),
        "holes": person.holes,
        "solidity": solidity,
        "below": (lowest - y1) / height,
        "left": float(_opened(left, 3).sum() / max(len(points), 1)),
        "covered": float(mask[oval].mean()) if oval.any() else nan,
    }


def _residue(pixels: ByteArray, alpha: FloatArray) -> Flags:
    """Where a pixel is more opaque than its difference from the far backdrop allows, whoever found the mask."""
    far = _within(alpha < FAINT) > FAR * min(alpha.shape)
    if not far.any():
        return far
    backdrop = backdrop_of(lab_of(pixels), far)
    allowed = (backdrop.residual - KEYED[0] - 2 * backdrop.noise) / KEYED[1]
    return alpha - np.clip(allowed, 0, 1) > 0.4


def unseen(colour: ByteArray, person: Person, face: FloatArray, points: FloatArray) -> float:
    """How much of a cut-out head the parser takes for a backdrop, before a dark one; squares of the face's width.

    colour: (H, W, 3), the person's own.  Raises: ModelError.
    """
    from gslopes.contexts.stimuli.parsing import AGAIN, parsed

    alpha = person.alpha[..., None]
    before = np.rint(colour * alpha + floats((15, 20, 40)) * (1 - alpha)).astype(np.uint8)
    again = parsed(before, points, AGAIN)
    width = float(face[2] - face[0])
    lost = (again.person >= 0) & (again.person < MAYBE[2]) & person.mask
    return float(lost[: round(float(face[3] + BESIDE * width))].sum() / max(width, 1.0) ** 2)


def flaws(measured: Facts) -> list[str]:
    """Which checks a cut-out fails, each with its number, in the words and by the limits of flaws.txt.j2.

    measured: as from ``measure``, and ``unseen`` if known.
    """
    return plain("flaws.txt.j2", HOME / "templates", **measured).splitlines()
