"""Put edited chips back into the photo: the same pixels outside of the mask, whatever happens inside.

Source: Joo & Kärkkäinen 2020, §3.3 and §4.2. Pure arithmetic on arrays; photo and chip frames: see ``core.records``.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from gslopes.core.arrays import Array
from gslopes.core.errors import ModelError
from gslopes.core.geometry import LUMA, OFFSET, scale_of
from gslopes.core.records import ByteArray, EditedChips, Ends, Face, FloatArray, Motion, Photo, Tone
from gslopes.faces.compose.masks import LEAST, Head, bust_matrix, padded
from gslopes.faces.compose.tone import toned
from gslopes.faces.zoo.spec import Blend

Matrix = Array
Box = tuple[int, int, int, int]
_NOWHERE: tuple[FloatArray, Box] = np.zeros((0, 0), np.float32), (0, 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """The K counterfactuals of one photo, kept as the part that differs: memory grows with the face, not the photo.

    photo: (H, W, 3) uint8 RGB, the photo itself.
    patches: (K, h, w, 3) uint8 RGB, what is inside of ``box`` in each of them.
    weight: (h, w) float32 in [0, 1], the mask in the box; where it is 0 the patches equal the photo.
    box: x0 y0 x1 y1 in whole pixels of the photo, x1 and y1 exclusive; all 0 if the mask touches no pixel.
    mask_area: share of the photo's pixels that may change, in [0, 1].
    motion: how parts of the face moved: (h, w, 2) pixels of the photo a unit, and K distances from the photo's own
        value; None where nothing did.
    axes: of a grid, see ``faces.compose.crossed``, its sweep along the first attribute, and the one along the second
        where the first is at its centre.
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
        x0, y0, x1, y1 = self.box
        picture = self.photo.copy()
        picture[y0:y1, x0:x1] = self.patches[k]
        return picture

    @property
    def pictures(self) -> ByteArray:
        """All of them, (K, H, W, 3) uint8 RGB."""
        return np.stack([self.picture(k) for k in range(len(self))])


class Place:
    """Where a photo's edit goes, found on the CPU; its patches are for others to fill.

    weight (h, w), box and field (h, w, 2) or None as in a Composite.  matrix: photo frame to that of the layers.
    """

    def __init__(
        self,
        motion: Motion | None,
        photo: tuple[ByteArray, bool],
        mask: FloatArray,
        matrix: Matrix,
        head: Head | None,
    ) -> None:
        self.pixels, self.gray = photo
        moves = None if motion is None else within(motion, mask if head is None else head.face)
        if head is not None:
            mask, matrix = head.mask, bust_matrix(matrix, len(mask))
            moves = None if moves is None else padded(moves)
        self.matrix, self.sigma = matrix, sigma_of(matrix)
        self.weight, self.box = warp_mask(mask, matrix, *self.pixels.shape[:2])
        self.motion: Motion | None = None
        if moves is not None and motion is not None and self.weight.size:
            field = in_photo(to_photo(moves, matrix, self.box), matrix)
            field[self.weight == 0] = 0
            self.motion = Motion(field, motion.distances)
        self.patches = np.empty((0, *self.weight.shape, 3), np.uint8)

    @property
    def composite(self) -> Composite:
        """The photo with its patches."""
        area = float(np.count_nonzero(self.weight)) / (self.pixels.shape[0] * self.pixels.shape[1])
        return Composite(self.pixels, self.patches, self.weight, self.box, area, self.motion)


def compose(
    pixels: ByteArray,
    gray: bool,
    edited: FloatArray | Ends,
    neutral: FloatArray,
    mask: FloatArray,
    matrix: Matrix,
    blend: Blend = "difference",
    *,
    motion: Motion | None = None,
    tone: Tone | None = None,
    head: Head | None = None,
) -> Composite:
    """Blend K edited chips into their photo.

    pixels: (H, W, 3) uint8 RGB.  gray: whether the photo is gray; the edit is then reduced to its luminance.
    edited: (K, S, S, 3) float32 RGB, 0 to 255, the decoder's pictures; or the ``Ends`` that they are on the way to.
    neutral: (S, S, 3) float32 RGB, 0 to 255, the decoder's picture at the photo's own value.
    mask: (S, S) float32 in [0, 1], chip frame.  matrix: (2, 3), photo frame to chip frame.
    blend: with m the mask in the photo, ``difference``: photo + m·(edited - neutral); ``ratio``, for skin tones:
        photo·exp(m·log(edited / neutral)), all offset by ``OFFSET`` levels;
        ``paste``: m·edited + (1 - m)·photo. The result is rounded and clipped once.
    motion: how parts of the face move at the K values, after the blend; see ``faces.compose.paste``.
    tone: what becomes of the skin's colour at them, where the blend is ``ratio`` and the head is known.
    head: where ears and neck are, to which the face's edit is carried; ``paste`` has nothing to carry.

    Raises: ModelError if a chip holds values that are no numbers.
    """
    head = None if blend == "paste" else head
    # what is carried into the photo: pictures for ``paste``, levels to add for ``difference``, logarithms for ``ratio``
    layers, shown = _layers(edited, neutral, blend, whole=tone is not None)
    if not np.isfinite(layers).all():
        raise ModelError("The editor gave a picture with values that are not finite numbers.")
    if head is not None:
        if tone is not None and blend == "ratio":
            layers = toned(layers, neutral, head.skin, tone)
        layers = head.widened(layers)
    place = Place(motion, (pixels, gray), mask, matrix, head)
    weight = place.weight
    x0, y0, x1, y1 = place.box
    base = pixels[y0:y1, x0:x1]
    if gray:
        layers = (layers @ np.array(LUMA, np.float32))[..., None]
        base = base[..., :1]
    place.patches = np.empty((len(shown), *weight.shape, 3), np.uint8)
    distances = np.zeros(len(shown), np.float32) if motion is None else motion.distances
    if weight.size:
        photo = base.astype(np.float32)
        share = weight[..., None]
        move = None if place.motion is None else Mover(place.motion.field)
        carried = layers[0]
        at = -1
        for patch, (index, part), distance in zip(
            place.patches, shown, distances.tolist(), strict=True
        ):
            if index != at:
                carried = to_photo(layers[index], place.matrix, place.box)
                at = index
                carried = share * (carried - photo if blend == "paste" else carried)
            # where the weight is 0 the photo comes out as it went in, in every blend
            mixed = carried + photo if blend != "ratio" else np.expm1(np.float32(part) * carried)
            if blend == "ratio":
                mixed *= photo + OFFSET
                mixed += photo
            mixed = mixed if move is None else move(mixed, distance)
            patch[:] = np.clip(np.rint(mixed, out=mixed), 0, 255, out=mixed)
    return place.composite


def _layers(
    edited: FloatArray | Ends, neutral: FloatArray, blend: Blend, whole: bool
) -> tuple[FloatArray, list[tuple[int, float]]]:
    """What is carried into the photo, (n, S, S, 3), and for each value which of them and what part of it.

    whole: one for each value. Otherwise all values on the way to one of the ``Ends`` have its layer.
    """
    if isinstance(edited, Ends):
        if blend == "ratio":
            return _of_ends(edited, neutral, whole)
        ways = edited.shares[:, None, None, None] * edited.ratios[edited.towards]
        edited = np.asarray((neutral + OFFSET) * np.exp(ways) - OFFSET, np.float32)
    if blend == "ratio":
        layers = np.log(np.maximum(edited + OFFSET, OFFSET / 2)) - np.log(
            np.maximum(neutral + OFFSET, OFFSET / 2)
        )
    else:
        layers = edited if blend == "paste" else edited - neutral
    return layers, [(index, 1.0) for index in range(len(layers))]


def _of_ends(
    edited: Ends, neutral: FloatArray, whole: bool
) -> tuple[FloatArray, list[tuple[int, float]]]:
    """As ``_layers``, for ``ratio``. A value that would be darker than half the offset somewhere has its own layer."""
    floor = math.log(OFFSET / 2) - np.log(neutral + OFFSET)
    least = edited.ratios.min((1, 2, 3)).tolist()
    layers: list[FloatArray] = [] if whole else list(edited.ratios)
    shown = []
    for end, share in zip(edited.towards.tolist(), edited.shares.tolist(), strict=True):
        layer = share * edited.ratios[end] if whole or share * least[end] < math.log(0.5) else None
        if layer is not None and (whole or (layer < floor).any()):
            shown.append((len(layers), 1.0))
            layers.append(np.maximum(layer, floor))
        else:
            shown.append((end, share))
    return np.stack(layers), shown


def compose_all(
    photos: Sequence[Photo],
    faces: Sequence[Face],
    swept: EditedChips,
    masks: Sequence[FloatArray],
    blend: Blend,
    device: str,
    heads: Sequence[Head | None],
) -> Iterator[Composite]:
    """As ``compose`` for each photo: on a CUDA device all at once, see ``faces.compose.device``, elsewhere in turn."""
    if device.startswith("cuda"):
        from gslopes.faces.compose.device import compose_batch

        pictures = [(photo.pixels, photo.gray) for photo in photos]
        matrices = [face.matrix for face in faces]
        yield from compose_batch(pictures, swept, masks, matrices, blend, device, heads)
        return
    for row, (photo, face) in enumerate(zip(photos, faces, strict=True)):
        given = (
            photo.pixels,
            photo.gray,
            swept.edited[row],
            swept.neutral[row],
            masks[row],
            face.matrix,
            blend,
        )
        yield compose(*given, motion=swept.motion_of(row), tone=swept.tone_of(row), head=heads[row])


def warp_mask(mask: FloatArray, matrix: Matrix, height: int, width: int) -> tuple[FloatArray, Box]:
    """A chip's mask in the photo: its values (h, w) float32 in [0, 1], exactly 0 below 1/255, and the box they fill.

    mask: (S, S), chip frame.  matrix: (2, 3), photo frame to chip frame.  height, width: of the photo, pixels.

    The box is the smallest one around all values above 0, within the photo.
    """
    smooth = _prefilter(np.asarray(mask, np.float32), matrix)
    rows, columns = np.nonzero(smooth >= LEAST)
    if len(rows) == 0:
        return _NOWHERE
    # Linear interpolation reaches one pixel of the chip further than its last value.
    x = (columns.min() - 1, columns.max() + 1)
    y = (rows.min() - 1, rows.max() + 1)
    linear = np.linalg.inv(matrix[:, :2])
    back = np.column_stack([linear, -linear @ matrix[:, 2]])  # chip frame to photo frame
    corners = np.array([(x[i], y[j], 1) for i in (0, 1) for j in (0, 1)], np.float64) @ back.T
    x0, y0 = np.clip(np.floor(corners.min(0)), 0, (width, height)).astype(int).tolist()
    x1, y1 = np.clip(np.ceil(corners.max(0)) + 1, 0, (width, height)).astype(int).tolist()
    if x1 <= x0 or y1 <= y0:
        return _NOWHERE
    weight = np.clip(
        _sample(smooth, matrix, (x0, y0, x1, y1), cv2.INTER_LINEAR, cv2.BORDER_CONSTANT), 0, 1
    )
    weight[weight < LEAST] = 0
    rows = np.flatnonzero(weight.any(1))
    columns = np.flatnonzero(weight.any(0))
    if len(rows) == 0:
        return _NOWHERE
    top = int(rows[0])
    bottom = int(rows[-1]) + 1
    left = int(columns[0])
    right = int(columns[-1]) + 1
    return np.ascontiguousarray(weight[top:bottom, left:right]), (
        x0 + left,
        y0 + top,
        x0 + right,
        y0 + bottom,
    )


def to_photo(layer: FloatArray, matrix: Matrix, box: Box) -> FloatArray:
    """A chip (S, S, C) float32 as it lies in the photo's box, (h, w, C): cubic, never beyond the chip's own values."""
    smooth = _prefilter(layer, matrix)
    sampled = _sample(smooth, matrix, box, cv2.INTER_CUBIC, cv2.BORDER_REPLICATE)
    # OpenCV drops the axis of a single channel.
    smooth = smooth.reshape(layer.shape)
    sampled = sampled.reshape(*sampled.shape[:2], layer.shape[2])
    # by rows first, as numpy is fast
    least, greatest = (
        np.tile(each(0), len(sampled[0])) for each in (smooth.min(0).min, smooth.max(0).max)
    )
    rows = sampled.reshape(len(sampled), -1)
    return np.asarray(np.clip(rows, least, greatest, out=rows).reshape(sampled.shape), np.float32)


def sigma_of(matrix: Matrix) -> float:
    """Of the Gaussian for a chip that has more pixels than its face has in the photo, chip pixels; 0 for others."""
    return 0.5 * float(np.sqrt(max(scale_of(matrix) ** 2 - 1, 0)))


def _prefilter(chip: FloatArray, matrix: Matrix) -> FloatArray:
    """Smooth a chip that has more pixels than its face has in the photo, so that it does not alias there."""
    sigma = sigma_of(matrix)
    if sigma == 0:
        return chip
    smooth = cv2.GaussianBlur(chip, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(smooth, np.float32)


def _sample(
    chip: FloatArray, matrix: Matrix, box: Box, interpolation: int, border: int
) -> FloatArray:
    """The chip's values at the photo's pixels in a box, (h, w) or (h, w, C)."""
    x0, y0, x1, y1 = box
    shifted = np.array(matrix, np.float64)
    shifted[:, 2] += shifted[:, :2] @ (x0, y0)
    flags = interpolation | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(chip, shifted, (x1 - x0, y1 - y0), flags=flags, borderMode=border),
        np.float32,
    )


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
    """The motion of a unit that a mask allows, (S, S, 2) chip pixels; 0 at its edge.

    mask: (S, S) float32 in [0, 1].  A motion that would fold at the largest distance is shortened as a whole.
    """
    side = len(mask)
    width = 2 * round(INSIDE * side) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, width))
    deep = cv2.erode(mask, kernel, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    share = cv2.GaussianBlur(deep, (0, 0), FADE * side, borderType=cv2.BORDER_CONSTANT)
    field = motion.field * share[..., None]
    longest = float(np.abs(motion.distances).max(initial=0))
    return np.asarray(field * (STEEPEST / max(longest * steepness(field), STEEPEST)), np.float32)


def steepness(field: FloatArray) -> float:
    """By how many pixels a field (S, S, 2) changes from a pixel to the next at most, in any direction."""
    across = np.diff(field, axis=1)[:-1]
    down = np.diff(field, axis=0)[:, :-1]
    # The larger singular value of each 2 x 2 matrix (across, down).
    squares = np.square(across).sum(-1) + np.square(down).sum(-1)
    area = across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0]
    largest = (squares + np.sqrt(np.maximum(np.square(squares) - 4 * np.square(area), 0))) / 2
    return float(np.sqrt(largest.max(initial=0)))


def in_photo(field: FloatArray, matrix: Array) -> FloatArray:
    """A field (h, w, 2) of chip pixels a unit, in pixels of the photo; matrix: (2, 3), photo frame to chip frame."""
    return np.asarray(field @ np.linalg.inv(matrix[:, :2]).T.astype(np.float32), np.float32)


class Mover:
    """Moves pictures of one box of a photo by ``field``, (h, w, 2) pixels a unit; where it is 0 pixels stay exactly."""

    def __init__(self, field: FloatArray) -> None:
        y, x = np.mgrid[: field.shape[0], : field.shape[1]].astype(np.float32)
        self.x = x
        self.y = y
        self.unit = np.ascontiguousarray(field.transpose(2, 0, 1)) * np.float32(FRACTIONS)

    def __call__(self, picture: FloatArray, distance: float) -> FloatArray:
        """A picture (h, w, C) float32 after ``distance`` units: cubic, places rounded to ``FRACTIONS`` of a pixel."""
        if not distance:
            return picture
        right, down = np.rint(self.unit * np.float32(distance)) / np.float32(FRACTIONS)
        moved = cv2.remap(
            picture, self.x - right, self.y - down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(moved, np.float32).reshape(picture.shape)
