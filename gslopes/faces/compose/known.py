"""Masks that are known because they are drawn: one picture a photo, for drawn faces and for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gslopes.core.errors import UsageError
from gslopes.core.files import show
from gslopes.core.geometry import warp
from gslopes.core.records import ByteArray, Face, FloatArray, Photo
from gslopes.faces.compose.masks import soft_mask
from gslopes.photos.decode import named_picture
from gslopes.photos.folder import list_photos, relative_name


class KnownMasker:
    """A records.Masker that reads ``folder/<the photo's name below photos_root>.png`` and carries it into the chip.

    folder: of 8-bit gray pictures as large as their photos; 255 is inside of the region, 0 outside.
    photos_root: the folder that the photos' names are relative to.  size: side of the chips and of the masks, pixels.
    sigma, border: of the mask's edge, in chip pixels; see ``soft_mask``.

    Raises: UsageError if the folder is not there, holds no mask for any of the photos, or one that is no gray picture.
    """

    def __init__(self, folder: Path, photos_root: Path, size: int = 128, *, sigma: float | None = None) -> None:
        if not folder.is_dir():
            raise UsageError(f"There is no folder of masks {folder}.", "Check the path of --masks.")
        self.folder, self.photos_root, self.size = folder, photos_root, size
        self.sigma = sigma
        masks = [self._file(photo.path) for photo in list_photos(photos_root)]
        present = [mask for mask in masks if mask.is_file()]
        if masks and not present:
            raise UsageError(f"{folder} holds no mask for any photo in {photos_root}.", f"Expected {masks[0]}.")
        for mask in present:
            _read(mask, header_only=True)

    def __call__(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> FloatArray:
        """(B, size, size) float32 in [0, 1]; all 0 for a photo without a mask. The chips are not looked at.

        Raises: UsageError if a mask is not as large as its photo.
        """
        masks = [self._mask(photo, face, border) for photo, face in zip(photos, faces, strict=True)]
        return np.stack(masks) if masks else np.zeros((0, self.size, self.size), np.float32)

    def _mask(self, photo: Photo, face: Face, border: float | None) -> FloatArray:
        file = self._file(photo.path)
        if not file.is_file():
            return np.zeros((self.size, self.size), np.float32)
        whole = _read(file)
        if whole.shape != photo.pixels.shape[:2]:
            size, wanted = (f"{shape[1]}×{shape[0]}" for shape in (whole.shape, photo.pixels.shape))
            raise UsageError(
                f"The mask {file} is {size} pixels large, its photo {wanted}.", "Make it as large as the photo."
            )
        likely = warp(whole, face.matrix, self.size).astype(np.float32) / np.float32(255)
        return soft_mask(likely, self.sigma, border)

    def _file(self, path: Path) -> Path:
        return self.folder / Path(relative_name(path, self.photos_root)).with_suffix(".png")


def _read(file: Path, *, header_only: bool = False) -> ByteArray:
    """The mask, (H, W) uint8, or nothing but the assurance that it looks like one."""
    hint = "Save the mask as an 8-bit gray PNG."
    image = named_picture(file, load=not header_only, hint=hint)
    if image.mode not in ("L", "1"):
        raise UsageError(f"The mask {show(file)} is not an 8-bit gray picture (its mode is {image.mode}).", hint)
    return np.zeros((0, 0), np.uint8) if header_only else np.array(image.convert("L"))
