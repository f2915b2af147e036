"""What kind of picture a file holds, by its first bytes and, of a TIFF, by its tags; and which kinds are not read."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from PIL import TiffImagePlugin, features

HEAD = 32  # bytes that say which kind it is

_BEGINNINGS = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"GIF8": "GIF",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "TIFF",  # BigTIFF
    b"MM\0+": "TIFF",
    b"\0\0\0\x0cJXL \r\n\x87\n": "JPEG XL",
    b"\xff\x0a": "JPEG XL",
    b"\0\0\0\x0cjP  \r\n\x87\n": "JPEG 2000",
    b"\xff\x4f\xff\x51": "JPEG 2000",
}
_BRANDS = {b"avif": "AVIF", b"avis": "AVIF", **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"mif1"), "HEIC")}
_BMP_HEADERS = (12, 16, 40, 52, 56, 64, 108, 124)  # bytes; two letters alone begin many a text
_SAMPLES = {2: "signed", 3: "floating-point", 5: "complex", 6: "complex"}


def kind_of(head: bytes) -> str:
    """The format that a file begins as, such as JPEG; empty if it is no picture.  head: its first 32 bytes."""
    for beginning, kind in _BEGINNINGS.items():
        if head.startswith(beginning):
            return kind
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WEBP"
    if head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return "BMP"
    if head[4:8] == b"ftyp":
        brands = [head[8:12], *(head[at : at + 4] for at in range(16, len(head), 4))]
        return next((_BRANDS[brand] for brand in brands if brand in _BRANDS), "")
    return ""


@cache
def formats() -> tuple[str, ...]:
    """Pillow's names of the formats that this installation reads. Formats that run other programs stay out."""
    known = ["JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF"]
    if "avif" in features.modules and features.check("avif"):  # Pillow 11.3 or newer
        known.append("AVIF")
    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()
        known.append("HEIF")
    return tuple(known)


def unread_kind(data: bytes, opens: bool = True) -> str:
    """What a picture is if it is none that ``decode`` reads, for its reason; empty if it may be one.

    opens: whether Pillow may open it: some TIFF files it does not know.

    Pillow opens some TIFF files as the negative of what they show, or as noise: samples that are signed, or 16-bit in
    planes of their own. A camera's raw file shows a small preview first.
    """
    kind = kind_of(data[:HEAD])
    if kind in ("JPEG XL", "JPEG 2000"):
        return kind
    if kind == "HEIC" and "HEIF" not in formats():
        return "HEIC: pip install 'gslopes[heif]'"
    if kind == "AVIF" and not {"AVIF", "HEIF"} & set(formats()):
        return "AVIF: pip install 'pillow>=11.3'"
    if kind != "TIFF":
        return ""
    tags = tiff_tags(data)
    bits, samples = max(_numbers(tags, 258, 1)), _SAMPLES.get(max(_numbers(tags, 339, 1)), "")
    photometric, planes = _numbers(tags, 262, 1)[0], _numbers(tags, 284, 1)[0]
    if 50706 in tags or photometric in (32803, 34892) or _numbers(tags, 254, 0)[0] & 1:
        return "a camera's raw file"
    if samples:
        return f"TIFF of {bits}-bit {samples} samples"
    if bits > 16 or (bits == 16 and planes == 2):
        return f"TIFF of {bits}-bit samples{' in planes' if planes == 2 else ''}"
    return f"TIFF of {bits}-bit samples" if tags and not opens else ""


def tiff_tags(data: bytes) -> Mapping[int, Any]:
    """Tags of the first picture in a TIFF; none if they cannot be read."""
    with suppress(Exception):  # what a damaged directory makes Pillow raise can be anything
        tags = TiffImagePlugin.ImageFileDirectory_v2(data[: 16 if data[2:3] == b"+" or data[3:4] == b"+" else 8])
        file = io.BytesIO(data)
        file.seek(tags.next)
        tags.load(file)
        return {tag: tags[tag] for tag in (254, 258, 262, 284, 339, 50706) if tag in tags}
    return {}


def _numbers(tags: Mapping[int, Any], tag: int, default: int) -> tuple[int, ...]:
    value = tags.get(tag, default)
    values = value if isinstance(value, tuple) else (value,)
    return tuple(one for one in values if isinstance(one, int)) or (default,)
