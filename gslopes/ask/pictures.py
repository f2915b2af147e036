"""Pictures as classifiers take them: arrays for a network, in sRGB, and files within a service's limits."""

import base64
import io
import math
import operator
from collections.abc import Sequence
from typing import Literal

import numpy as np

from gslopes.core import Limits, PhotoError, Refused, read_beside
from gslopes.core.records import ByteArray, Files, FloatArray, floats

JPEG_ATTEMPTS = read_beside(__file__, "jpeg.toml")["attempts"]


def decoded(pictures: Sequence[bytes]) -> list[ByteArray]:
    """(H, W, 3) uint8 sRGB arrays of encoded pictures.  Raises: PhotoError if one of them cannot be decoded."""
    from gslopes.photos.decode import decode, in_srgb

    opened = (decode(data, "picture") for data in pictures)
    return [in_srgb(pixels, icc) for pixels, _, icc in opened]


def prepare(pixels: ByteArray, size: int) -> ByteArray:
    """The whole picture, scaled so that it covers a square, its middle kept: the usual input of a photo classifier.

    pixels: (H, W, 3) uint8, RGB.  size: side of the square, pixels.
    Returns: (size, size, 3) uint8, RGB; resampled with a bilinear filter that widens with the reduction (no aliasing).
    """
    from PIL import Image

    height, width = pixels.shape[:2]
    side = min(height, width)
    left = (width - side) / 2
    top = (height - side) / 2
    box = (left, top, left + side, top + side)
    square = Image.fromarray(pixels).resize(
        (size, size), Image.Resampling.BILINEAR, box=box, reducing_gap=3.0
    )
    return np.asarray(square)


def batch_of(pictures: Sequence[bytes], size: int) -> ByteArray:
    """(B, size, size, 3) uint8 RGB of encoded pictures.  Raises: PhotoError if one of them cannot be decoded."""
    return np.stack([prepare(pixels, size) for pixels in decoded(pictures)])


def normalise(
    batch: ByteArray,
    mean: Sequence[float],
    std: Sequence[float],
    *,
    white: float = 1.0,
    layout: Literal["nchw", "nhwc"] = "nchw",
) -> FloatArray:
    """Pixels to network input: (pixels - mean) / std.

    batch: (B, S, S, 3) uint8.  mean, std: per channel, in units in which black is 0 and white is ``white``.
    Returns: float32, (B, 3, S, S) or, with ``nhwc``, (B, S, S, 3).
    """
    centred = floats(batch) * np.float32(white / 255) - floats(mean)
    scaled = centred / floats(std)
    return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2) if layout == "nchw" else scaled)


def fit_pictures(pictures: Sequence[bytes], limits: Limits) -> tuple[Files, str]:
    """The pictures of one photo within the limits; all are encoded again if one has to be.

    All or none: a single picture that is compressed harder could pose as an effect of the edit.

    pictures: the files' bytes.
    Returns: their bytes, and what was done in words, empty if nothing.
    Raises: Refused if they are too small; PhotoError if one cannot be decoded.
    """
    if not (
        limits.picture_bytes
        or limits.max_side
        or limits.max_pixels
        or limits.min_side > 1
        or limits.formats
    ):
        return list(pictures), ""
    widths, heights, kinds = zip(*map(_header, pictures), strict=True)
    if min(*widths, *heights) < limits.min_side:
        sides = f"{min(widths)} x {min(heights)} pixels"
        raise Refused(f"{sides}; the service needs sides of at least {limits.min_side}")
    longest = max(*widths, *heights)
    most_bytes = limits.picture_bytes or math.inf
    scale = limits.max_side / longest if limits.max_side and longest > limits.max_side else 1.0
    pixels = max(map(operator.mul, widths, heights))
    if limits.max_pixels and pixels * scale**2 > limits.max_pixels:
        scale = (limits.max_pixels / pixels) ** 0.5 * 0.999  # sides are rounded
    if (
        scale == 1.0
        and {*kinds} <= {*(limits.formats or kinds)}
        and max(map(len, pictures)) <= most_bytes
    ):
        return list(pictures), ""
    for quality, smaller in JPEG_ATTEMPTS:
        size = round(longest * min(scale, smaller))
        encoded = [_encoded(data, quality, min(scale, smaller)) for data in pictures]
        if max(map(len, encoded)) <= most_bytes:
            return encoded, f"JPEG of quality {quality}, longer side {size} pixels"
    raise Refused("it cannot be made small enough for the service")


def kind_of(picture: bytes) -> str:
    """``png`` or ``jpeg``, of an encoded picture."""
    return "png" if picture.startswith(b"\x89PNG") else "jpeg"


def in_base64(picture: bytes) -> str:
    """The file of a picture as a text."""
    return base64.b64encode(picture).decode("ascii")


def png(pixels: ByteArray) -> bytes:
    """A picture as a PNG file, made fast rather than small.  pixels: (H, W, 3) uint8 RGB."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def beside(left: bytes, right: bytes) -> bytes:
    """Two pictures in one, PNG, in halves of the same size: the left one's, its longer side 1536 pixels at most.

    Both keep their pixels if they are no larger and as large as one another. The same files give the same bytes.
    Raises: PhotoError if one of them cannot be decoded.
    """
    from PIL import Image, ImageOps

    images = [Image.fromarray(pixels) for pixels in decoded([left, right])]
    for image in images:
        image.thumbnail((1536, 1536))  # to which models scale larger ones down
    return png(np.hstack([np.asarray(ImageOps.fit(image, images[0].size)) for image in images]))


def halves(picture: bytes) -> Files:
    """The two pictures of ``beside``, PNG.  Raises: PhotoError if it cannot be decoded."""
    return [*map(png, np.array_split(decoded([picture])[0], 2, axis=1))]


def _header(data: bytes) -> tuple[int, int, str]:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.width, image.height, image.format or ""
    except Exception as error:  # Pillow's readers raise many kinds
        raise PhotoError("picture", "it is not a picture that can be decoded") from error


def _encoded(data: bytes, quality: int, scale: float) -> bytes:
    from PIL import Image

    image = Image.fromarray(decoded([data])[0])
    if scale < 1:
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        image = image.resize(size, Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, subsampling=0)
    return buffer.getvalue()
