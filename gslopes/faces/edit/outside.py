"""Pictures that an editor of others gave, fitted onto their photo; ``compose.paste`` blends them in.

A picture is aligned by what should not have changed: corners around the face, followed from the photo into the picture;
where too few of them are found again, corners of the whole photo.

Source of how they are followed: Lucas & Kanade 1981, by pyramids (Bouguet 2001); and back again (Kalal et al. 2010).
"""

import math
from collections.abc import Iterable, Iterator
from math import nan
from typing import Any

import cv2
import numpy as np

from gslopes.core import PhotoError, Reason, SkipReason, frozen_identity
from gslopes.core.geometry import around
from gslopes.core.records import (
    Array,
    ByteArray,
    Face,
    Flags,
    FloatArray,
    Photo,
    as_levels,
    doubles,
    floats,
)
from gslopes.photos.decode import in_profile, in_srgb, is_srgb, is_upright
from gslopes.photos.folder import photo_of

ASPECT = 0.06  # by how much an aspect may differ: models round sides to multiples of up to 64
FARTHEST = 0.03  # of the photo's diagonal, by which a corner of the picture may have moved
STILL = 0.4  # pixels at SIDE; motions of the face that are shorter are not seen, and not undone
MARGIN = 0.5  # of a face's box on each side of it, which an editor may change

SIDE = 384  # of the pictures that are compared, their longer one, pixels; small ones are enlarged twice at most
CORNERS = 200  # that are followed at most
SURE = (
    40  # of corners, which must agree: then no others are looked at, first of those around a face
)
LEAST = 14  # of all corners
SAME = 0.1  # of the corners, around which no pixel differs: the picture lies as the photo does
SPREAD = 8  # of the Gaussian within which contrast is made equal, pixels


@frozen_identity
class Fitted:
    """A picture that lies on its photo.

    pixels: (H, W, 3) uint8 RGB, of the photo's size and in its colour space.
    moved: how far it was moved to lie there, its corner that moved most, share of the photo's diagonal.
    background: mean change outside of the face's surroundings, of 255; clothes: below them; NaN if nothing is there.
    file: as it came, if nothing had to be fitted; else empty.
    """

    pixels: ByteArray
    moved: float
    background: float
    clothes: float
    file: bytes


def fitted(data: bytes, photo: Photo, face: Face, size: int = 0) -> Fitted:
    """The picture in a file that an editor gave for a photo; or for its chip, which stays a chip.

    size: of the chip's side, pixels; 0 of a photo.

    Raises: PhotoError, whose reason is a SkipReason: unreadable, WRONG_SIZE, MIRRORED or MOVED.
    """
    height, width = photo.shape
    came = photo_of(data, photo.path)
    pixels = _sized(_in_colours_of(photo, came), photo, size or width, size or height)
    if size:
        return Fitted(pixels, nan, nan, nan, b"")
    matrix = _motion(photo, face, pixels)
    moved = 0.0
    if matrix is not None:
        moved = _farthest(matrix, (0, 0, width, height)) / math.hypot(width, height)
        if moved > FARTHEST:
            raise _unfit(photo, Reason.MOVED, f"by {moved:.1%} of the diagonal")
        back = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        moved_back = cv2.warpAffine(
            pixels, matrix, (width, height), flags=back, borderMode=cv2.BORDER_REPLICATE
        )
        pixels = np.asarray(moved_back, np.uint8)
    background, clothes = _changes(photo, face, pixels)
    file = data * (pixels is came.pixels and is_upright(data))
    return Fitted(pixels, moved, background, clothes, file)


def _unfit(photo: Photo, reason: Reason, detail: str = "") -> PhotoError:
    return PhotoError(photo.path, SkipReason(reason, detail))


def _in_colours_of(photo: Photo, came: Photo) -> ByteArray:
    """A picture's pixels in the photo's colour space; one that names none is in sRGB, as what was sent."""
    if came.icc == photo.icc or (is_srgb(came.icc) and is_srgb(photo.icc)):
        return came.pixels
    return in_profile(in_srgb(came.pixels, came.icc), photo.icc)


def _sized(pixels: ByteArray, photo: Photo, width: int, height: int) -> ByteArray:
    """The picture at this size.  Raises: PhotoError if its aspect is another."""
    high, wide = pixels.shape[:2]
    if (high, wide) == (height, width):
        return pixels
    if abs(math.log(wide * height / (high * width))) > ASPECT:
        raise _unfit(photo, Reason.WRONG_SIZE, f"{wide}×{high} for {width}×{height}")
    way = cv2.INTER_AREA if wide * high > width * height else cv2.INTER_LANCZOS4
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=way), np.uint8)


# --- How a picture moved: corners of the photo, found again in it ----------------------------------------------------


def _motion(photo: Photo, face: Face, pixels: ByteArray) -> Array | None:
    """The similarity (2, 3) from the photo's frame to the picture's; None if it is none to speak of.

    Raises: PhotoError if there is none, MOVED, or there is one of the picture's mirror image, MIRRORED.
    """
    height, width = pixels.shape[:2]
    scale = min(SIDE / max(width, height), 2)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    before = _small(photo.pixels, size)
    after = _small(pixels, size)
    same = cv2.erode((before == after).astype(np.uint8), np.ones((9, 9), np.uint8))
    contrast = _contrast(before)
    outside = around(face.box, MARGIN, pixels).astype(np.uint8)
    beyond = cv2.resize(outside, size, interpolation=cv2.INTER_NEAREST)
    corners = _corners(contrast)
    x, y = corners.T.astype(int)
    if len(corners) == 0 or same[y, x].mean() >= SAME:
        return None
    there = _contrast(after)
    tries = (_corners(contrast, beyond), corners, _corners(contrast, 1 - beyond))
    ways = [_followed(contrast, there, some) for some in tries]
    matrix, agreed = max(ways, key=lambda way: min(way[1], SURE))
    if agreed < SURE:
        _, mirrored = _followed(contrast, np.ascontiguousarray(there[:, ::-1]), corners)
        if mirrored > max(2 * agreed, LEAST):
            raise _unfit(photo, Reason.MIRRORED)
    if agreed < LEAST:
        raise _unfit(photo, Reason.MOVED, "nothing of the photo lies where it was")
    if _farthest(matrix, doubles(face.box) * scale) <= STILL:
        return None
    # pixels' centres are whole numbers in both frames
    matrix[:, 2] = matrix[:, 2] / scale + (matrix[:, :2] - np.eye(2)) @ np.full(
        2, 0.5 / scale - 0.5
    )
    return matrix.round(6)  # the same on every processor


def _small(pixels: ByteArray, size: tuple[int, int]) -> ByteArray:
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.resize(gray, size, interpolation=cv2.INTER_AREA), np.uint8)


def _contrast(gray: ByteArray) -> ByteArray:
    """A gray picture whose contrast is the same everywhere: other light, and other colours, do not move it."""
    levels = floats(gray)
    levels -= cv2.GaussianBlur(levels, (0, 0), SPREAD)
    deviation = np.sqrt(cv2.GaussianBlur(levels * levels, (0, 0), SPREAD) + 16)
    return as_levels(128 + 40 * levels / deviation)


def _corners(picture: ByteArray, where: Any = None) -> FloatArray:
    """(n, 2) x y of the clearest corners of a gray picture."""
    found = cv2.goodFeaturesToTrack(picture, CORNERS, 0.02, 6, mask=where)
    if found is None:
        return np.zeros((0, 2), np.float32)
    return floats(found).reshape(-1, 2)


def _followed(before: ByteArray, after: ByteArray, corners: FloatArray) -> tuple[Array, int]:
    """(the similarity on which most corners agree, how many do); 0 of fewer than LEAST."""
    nothing = np.eye(2, 3), 0
    if len(corners) < LEAST:
        return nothing
    guess: Any = None
    there, _, _ = cv2.calcOpticalFlowPyrLK(before, after, corners[:, None], guess)
    back, _, _ = cv2.calcOpticalFlowPyrLK(after, before, there, guess)
    found: Flags = np.abs(back[:, 0] - corners).max(axis=1) < 0.5
    if found.sum() < LEAST:
        return nothing
    matrix, agree = cv2.estimateAffinePartial2D(
        corners[found], there[found, 0], method=cv2.RANSAC, ransacReprojThreshold=1.0
    )
    if matrix is None:
        return nothing
    return doubles(matrix), int(agree.sum())


def _farthest(matrix: Array, box: Iterable[float]) -> float:
    """How far the corner of a box that moves most does, pixels."""
    x0, y0, x1, y1 = box
    corners = doubles([(x0, y0), (x1, y0), (x0, y1), (x1, y1)])
    moves = corners @ matrix[:, :2].T + matrix[:, 2] - corners
    return float(np.linalg.norm(moves, axis=1).max())


# --- How much of a picture changed that an editor was not asked to change ---------------------------------------------


def _changes(photo: Photo, face: Face, pixels: ByteArray) -> Iterator[float]:
    """Of the background, and of the clothes: below the face, and up to its width beside it."""
    outside = around(face.box, MARGIN, pixels)
    change = np.abs(pixels.astype(np.int16) - photo.pixels).mean(axis=-1)
    x0, _, x1, y1 = face.box.tolist()
    left, right, top = (max(0, round(place)) for place in (2 * x0 - x1, 2 * x1 - x0, y1))
    clothes = np.zeros_like(outside)
    clothes[top:, left:right] = True
    for part in (outside & ~clothes, outside & clothes):
        yield float(change[part].mean()) if part.any() else nan
