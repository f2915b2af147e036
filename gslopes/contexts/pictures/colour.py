"""Pictures of any colour space as sRGB, so that person and background meet in one."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageCms

from gslopes.core.records import ByteArray


def to_srgb(pixels: ByteArray, icc: bytes | None) -> ByteArray:
    """(H, W, 3) uint8 in sRGB; unchanged without a profile, or if that cannot be read.

    icc: the profile of the pixels' colour space.
    """
    if not icc:
        return pixels
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        if icc[16:20] == b"GRAY":
            return pixels
        converted = ImageCms.profileToProfile(Image.fromarray(pixels), profile, ImageCms.createProfile("sRGB"))
    except (ImageCms.PyCMSError, OSError):
        return pixels
    return pixels if converted is None else np.ascontiguousarray(converted, np.uint8)
