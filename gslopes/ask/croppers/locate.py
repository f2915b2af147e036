"""Where a cropped picture lies in the original: for services that answer with the picture and not with a rectangle."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.ask.croppers.records import Crop
from gslopes.core.errors import AnswerError
from gslopes.core.records import ByteArray

SCALES = 40
SMALL = 512  # pixels of the longer side at which all scales are tried
ACCEPTED = 0.9  # normalised cross-correlation
_SURE = 0.998
_FLAT = 1.0  # standard deviation of gray levels below which a picture could be anywhere
Gray = NDArray[np.float32]


def locate(original: ByteArray, returned: ByteArray) -> tuple[Crop, float]:
    """The rectangle of ``original`` that ``returned`` shows, and how well it correlates there, in [-1, 1].

    original, returned: (H, W, 3) uint8 RGB. The returned picture may have been scaled down; its sides keep their ratio.

    The returned picture is tried as wide as it is, as wide as can be, and at 40 widths between, by normalised
    cross-correlation on gray at no more than 512 pixels; the best is refined to a pixel at full size.

    Raises: AnswerError if nothing correlates by 0.9, or the returned picture is of one gray.
    """
    whole, part = _gray(original), _gray(returned)
    if float(part.std()) < _FLAT:
        raise AnswerError("The returned picture is of one gray: it cannot be found in the original.")
    height, width = whole.shape
    ratio = part.shape[0] / part.shape[1]
    widest = min(width, max(1, round(height / ratio)))
    narrow = min(part.shape[1], widest)
    between = np.geomspace(narrow, widest, SCALES) if narrow < widest else np.array([widest])
    factor = min(1.0, SMALL / max(whole.shape))
    small = _scaled(whole, max(1, round(width * factor)), max(1, round(height * factor)))
    best = _best(small, part, [widest, narrow, *between], ratio, factor)
    if factor < 1 or len(between) > 1:  # between two of the widths tried, and between pixels of the small picture
        step = max(1.0 / factor, best[1] * (between[-1] / between[0]) ** (1 / SCALES) - best[1])
        near = np.unique(np.clip(np.linspace(best[1] - step, best[1] + step, 9), 1, widest))
        best = max(best, _best(small, part, near, ratio, factor))
        best = _refined(whole, part, best, widest, ratio, round(2 / factor) + 2)
    correlation, wide, left, top = best
    if correlation < ACCEPTED:
        raise AnswerError(f"The returned picture cannot be found in the original: it correlates by {correlation:.2f}.")
    tall = min(height, max(1, round(wide * ratio)))
    return Crop(int(min(left, width - wide)), int(min(top, height - tall)), int(wide), int(tall)), correlation


Found = tuple[float, float, float, float]  # correlation, width, left, top; pixels of the original


def _best(whole: Gray, part: Gray, widths: Iterable[float], ratio: float, factor: float) -> Found:
    best: Found = (-1.0, 1.0, 0.0, 0.0)
    for wide in widths:
        size = (max(2, round(wide * factor)), max(2, round(wide * ratio * factor)))
        size = min(size[0], whole.shape[1]), min(size[1], whole.shape[0])
        value, (x, y) = _match(whole, _scaled(part, *size))
        best = max(best, (value, float(wide), x / factor, y / factor))
        if value > _SURE and factor == 1:
            break
    return best


def _refined(whole: Gray, part: Gray, best: Found, widest: int, ratio: float, reach: int) -> Found:
    """At full size, all widths and places within ``reach`` pixels of what was found on the small picture."""
    _, wide, left, top = best
    height, width = whole.shape
    found: Found = (-1.0, 1.0, 0.0, 0.0)
    for candidate in range(max(1, round(wide) - reach), min(widest, round(wide) + reach) + 1):
        tall = min(height, max(1, round(candidate * ratio)))
        x0, y0 = (
            int(np.clip(round(at) - reach, 0, side - length))
            for at, side, length in ((left, width, candidate), (top, height, tall))
        )
        window = whole[y0 : y0 + tall + 2 * reach, x0 : x0 + candidate + 2 * reach]
        value, (x, y) = _match(window, _scaled(part, candidate, tall))
        found = max(found, (value, float(candidate), float(x0 + x), float(y0 + y)))
    return found


def _match(whole: Gray, part: Gray) -> tuple[float, tuple[int, int]]:
    if float(part.std()) < _FLAT:
        return -1.0, (0, 0)
    scores = np.nan_to_num(cv2.matchTemplate(whole, part, cv2.TM_CCOEFF_NORMED), nan=-1.0, posinf=-1.0, neginf=-1.0)
    y, x = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return float(min(scores[y, x], 1.0)), (int(x), int(y))


def _gray(picture: ByteArray) -> Gray:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) if picture.ndim == 3 else picture, np.float32)


def _scaled(picture: Gray, width: int, height: int) -> Gray:
    if picture.shape == (height, width):
        return picture
    smaller = width < picture.shape[1]
    how = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, (width, height), interpolation=how), np.float32)
