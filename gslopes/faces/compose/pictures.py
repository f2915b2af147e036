"""Blend whole pictures, which an editor of others gave and which lie on their photo, into it."""

from typing import Literal

import numpy as np

from gslopes.core.arrays import floats
from gslopes.core.geometry import LUMA
from gslopes.core.records import ByteArray, Face, FloatArray, Photo
from gslopes.faces.compose.composite import Composite, Footprint, cut
from gslopes.faces.compose.masks import Head

Whole = Literal["paste", "difference", "whole"]


def composite_of(
    photo: Photo,
    face: Face,
    mask: FloatArray,
    pictures: ByteArray,
    blend: Whole,
    neutral: ByteArray | None = None,
    head: Head | None = None,
) -> Composite:
    """Blend K pictures that lie on their photo into it.

    mask: (S, S) float32 in [0, 1], chip frame.  pictures: (K, H, W, 3) uint8 RGB.
    blend: with m the mask in the photo, ``paste``: m·picture + (1 - m)·photo; ``difference``:
        photo + m·(picture - neutral); ``whole``: the picture. Of a gray photo their luminance counts.
    neutral: (H, W, 3) uint8 RGB, the picture of no change.  head: where ears and neck may change too; None if not.
    """
    height, width = photo.pixels.shape[:2]
    if blend == "whole":
        drawn = np.stack([_as_gray(picture, photo) for picture in pictures])
        ones = np.ones((height, width), np.float32)
        return Composite(photo.pixels, drawn, ones, (0, 0, width, height), 1.0)
    footprint = Footprint((photo.pixels, photo.gray), None, mask, face.matrix, head)
    weight = footprint.weight[..., None]
    before = floats(cut(photo.pixels, footprint.box))
    base = before
    if blend == "difference" and neutral is not None:
        base = floats(cut(_as_gray(neutral, photo), footprint.box))
    patches = np.empty((len(pictures), *before.shape), np.uint8)
    for patch, picture in zip(patches, pictures, strict=True):
        change = floats(cut(_as_gray(picture, photo), footprint.box)) - base
        patch[:] = np.clip(np.rint(before + weight * change), 0, 255)
    return footprint.composite(patches)


def _as_gray(picture: ByteArray, photo: Photo) -> ByteArray:
    """The picture, gray if the photo is."""
    if not photo.gray:
        return picture
    gray = np.rint(floats(picture) @ floats(LUMA)).astype(np.uint8)
    return np.repeat(gray[..., None], 3, axis=-1)
