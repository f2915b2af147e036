"""What counts as a photo, and what as the same photo again."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from skimage.data import astronaut, chelsea

from gslopes.collect.fetch import DownloadError
from gslopes.collect.pictures import DuplicateIndex, check_type, examine, perceptual_hash
from tests.collect.server import bomb


def encoded(pixels: np.ndarray, kind: str = "JPEG", **options: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def test_the_same_photo_smaller_and_worse_is_found_and_another_is_not():
    duplicates = DuplicateIndex(near=4)
    first = examine(encoded(astronaut(), quality=95), 64)
    duplicates.add(first.photo, "a/first.jpg", first.phash)
    small = np.asarray(Image.fromarray(astronaut()).resize((220, 220)))
    again = duplicates.find(examine(encoded(small, quality=40), 64))
    assert again is not None
    assert again[:2] == (first.photo, "a/first.jpg")
    assert "looks the same" in again[2]
    assert duplicates.find(examine(encoded(chelsea()), 64)) is None


def test_equal_bytes_are_found_even_if_looks_do_not_count():
    duplicates = DuplicateIndex(near=-1)
    data = encoded(astronaut())
    first = examine(data, 64)
    duplicates.add(first.photo, "a", first.phash)
    assert duplicates.find(examine(data, 64)) == (first.photo, "a", "same bytes as another photo")
    assert duplicates.find(examine(encoded(astronaut(), quality=50), 64)) is None


def test_of_several_near_photos_the_nearest_is_named():
    duplicates = DuplicateIndex(near=8)
    picture = examine(encoded(astronaut()), 64)
    for number, bits in enumerate((0b1111, 0b1, 0b11)):
        duplicates.add(f"photo{number}", f"path{number}", picture.phash ^ bits)
    found = duplicates.find(picture)
    assert found == ("photo1", "path1", "looks the same (1 of 64 bits differ)")


def test_more_photos_than_there_was_room_for_are_all_remembered():
    duplicates = DuplicateIndex(near=0)
    for number in range(3000):
        duplicates.add(str(number), str(number), number * 0x1_0001_0001)
    picture = examine(encoded(astronaut()), 64)
    for number in (0, 1023, 1024, 2999):
        again = duplicates.find(type(picture)("new", "jpg", 1, 1, number * 0x1_0001_0001))
        assert again is not None
        assert again[0] == str(number)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not a JPEG"),
        (b"<html>", "not a JPEG"),
        (b"GIF89a" + bytes(100), "not a JPEG"),
        (b"\xff\xd8\xff" + bytes(1000), "unreadable"),
        (encoded(astronaut())[:5000], "truncated"),
        (bomb(), "too large"),
        (encoded(astronaut()[:40]), "too small"),
    ],
)
def test_what_is_no_usable_photo_is_refused_with_the_reason(data, reason):
    with pytest.raises(DownloadError, match=reason) as caught:
        examine(data, 64)
    assert caught.value.status == "refused"


def test_the_suffix_is_that_of_the_contents():
    kinds = {kind: examine(encoded(astronaut(), kind), 64).suffix for kind in ("JPEG", "PNG", "WEBP", "TIFF", "BMP")}
    assert kinds == {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "TIFF": "tif", "BMP": "bmp"}


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "", "application/json"])
def test_what_is_not_sent_as_a_picture_is_refused(kind):
    with pytest.raises(DownloadError, match="not sent as a picture"):
        check_type(kind)


def test_pictures_and_plain_bytes_may_be_tried():
    for kind in ("image/jpeg", "image/webp", "application/octet-stream"):
        check_type(kind)


def test_the_hash_is_a_number_of_64_bits():
    assert 0 < perceptual_hash(astronaut()) < 2**64
