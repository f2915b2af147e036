"""Every kind of TIFF is read as it looks, or refused by name."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image, features

from gslopes.core.errors import PhotoError
from gslopes.core.reasons import Reason, listed
from gslopes.photos.decode import decode, kind_of
from gslopes.photos.folder import list_photos, open_photo

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


def test_pictures_of_phones_are_read_turned():
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


def test_photos_of_phones_that_cannot_be_read_are_named_with_the_remedy(tmp_path, monkeypatch):
    """Without pillow-heif: on every list of reasons, the terminal's and the page's."""
    head = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00heicmif1"
    monkeypatch.setattr("gslopes.photos.decode.formats", lambda: ("JPEG",))
    for name in ("a.heic", "b.HEIC", "c"):  # known by its bytes, whatever its name
        (tmp_path / name).write_bytes(head + bytes(200))
    for file in list_photos(tmp_path):
        with pytest.raises(PhotoError) as error:
            open_photo(file.path)
        reason = error.value.reason
        named = "unreadable: a kind of picture that is not read (HEIC: pip install 'gslopes[heif]')"
        assert listed(reason.reason, reason.detail) == named
