"""Whether downloaded bytes are a photo that the walk can read, and whether it has been seen before."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from PIL import Image

from gslopes.collect.fetch import DownloadError
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray
from gslopes.photos.decode import decode

_KINDS = ((b"\xff\xd8\xff", "jpg"), (b"\x89PNG", "png"), (b"RIFF", "webp"), (b"BM", "bmp"), (b"II*", "tif"))
_BINARY = ("application/octet-stream", "binary/octet-stream")
_FIRST = 1024


@dataclass(frozen=True, slots=True)
class Picture:
    """A photo that decodes.

    photo: sha256 of its bytes.  suffix: by its contents, without the dot.  width, height: pixels, upright.
    phash: perceptual hash, 64 bits.
    """

    photo: str
    suffix: str
    width: int
    height: int
    phash: int


def check_type(content_type: str) -> None:
    """Raises: DownloadError unless a server's type is that of a picture, or says nothing about the contents."""
    if content_type in _BINARY or (content_type.startswith("image/") and "svg" not in content_type):
        return
    raise DownloadError("refused", SkipReason(Reason.NOT_SENT_AS_PICTURE, content_type[:60]))


def examine(data: bytes, min_side: int) -> Picture:
    """Decode a whole file; sizes are checked in its header before a pixel is decoded.

    min_side: least length of the shorter side, pixels.

    Raises: DownloadError if it is none, or too small, too large, damaged or of a format that the walk does not read.
    """
    suffix = next((name for magic, name in (*_KINDS, (b"MM\0*", "tif")) if data.startswith(magic)), "")
    if not suffix:
        raise DownloadError("refused", SkipReason(Reason.UNKNOWN_FORMAT))
    try:
        pixels, _, _ = decode(data, "")
    except PhotoError as error:
        raise DownloadError("refused", SkipReason.of(error.reason)) from error
    height, width = pixels.shape[:2]
    if min(width, height) < min_side:
        detail = f"shorter side {min(width, height)} pixels, at least {min_side} wanted"
        raise DownloadError("refused", SkipReason(Reason.TOO_SMALL, detail))
    return Picture(sha256(data).hexdigest(), suffix, width, height, perceptual_hash(pixels))


def perceptual_hash(pixels: ByteArray) -> int:
    """64 bits that hardly change when a photo is scaled or compressed again.

    pixels: (H, W, 3) uint8 RGB.

    Raises: UsageError if imagehash is not installed.

    Source: the DCT hash of the library imagehash, hash_size 8.
    """
    try:
        import imagehash
    except ImportError as error:
        hint = "Install it with: pip install 'gslopes[collect]'."
        raise UsageError("Finding duplicates needs the library imagehash.", hint) from error
    return int(str(imagehash.phash(Image.fromarray(pixels))), 16)


class DuplicateIndex:
    """The photos that were kept, found again by bytes or by looks.

    near: how many of 64 bits of two perceptual hashes may differ for two photos to be one.
    """

    def __init__(self, near: int) -> None:
        self.near = near
        self._files: list[tuple[str, str]] = []
        self._positions: dict[str, int] = {}
        self._hashes = np.zeros(_FIRST, np.uint64)

    def add(self, photo: str, path: str, phash: int) -> None:
        """Remember a photo that was kept."""
        index = len(self._files)
        if index == len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.zeros_like(self._hashes)])
        self._hashes[index] = phash
        self._positions[photo] = index
        self._files.append((photo, path))

    def find(self, picture: Picture) -> tuple[str, str, SkipReason] | None:
        """The photo that this one repeats, its path, and how that is known; None if it is new.

        Of several near ones the nearest, of equally near ones the earliest.
        """
        if picture.photo in self._positions:
            return (*self._files[self._positions[picture.photo]], SkipReason(Reason.DUPLICATE))
        if not self._files or self.near < 0:
            return None
        differing = (self._hashes[: len(self._files)] ^ np.uint64(picture.phash)).view(np.uint8).reshape(-1, 8)
        distances = np.unpackbits(differing, axis=1).sum(1)
        nearest = int(distances.argmin())
        if distances[nearest] > self.near:
            return None
        return (
            *self._files[nearest],
            SkipReason(Reason.LOOKS_THE_SAME, f"{int(distances[nearest])} of 64 bits differ"),
        )
