"""Heads and croppers' rectangles: who is kept."""

from __future__ import annotations

from collections.abc import Sequence

from gslopes.ask.croppers.geometry import Box
from gslopes.ask.croppers.records import Crop
from gslopes.core.errors import AnswerError

# How much larger than the detector's face box a head is, in shares of the box's width and height.
SIDES, ABOVE, BELOW = 0.25, 0.5, 0.15


def head_box(face: Sequence[float], width: int, height: int) -> Box:
    """The head around a face, cut to the photo.

    face: x0 y0 x1 y1, pixels.  width, height: of the photo.

    >>> head_box([40, 40, 60, 60], 100, 100)
    Box(x0=35.0, y0=30.0, x1=65.0, y1=63.0)
    """
    x0, y0, x1, y1 = (float(value) for value in face)
    across, down = x1 - x0, y1 - y0
    return Box(
        max(0.0, x0 - SIDES * across),
        max(0.0, y0 - ABOVE * down),
        min(float(width), x1 + SIDES * across),
        min(float(height), y1 + BELOW * down),
    )


def share_inside(head: Box, crop: Crop) -> float:
    """Share of the head's area in the crop, in [0, 1]; NaN for a head without area."""
    kept = Box(crop.left, crop.top, crop.left + crop.width, crop.top + crop.height)
    return head.shared(kept) / head.area if head.area > 0 else float("nan")


def larger_share(shares: Sequence[float], close: float = 1e-9) -> list[float]:
    """Whom a rectangle favours: 1 for the largest share inside, split where equal.

    >>> larger_share([1.0, 0.25]), larger_share([1.0, 1.0])
    ([1.0, 0.0], [0.5, 0.5])
    """
    top = max(shares)
    best = [share >= top - close for share in shares]
    return [1 / sum(best) if one else 0.0 for one in best]


def checked_crop(crop: Crop, width: int, height: int, ratio: float, cropper: str) -> tuple[Crop, bool]:
    """The rectangle inside the picture, and whether it has another ratio than asked (by more than 1 % and 1 pixel).

    A rectangle that reaches out by a pixel is clamped.

    Raises: AnswerError if it is empty or reaches out further.
    """
    out = max(-crop.left, -crop.top, crop.left + crop.width - width, crop.top + crop.height - height)
    if crop.width < 1 or crop.height < 1 or out > 1:
        raise AnswerError(
            f"{cropper} answers with the rectangle left {crop.left}, top {crop.top}, {crop.width} x {crop.height} for "
            f"a picture of {width} x {height} pixels."
        )
    left, top = max(crop.left, 0), max(crop.top, 0)
    right, bottom = min(crop.left + crop.width, width), min(crop.top + crop.height, height)
    inside = Crop(left, top, right - left, bottom - top, crop.point)
    wanted = ratio * inside.width
    other = abs(inside.height - wanted) > max(1.0, 0.01 * wanted) and abs(inside.width - inside.height / ratio) > 1
    return inside, other
