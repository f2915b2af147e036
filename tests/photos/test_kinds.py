"""Every kind of TIFF is read as it looks, or refused by name."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image, features

from gslopes.core.errors import PhotoError
from gslopes.core.reasons import Reason, listed
from gslopes.photos.decode import decode
from gslopes.photos.folder import list_photos, open_photo
from gslopes.photos.kinds import formats, kind_of

Y, X = np.mgrid[0:24, 0:32]
GRAY = X / 62 + Y / 46
COLOUR = np.stack([X / 31, Y / 23, (X + Y) / 54], -1)


def scaled(shares: Any, dtype: str) -> Any:
    """Shares of white as samples."""
    kind = np.dtype(dtype)
    return shares.astype(kind) if kind.kind == "f" else np.round(shares * np.iinfo(kind).max).astype(kind)


def tiff(samples: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, samples, **options)
    return file.getvalue()


def packed(values: list[int], bits: int, photometric: int) -> bytes:
    """A row of four samples of a few bits each."""
    row = sum(value << (3 - at) * bits for at, value in enumerate(values))
    pixels = (row << (-4 * bits % 8)).to_bytes(-(-4 * bits // 8))
    tags = {256: 4, 257: 1, 258: bits, 259: 1, 262: photometric, 273: 8, 277: 1, 278: 1, 279: len(pixels)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    head = b"II*\0" + struct.pack("<I", 8 + len(pixels))
    return head + pixels + struct.pack("<H", len(tags)) + entries + bytes(4)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i1", "i2", "i4", "f2", "f4", "f8"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_a_tiff_is_read_as_it_looks_or_refused_by_name(dtype: str, byteorder: str):
    read = 0
    gray, full = np.repeat(GRAY[..., None], 3, -1), np.ones_like(GRAY)[..., None]
    cases = [
        (GRAY, gray, {"photometric": "minisblack"}),
        (1 - GRAY, gray, {"photometric": "miniswhite"}),
        (COLOUR, COLOUR, {"photometric": "rgb"}),
        (np.moveaxis(COLOUR, -1, 0), COLOUR, {"photometric": "rgb", "planarconfig": "separate"}),
        (np.concatenate([COLOUR, full], -1), COLOUR, {"photometric": "rgb", "extrasamples": ["unassalpha"]}),
        (np.concatenate([1 - COLOUR, 0 * full], -1), COLOUR, {"photometric": "separated"}),
    ]
    for shares, look, options in cases:
        for compression in (None, "zlib"):
            data = tiff(scaled(shares, dtype), byteorder=byteorder, compression=compression, **options)
            try:
                pixels, _, _ = decode(data, "a.tif")
            except PhotoError as error:
                why = error.reason
            else:
                why, read = "", read + 1
                assert np.abs(pixels / 255 - look).max() < 0.02, options
            named = f"{Reason.UNREAD_KIND} (TIFF of {8 * np.dtype(dtype).itemsize}-bit"
            assert not why or why.startswith(named), options
    assert read == {"u1": 12, "u2": 10 if byteorder == "<" else 8}.get(dtype, 0)


def test_a_raw_file_and_its_preview_are_named():
    raw = tiff(scaled(COLOUR, "u1"), photometric="rgb", subfiletype=1)
    with pytest.raises(PhotoError, match="a camera's raw file"):
        decode(raw, "a.tif")
    bigtiff = tiff(scaled(COLOUR, "u1"), photometric="rgb", bigtiff=True)
    assert decode(bigtiff, "a.tif")[0].shape == (24, 32, 3)


def test_pictures_of_phones_are_read_turned_or_their_remedy_is_named(monkeypatch):
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(scaled(COLOUR, "u1")).save(file, "AVIF", quality=95, exif=exif)
    assert kind_of(file.getvalue()[:32]) == "AVIF"
    if features.check("avif"):
        pixels, _, _ = decode(file.getvalue(), "a.avif")
        assert np.abs(pixels / 255 - np.rot90(COLOUR, -1)).mean() < 0.05
    heif = pytest.importorskip("pillow_heif", reason="pillow-heif is not installed: pip install 'gslopes[heif]'")
    file = io.BytesIO()
    heif.from_pillow(Image.fromarray(scaled(COLOUR, "u1"))).save(file, quality=95)
    pixels, _, _ = decode(file.getvalue(), "a.heic")
    assert np.abs(pixels / 255 - COLOUR).mean() < 0.05
    monkeypatch.setattr("gslopes.photos.kinds.formats", lambda: ("JPEG",))
    with pytest.raises(PhotoError, match=r"HEIC: pip install 'gslopes\[heif\]'"):
        decode(file.getvalue(), "a.heic")
    assert "JPEG" in formats()


def test_photos_of_phones_that_cannot_be_read_are_counted_and_named(tmp_path, monkeypatch):
    """Without pillow-heif: on every list of reasons, the terminal's and the page's, with the remedy."""
    head = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00heicmif1"
    monkeypatch.setattr("gslopes.photos.kinds.formats", lambda: ("JPEG",))
    rows = []
    for name in ("a.heic", "b.HEIC", "c"):  # known by its bytes, whatever its name
        (tmp_path / name).write_bytes(head + bytes(200))
    for file in list_photos(tmp_path):
        with pytest.raises(PhotoError) as found:
            open_photo(file.path)
        rows.append(found.value.reason)
    reasons = [listed(one.reason, one.detail) for one in rows]
    assert reasons == ["unreadable: a kind of picture that is not read (HEIC: pip install 'gslopes[heif]')"] * 3
