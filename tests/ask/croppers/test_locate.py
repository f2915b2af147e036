"""A returned picture is found again where it was cut out."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageFilter

from gslopes.ask.croppers.locate import locate
from gslopes.ask.croppers.records import Crop
from gslopes.core.errors import AnswerError


def textured(width=640, height=360, seed=1):
    """Smooth blotches of many sizes: no two places look alike."""
    generator = np.random.default_rng(seed)
    total = np.zeros((height, width, 3))
    for radius in (40, 12, 4):
        noise = Image.fromarray(generator.integers(0, 255, (height, width, 3), dtype=np.uint8))
        blurred = np.asarray(noise.filter(ImageFilter.GaussianBlur(radius)), float)
        total += (blurred - blurred.mean()) / blurred.std()
    return np.clip(128 + 30 * total, 0, 255).astype(np.uint8)


def cut(picture, box, size=None, quality=None):
    left, top, width, height = box
    part = Image.fromarray(picture[top : top + height, left : left + width])
    part = part.resize(size, Image.Resampling.LANCZOS) if size else part
    if quality:
        buffer = io.BytesIO()
        part.save(buffer, "JPEG", quality=quality)
        part = Image.open(buffer)
    return np.asarray(part)


@pytest.mark.parametrize(
    ("box", "size", "quality"),
    [
        ((140, 0, 360, 360), None, None),
        ((280, 0, 360, 360), None, 60),
        ((0, 1, 640, 358), None, None),
        ((123, 0, 360, 360), (180, 180), 80),
        ((60, 0, 316, 360), (158, 180), None),
        ((0, 0, 640, 360), (320, 180), None),
        ((200, 90, 300, 200), (240, 160), None),  # a smart crop that zooms in
    ],
    ids=["square", "jpeg", "flat", "half size", "tall", "all of it", "zoomed"],
)
def test_it_is_found_to_a_pixel(box, size, quality):
    picture = textured()
    found, correlation = locate(picture, cut(picture, box, size, quality))
    assert np.abs(np.subtract((found.left, found.top, found.width, found.height), box)).max() <= 1
    assert correlation > 0.95
    assert found.left + found.width <= 640
    assert found.top + found.height <= 360


def test_a_small_picture_is_compared_as_it_is():
    picture = textured(64, 48)
    assert locate(picture, cut(picture, (10, 0, 48, 48)))[0] == Crop(10, 0, 48, 48)


def test_what_is_not_in_the_picture_is_not_found():
    with pytest.raises(AnswerError, match="cannot be found"):
        locate(textured(), textured(360, 360, seed=2))
    with pytest.raises(AnswerError, match="of one gray"):
        locate(textured(), np.full((100, 100, 3), 7, np.uint8))
