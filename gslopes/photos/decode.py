"""The bytes of a picture file to RGB pixels, whatever it holds; the only place that meets Pillow's many modes."""

import io
import re
import struct
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, cast

import numpy as np
from PIL import ExifTags, Image, ImageCms, TiffImagePlugin, UnidentifiedImageError, features

from gslopes.core import (
    Names,
    PhotoError,
    Reason,
    SkipReason,
    UsageError,
    read_beside,
    read_named,
    read_regular,
    show,
)
from gslopes.core.records import ByteArray, floats

Size = tuple[int, int]  # width and height
MOST_PIXELS = 100_000_000
LARGEST_FILE = 8 * MOST_PIXELS + (16 << 20)  # bytes: four channels of 16 bits, uncompressed
# libjpeg's limit: a longer photo could be read, but its counterfactuals not written.
LONGEST_SIDE = 65_500
LARGEST_PROFILE = 8 << 20  # bytes; more does not fit a JPEG's markers, and no camera writes that
MOST_SCANS = 100  # of a JPEG, as in libtiff: each may cost 50 bytes and goes over all pixels

_BITS = 258  # tags of a TIFF
_PHOTOMETRIC = 262
_GRAY = ("1", "L", "LA", "La")
_SPACES = {**dict.fromkeys(_GRAY, b"GRAY"), "CMYK": b"CMYK", "LAB": b"Lab "}
# Of EXIF's orientations from 2 on.
_TURNS = "FLIP_LEFT_RIGHT ROTATE_180 FLIP_TOP_BOTTOM TRANSPOSE ROTATE_270 TRANSVERSE ROTATE_90"
_TRANSPOSE = {number: Image.Transpose[name] for number, name in enumerate(_TURNS.split(), 2)}


def decode(data: bytes, path: object) -> tuple[ByteArray, bool, bytes | None]:
    """Pixels, whether they are gray, and their ICC profile.

    data: a whole JPEG, PNG, WebP, BMP, TIFF, GIF, AVIF or HEIC file, whatever its name; of several frames or pages the
        first is taken.
    path: named in the error.

    Pixels are (H, W, 3) uint8 RGB with the EXIF orientation applied. Transparent pixels are laid over white, as a
    browser's page shows them; 16 bits are scaled to 8; CMYK and Lab go to sRGB through their ICC profile. Gray is
    what the file holds as gray, and also RGB whose three channels are equal everywhere. The profile is the file's own
    if the pixels are in its colour space, otherwise None, which means sRGB.

    Raises: PhotoError if this is not a picture, is damaged, has more than 100 million pixels, or is of a kind that has
    no agreed look, such as floating-point samples.
    """
    if not data:
        raise PhotoError(path, SkipReason(Reason.EMPTY_FILE))
    if unread := unread_kind(data):
        raise PhotoError(path, SkipReason(Reason.UNREAD_KIND, unread))
    with _reading(data, path):
        image = _open(data, path)
        image.load()
        orientation = _orientation(image)
        rgb, gray, icc = _to_rgb(image)
    if orientation in _TRANSPOSE:
        rgb = rgb.transpose(_TRANSPOSE[orientation])
    pixels = np.array(rgb)
    # a coloured photo answers after its first row
    gray = gray or all((part == part[..., :1]).all() for part in (pixels[:1], pixels))
    return pixels, gray, icc


def is_upright(data: bytes) -> bool:
    """Whether a picture that can be opened looks the same to programs that pass over its EXIF orientation."""
    return _orientation(_open(data, "picture")) not in _TRANSPOSE


def is_first_of_several(path: Path) -> bool:
    """Whether a file is an animation, or has several pages, of which only the first is read.

    The second picture that a phone keeps in a JPEG, such as a gain map, is none of these. A file that cannot be read
    is none either.
    """
    with suppress(PhotoError), _reading(b"", path):
        data = read_regular(path, LARGEST_FILE, _may_have_several)
        return _may_have_several(data[:32]) and getattr(_open(data, path), "is_animated", False)
    return False


def _may_have_several(head: bytes) -> bool:
    return kind_of(head) not in ("", "JPEG")


def _orientation(image: Image.Image) -> int:
    with suppress(Exception):  # of free-form binary, which no viewer takes amiss
        return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    return 1


def named_picture(
    path: Path | str,
    *,
    folder: Path | None = None,
    load: bool = True,
    enough: Callable[[Size], Size] | None = None,
    hint: str = "",
) -> Image.Image:
    """A picture, in its mode, that a user or a table names.

    folder: that a table belongs to which names the file; see ``core.files.resolved``.
    load: decode its pixels; else only its header is looked at.
    enough: its size to the least one that will do: a JPEG may then be decoded at a half, a quarter or an eighth.

    Raises: UsageError as ``read_named``, and for a file that is not a picture or larger than ``decode`` takes.
    """
    data = read_named(path, LARGEST_FILE, folder=folder, hint=hint)
    try:
        with _reading(data, path):
            picture = _open(data, path)
            if enough:
                picture.draft(None, enough(picture.size))
            if load:
                picture.load()
    except PhotoError as error:
        raise UsageError(f"{show(path)} cannot be read: {error.reason}.", hint) from error
    return picture


_IGNORE = ("ignore", None, Warning, re.compile(r"PIL\."), 0)
_lock = Lock()
_decoding: list[int] = []  # an entry a thread that decodes


@contextmanager
def _reading(data: bytes, path: object) -> Iterator[None]:
    """Whatever Pillow raises becomes a PhotoError; its warnings of odd metadata and large pictures are not shown.

    ``warnings.catch_warnings`` would restore the filters of one thread under the feet of another.
    """
    with _lock:
        if not _decoding:
            cast(list[Any], warnings.filters).insert(0, _IGNORE)
        _decoding.append(1)
    try:
        yield
    except (PhotoError, MemoryError):
        raise
    except Exception as error:  # damaged files make Pillow raise nearly anything
        raise PhotoError(path, _why(data, error)) from error
    finally:
        with _lock:
            _decoding.pop()
            if not _decoding and _IGNORE in warnings.filters:
                cast(list[Any], warnings.filters).remove(_IGNORE)


def _open(data: bytes, path: object) -> Image.Image:
    """The file's header, read; its size, checked before a single pixel is decoded."""
    try:
        image = Image.open(io.BytesIO(data), formats=formats())
    except Image.DecompressionBombError:
        raise PhotoError(path, _too_large(*_declared_size(data))) from None
    if image.width * image.height > MOST_PIXELS or max(image.size) > LONGEST_SIDE:
        raise PhotoError(path, _too_large(*image.size))
    if data.startswith(b"\xff\xd8"):
        scans = len(re.findall(rb"\xff\xda\0[\x08\x0a\x0c\x0e][\1-\4]", data))
        if scans > MOST_SCANS:
            detail = f"{scans:,} scans, limit {MOST_SCANS}"
            raise PhotoError(path, SkipReason(Reason.TOO_LARGE, detail))
    return image


def _too_large(width: int, height: int) -> SkipReason:
    limit = f"limit {MOST_PIXELS // 1_000_000} million"
    if width:
        if width * height <= MOST_PIXELS:
            limit = f"limit {LONGEST_SIDE} a side"
        limit = f"{width}×{height} pixels, {limit}"
    return SkipReason(Reason.TOO_LARGE, limit)


def _declared_size(data: bytes) -> tuple[int, int]:
    """Width and height in the header of a file that Pillow itself refuses as a bomb; zeros if it does not tell."""
    for name in formats():
        factory, accept = Image.OPEN[name]
        if accept and accept(data[:16]) is True:
            with suppress(Image.DecompressionBombError, SyntaxError, OSError, struct.error):
                return factory(io.BytesIO(data), "").size
    return 0, 0


def _why(data: bytes, error: Exception) -> SkipReason:
    """The reason for the photos table: stable words, no detail of the decoder."""
    message = str(error).lower()
    if isinstance(error, UnidentifiedImageError) and not kind_of(data[:HEAD]):
        return SkipReason(Reason.NOT_A_PICTURE)
    if "max_text" in message:  # Pillow's limits; the pixels may be sound
        return SkipReason(Reason.TOO_LARGE, "the text or colour profile packed beside its pixels")
    ended = "truncated" in message or "requires a buffer" in message
    if ended or isinstance(error, EOFError) or _cut_short(data):
        return SkipReason(Reason.TRUNCATED)
    if isinstance(error, UnidentifiedImageError) and (unread := unread_kind(data, opens=False)):
        return SkipReason(Reason.UNREAD_KIND, unread)
    return SkipReason(Reason.DAMAGED)


def _cut_short(data: bytes) -> bool:
    """Whether the file lacks the end that its format promises."""
    if data.startswith(b"RIFF"):
        return len(data) < 8 + int.from_bytes(data[4:8], "little")
    if data.startswith(b"\x89PNG"):
        return b"IEND" not in data[-16:]
    if data.startswith(b"\xff\xd8"):
        return b"\xff\xd9" not in data[-1024:]
    if data.startswith(b"BM"):
        return len(data) < max(26, int.from_bytes(data[2:6], "little"))
    if data.startswith((b"II*\0", b"MM\0*")):  # its directory may come last
        order: Literal["little", "big"] = "little" if data.startswith(b"II") else "big"
        return len(data) < 8 + int.from_bytes(data[4:8], order)
    return data.startswith(b"GIF8") and not data.endswith(b";")


def _to_rgb(image: Image.Image) -> tuple[Image.Image, bool, bytes | None]:
    """The picture in RGB, whether its mode is a gray one, and the profile that still fits."""
    image = _to_eight_bits(image)
    gray = image.mode in _GRAY
    icc = _profile(image, _SPACES.get(image.mode, b"RGB "))
    if image.mode in ("CMYK", "LAB"):
        return to_srgb(image, icc), False, None
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return image.convert("RGB"), gray, icc


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """16-bit gray scaled to 8 bits (Pillow's own conversion would clip it); 16-bit colour Pillow scales itself."""
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        tags = getattr(image, "tag_v2", {})
        white = 4095 if tags.get(_BITS) == (12,) else 65535
        values = np.asarray(image).astype(np.uint32)
        values = white - values if tags.get(_PHOTOMETRIC) == 0 else values  # WhiteIsZero
        scaled = Image.fromarray(((values * 255 + white // 2) // white).astype(np.uint8))
        if (icc := image.info.get("icc_profile")) is not None:
            scaled.info["icc_profile"] = icc
        return scaled
    if image.mode in ("I", "F"):
        raise ValueError("32-bit samples have no agreed white: this is a measurement, not a photo")
    return image


def _profile(image: Image.Image, space: bytes) -> bytes | None:
    """The embedded ICC profile, if it is one and describes this colour space (bytes 16 to 20 of its header)."""
    icc = image.info.get("icc_profile")
    if not isinstance(icc, bytes) or not 128 <= len(icc) <= LARGEST_PROFILE:
        return None
    if icc[36:40] == b"acsp" and icc[16:20] == space:
        return icc
    return None


def in_srgb(pixels: ByteArray, icc: bytes | None) -> ByteArray:
    """(H, W, 3) uint8 RGB as ``decode`` gives them, in sRGB; unchanged without a profile, or if that cannot be read.

    The walk edits and writes a photo in its own colour space. Pixels that leave their file, or meet another file's,
    go through this.
    """
    if not icc:
        return pixels
    image = Image.fromarray(pixels)
    return np.array(to_srgb(image.convert("L") if icc[16:20] == b"GRAY" else image, icc))


@lru_cache
def is_srgb(icc: bytes | None) -> bool:
    """Whether pixels with this profile are in sRGB, but for rounding; without one they are."""
    cube = 51 * np.indices((6, 6, 6), np.uint8).reshape(3, -1, 1).T
    return bool(abs(in_srgb(cube, icc) - floats(cube)).max() < 4)


def in_profile(pixels: ByteArray, icc: bytes | None) -> ByteArray:
    """(H, W, 3) uint8 in sRGB, in a photo's colour space: the way back from ``in_srgb``."""
    if not icc:
        return pixels
    srgb = ImageCms.createProfile("sRGB")
    with suppress(ImageCms.PyCMSError):  # of gray, or not to be written to
        image = Image.fromarray(pixels)
        there = io.BytesIO(icc)
        return np.array(ImageCms.profileToProfile(image, srgb, there, outputMode="RGB"))
    return pixels


def to_srgb(image: Image.Image, icc: bytes | None) -> Image.Image:
    """A picture in sRGB by its profile; without a usable one CMYK by Pillow's formula, Lab by its definition."""
    if icc is None and image.mode == "RGB":
        return image
    srgb = ImageCms.createProfile("sRGB")
    source: Any = io.BytesIO(icc or b"")
    if icc is None and image.mode == "LAB":
        source = ImageCms.createProfile("LAB")
    with suppress(ImageCms.PyCMSError):
        converted = ImageCms.profileToProfile(image, source, srgb, outputMode="RGB")
        if converted:
            return converted
    return image.convert("RGB")


# --- What kind of picture a file holds, by its first bytes and, of a TIFF, by its tags; which kinds are not read ---

HEAD = 32  # bytes that tell which kind it is

KINDS = read_beside(__file__, "kinds.toml")
_BEGINS = {kind: re.compile(start.encode(), re.DOTALL) for kind, start in KINDS["begins"].items()}
_SAMPLES = {2: "signed", 3: "floating-point", 5: "complex", 6: "complex"}


def kind_of(head: bytes) -> str:
    """The format that a file begins as, such as JPEG; empty if it is not a picture.  head: its first 32 bytes."""
    return next((kind for kind, start in _BEGINS.items() if start.match(head)), "")


@cache
def formats() -> Names:
    """Pillow's names of the formats that this installation reads. Formats that run other programs stay out."""
    names = ["JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF"]
    if "avif" in features.modules and features.check("avif"):  # Pillow 11.3 or newer
        names.append("AVIF")
    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()
        names.append("HEIF")
    return tuple(names)


def unread_kind(data: bytes, opens: bool = True) -> str:
    """The kind of a picture that ``decode`` does not read, for its reason; empty if it may read it.

    opens: whether Pillow may open it: some TIFF files it does not know.

    Pillow opens some TIFF files as the negative of what they show, or as noise: samples that are signed, or 16-bit in
    separate planes. A camera's raw file shows a small preview first.
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
    bits = max(_numbers(tags, 258, 1))
    samples = _SAMPLES.get(max(_numbers(tags, 339, 1)), "")
    photometric = _numbers(tags, 262, 1)[0]
    planes = _numbers(tags, 284, 1)[0]
    if 50706 in tags or photometric in (32803, 34892) or _numbers(tags, 254, 0)[0] & 1:
        return "a camera's raw file"
    if samples:
        return f"TIFF of {bits}-bit {samples} samples"
    if bits > 16 or (bits == 16 and planes == 2):
        return f"TIFF of {bits}-bit samples{' in planes' if planes == 2 else ''}"
    if tags and not opens:
        return f"TIFF of {bits}-bit samples"
    return ""


def tiff_tags(data: bytes) -> Mapping[int, Any]:
    """Tags of the first picture in a TIFF; none if they cannot be read."""
    with suppress(Exception):  # what a damaged directory makes Pillow raise can be anything
        is_big = b"+" in data[2:4]
        tags = TiffImagePlugin.ImageFileDirectory_v2(data[: 16 if is_big else 8])
        file = io.BytesIO(data)
        file.seek(tags.next)
        tags.load(file)
        return {tag: tags[tag] for tag in (254, 258, 262, 284, 339, 50706) if tag in tags}
    return {}


def _numbers(tags: Mapping[int, Any], tag: int, default: int) -> tuple[int, ...]:
    value = tags.get(tag, default)
    values = value if isinstance(value, tuple) else (value,)
    return tuple(number for number in values if isinstance(number, int)) or (default,)
