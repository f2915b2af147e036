"""Blend whole pictures, which an editor of others gave and which lie on their photo, into it."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gslopes.core.arrays import floats
from gslopes.core.geometry import LUMA
from gslopes.core.records import ByteArray, Face, FloatArray, Photo
from gslopes.faces.compose.composite import Composite, Footprint, cut
from gslopes.faces.compose.masks import Head

Whole = Literal["auto", "paste", "difference", "whole"]


def composite_of(
    photo: Photo,
    face: Face,
    mask: FloatArray,
    pictures: Sequence[ByteArray],
    blend: Whole,
    neutral: ByteArray | None = None,
    head: Head | None = None,
) -> Composite:
    """Blend K pictures that lie on their photo into it.

    mask: (S, S) float32 in [0, 1], chip frame.  pictures: K of (H, W, 3) uint8 RGB.
    blend: with m the mask in the photo, ``paste``, as ``auto``: m·picture + (1 - m)·photo; ``difference``:
        photo + m·(picture - neutral); ``whole``: the picture. Of a gray photo their luminance counts.
    neutral: (H, W, 3) uint8 RGB, the picture of no change.  head: where ears and neck may change too; None if not.
    """
    drawn = np.stack([_as_gray(picture, photo) for picture in pictures])
    if blend == "whole":
        height, width = photo.shape
        ones = np.ones((height, width), np.float32)
        return Composite(photo.pixels, drawn, ones, (0, 0, width, height), 1.0)
    footprint = Footprint(photo.pixels, None, mask, face.matrix, head)
    before = cut(photo.pixels, footprint.box)
    base = floats(before)
    if blend == "difference" and neutral is not None:
        base = floats(cut(_as_gray(neutral, photo), footprint.box))
    changes = [cut(picture, footprint.box) - base for picture in drawn]
    levels = before + footprint.weight[..., None] * np.stack(changes)
    return footprint.composite(np.clip(np.rint(levels), 0, 255).astype(np.uint8))


def _as_gray(picture: ByteArray, photo: Photo) -> ByteArray:
    """The picture, gray if the photo is."""
    if not photo.gray:
        return picture
    gray = np.rint(floats(picture) @ floats(LUMA)).astype(np.uint8)
    return np.repeat(gray[..., None], 3, axis=-1)
