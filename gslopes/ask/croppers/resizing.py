"""Pictures made smaller for a model that sees a small version alone."""

from __future__ import annotations

from typing import Literal

import cv2
import numpy as np
from PIL import Image

from gslopes.core.records import ByteArray

Resample = Literal["lanczos", "area"]


def resized(photo: ByteArray, width: int, height: int, resample: Resample = "lanczos") -> ByteArray:
    """(height, width, 3) uint8 of a photo; the photo itself where that is its size.

    resample: ``lanczos`` by Pillow, or ``area`` by OpenCV, which averages pixels.
    """
    if photo.shape[:2] == (height, width):
        return photo
    if resample == "area":
        return np.asarray(cv2.resize(photo, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    return np.asarray(Image.fromarray(photo).resize((width, height), Image.Resampling.LANCZOS))


def fitted(photo: ByteArray, size: int, resample: Resample = "lanczos") -> ByteArray:
    """The photo in a square of ``size`` pixels, aspect kept; small ones are enlarged."""
    height, width = photo.shape[:2]
    scale = min(size / width, size / height)
    return resized(photo, max(1, round(width * scale)), max(1, round(height * scale)), resample)
