"""The training sets of the models that read and of drawn faces: which photos, which labels, drawn how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray
from gslopes.faces.zoo import ModelSpec, load
from gslopes.faces.zoo.framing import CHIP, FRAMES
from gslopes.photos.decode import named_picture
from gslopes.photos.folder import open_srgb
from training import drawn
from training.augment import to_float
from training.chips import Chips, aligned, cache_folder, find_points, resized, typology_angle_of
from training.sources import YOUNG, LabelledPhotos, held_out, mask_of

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
    celebs = aligned(photos[1], crop=spec.crop, device=device)
    tags = tagged(photos[1], celebs, device)
    second = np.full((len(celebs.photos), len(spec.labels)), np.nan, np.float32)
    for label, tag in (("masculine", "Male"), ("smiling", "Smiling")):
        second[:, spec.labels.index(label)] = where_certain(tags[tag])
    return _two_sets(spec, utk, celebs, second)


def _two_sets(
    spec: ModelSpec, utk: Chips, celebs: Chips, second: NDArray[np.float32]
) -> TrainingSet:
    """UTKFace's own labels and CelebA's (n, 8); drawn evenly over gender, race and age, and over gender and smile."""
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
    chips = aligned(utkface, crop="tight", device=device)
    return chips.part(chips.photos.fold(fold) | chips.photos.held_out())


def where_certain(probability: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 or 0 if a model is certain, NaN elsewhere."""
    return np.where(
        probability >= CERTAIN, 1, np.where(probability <= 1 - CERTAIN, 0, np.nan)
    ).astype(np.float32)


def tagger(spec: ModelSpec, photos: Sequence[LabelledPhotos], device: str) -> TrainingSet:
    """CelebA in its own framing, as often as it comes."""
    chips = aligned(photos[0], crop=spec.crop, size=spec.size, device=device)
    labels = np.stack([chips.photos.column(name) for name in spec.labels], 1)
    return TrainingSet(
        np.array(chips.pixels), labels, np.ones(len(labels)), chips.photos.held_out()
    )


def parser(spec: ModelSpec, photos: Sequence[LabelledPhotos], device: str) -> TrainingSet:
    """CelebAMask-HQ, photos and masks aligned in the same way, with a margin so that moving them shows real pixels.

    Faces whose skin tone is rare are drawn more often.
    """
    paths = photos[0].paths
    points = find_points(paths, cache_folder() / "celebamask", device)
    size = spec.size * 3 // 2
    border: dict[str, Any] = {"dsize": (size, size), "borderMode": cv2.BORDER_REFLECT_101}
    pictures = []
    masks = []
    names = []
    angles = []
    for photo, landmarks in zip(paths, points, strict=True):
        matrix = (
            None
            if landmarks is None
            else similarity(landmarks, FRAMES[spec.crop] * spec.size - 0.5 + spec.size / 4)
        )
        if matrix is not None:
            classes = np.asarray(named_picture(mask_of(photo)))
            pictures.append(
                cv2.warpAffine(open_srgb(photo), matrix, flags=cv2.INTER_LINEAR, **border)
            )
            masks.append(cv2.warpAffine(classes, matrix, flags=cv2.INTER_NEAREST, **border))
            names.append(photo.name)
            angles.append(
                typology_angle_of(
                    np.asarray(pictures[-1], np.uint8), masks[-1] == spec.labels.index("skin")
                )
            )
    keep = np.array([held_out(name) for name in names])
    return TrainingSet(np.stack(pictures), np.stack(masks), evened(np.array(angles)), keep)


def tagged(source: LabelledPhotos, chips: Chips, device: str) -> dict[str, NDArray[np.float32]]:
    """The tagger's probabilities of its labels for the photos of ``chips``, each (n,), in the tagger's own crop."""
    model = load("celeba-tagger", device)
    portraits = aligned(source, crop=model.spec.crop, size=model.spec.size, device=device)
    assert portraits.photos.paths == chips.photos.paths  # the same faces are found
    return probabilities("celeba-tagger", portraits.pixels, device)


def probabilities(name: str, pixels: ByteArray, device: str) -> dict[str, NDArray[np.float32]]:
    """A model's probabilities of its labels for chips in its crop (n, S, S, 3) uint8 RGB, each (n,)."""
    model = load(name, device)
    out = []
    with torch.inference_mode():
        for start in range(0, len(pixels), 256):
            small = resized(pixels[start : start + 256], model.spec.size)
            x = to_float(torch.from_numpy(small).to(device), model.spec.mean, model.spec.std)
            out.append(model.module(x).sigmoid().float().cpu().numpy())
    shares = np.concatenate(out)
    return {label: shares[:, column] for column, label in enumerate(model.spec.labels)}


def drawn_faces(
    spec: ModelSpec,
    photos: Sequence[LabelledPhotos],
    device: str,
    faces: int = 12000,
    seed: int = 1,
    confound: dict[str, float] | None = None,
) -> TrainingSet:
    """Drawn faces aligned by their known landmarks, with the spec's labels from -1 to 1; they need no photos."""
    del photos, device
    sampled = drawn.sample(faces, seed, confound=confound)
    # A third of the faces at the two ends, with most to learn, the others evenly between.
    sampled = sampled.replace(gender=np.clip(0.75 * sampled.gender, -1, 1).astype(np.float32))
    chips = np.concatenate(
        [drawn_chips(sampled.take(slice(i, i + 500)), spec.size) for i in range(0, faces, 500)]
    )
    columns = {"gender": sampled.gender, "smiling": 2 * sampled.smile - 1}
    labels = np.stack([columns[name] for name in spec.labels], 1).astype(np.float32)
    return TrainingSet(chips, labels, np.ones(faces), np.arange(faces) % 10 == 0)


def drawn_chips(parameters: drawn.FaceParameters, size: int) -> ByteArray:
    """Aligned chips (n, size, size, 3) of faces drawn at twice the chip's side."""
    photos = drawn.render(parameters, 2 * size)
    matrices = [similarity(points, CHIP * size - 0.5) for points in photos.points]
    return np.stack(
        [
            warp(picture, m, size)
            for picture, m in zip(photos.pixels, matrices, strict=True)
            if m is not None
        ]
    )
