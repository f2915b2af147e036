"""What the gate measures on one photo's sweep: is the face still found, what is read in it, how much changed?"""

from collections.abc import Iterable, Sequence
from math import nan

import cv2
import numpy as np

from gslopes.core import frozen_identity
from gslopes.core.geometry import TONE, around, similarity, step_of, warp, with_margin
from gslopes.core.placebo import ends_of
from gslopes.core.records import AnyArray, Array, ByteArray, FloatArray, doubles, floats, sides_of
from gslopes.faces.gate import verdict as gate
from gslopes.faces.gate.verdict import JUDGED, Measured
from gslopes.faces.networks.mtcnn import Mtcnn
from gslopes.faces.zoo import load
from gslopes.faces.zoo.framing import CHIP
from gslopes.faces.zoo.reader import (
    BEARDLESS,
    FaceReader,
    attribute,
    beards,
    cosine,
    face_embedder,
    recognises,
    target,
)

CHIP_SIZE = 128
# A face is looked for at its place, in a crop in which it is so large: a small part of the cost of the whole photo.
FACE = 96
MARGIN = 0.6
LEAST_FACE = 40
MIN_IOU = 0.3
# The reader reads no skin tone: the step of the scale by L* of the face is, as a share of 10. Race is read with it.
MOVES_WITH = {TONE: "race"}


@frozen_identity
class Sweep:
    """One photo's pictures along one attribute.

    attribute: its name.  values: (K,), ascending; readings at equal ones count as their mean.
    pictures: K of (H, W, 3) uint8 RGB.
    original: the photo as it was, or None if it is gone.  box: (4,) x0 y0 x1 y1.  points: (5, 2).
    mask_area: share of the photo's pixels that may change; 1 of pictures that others made.
    asked: whether an editor of others was asked for the pictures.
    """

    attribute: str
    values: Sequence[float]
    pictures: Sequence[ByteArray]
    original: ByteArray | None
    box: Array
    points: Array
    mask_area: float
    asked: bool = False


class SweepMeasurer:
    """Measures sweeps with the shipped reader and MTCNN.

    reader: the shipped one.  device: where it runs; faces are found on the CPU, so that no verdict depends on it.
    min_face: of the run, pixels: how small a face the detector looks for if a crop was not enough.
    look: whether the face is looked for, at the first, middle and last value.
    """

    def __init__(
        self,
        reader: FaceReader,
        device: str,
        min_face: int,
        look: bool = True,
    ) -> None:
        self.reader = reader
        self.device = device
        self.look = look
        self.near, self.far = Mtcnn(LEAST_FACE), Mtcnn(min_face)
        self.embed = face_embedder() if recognises() else None
        tagger = load("celeba-tagger", device)
        self.tagger = tagger if BEARDLESS in tagger.spec.labels else None  # of a home of one's own

    def __call__(self, sweep: Sweep) -> tuple[Measured, dict[str, Array]]:
        """(what the gate judges, readings by name, (1 + K,) each, the original's first: NaN if it is gone)."""
        if not len(sweep.box):  # in a picture that others made
            return Measured(looked=1), {}
        masked = sweep.mask_area < 1
        ours = masked and not sweep.asked
        values = doubles(sweep.values)
        named = ends_of(sweep.attribute) is not None
        if named or sweep.attribute == TONE or not (ours or sweep.asked):
            # as far apart as ours are from end to end: the gate's bounds are per unit of that
            values = doubles(np.interp(values, (values.min(), values.max()), (-2, 2)))
        values, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
        readings = self._read(sweep)
        means = {
            name: np.bincount(positions, scores[1:]) / counts for name, scores in readings.items()
        }
        readings = {name: np.append(readings[name][:1], mean) for name, mean in means.items()}
        target = means.get(sweep.attribute)
        follows = (nan, nan) if target is None else gate.follows(target, values)
        # what moves with an attribute that no reader knows may be it
        is_known = (ours and not named) or target is not None
        spared = (sweep.attribute, MOVES_WITH.get(sweep.attribute))
        others = [name for name in JUDGED if name in means and name not in spared and is_known]
        height, width = sweep.pictures[0].shape[:2]
        face = with_margin(sweep.box, 0, sweep.pictures[0])
        area = float(np.prod(np.maximum(sides_of(sweep.box), 1)))
        identity = nan
        if sweep.asked and sweep.original is not None and "identity" in means:
            identity = float(means["identity"].min())
        measured = Measured(
            *self._found(sweep),
            *follows,
            *gate.steepest([means[name] for name in others], others, values),
            mask_share=sweep.mask_area * width * height / area if masked else nan,
            change=gate.largest_change([picture[face] for picture in sweep.pictures]),
            identity=identity,
        )
        return measured, readings

    def _read(self, sweep: Sweep) -> dict[str, Array]:
        first = sweep.pictures[0] if sweep.original is None else sweep.original
        all_of_them = [first, *sweep.pictures]
        chips = _aligned(all_of_them, sweep.points)
        if chips is None:
            return {}
        probabilities = self.reader(chips)
        inside = np.broadcast_to(_ellipse(), chips.shape[:3])
        readings = {name: doubles(attribute(probabilities, name)) for name in JUDGED}
        if sweep.attribute not in readings and (
            of_target := target(probabilities, sweep.attribute)
        ):
            del readings[of_target[0]]  # under the name that others gave it
            readings[sweep.attribute] = doubles(of_target[1])
        readings |= {"luminance": luminance(chips, inside), "sharpness": sharpness(chips, inside)}
        if sweep.attribute == TONE:
            readings[TONE] = doubles(step_of(readings["luminance"]) / 10)
        by_others = sweep.mask_area == 1
        if sweep.attribute == "gender" and self.tagger is not None:
            # no edit of a face's light takes it away
            readings["beard"] = beards(chips, self.tagger)
        if by_others:
            # beyond the face's box and half as much around it
            places = [around(sweep.box, 0.5, picture) for picture in all_of_them]
            readings["background"] = luminance(all_of_them, places)
        if self.embed is not None and (by_others or sweep.asked):
            embedded = self.embed(all_of_them, [sweep.points] * len(all_of_them))
            readings["identity"] = cosine(embedded, embedded[0])
        if sweep.original is None:
            for values in readings.values():
                values[0] = nan
        return readings

    def _found(self, sweep: Sweep) -> tuple[int, int]:
        """(at how many values the face was looked for, at how many it was found at its place)."""
        if not self.look:
            return 0, 0
        last = len(sweep.pictures) - 1
        pictures = [sweep.pictures[step] for step in (0, last // 2, last)]
        patches, box = _around_face(pictures, sweep.box)
        near = [_same(found.boxes, box) for found in self.near(patches)]
        lost = [picture for picture, match in zip(pictures, near, strict=True) if not match]
        far = [_same(found.boxes, sweep.box) for found in self.far(lost)]
        return len(pictures), sum(near + far)


def own_step(photo: ByteArray, points: Array) -> float | None:
    """The step of the scale that the lightness of a face has; None if the points make none.  points: (5, 2)."""
    chips = _aligned([photo], points)
    if chips is None:
        return None
    return float(step_of(luminance(chips, [_ellipse()]))[0])


def _aligned(pictures: Sequence[ByteArray], points: Array) -> ByteArray | None:
    """The faces at these points, (n, CHIP_SIZE, CHIP_SIZE, 3)."""
    matrix = similarity(points, CHIP * CHIP_SIZE - 0.5)
    if matrix is None:
        return None
    return np.stack([warp(picture, matrix, CHIP_SIZE) for picture in pictures])


def _ellipse() -> FloatArray:
    """The part of an aligned picture that a face fills, 1 within."""
    ellipse = np.zeros((CHIP_SIZE, CHIP_SIZE), np.float32)
    middle = (round(0.5 * CHIP_SIZE), round(0.58 * CHIP_SIZE))
    axes = (int(0.27 * CHIP_SIZE), int(0.34 * CHIP_SIZE))
    cv2.ellipse(ellipse, middle, axes, 0, 0, 360, 1.0, -1)
    return ellipse


def _around_face(pictures: Sequence[ByteArray], face: Array) -> tuple[list[ByteArray], Array]:
    """The pictures around the face, in which it is FACE pixels large, and its box there."""
    place = with_margin(face, MARGIN, pictures[0])
    scale = FACE / max(1.0, float(sides_of(face).min()))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    height, width = pictures[0][place].shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    patches = [
        np.asarray(cv2.resize(p[place], size, interpolation=way), np.uint8) for p in pictures
    ]
    rows, columns = place
    return patches, (face - 2 * (columns.start, rows.start)) * scale


def _same(boxes: FloatArray, face: Array) -> bool:
    """Whether one of the boxes (n, 4) lies on the face: they share MIN_IOU of what they cover together."""
    low = np.maximum(boxes[:, :2], face[:2])
    high = np.minimum(boxes[:, 2:], face[2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    areas = np.prod(sides_of(boxes), axis=1) + np.prod(sides_of(face))
    return bool((common > MIN_IOU * (areas - common)).any())


def sharpness(chips: ByteArray, masks: FloatArray) -> Array:
    """Log variance of the Laplacian of luminance L* within each mask, (n,); NaN if a mask is empty.

    chips: (n, S, S, 3) uint8 RGB.  masks: (n, S, S) in [0, 1]; pixels of 0.5 and more count.

    Source: Pech-Pacheco et al. 2000, Diatom autofocusing in brightfield microscopy.
    """
    out = np.full(len(chips), nan)
    for row, (chip, mask) in enumerate(zip(chips, masks, strict=True)):
        if (mask >= 0.5).any():
            edges = cv2.Laplacian(np.ascontiguousarray(cielab(chip)[..., 0]), cv2.CV_32F)
            out[row] = np.log(float(edges[mask >= 0.5].var()) + 1e-6)
    return out


def luminance(chips: Iterable[ByteArray], masks: Iterable[AnyArray]) -> Array:
    """Mean L* within each mask, (n,) in [0, 100]; NaN if a mask is empty. Arguments as ``sharpness``, of any sizes."""
    inside = [cielab(chip)[..., 0][mask >= 0.5] for chip, mask in zip(chips, masks, strict=True)]
    return doubles([values.mean() if len(values) else nan for values in inside])


def cielab(chip: ByteArray) -> FloatArray:
    """(S, S, 3): L* in [0, 100], a* and b*, of sRGB."""
    return np.asarray(cv2.cvtColor(floats(chip) / 255, cv2.COLOR_RGB2LAB))
