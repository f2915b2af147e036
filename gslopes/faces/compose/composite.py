"""Where an edit goes in its photo: mask, box and motion; ``paste`` draws what is in the box.

Photo and chip frames: see ``core.records``.
"""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np

from gslopes.core import frozen_identity
from gslopes.core.geometry import scale_of, smoothed
from gslopes.core.records import AnyArray, Array, ByteArray, FloatArray, Motion, doubles, floats
from gslopes.faces.compose.masks import LEAST, Head, bust_matrix, padded

Box = tuple[int, int, int, int]
_NOWHERE: tuple[FloatArray, Box] = np.zeros((0, 0), np.float32), (0, 0, 0, 0)


@frozen_identity
class Composite:
    """The K counterfactuals of one photo, kept as the part that differs: memory grows with the face, not the photo.

    photo: (H, W, 3) uint8 RGB, the photo itself.
    patches: (K, h, w, 3) uint8 RGB, what is inside of ``box`` in each of them.
    weight: (h, w) float32 in [0, 1], the mask in the box; with 0 the patches equal the photo.
    box: x0 y0 x1 y1 in whole pixels of the photo, x1 and y1 exclusive; all 0 if the mask touches no pixel.
    mask_area: share of the photo's pixels that may change, in [0, 1].
    motion: how parts of the face moved: (h, w, 2) pixels of the photo a unit, or of each value, and K distances from
        the photo's own value; None if nothing did.
    axes: of a grid, see ``crossed``, its sweep along the first attribute, and the one along the second
        with the first at its centre.
    """

    photo: ByteArray
    patches: ByteArray
    weight: FloatArray
    box: Box
    mask_area: float
    motion: Motion | None = None
    axes: tuple["Composite", ...] = ()

    def __len__(self) -> int:
        return len(self.patches)

    def picture(self, k: int) -> ByteArray:
        """The whole photo at value k, (H, W, 3) uint8 RGB, a fresh copy."""
        picture = self.photo.copy()
        cut(picture, self.box)[:] = self.patches[k]
        return picture

    @property
    def pictures(self) -> ByteArray:
        """All of them, (K, H, W, 3) uint8 RGB."""
        return np.stack([self.picture(k) for k in range(len(self))])


def cut(pixels: AnyArray, box: Box) -> AnyArray:
    """The part of a picture (H, W, ...) that lies in a box; writing to it writes there."""
    x0, y0, x1, y1 = box
    return pixels[y0:y1, x0:x1]


class Footprint:
    """Where a photo's edit goes; ``paste`` draws its patches.

    motion, head: None if nothing moves, if nothing is carried beyond the chip.
    pixels, mask, matrix: see ``paste.compose``.

    weight (h, w), box and motion as in a Composite.  matrix: photo frame to the layers' frame.
    """

    def __init__(
        self,
        pixels: ByteArray,
        motion: Motion | None,
        mask: FloatArray,
        matrix: Array,
        head: Head | None,
    ) -> None:
        self.pixels = pixels
        moves = []
        if motion is not None:
            allowed = within(motion, mask if head is None else head.face)
            moves = [*allowed.reshape(-1, *allowed.shape[-3:])]
        if head is not None:
            matrix = bust_matrix(matrix, len(mask))
            mask = head.mask
            moves = [padded(field) for field in moves]
        self.matrix = matrix
        self.weight, self.box = warp_mask(mask, matrix, *self.pixels.shape[:2])
        self.motion: Motion | None = None
        if motion is not None and self.weight.size:
            fields = [in_photo(to_photo(field, matrix, self.box), matrix) for field in moves]
            field = np.stack(fields) if len(fields) > 1 else fields[0]
            field[..., self.weight == 0, :] = 0
            self.motion = Motion(field, motion.distances)

    def composite(self, patches: ByteArray) -> Composite:
        """The photo with patches (K, h, w, 3) uint8 RGB."""
        area = np.count_nonzero(self.weight) / self.pixels[..., 0].size
        return Composite(self.pixels, patches, self.weight, self.box, area, self.motion)


def warp_mask(mask: FloatArray, matrix: Array, height: int, width: int) -> tuple[FloatArray, Box]:
    """A chip's mask in the photo: its values (h, w) float32 in [0, 1], exactly 0 below 1/255, and the box they fill.

    mask: (S, S), chip frame.  matrix: (2, 3), photo frame to chip frame.  height, width: of the photo, pixels.

    The box is the smallest one around all values above 0, within the photo.
    """
    smooth = _prefilter(floats(mask), sigma_of(matrix))
    left, top, wide, high = cv2.boundingRect((smooth >= LEAST).astype(np.uint8))
    if not wide:
        return _NOWHERE
    # Linear interpolation reaches one pixel of the chip further than its last value.
    across = (left - 1, left + wide)
    down = (top - 1, top + high)
    back = cv2.invertAffineTransform(matrix)  # chip frame to photo frame
    corners = doubles([(x, y, 1) for x in across for y in down]) @ back.T
    x0, y0 = np.clip(np.floor(corners.min(0)), 0, (width, height)).astype(int).tolist()
    x1, y1 = np.clip(np.ceil(corners.max(0)) + 1, 0, (width, height)).astype(int).tolist()
    if x1 <= x0 or y1 <= y0:
        return _NOWHERE
    weight = _sample(smooth, matrix, (x0, y0, x1, y1), cv2.INTER_LINEAR, cv2.BORDER_CONSTANT)
    weight = weight.clip(0, 1)
    weight[weight < LEAST] = 0
    left, top, wide, high = cv2.boundingRect((weight > 0).astype(np.uint8))
    if not wide:
        return _NOWHERE
    weight = weight[top : top + high, left : left + wide]
    box = (x0 + left, y0 + top, x0 + left + wide, y0 + top + high)
    return np.ascontiguousarray(weight), box


def to_photo(layer: FloatArray, matrix: Array, box: Box) -> FloatArray:
    """A chip (S, S, C) float32 as it lies in the photo's box, (h, w, C): cubic, never beyond the chip's own values."""
    smooth = _prefilter(layer, sigma_of(matrix))
    sampled = _sample(smooth, matrix, box, cv2.INTER_CUBIC, cv2.BORDER_REPLICATE)
    # OpenCV drops the axis of a single channel.
    sampled = sampled.reshape(*sampled.shape[:2], layer.shape[2])
    # by rows first, as numpy is fast
    width = sampled.shape[1]
    least = np.tile(smooth.min(0).min(0), width)
    greatest = np.tile(smooth.max(0).max(0), width)
    rows = sampled.reshape(len(sampled), -1)
    return np.clip(rows, least, greatest, out=rows).reshape(sampled.shape)


def sigma_of(matrix: Array) -> float:
    """Of the Gaussian for a chip that has more pixels than its face has in the photo, chip pixels; 0 for others."""
    return 0.5 * float(np.sqrt(max(scale_of(matrix) ** 2 - 1, 0)))


def _prefilter(chip: FloatArray, sigma: float) -> FloatArray:
    """Smooth a chip that has more pixels than its face has in the photo, so that it does not alias there."""
    if sigma == 0:
        return chip
    return smoothed(chip, sigma)


def _sample(
    chip: FloatArray, matrix: Array, box: Box, interpolation: int, border: int
) -> FloatArray:
    """The chip's values at the photo's pixels in a box, (h, w) or (h, w, C)."""
    x0, y0, x1, y1 = box
    shifted = np.array(matrix, np.float64)
    shifted[:, 2] += shifted[:, :2] @ (x0, y0)
    flags = interpolation | cv2.WARP_INVERSE_MAP
    size = (x1 - x0, y1 - y0)
    return floats(cv2.warpAffine(chip, shifted, size, flags=flags, borderMode=border))


# --- Move the parts of a face within the photo: lips, eyes and brows, at the photo's own sharpness --------------------
# Towards the mask's edge, and around holes in it, the motion comes down to nothing, so that hair, ears, neck and the
# outline of the face stay where they are.
# Source: Rowland & Perrett 1995, Manipulating facial appearance through shape and color (shape and colour).

# In units of the chip's side.
INSIDE = 4 / 128  # this far from the mask's edge nothing moves yet
FADE = 2 / 128  # of the Gaussian over which motion sets in
STEEPEST = 0.8  # pixels by which a motion changes from one pixel to the next, at most: below 1 it never folds
FRACTIONS = 32  # of a pixel, to which OpenCV rounds the places that it samples


def within(motion: Motion, mask: FloatArray) -> FloatArray:
    """The motion of a unit that a mask allows, (S, S, 2) chip pixels, or one of each value; 0 at its edge.

    mask: (S, S) float32 in [0, 1].  A motion that would fold at the largest distance is shortened as a whole.
    """
    side = len(mask)
    width = 2 * round(INSIDE * side) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, width))
    deep = cv2.erode(mask, kernel, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    share = smoothed(deep, FADE * side, cv2.BORDER_CONSTANT)
    field = motion.field * share[..., None]
    longest = float(np.abs(motion.distances).max(initial=0))
    return field * np.float32(STEEPEST / max(longest * steepness(field), STEEPEST))


def steepness(field: FloatArray) -> float:
    """By how many pixels a field (..., S, S, 2) changes from a pixel to the next at most, in any direction."""
    across = np.diff(field, axis=-2)[..., :-1, :, :]
    down = np.diff(field, axis=-3)[..., :-1, :]
    # The larger singular value of each 2 x 2 matrix (across, down).
    squares = np.square(across).sum(-1) + np.square(down).sum(-1)
    area = across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0]
    largest = (squares + np.sqrt(np.maximum(np.square(squares) - 4 * np.square(area), 0))) / 2
    return float(np.sqrt(largest.max(initial=0)))


def in_photo(field: FloatArray, matrix: Array) -> FloatArray:
    """A field (h, w, 2) of chip pixels a unit, in pixels of the photo; matrix: (2, 3), photo frame to chip frame."""
    return field @ floats(np.linalg.inv(matrix[:, :2]).T)


# --- A photo at every pair of values of two attributes: each picture along the first one is edited along the second ---
# Placebos are crossed likewise: what one changes along each attribute, with the other at its centre, is added.


def crossed(first: Composite, rows: Sequence[Composite]) -> Composite:
    """A photo's grid as one sweep.

    first: the photo at I values.  rows: each of these pictures at J values, by the photo's masks.
    """
    middle = rows[len(rows) // 2]
    weight = np.zeros(first.photo.shape[:2], np.float32)
    for part in (first, middle):
        beneath = cut(weight, part.box)
        np.maximum(beneath, part.weight, out=beneath)
    corners = np.array([first.box, middle.box])
    x0, y0 = corners.min(0)[:2].tolist()
    x1, y1 = corners.max(0)[2:].tolist()
    box = (x0, y0, x1, y1)
    patches = _cut_each((row.picture(k) for k in range(len(middle)) for row in rows), box)
    area = np.count_nonzero(weight) / weight.size
    return Composite(first.photo, patches, cut(weight, box).copy(), box, area, axes=(first, middle))


def crossed_placebo(grid: Composite, first: Composite, second: Composite) -> Composite:
    """A placebo of a grid.  first, second: the placebos of its axes."""
    box = grid.box
    base = cut(grid.axes[0].picture(len(first) // 2), box).astype(np.int16)
    change = _cut_each(map(first.picture, range(len(first))), box) - base
    levels = change + _cut_each(map(second.picture, range(len(second))), box)[:, None]
    patches = np.clip(levels, 0, 255).astype(np.uint8).reshape(grid.patches.shape)
    return Composite(grid.photo, patches, grid.weight, box, grid.mask_area)


def _cut_each(pictures: Iterable[ByteArray], box: Box) -> ByteArray:
    """The box of each picture, (n, h, w, 3); no whole picture is kept."""
    return np.stack([cut(picture, box).copy() for picture in pictures])
