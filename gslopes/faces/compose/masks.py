"""From "how likely is this pixel part of the region" to a mask that can be blended without a trace of its edge.

Everything here is in the chip frame. The chip of a photo that is cut tight ends on the forehead or a cheek: the region
runs over its border and a mask has to come down to zero before it gets there.
"""

from pathlib import Path
from typing import Any

import cv2
import numpy as np

from gslopes.core import Reason, SkipReason, UsageError, frozen_identity, show
from gslopes.core.geometry import LUMA, smoothed, warp
from gslopes.core.records import Array, ByteArray, Face, Flags, FloatArray, Masker, Photo, floats
from gslopes.photos.decode import named_picture
from gslopes.photos.folder import list_files, relative_name

# All in units of the chip's side, so that a mask looks the same at every chip size.
SIGMA = 2 / 128  # of the Gaussian at the region's edge
BORDER = 14 / 128  # over which the mask comes down to zero at the chip's border
BRIDGE = 4 / 128  # gaps as wide as this (spectacle frames, strands of hair) do not part a face
SPECK = 0.001  # of the chip's area: parts and holes smaller than this are the parser's noise

# What 8 bits cannot show is nothing: below it a pixel of the photo does not change.
LEAST = 1 / 255

# A mask that covers less of the chip than this holds no face to speak of.
LEAST_SHARE = 0.02


def soft_mask(
    likely: FloatArray, sigma: float | None = None, border: float | None = None
) -> FloatArray:
    """The blending mask of a region, (S, S) float32 in [0, 1]; below 1/255 it is exactly 0, as at the border.

    likely: (S, S), how likely each pixel is in the region, 0 to 1; not a number counts as 0.
    sigma: of the Gaussian that softens the edge; border: width of the ramp down to zero at the chip's border; pixels.

    Only the face at the centre stays, without specks and pinholes. The soft edge lies inside of the region.
    """
    size = likely.shape[0]
    sigma = SIGMA * size if sigma is None else sigma
    likely = floats(np.nan_to_num(likely))
    region = central_face(likely >= 0.5)
    # The sharpened likelihood keeps the edge between pixels as the parser saw it; the region decides what is in.
    near = cv2.dilate(region.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    steep = 4 * likely - 1.5
    sharp = np.where(region, np.maximum(0.5, steep), np.where(near, steep, 0))
    sharp = floats(np.clip(sharp, 0, 1))
    if sigma > 0:
        blurred = smoothed(sharp, sigma)
        sharp = np.minimum(np.clip(2 * blurred - 1, 0, 1), sharp)
    mask = floats(sharp * border_ramp(size, border))
    mask[mask < LEAST] = 0
    return mask


def border_ramp(size: int, width: float | None = None) -> FloatArray:
    """(size, size) float32: 1 inside, 0 on the outermost pixels, between them half a cosine, ``width`` pixels long."""
    width = BORDER * size if width is None else width
    inwards = np.minimum(np.arange(size), np.arange(size)[::-1])
    line = (1 - np.cos(np.pi * np.clip(inwards / max(width, 1.0), 0, 1))) / 2
    return floats(np.outer(line, line))


def central_face(region: Flags) -> Flags:
    """The connected part of a region (S, S) with most of its area near the centre, specks and pinholes mended."""
    size = region.shape[0]
    width = 2 * max(1, round(BRIDGE * size / 2)) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, width))
    count, labels = cv2.connectedComponents(cv2.dilate(region.astype(np.uint8), kernel))
    if count > 2:
        # e^-2 at the middle of the sides
        line = np.exp(-2 * ((np.arange(size) + 0.5) / size * 2 - 1) ** 2)
        weight = np.bincount(labels[region], weights=np.outer(line, line)[region], minlength=count)
        region = region & (labels == int(weight.argmax()))
    least = SPECK * size * size
    region = region & ~_small_parts(region, least)
    return region | _small_parts(~region, least)


def mask_is_degenerate(mask: FloatArray) -> SkipReason | None:
    """Why there is nothing to edit under this mask (S, S), for the photos table, or None if all is well."""
    if float(mask.mean()) < LEAST_SHARE:
        return SkipReason(Reason.NO_FACE_REGION, f"less than {LEAST_SHARE:.0%} of the aligned face")
    return None


def _small_parts(region: Flags, least: float) -> Flags:
    """The connected parts of a region that have fewer pixels than ``least``."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(region.astype(np.uint8), connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < least
    small[0] = False
    return np.asarray(small[labels])


# --- Carry an edit of a face's skin to ears, neck and chest: outside of the chip, or of what an editor has learned
# The edit there is what the face's own skin undergoes near by, smoothed; down the chest, at the bust's end, it fades.
# Nothing moves outside of the face.

# The bust: a square of 3/2 of the chip's side that begins as high as the chip and holds it in the middle. With twice
# the side the parser takes patches of necks for clothes.
SIDE = 3 / 2
LEFT = 1 / 4  # from the bust's left side to the chip's, in units of the chip's side

NEAR = 16 / 128  # sigma of the Gaussian over which the face's edit is carried outwards
CHEST = (1.2, 1.48)  # rows between which the edit fades
# Where skin ends is seen in the photo itself: of the guided filter the radius, the variance of luma, in [0, 1], below
# which nothing is an edge, and how far beyond the mask it reaches.
RADIUS = 4 / 128
EVEN = 0.03**2
REACH = 3 / 128
STEEP = 1.2  # of what it gives, around a half: it does not quite come up to 1 between eyes, brows and lips
MEAN = 0.02  # share of the face's mean edit in places that the Gaussian hardly reaches


@frozen_identity
class Head:
    """Where the head's skin is, of one photo.

    mask: (3/2 S, 3/2 S) float32 in [0, 1], of face, ears, neck and chest in the bust's frame.
    face: (S, S) float32 in [0, 1], of only the face in the chip's frame.
    skin: (S, S) float32 in [0, 1], how much of the skin's tone each pixel of the chip has: eyes and brows none.
    most: (S, S), the most of it that a pixel may have wherever edges turn out to be: eyes none, lips half.
    """

    mask: FloatArray
    face: FloatArray
    skin: FloatArray
    most: Any = 1.0

    def widened(self, layers: FloatArray) -> FloatArray:
        """Layers of the chip, (K, S, S, C) float32, as layers of the bust, (K, 3/2 S, 3/2 S, C).

        Within the face they do not change.
        """
        size = len(self.face)
        # as many channels as the layers have: NumPy is slow where a pixel has another number
        face = padded(self.face)[..., None].repeat(layers.shape[-1], 2)
        near = smoothed(face, NEAR * size, cv2.BORDER_CONSTANT) + MEAN
        outside = 1 - face
        total = max(float(self.face.sum()), 1e-6)
        wide = np.empty((len(layers), *face.shape), np.float32)
        for out, layer in zip(wide, layers, strict=True):
            inner = padded(layer) * face
            mean = inner.sum((0, 1)) / total
            around = smoothed(inner, NEAR * size, cv2.BORDER_CONSTANT)
            rows = around.reshape(len(around), -1)
            rows += np.tile(MEAN * mean, len(around))
            around /= near
            around *= outside
            np.add(inner, around, out=out)
        return wide

    def matted(self, bust: ByteArray) -> "Head":
        """The same with edges where the photo has them, by its hair and brows: of a large change any other is seen.

        bust: (3/2 S, 3/2 S, 3) uint8 RGB, the photo in the bust's frame.
        """
        size = len(self.face)
        margin = round(LEFT * size)
        luma = floats(bust @ floats(LUMA) / 255)
        chip = luma[:size, margin : margin + size]
        skin = np.minimum(_guided(self.skin, chip, size), self.most)
        return Head(_guided(self.mask, luma, size), self.face, skin)


def _guided(mask: FloatArray, luma: FloatArray, size: int) -> FloatArray:
    """A mask after the guided filter.  luma: as large, in [0, 1].  size: of the chip.

    Source: He, Sun, Tang 2013, Guided image filtering, IEEE TPAMI 35, 1397-1409.
    """

    def mean(plane: FloatArray) -> FloatArray:
        width = 2 * round(RADIUS * size) + 1
        return floats(cv2.blur(plane, (width, width), borderType=cv2.BORDER_REFLECT))

    of_luma = mean(luma)
    of_mask = mean(mask)
    slope = (mean(luma * mask) - of_luma * of_mask) / (mean(luma * luma) - of_luma**2 + EVEN)
    level = of_mask - slope * of_luma
    near = np.ones((2 * round(REACH * size) + 1,) * 2, np.uint8)
    fine = STEEP * (mean(slope) * luma + mean(level) - 0.5) + 0.5
    return floats(np.clip(fine, 0, cv2.dilate(mask, near)))


def heads_of(
    masker: Masker,
    photos: list[Photo],
    faces: list[Face],
    chips: ByteArray,
    border: float | None = None,
) -> list[Head] | list[None]:
    """Where face, ears and neck are, one a photo; None for a masker that knows nothing beyond the chip."""
    find = getattr(masker, "heads", None)
    if find is None:
        return [None] * len(photos)
    return find(photos, faces, chips, border)


def bust_matrix(matrix: Array, size: int) -> Array:
    """(2, 3), photo frame to the bust's, from ``matrix`` to the chip's, whose side is ``size``; pixels as large."""
    moved = np.array(matrix, np.float64)
    moved[0, 2] += round(LEFT * size)
    return moved


def padded(chip: FloatArray) -> FloatArray:
    """A chip (S, S) or (S, S, C) in the bust's frame, 0 around it."""
    size = len(chip)
    side = round(SIDE * size)
    margin = round(LEFT * size)
    wide = np.zeros((side, side, *chip.shape[2:]), np.float32)
    wide[:size, margin : margin + size] = chip
    return wide


def head_mask(mask: FloatArray, likely: FloatArray, border: float | None = None) -> FloatArray:
    """The mask of a head: the chip's within it, the bust's around it, without a seam between them.

    mask: (S, S) float32 in [0, 1], chip frame, down to zero at the chip's border over ``border`` pixels.
    likely: (3/2 S, 3/2 S) float32, how likely each pixel of the bust is face, ear or neck, as which a chest is seen.
    """
    size = len(mask)
    side = len(likely)
    rows = np.clip((np.arange(side) / size - CHEST[0]) / (CHEST[1] - CHEST[0]), 0, 1)
    fade = floats((1 + np.cos(np.pi * rows)) / 2)
    around = soft_mask(likely, SIGMA * size, BORDER * size) * fade[:, None]
    return np.clip(padded(mask) + around * (1 - padded(border_ramp(size, border))), 0, 1)


# --- Masks that are known because they are drawn: one picture a photo, for drawn faces and for tests ------------------


class KnownMasker:
    """A records.Masker that reads ``folder/<the photo's name below photos_root>.png`` and carries it into the chip.

    folder: of 8-bit gray pictures as large as their photos; 255 is inside of the region, 0 outside.
    photos_root: the folder that the photos' names are relative to.  size: side of the chips and of the masks, pixels.

    Raises: UsageError if the folder is not there, or holds no mask for any of the photos.
    """

    def __init__(self, folder: Path, photos_root: Path, size: int = 128) -> None:
        if not folder.is_dir():
            raise UsageError(
                f"There is no folder of masks {folder}.", "Check the path of --set masks=FOLDER."
            )
        self.folder = folder
        self.photos_root = photos_root
        self.size = size
        masks = [self._file(photo.path) for photo in list_files(photos_root)]
        if masks and not any(mask.is_file() for mask in masks):
            raise UsageError(
                f"{folder} holds no mask for any photo in {photos_root}.", f"Expected {masks[0]}."
            )

    def __call__(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> FloatArray:
        """(B, size, size) float32 in [0, 1]; all 0 for a photo without a mask. The chips are not looked at.

        Raises: UsageError if a mask is not a gray picture, or not as large as its photo.
        """
        masks = np.zeros((len(photos), self.size, self.size), np.float32)
        for mask, photo, face in zip(masks, photos, faces, strict=True):
            file = self._file(photo.path)
            if not file.is_file():
                continue
            hint = "Save the mask as an 8-bit gray PNG as large as its photo."
            image = named_picture(file, hint=hint)
            if image.mode not in ("L", "1"):
                raise UsageError(
                    f"The mask {show(file)} is not an 8-bit gray picture (its mode is {image.mode}).",
                    hint,
                )
            pixels = np.array(image.convert("L"))
            if pixels.shape != photo.shape:
                sizes = [f"{shape[1]}×{shape[0]}" for shape in (pixels.shape, photo.pixels.shape)]
                raise UsageError(
                    f"The mask {file} is {sizes[0]} pixels large, its photo {sizes[1]}.", hint
                )
            likely = floats(warp(pixels, face.matrix, self.size)) / np.float32(255)
            mask[:] = soft_mask(likely, border=border)
        return masks

    def _file(self, path: Path) -> Path:
        return self.folder / Path(relative_name(path, self.photos_root)).with_suffix(".png")
