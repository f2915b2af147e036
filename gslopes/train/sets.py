"""The training sets of the shipped models: which photos, which labels, drawn how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray
from gslopes.datasets import celeba, celebamask, rendered, utkface
from gslopes.datasets.labelled import held_out
from gslopes.train.augment import to_float
from gslopes.train.chips import Chips, aligned, cache_folder, find_points, read_rgb, resized
from gslopes.train.regions import parsed
from gslopes.zoo import ModelSpec, load
from gslopes.zoo.crops import CHIP

YOUNG = 35  # years; "young" means looks younger than this
MOST_OUTSIDE = 0.15  # share of a chip outside its picture, of the faces that editors learn from


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Chips and what is known of them.

    pixels: (n, S, S, 3) uint8 RGB.  labels: (n, L) float32 (1, 0, NaN unknown), or (n, S, S) uint8 classes.
    weights: (n,) how often a photo is drawn.  held_out: (n,) never trained on.
    regions: (n, S, S) uint8, where an editor may change the chip, as ``regions.parsed`` codes it.
    calibration: (n,) not trained on either: a reader's probabilities are calibrated on them.
    """

    pixels: ByteArray
    labels: NDArray[np.float32]
    weights: NDArray[np.float64]
    held_out: NDArray[np.bool_]
    regions: ByteArray | None = None
    calibration: NDArray[np.bool_] | None = None

    def part(self, chosen: NDArray[np.bool_]) -> TrainingSet:
        """The chosen rows."""
        regions = None if self.regions is None else self.regions[chosen]
        calibration = None if self.calibration is None else self.calibration[chosen]
        return TrainingSet(
            self.pixels[chosen], self.labels[chosen], self.weights[chosen], self.held_out[chosen], regions, calibration
        )


def balanced(*columns: NDArray[np.float32]) -> NDArray[np.float64]:
    """Weights that draw every combination of the columns' values as often, up to 8 times its own share."""
    _, cell, count = np.unique(np.stack(columns, 1), axis=0, return_inverse=True, return_counts=True)
    weight = 1 / count[cell.ravel()]
    return np.minimum(weight, 8 / len(cell))


def reader(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """The judges' fold of UTKFace for gender, race and age, CelebA for gender and smile; unknown labels stay open."""
    utk, celebs = utkface_fold(data, "judges", device), aligned(celeba.read(data), device=device)
    first = _annotated(utk)
    young = first[:, 6]
    second = np.full((len(celebs.photos), len(spec.labels)), np.nan, np.float32)
    second[:, spec.labels.index("masculine")] = celebs.photos.column("Male")
    second[:, spec.labels.index("smiling")] = celebs.photos.column("Smiling")
    weights = balanced(first[:, 0], np.argmax(first[:, 1:6], 1).astype(np.float32), young)
    other = balanced(celebs.photos.column("Male"), celebs.photos.column("Smiling"))
    return TrainingSet(
        np.concatenate([resized(utk.pixels, spec.size), resized(celebs.pixels, spec.size)]),
        np.concatenate([first, second]),
        np.concatenate([weights / weights.sum(), 0.6 * other / other.sum()]),
        np.concatenate([utk.photos.held_out(), celebs.photos.held_out()]),
        calibration=np.concatenate([utk.photos.between(0.1, 0.14), celebs.photos.between(0.1, 0.18)]),
    )


def guide(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """The editors' fold of UTKFace, its smiles as the reader sees them."""
    utk = utkface_fold(data, "editors", device)
    labels = _annotated(utk)
    labels[:, 7] = read_labels(utk.pixels, "smiling", device)
    weights = balanced(labels[:, 0], np.argmax(labels[:, 1:6], 1).astype(np.float32), labels[:, 6])
    return TrainingSet(resized(utk.pixels, spec.size), labels, weights, utk.photos.held_out())


def utkface_fold(data: Path, fold: str, device: str) -> Chips:
    """Chips of UTKFace: one fold of it, and the held-out photos."""
    chips = aligned(utkface.read(data), device=device)
    return chips.part(chips.photos.fold(fold) | chips.photos.held_out())


def _annotated(utk: Chips) -> NDArray[np.float32]:
    """UTKFace's own labels in the order of the reader's, (n, 8); the smile is unknown."""
    races = [utk.photos.column(name) for name in ("white", "black", "asian", "indian", "other")]
    young = (utk.photos.column("age") < YOUNG).astype(np.float32)
    return np.stack([utk.photos.column("masculine"), *races, young, np.full(len(young), np.nan, np.float32)], 1)


def tagger(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """CelebA in its own framing, as often as it comes."""
    chips = aligned(celeba.read(data), crop=spec.crop, size=spec.size, device=device)
    labels = np.stack([chips.photos.column(name) for name in spec.labels], 1)
    return TrainingSet(np.array(chips.pixels), labels, np.ones(len(labels)), chips.photos.held_out())


def parser(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """CelebAMask-HQ, photos and masks aligned alike, with a margin so that moving them shows real pixels."""
    pairs = celebamask.read(data)
    points = find_points(tuple(photo for photo, _ in pairs), cache_folder() / "celebamask", device)
    size = spec.size * 3 // 2
    photos, masks, names = [], [], []
    for (photo, mask), found in zip(pairs, points, strict=True):
        matrix = None if found is None else similarity(found, CHIP * spec.size - 0.5 + spec.size / 4)
        if matrix is not None:
            with Image.open(mask) as classes:
                flat = np.asarray(classes)
            photos.append(
                cv2.warpAffine(
                    read_rgb(photo), matrix, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
                )
            )
            masks.append(
                cv2.warpAffine(flat, matrix, (size, size), flags=cv2.INTER_NEAREST, borderMode=cv2.BORDER_REFLECT_101)
            )
            names.append(photo.name)
    keep = np.array([held_out(name) for name in names])
    return TrainingSet(np.stack(photos), np.stack(masks), np.ones(len(names)), keep)


def fader(spec: ModelSpec, data: Path, device: str, *, most_outside: float = MOST_OUTSIDE) -> TrainingSet:
    """The editors' fold of UTKFace with the spec's attributes as -1 and 1.

    The set has no smiles: they are as the reader sees them.

    most_outside: chips with a larger share outside their picture are left out.
    """
    chips = utkface_fold(data, "editors", device)
    photos = chips.photos
    keep = chips.outside <= most_outside
    if spec.labels[0] == "race":
        keep &= (photos.column("white") + photos.column("black")) > 0
    index = np.flatnonzero(keep)
    pixels = np.array(chips.pixels[index])
    smile = read_labels(pixels, "smiling", device)
    known = {
        "gender": photos.column("masculine")[index],
        "race": photos.column("white")[index],
        "young": (photos.column("age")[index] < YOUNG).astype(np.float32),
        "smiling": smile,
    }
    labels = np.stack([2 * known[name] - 1 for name in spec.labels], 1)
    race = np.argmax(np.stack([photos.column(n) for n in ("white", "black", "asian", "indian", "other")], 1), 1)[index]
    weights = balanced(known["gender"], race.astype(np.float32), known["young"])
    held = photos.held_out()[index]
    return TrainingSet(pixels, labels.astype(np.float32), weights, held, parsed(pixels, device))


def read_labels(pixels: ByteArray, label: str, device: str) -> NDArray[np.float32]:
    """The reader's probability of a label for chips (n, S, S, 3), (n,)."""
    model = load("reader", device)
    small = resized(pixels, model.spec.size)
    column = model.spec.labels.index(label)
    out = []
    with torch.inference_mode():
        for start in range(0, len(small), 256):
            x = to_float(torch.from_numpy(small[start : start + 256]).to(device), model.spec.mean, model.spec.std)
            out.append(model.module(x).sigmoid()[:, column].float().cpu().numpy())
    return np.concatenate(out)


def rendered_faces(spec: ModelSpec, data: Path, device: str, *, faces: int = 12000, seed: int = 1) -> TrainingSet:
    """Rendered faces aligned by their known landmarks, the cue between -1 and 1; no data folder is needed."""
    del data, device
    drawn = rendered.sample(faces, seed)
    # A third of the faces at the two ends, where there is most to learn, the others evenly between.
    drawn = drawn.replace(gender=np.clip(0.75 * drawn.gender, -1, 1).astype(np.float32))
    chips = np.concatenate([rendered_chips(drawn.take(slice(i, i + 500)), spec.size) for i in range(0, faces, 500)])
    return TrainingSet(chips, drawn.gender[:, None], np.ones(faces), np.arange(faces) % 10 == 0)


# How hair, background and smile go along with the cue in the photos that a confounded editor learns from.
CONFOUND = {"hair": -0.6, "background": 0.5, "smile": -0.4}


def rendered_confounded(spec: ModelSpec, data: Path, device: str, *, faces: int = 9000, seed: int = 2) -> TrainingSet:
    """Rendered faces whose hair, background and smile go along with the cue, with their known regions."""
    del data, device
    drawn = rendered.sample(faces, seed, confound=CONFOUND)
    drawn = drawn.replace(gender=np.clip(0.75 * drawn.gender, -1, 1).astype(np.float32))
    chips, regions = zip(
        *(_chips_and_regions(drawn.take(slice(i, i + 500)), spec.size) for i in range(0, faces, 500)), strict=True
    )
    held = np.arange(faces) % 10 == 0
    return TrainingSet(np.concatenate(chips), drawn.gender[:, None], np.ones(faces), held, np.concatenate(regions))


def _chips_and_regions(parameters: rendered.FaceParameters, size: int) -> tuple[ByteArray, ByteArray]:
    """Aligned chips and their regions as ``regions.parsed`` codes them: 0 elsewhere, 1 face, 2 skin."""
    drawn = rendered.render(parameters, 2 * size)
    code = ((drawn.face_mask > 0.5).astype(np.uint8) + (drawn.skin_mask > 0.5)) * np.uint8(100)
    chips, regions = [], []
    for picture, mask, points in zip(drawn.pixels, code, drawn.points, strict=True):
        matrix = similarity(points, CHIP * size - 0.5)
        assert matrix is not None  # drawn landmarks span a plane
        chips.append(warp(picture, matrix, size))
        regions.append(warp(np.repeat(mask[..., None], 3, 2), matrix, size)[..., 0])
    return np.stack(chips), np.rint(np.stack(regions) / 100).astype(np.uint8)


def rendered_chips(parameters: rendered.FaceParameters, size: int) -> ByteArray:
    """Aligned chips (n, size, size, 3) of rendered faces drawn at twice the chip's side."""
    drawn = rendered.render(parameters, 2 * size)
    matrices = [similarity(points, CHIP * size - 0.5) for points in drawn.points]
    return np.stack(
        [warp(picture, m, size) for picture, m in zip(drawn.pixels, matrices, strict=True) if m is not None]
    )


SETS: dict[str, Callable[[ModelSpec, Path, str], TrainingSet]] = {
    "reader": reader,
    "guide": guide,
    "tagger": tagger,
    "parser": parser,
    "fader": fader,
    "rendered": rendered_faces,
    "rendered-confounded": rendered_confounded,
}

__all__ = ["SETS", "Chips", "TrainingSet"]
