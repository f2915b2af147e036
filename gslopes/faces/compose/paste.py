"""Put edited chips back into the photo: the same pixels outside of the mask, whatever happens inside.

Source: Joo & Kärkkäinen 2020, §3.3 and §4.2. Pure arithmetic on arrays; photo and chip frames: see ``core.records``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ModelError
from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray, EditedChips, Ends, Face, FloatArray, Motion, Photo, Tone
from gslopes.faces.compose.masks import LEAST, Head, bust_matrix, padded
from gslopes.faces.compose.tone import toned
from gslopes.faces.zoo.spec import Blend

Matrix = NDArray[np.float64]
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """The K counterfactuals of one photo, kept as the part that differs: memory grows with the face, not the photo.

    photo: (H, W, 3) uint8 RGB, the photo itself.
    patches: (K, h, w, 3) uint8 RGB, what is inside of ``box`` in each of them.
    weight: (h, w) float32 in [0, 1], the mask in the box; where it is 0 the patches equal the photo.
    box: x0 y0 x1 y1 in whole pixels of the photo, x1 and y1 exclusive; all 0 if the mask touches no pixel.
    mask_area: share of the photo's pixels that may change, in [0, 1].
    motion: how parts of the face moved: (h, w, 2) pixels of the photo a unit, and K distances from the photo's own
        value; None where nothing did.  under: with an edit below this one.
    """

    photo: ByteArray
    patches: ByteArray
    weight: FloatArray
    box: Box
    mask_area: float
    motion: Motion | None = None
    under: Motion | None = None

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


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """A chip at K values, and how it goes into its photo; below another edit its first value alone counts.

    edited: (K, S, S, 3) float32 RGB, 0 to 255, the editor's pictures; or the ``Ends`` that they are on the way to.
    neutral: (S, S, 3) float32 RGB, 0 to 255, that at the photo's own value.
    mask: (S, S) float32 in [0, 1], chip frame.
    blend: with m the mask in the photo, ``difference``: photo + m·(edited - neutral); ``ratio``, for skin tones:
        photo·exp(m·log(edited / neutral)), all offset by ``OFFSET`` levels; ``paste``: m·edited + (1 - m)·photo.
    motion: how parts of the face move at the K values, after the blend.  tone: what becomes of the skin's colour at
        them, where the blend is ``ratio`` and the head is known.
    head: where ears and neck are, to which the face's edit is carried; ``paste`` has nothing to carry.
    """

    edited: FloatArray | Ends
    neutral: FloatArray
    mask: FloatArray
    blend: Blend = "difference"
    motion: Motion | None = None
    tone: Tone | None = None
    head: Head | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Edits:
    """The edits of B photos' chips.  masks, heads: one a photo."""

    swept: EditedChips
    masks: Sequence[FloatArray]
    blend: Blend
    heads: Sequence[Head | None]

    def of(self, row: int) -> Edit:
        """That of one photo."""
        swept = self.swept
        given = swept.edited[row], swept.neutral[row], self.masks[row], self.blend
        return Edit(*given, swept.motion_of(row), swept.tone_of(row), self.heads[row])


def compose_edits(pixels: ByteArray, gray: bool, edits: Sequence[Edit], matrix: Matrix) -> Composite:
    """Blend one edit into its photo, or a second one on top of the first; motions add up.

    pixels: (H, W, 3) uint8 RGB.  gray: whether the photo is gray; edits are then reduced to their luminance.
    matrix: (2, 3), photo frame to chip frame.  The result is sampled, rounded and clipped once; its ``motion`` is the
    last edit's, ``under`` the first one's.

    Raises: ModelError if a chip holds values that are no numbers.
    """
    height, width = pixels.shape[:2]
    carried = [_carried(edit, matrix) for edit in edits]
    places = [warp_mask(mask, frame, height, width) for _, _, mask, frame, _ in carried]
    box = around([box for _, box in places])
    weights = [in_box(weight, own, box) for weight, own in places]
    weight = weights[0] if len(weights) == 1 else np.maximum(*weights)
    x0, y0, x1, y1 = box
    base, layers = pixels[y0:y1, x0:x1], [layer for layer, *_ in carried]
    if gray:
        layers, base = [(layer @ np.array(LUMA, np.float32))[..., None] for layer in layers], base[..., :1]
    patches = np.empty((len(carried[-1][1]), *weight.shape, 3), np.uint8)
    motions: list[Motion | None] = [None] * len(edits)
    for index, (edit, (*_, frame, moves), share) in enumerate(zip(edits, carried, weights, strict=True)):
        if moves is not None and edit.motion is not None and weight.size:
            field = in_photo(to_photo(moves, frame, box), frame)
            field[share == 0] = 0
            motions[index] = Motion(field, edit.motion.distances)
    known = [motion.field for motion in motions if motion is not None]
    move, distances = (
        Mover(*known) if known else None,
        unfolded([one[-1] for one in carried], [e.motion for e in edits]),
    )
    photo = base.astype(np.float32)
    held = [(-1, photo)] * len(edits)  # of each edit the layer that was carried over last
    for k, patch in enumerate(patches if weight.size else ()):
        mixed = photo
        for own, (edit, (_, shown, _, frame, _), weight_of) in enumerate(zip(edits, carried, weights, strict=True)):
            (index, part), share = shown[k if edit is edits[-1] else 0], weight_of[..., None]
            if held[own][0] != index:
                there = to_photo(layers[own][index], frame, box)
                held[own] = index, there if edit.blend == "paste" else np.asarray(share * there, np.float32)
            change, below = held[own][1], mixed
            # where the weight is 0 the photo comes out as it went in, in every blend
            if edit.blend == "ratio":
                mixed = np.expm1(np.float32(part) * change)
                mixed *= below + OFFSET
                mixed += below
            else:
                mixed = (share * (change - below) if edit.blend == "paste" else change) + below
        mixed = mixed if move is None else move(mixed, *distances[k])
        patch[:] = np.clip(np.rint(mixed, out=mixed), 0, 255, out=mixed)
    area = float(np.count_nonzero(weight)) / (height * width)
    return Composite(pixels, patches, weight, box, area, motions[-1], motions[0] if len(motions) > 1 else None)


def _carried(
    edit: Edit, matrix: Matrix
) -> tuple[FloatArray, list[tuple[int, float]], FloatArray, Matrix, FloatArray | None]:
    """(layers and which are shown as of ``_layers``, the mask, the frame of both, how they move there a unit)."""
    mask, head = edit.mask, None if edit.blend == "paste" else edit.head
    layers, shown = _layers(edit.edited, edit.neutral, edit.blend, whole=edit.tone is not None)
    if not np.isfinite(layers).all():
        raise ModelError("The editor gave a picture with values that are not finite numbers.")
    moves = None if edit.motion is None else within(edit.motion, mask if head is None else head.face)
    if head is not None:
        if edit.tone is not None and edit.blend == "ratio":
            layers = toned(layers, edit.neutral, head.skin, edit.tone)
        layers, mask, matrix = head.widened(layers), head.mask, bust_matrix(matrix, len(mask))
        moves = None if moves is None else padded(moves)
    return layers, shown, mask, matrix, moves


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box around all; one without a pixel does not count."""
    x0, y0, x1, y1 = np.array([box for box in boxes if box[2] > box[0]] or [(0, 0, 0, 0)]).T
    return int(x0.min()), int(y0.min()), int(x1.max()), int(y1.max())


def in_box(weight: FloatArray, own: Box, box: Box) -> FloatArray:
    """The weight of its own box in one around that, 0 beyond."""
    if own == box:
        return weight
    wide = np.zeros((box[3] - box[1], box[2] - box[0]), np.float32)
    wide[own[1] - box[1] : own[3] - box[1], own[0] - box[0] : own[2] - box[0]] = weight
    return wide


def unfolded(fields: Sequence[FloatArray | None], motions: Sequence[Motion | None]) -> list[tuple[float, ...]]:
    """For each of K pictures the distances of all motions, shorter where two together might fold.

    fields: of a unit, as ``within`` allows them.  Of a motion below another one its first distance is all pictures'.
    """
    own = [None if one is None else one.distances[: None if one is motions[-1] else 1] for one in motions]
    known = [(field, one) for field, one in zip(fields, own, strict=True) if field is not None and one is not None]
    rows = list(zip(*np.broadcast_arrays(*(distances for _, distances in known)), strict=True))
    if len(known) < 2:
        return [tuple(map(float, row)) for row in rows]
    steep = [steepness(field) for field, _ in known]
    shares = [STEEPEST / max(float(np.abs(row) @ steep), STEEPEST) for row in rows]
    return [tuple(share * float(one) for one in row) for share, row in zip(shares, rows, strict=True)]


def _layers(
    edited: FloatArray | Ends, neutral: FloatArray, blend: Blend, whole: bool
) -> tuple[FloatArray, list[tuple[int, float]]]:
    """What is carried into the photo, (n, S, S, 3), and for each value which of them and what part of it: pictures for
    ``paste``, levels to add for ``difference``, logarithms for ``ratio``.

    whole: one for each value. Otherwise all values on the way to one of the ``Ends`` have its layer.
    """
    if isinstance(edited, Ends):
        if blend == "ratio":
            return _of_ends(edited, neutral, whole)
        ways = edited.shares[:, None, None, None] * edited.ratios[edited.towards]
        edited = np.asarray((neutral + OFFSET) * np.exp(ways) - OFFSET, np.float32)
    if blend == "ratio":
        layers = np.log(np.maximum(edited + OFFSET, OFFSET / 2)) - np.log(np.maximum(neutral + OFFSET, OFFSET / 2))
    else:
        layers = edited if blend == "paste" else edited - neutral
    return layers, [(index, 1.0) for index in range(len(layers))]


def _of_ends(edited: Ends, neutral: FloatArray, whole: bool) -> tuple[FloatArray, list[tuple[int, float]]]:
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


def compose_each(
    photos: Sequence[Photo], faces: Sequence[Face], edits: Sequence[Edits], device: str
) -> Iterator[Composite]:
    """As ``compose_edits`` for each photo: on a CUDA device all at once, see ``faces.compose.device``, elsewhere in
    turn.
    """
    if device.startswith("cuda"):
        from gslopes.faces.compose.device import compose_batch

        pictures, matrices = [(photo.pixels, photo.gray) for photo in photos], [face.matrix for face in faces]
        yield from compose_batch(pictures, edits, matrices, device)
        return
    for row, (photo, face) in enumerate(zip(photos, faces, strict=True)):
        yield compose_edits(photo.pixels, photo.gray, [one.of(row) for one in edits], face.matrix)


def warp_mask(mask: FloatArray, matrix: Matrix, height: int, width: int) -> tuple[FloatArray, Box]:
    """A chip's mask in the photo: its values (h, w) float32 in [0, 1], exactly 0 below 1/255, and the box they fill.

    mask: (S, S), chip frame.  matrix: (2, 3), photo frame to chip frame.  height, width: of the photo, pixels.

    The box is the smallest one around all values above 0, within the photo.
    """
    smooth = _prefilter(np.asarray(mask, np.float32), matrix)
    rows, columns = np.nonzero(smooth >= LEAST)
    if len(rows) == 0:
        return np.zeros((0, 0), np.float32), (0, 0, 0, 0)
    # Linear interpolation reaches one pixel of the chip further than its last value.
    x, y = (columns.min() - 1, columns.max() + 1), (rows.min() - 1, rows.max() + 1)
    linear = np.linalg.inv(matrix[:, :2])
    back = np.column_stack([linear, -linear @ matrix[:, 2]])  # chip frame to photo frame
    corners = np.array([(x[i], y[j], 1) for i in (0, 1) for j in (0, 1)], np.float64) @ back.T
    x0, y0 = np.clip(np.floor(corners.min(0)), 0, (width, height)).astype(int).tolist()
    x1, y1 = np.clip(np.ceil(corners.max(0)) + 1, 0, (width, height)).astype(int).tolist()
    if x1 <= x0 or y1 <= y0:
        return np.zeros((0, 0), np.float32), (0, 0, 0, 0)
    weight = np.clip(_sample(smooth, matrix, (x0, y0, x1, y1), cv2.INTER_LINEAR, cv2.BORDER_CONSTANT), 0, 1)
    weight[weight < LEAST] = 0
    rows, columns = np.flatnonzero(weight.any(1)), np.flatnonzero(weight.any(0))
    if len(rows) == 0:
        return np.zeros((0, 0), np.float32), (0, 0, 0, 0)
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    return np.ascontiguousarray(weight[top:bottom, left:right]), (x0 + left, y0 + top, x0 + right, y0 + bottom)


def to_photo(layer: FloatArray, matrix: Matrix, box: Box) -> FloatArray:
    """A chip (S, S, C) float32 as it lies in the photo's box, (h, w, C): cubic, never beyond the chip's own values."""
    smooth = _prefilter(layer, matrix)
    sampled = _sample(smooth, matrix, box, cv2.INTER_CUBIC, cv2.BORDER_REPLICATE)
    # OpenCV drops the axis of a single channel.
    smooth, sampled = smooth.reshape(layer.shape), sampled.reshape(*sampled.shape[:2], layer.shape[2])
    # by rows first, as numpy is fast
    least, greatest = (np.tile(each(0), len(sampled[0])) for each in (smooth.min(0).min, smooth.max(0).max))
    rows = sampled.reshape(len(sampled), -1)
    return np.asarray(np.clip(rows, least, greatest, out=rows).reshape(sampled.shape), np.float32)


def sigma_of(matrix: Matrix) -> float:
    """Of the Gaussian for a chip that has more pixels than its face has in the photo, chip pixels; 0 for others."""
    scale = float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))  # chip pixels per photo pixel
    return 0.5 * float(np.sqrt(max(scale**2 - 1, 0)))


def _prefilter(chip: FloatArray, matrix: Matrix) -> FloatArray:
    """Smooth a chip that has more pixels than its face has in the photo, so that it does not alias there."""
    sigma = sigma_of(matrix)
    if sigma == 0:
        return chip
    smooth = cv2.GaussianBlur(chip, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(smooth, np.float32)


def _sample(chip: FloatArray, matrix: Matrix, box: Box, interpolation: int, border: int) -> FloatArray:
    """The chip's values at the photo's pixels in a box, (h, w) or (h, w, C)."""
    x0, y0, x1, y1 = box
    shifted = np.array(matrix, np.float64)
    shifted[:, 2] += shifted[:, :2] @ (x0, y0)
    flags = interpolation | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(chip, shifted, (x1 - x0, y1 - y0), flags=flags, borderMode=border), np.float32)


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
    across, down = np.diff(field, axis=1)[:-1], np.diff(field, axis=0)[:, :-1]
    # The larger singular value of each 2 x 2 matrix (across, down).
    squares = np.square(across).sum(-1) + np.square(down).sum(-1)
    area = across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0]
    largest = (squares + np.sqrt(np.maximum(np.square(squares) - 4 * np.square(area), 0))) / 2
    return float(np.sqrt(largest.max(initial=0)))


def in_photo(field: FloatArray, matrix: NDArray[np.float64]) -> FloatArray:
    """A field (h, w, 2) of chip pixels a unit, in pixels of the photo; matrix: (2, 3), photo frame to chip frame."""
    return np.asarray(field @ np.linalg.inv(matrix[:, :2]).T.astype(np.float32), np.float32)


class Mover:
    """Moves pictures of one box of a photo by ``fields``, (h, w, 2) pixels a unit, together; where they are 0 pixels
    stay exactly.
    """

    def __init__(self, *fields: FloatArray) -> None:
        y, x = np.mgrid[: fields[0].shape[0], : fields[0].shape[1]].astype(np.float32) if fields else (0, 0)
        self.x, self.y = x, y
        self.units = [np.ascontiguousarray(field.transpose(2, 0, 1)) * np.float32(FRACTIONS) for field in fields]

    def __call__(self, picture: FloatArray, *distances: float) -> FloatArray:
        """A picture (h, w, C) float32 after these units of each: cubic, to ``FRACTIONS`` of a pixel."""
        if not any(distances):
            return picture
        moved_by = [unit * np.float32(distance) for unit, distance in zip(self.units, distances, strict=True)]
        right, down = np.rint(sum(moved_by[1:], moved_by[0])) / np.float32(FRACTIONS)
        moved = cv2.remap(picture, self.x - right, self.y - down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(moved, np.float32).reshape(picture.shape)
