"""Counterfactuals as files' bytes, in the photo's own colour space."""

import io
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from PIL import Image

from gslopes.core import JsonObject, PhotoError, UsageError, show
from gslopes.core.records import ByteArray
from gslopes.photos.folder import open_photo

Format = Literal["jpeg", "png"]
SUFFIX: dict[str, str] = {"jpeg": ".jpg", "png": ".png"}
ENDINGS = {b"\xff\xd8\xff": ".jpg", b"\x89PNG": ".png"}  # of what is written, by its first bytes

QUALITY = 95
BLOCK = 8  # side of a JPEG's blocks, pixels


def encode(
    pixels: ByteArray,
    gray: bool,
    icc: bytes | None,
    file_format: Format = "jpeg",
    quality: int = QUALITY,
) -> bytes:
    """A whole JPEG or PNG file.

    pixels: (H, W, 3) uint8 RGB; three equal channels if gray.
    gray: write one channel, unless the profile is one of colour (then three equal ones).
    icc: the pixels' profile, which goes into the file; None for sRGB.
    file_format: ``jpeg`` is baseline 4:4:4 with fixed tables, so that an 8x8 block of equal pixels decodes to equal
        pixels whatever is around it, and with a restart marker after each row of blocks, so that rows are
        independent; ``png`` is lossless, packed quickly rather than tightly.
    quality: of the JPEG, 1 to 100; a PNG of lower quality is packed more tightly, with the same pixels.
    """
    one_channel = gray and (icc is None or icc[16:20] == b"GRAY")
    image = Image.fromarray(pixels[..., 0].copy() if one_channel else pixels)
    file = io.BytesIO()
    options: JsonObject = {"compress_level": min(9, 1 + max(0, QUALITY - quality))}
    if file_format == "jpeg":
        options = {"quality": quality, "subsampling": 0, "restart_marker_rows": 1}
    image.save(file, file_format, icc_profile=icc, **options)
    return file.getvalue()


def unedited(path: Path, photo: str, suffix: str) -> bytes:
    """A photo as it was, written as its edits are.

    photo: the sha256 of its file.  suffix: of the files of its edits.

    Raises: UsageError if it is gone, or another.
    """
    hint = "Restore it, and repeat the command."
    named = f"The photo {show(path)}"
    try:
        opened = open_photo(path)
    except PhotoError as error:
        raise UsageError(f"{named} cannot be read: {error}.", hint) from error
    if opened.id != photo:
        raise UsageError(f"{named} is not the one that was edited.", hint)
    kind: Format = "png" if suffix == SUFFIX["png"] else "jpeg"
    return encode(opened.pixels, opened.gray, opened.icc, kind)


def ending(name: str, data: bytes) -> str:
    r"""A file's name with what its bytes are.

    >>> ending("face", b"\x89PNG"), ending("1.png", b"\x89PNG")
    ('face.png', '1.png')
    """
    suffix = next(suffix for begins, suffix in ENDINGS.items() if data.startswith(begins))
    return name.removesuffix(suffix) + suffix


@dataclass(eq=False)
class Variants:
    """Files of pictures that differ from one photo in a box, byte for byte as by ``encode``, whose arguments it
    takes: what they share is encoded once.
    """

    pixels: ByteArray
    gray: bool
    icc: bytes | None
    file_format: Format = "jpeg"

    def encode(
        self, patch: ByteArray, box: tuple[int, int, int, int], quality: int = QUALITY
    ) -> bytes:
        """The file of the photo with a patch (h, w, 3) uint8 RGB in a box, x0 y0 x1 y1 in whole pixels, exclusive."""
        x0, y0, x1, y1 = box
        shared = self.file_format == "jpeg" and quality == QUALITY
        top = y0 // BLOCK if shared else 0
        end = -(-(y1 if shared else len(self.pixels)) // BLOCK)
        band = self.pixels[top * BLOCK : end * BLOCK].copy()
        band[y0 - top * BLOCK : y1 - top * BLOCK, x0:x1] = patch
        if not shared:
            return encode(band, self.gray, self.icc, self.file_format, quality)
        head, rows = self._photo
        if len(band):
            rows = [*rows[:top], *_parted(encode(band, self.gray, self.icc))[1], *rows[end:]]
        # restart markers count from 0 to 7 and again; the end of image comes last
        markers = [bytes((0xFF, 0xD0 + index % 8)) for index in range(len(rows) - 1)]
        marked = [row + marker for row, marker in zip(rows, [*markers, b"\xff\xd9"], strict=True)]
        return b"".join([head, *marked])

    @cached_property
    def _photo(self) -> tuple[bytes, list[bytes]]:
        return _parted(encode(self.pixels, self.gray, self.icc))


def _parted(file: bytes) -> tuple[bytes, list[bytes]]:
    """A JPEG with a restart marker after each row of blocks as its head and its rows, without markers between them.

    Source: ITU-T T.81, B.1.1 (markers, byte stuffing) and B.2.1 (order of segments).
    """
    at = 2
    while file[at + 1] != 0xDA:  # start of scan
        at += 2 + int.from_bytes(file[at + 2 : at + 4])
    at += 2 + int.from_bytes(file[at + 2 : at + 4])
    return file[:at], re.split(rb"\xff[\xd0-\xd7]", file[at:-2])
