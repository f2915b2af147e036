"""Counterfactuals as files' bytes, in the photo's own colour space."""

from __future__ import annotations

import io
from typing import Literal, get_args

from PIL import Image

from gslopes.core.errors import UnknownName
from gslopes.core.records import ByteArray

Format = Literal["jpeg", "png"]
SUFFIX: dict[str, str] = {"jpeg": ".jpg", "png": ".png"}

QUALITY = 95


def encode(pixels: ByteArray, gray: bool, icc: bytes | None, format: Format = "jpeg", quality: int = QUALITY) -> bytes:  # noqa: A002
    """A whole JPEG or PNG file.

    pixels: (H, W, 3) uint8 RGB; three equal channels if gray.
    gray: write one channel, unless the profile is one of colour (then three equal ones).
    icc: the pixels' profile, which goes into the file; None for sRGB.
    format: ``jpeg`` is baseline 4:4:4 with fixed tables, so that an 8×8 block of equal pixels decodes to equal pixels
        whatever stands around it; ``png`` is lossless, packed quickly rather than tightly.
    quality: of the JPEG, 1 to 100; a PNG of lower quality is packed more tightly, with the same pixels.

    Raises: UnknownName for another format.
    """
    if format not in get_args(Format):
        raise UnknownName("picture format", format, get_args(Format))
    one_channel = gray and (icc is None or icc[16:20] == b"GRAY")
    image = Image.fromarray(pixels[..., 0].copy() if one_channel else pixels)
    file = io.BytesIO()
    if format == "jpeg":
        image.save(file, "JPEG", quality=quality, subsampling=0, icc_profile=icc)
    else:
        image.save(file, "PNG", compress_level=min(9, 1 + max(0, QUALITY - quality)), icc_profile=icc)
    return file.getvalue()
