"""The training sets of the models that read and of drawn faces: which photos, which labels, drawn how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core import geometry
from gslopes.core.errors import DataMissing
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray
from gslopes.faces.zoo import ModelSpec
from gslopes.faces.zoo.framing import CHIP, FRAMES
from gslopes.photos import decode, drawn as gslopes_drawn
from gslopes.photos.decode import named_picture
from gslopes.photos.folder import open_srgb
from training import drawn
from training.chips import Chips, aligned, find_faces, resized, typology_angle_of
from training.drawn import draw, parameters
from training.drawn.parameters import FACE
from training.prepared import Work, items_of_arrays, items_of_files, kept
from training.sources import YOUNG, LabelledPhotos, mask_of

QUALITY = 75  # of the WebPs: about 2.1 KB for a chip of 128 x 128


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Chips and what is known of them.

    pixels: (n, S, S, 3) uint8 RGB.  labels: (n, L) float32 (1, 0, NaN unknown), or (n, S, S) uint8 classes.
    weights: (n,) how often a photo is drawn.  held_out: (n,) never trained on.
    calibration: (n,) not trained on either: probabilities are calibrated on them.
    """

    pixels: ByteArray
    labels: NDArray[np.float32]
    weights: NDArray[np.float64]
    held_out: NDArray[np.bool_]
    calibration: NDArray[np.bool_] | None = None

    def part(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> TrainingSet:
        """The chosen rows."""
        calibration = None if self.calibration is None else self.calibration[chosen]
        return TrainingSet(
            self.pixels[chosen],
            self.labels[chosen],
            self.weights[chosen],
            self.held_out[chosen],
            calibration,
        )


def joined_sets(*sets: TrainingSet) -> TrainingSet:
    """One after the other."""
    names = ("pixels", "labels", "weights", "held_out")
    columns = [np.concatenate([getattr(each, name) for each in sets]) for name in names]
    return TrainingSet(*columns)


def write_packed(data: TrainingSet, path: Path) -> None:
    """Write the set, chips as WebP; the folder is made if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    quality = [cv2.IMWRITE_WEBP_QUALITY, QUALITY]
    files = [
        np.asarray(cv2.imencode(".webp", chip[..., ::-1], quality)[1], np.uint8)
        for chip in data.pixels
    ]
    np.savez(
        path,
        webp=np.concatenate(files),
        ends=np.cumsum([len(file) for file in files]),
        labels=data.labels,
        weights=data.weights,
        held_out=data.held_out,
    )


def packed_file(spec: ModelSpec, data: Path) -> Path:
    """Where ``packed`` looks for a model's set."""
    return data / f"{spec.name}.npz"


def packed(spec: ModelSpec, data: Path) -> TrainingSet:
    """The set that ``write_packed`` wrote to ``packed_file``."""
    with np.load(packed_file(spec, data)) as file:
        webp = file["webp"]
        starts = np.concatenate([[0], file["ends"]])
        chips = [
            np.asarray(cv2.imdecode(webp[a:b], cv2.IMREAD_COLOR))[..., ::-1]
            for a, b in pairwise(starts)
        ]
        return TrainingSet(np.stack(chips), file["labels"], file["weights"], file["held_out"])


TONE = 8.0  # degrees of the typology angle within which skin tones count as the same
CERTAIN = 0.85  # a model labels an editor's photos only if its probability is at least this, or at most 1 less it


def balanced(*columns: NDArray[Any], most: float = 8) -> NDArray[np.float64]:
    """Weights that draw every combination of the columns' values as often, up to ``most`` times its own share."""
    _, cell, count = np.unique(
        np.stack(columns, 1), axis=0, return_inverse=True, return_counts=True
    )
    weight = 1 / count[cell.ravel()]
    return np.minimum(weight, most / max(1, len(cell)))


def evened(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (n,) that grow the fewer have such an angle: one over the root of their density."""
    density = np.exp(-0.5 * ((angles[:, None] - angles) / TONE) ** 2).mean(1)
    return np.asarray(density**-0.5, np.float64)


def judge(spec: ModelSpec, photos: Sequence[LabelledPhotos], device: str) -> TrainingSet:
    """The judges' fold of UTKFace for gender, race and age, CelebA for gender and smile; unknown labels stay open."""
    utk = utkface_fold(photos[0], "judges", device)
    celebs = aligned(photos[1], crop=spec.crop, device=device)
    second = np.full((len(celebs.photos), len(spec.labels)), np.nan, np.float32)
    second[:, spec.labels.index("masculine")] = celebs.photos.column("Male")
    second[:, spec.labels.index("smiling")] = celebs.photos.column("Smiling")
    return _two_sets(spec, utk, celebs, second)


def labeller(spec: ModelSpec, photos: Sequence[LabelledPhotos], device: str) -> TrainingSet:
    """The editors' fold of UTKFace for gender, race and age; wide CelebA for gender and smile as the tagger sees them.

    No photo of the judge's, so that what labels an editor's photos, or reads a face's own values, never judges.
    """
    utk = utkface_fold(photos[0], "editors", device)
    faces = find_faces(photos[1], device)
    celebs = Chips(faces.photos, faces.chips(spec.crop))
    tags = faces.read("celeba-tagger")
    second = np.full((len(celebs.photos), len(spec.labels)), np.nan, np.float32)
    for label, tag in (("masculine", "Male"), ("smiling", "Smiling")):
        second[:, spec.labels.index(label)] = where_certain(tags[tag])
    return _two_sets(spec, utk, celebs, second)


def _two_sets(
    spec: ModelSpec, utk: Chips, celebs: Chips, second: NDArray[np.float32]
) -> TrainingSet:
    """UTKFace's own labels and CelebA's (n, 8); drawn evenly over gender, race and age, and over gender and smile.

    Raises: DataMissing if one of them has no face.
    """
    for photos in (utk.photos, celebs.photos):
        if not len(photos):
            raise DataMissing(f"No face is found in the photos of {photos.set}.", "Add photos.")
    races = [utk.photos.column(name) for name in ("white", "black", "asian", "indian", "other")]
    young = (utk.photos.column("age") < YOUNG).astype(np.float32)
    no_smile = np.full(len(young), np.nan, np.float32)
    first = np.stack([utk.photos.column("masculine"), *races, young, no_smile], 1)
    gender, smile = (second[:, spec.labels.index(name)] for name in ("masculine", "smiling"))
    weights = balanced(first[:, 0], np.argmax(first[:, 1:6], 1).astype(np.float32), first[:, 6])
    other = balanced(np.nan_to_num(gender, nan=0.5), np.nan_to_num(smile, nan=0.5))
    return TrainingSet(
        np.concatenate([resized(utk.pixels, spec.size), resized(celebs.pixels, spec.size)]),
        np.concatenate([first, second]),
        np.concatenate([weights / weights.sum(), 0.6 * other / other.sum()]),
        np.concatenate([utk.photos.held_out(), celebs.photos.held_out()]),
        calibration=np.concatenate(
            [utk.photos.between(0.46, 0.5), celebs.photos.between(0.1, 0.18)]
        )
        | np.concatenate([utk.photos.between(0.1, 0.14), np.zeros(len(celebs.photos), bool)]),
    )


def utkface_fold(utkface: LabelledPhotos, fold: str, device: str) -> Chips:
    """Tight chips of UTKFace: one fold of it, and the held-out photos."""
    faces = find_faces(utkface.part(utkface.fold(fold) | utkface.held_out()), device)
    return Chips(faces.photos, faces.chips("tight"))


def where_certain(probability: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 or 0 if a model is certain, NaN elsewhere."""
    return np.where(
        probability >= CERTAIN, 1, np.where(probability <= 1 - CERTAIN, 0, np.nan)
    ).astype(np.float32)


def tagger(spec: ModelSpec, photos: Sequence[LabelledPhotos], device: str) -> TrainingSet:
    """CelebA in its own framing, as often as it comes."""
    chips = aligned(photos[0], crop=spec.crop, size=spec.size, device=device)
    labels = np.stack([chips.photos.column(name) for name in spec.labels], 1)
    return TrainingSet(chips.pixels, labels, np.ones(len(labels)), chips.photos.held_out())


def parser(spec: ModelSpec, photos: Sequence[LabelledPhotos], device: str) -> TrainingSet:
    """CelebAMask-HQ, photos and masks aligned in the same way, with a margin so that moving them shows real pixels.

    Faces whose skin tone is rare are drawn more often.
    """
    faces = find_faces(photos[0], device)
    paths = faces.photos.paths
    size = spec.size * 3 // 2
    frame = FRAMES[spec.crop] * spec.size - 0.5 + spec.size / 4

    def cut(row: int) -> ByteArray:
        matrix = similarity(faces.points[row], frame)
        assert matrix is not None  # see ``find_faces``
        border: dict[str, Any] = {"dsize": (size, size), "borderMode": cv2.BORDER_REFLECT_101}
        classes = np.asarray(named_picture(mask_of(paths[row])))
        picture = cv2.warpAffine(open_srgb(paths[row]), matrix, flags=cv2.INTER_LINEAR, **border)
        mask = cv2.warpAffine(classes, matrix, flags=cv2.INTER_NEAREST, **border)
        return np.asarray(np.dstack([picture, mask]), np.uint8)

    masks = items_of_files([mask_of(path) for path in paths], "digests of masks")
    both = items_of_arrays(np.concatenate([faces.items, masks], 1))
    work = Work(
        "parsed", (size, size, 4), "uint8", 32, (faces.found.key, frame.tolist()), (parser, decode)
    )
    chips = kept(work, both, lambda rows: np.stack([cut(row) for row in rows]), "chips and masks")
    pictures, classes = chips[..., :3], chips[..., 3]
    skin = classes == spec.labels.index("skin")
    angles = [typology_angle_of(*pair) for pair in zip(pictures, skin, strict=True)]
    return TrainingSet(
        np.ascontiguousarray(pictures),
        np.ascontiguousarray(classes),
        evened(np.array(angles)),
        faces.photos.held_out(),
    )


def drawn_faces(
    spec: ModelSpec,
    photos: Sequence[LabelledPhotos],
    device: str,
    faces: int = 12000,
    seed: int = 1,
    confound: dict[str, float] | None = None,
    most: int | None = None,
) -> TrainingSet:
    """Drawn faces aligned by their known landmarks, with the spec's labels from -1 to 1; they need no photos.

    most: so many of them at most.
    """
    del photos, device
    faces = min(faces, most or faces)
    sampled = drawn.sample(faces, seed, confound=confound)
    # A third of the faces at the two ends, with most to learn, the others evenly between.
    sampled = sampled.replace(gender=np.clip(0.75 * sampled.gender, -1, 1).astype(np.float32))
    looks = np.stack([getattr(sampled, name) for name in drawn.COLUMNS], 1)
    work = Work(
        "drawn", (spec.size, spec.size, 3), "uint8", 50, (FACE, CHIP.tolist()),
        (drawn_chips, draw, parameters, gslopes_drawn, geometry),
    )  # fmt: skip
    chips = kept(
        work, items_of_arrays(looks), lambda rows: drawn_chips(sampled.take(rows), spec.size)
    )
    columns = {"gender": sampled.gender, "smiling": 2 * sampled.smile - 1}
    labels = np.stack([columns[name] for name in spec.labels], 1).astype(np.float32)
    return TrainingSet(chips, labels, np.ones(faces), np.arange(faces) % 10 == 0)


def drawn_chips(looks: drawn.FaceParameters, size: int) -> ByteArray:
    """Aligned chips (n, size, size, 3) of faces drawn at twice the chip's side."""
    photos = drawn.render(looks, 2 * size)
    matrices = [similarity(points, CHIP * size - 0.5) for points in photos.points]
    return np.stack(
        [
            warp(picture, m, size)
            for picture, m in zip(photos.pixels, matrices, strict=True)
            if m is not None
        ]
    )
