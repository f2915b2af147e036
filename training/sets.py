"""The training sets of the shipped models: which photos, which labels, drawn how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from gslopes.core.errors import DataMissing
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray
from gslopes.faces.compose.skin import class_probabilities
from gslopes.faces.zoo import ModelSpec, load
from gslopes.faces.zoo.framing import CHIP, FRAMES
from gslopes.photos import drawn
from gslopes.photos.decode import named_picture
from training.augment import to_float
from training.chips import Chips, aligned, cache_folder, find_points, read_rgb, resized, typology_angle_of
from training.sources import (
    LabelledPhotos,
    held_out,
    is_census,
    read_celeba,
    read_celeba_wide,
    read_celebamask,
    read_census,
    read_utkface,
)

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
            self.pixels[chosen], self.labels[chosen], self.weights[chosen], self.held_out[chosen], calibration
        )


def write_packed(data: TrainingSet, path: Path) -> None:
    """Write the set, chips as WebP; the folder is made if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    quality = [cv2.IMWRITE_WEBP_QUALITY, QUALITY]
    files = [np.asarray(cv2.imencode(".webp", chip[..., ::-1], quality)[1], np.uint8) for chip in data.pixels]
    np.savez(
        path,
        webp=np.concatenate(files),
        ends=np.cumsum([len(file) for file in files]),
        labels=data.labels,
        weights=data.weights,
        held_out=data.held_out,
    )


def packed(spec: ModelSpec, data: Path) -> TrainingSet:
    """The set that ``write_packed`` wrote to ``data/<model>.npz``."""
    path = data / f"{spec.name}.npz"
    with np.load(path) as file:
        webp, starts = file["webp"], np.concatenate([[0], file["ends"]])
        chips = [np.asarray(cv2.imdecode(webp[a:b], cv2.IMREAD_COLOR))[..., ::-1] for a, b in pairwise(starts)]
        return TrainingSet(np.stack(chips), file["labels"], file["weights"], file["held_out"])


TONE = 8.0  # degrees of the typology angle within which skin tones count as the same
TONES = (10.0, 28.0, 41.0)  # degrees between dark, tan, intermediate and light skin (Chardon et al. 1991)
YOUNG = 35  # years; "young" means looks younger than this
LEAST = 10  # faces at each end of an attribute without which a census is no training set
CERTAIN = 0.85  # a model labels an editor's photos only where its probability is at least this, or at most 1 less it


def balanced(*columns: NDArray[Any]) -> NDArray[np.float64]:
    """Weights that draw every combination of the columns' values as often, up to 8 times its own share."""
    _, cell, count = np.unique(np.stack(columns, 1), axis=0, return_inverse=True, return_counts=True)
    weight = 1 / count[cell.ravel()]
    return np.minimum(weight, 8 / len(cell))


def evened(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (n,) that grow where few have such an angle: one over the root of their density."""
    density = np.exp(-0.5 * ((angles[:, None] - angles) / TONE) ** 2).mean(1)
    return np.asarray(density**-0.5, np.float64)


def judge(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """The judges' fold of UTKFace for gender, race and age, CelebA for gender and smile; unknown labels stay open."""
    utk, celebs = utkface_fold(data, "judges", device), aligned(read_celeba(data), crop=spec.crop, device=device)
    second = np.full((len(celebs.photos), len(spec.labels)), np.nan, np.float32)
    second[:, spec.labels.index("masculine")] = celebs.photos.column("Male")
    second[:, spec.labels.index("smiling")] = celebs.photos.column("Smiling")
    return _two_sets(spec, utk, celebs, second)


def labeller(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """The editors' fold of UTKFace for gender, race and age; wide CelebA for gender and smile as the tagger sees them.

    No photo of the judge's, so that what labels an editor's photos, or reads a face's own values, never judges.
    """
    utk, celebs = utkface_fold(data, "editors", device), aligned(read_celeba_wide(data), crop=spec.crop, device=device)
    tags = tagged(read_celeba_wide(data), celebs, device)
    second = np.full((len(celebs.photos), len(spec.labels)), np.nan, np.float32)
    for label, tag in (("masculine", "Male"), ("smiling", "Smiling")):
        second[:, spec.labels.index(label)] = _where_certain(tags[tag])
    return _two_sets(spec, utk, celebs, second)


def _two_sets(spec: ModelSpec, utk: Chips, celebs: Chips, second: NDArray[np.float32]) -> TrainingSet:
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
        calibration=np.concatenate([utk.photos.between(0.46, 0.5), celebs.photos.between(0.1, 0.18)])
        | np.concatenate([utk.photos.between(0.1, 0.14), np.zeros(len(celebs.photos), bool)]),
    )


def utkface_fold(data: Path, fold: str, device: str) -> Chips:
    """Tight chips of UTKFace: one fold of it, and the held-out photos."""
    chips = aligned(read_utkface(data), crop="tight", device=device)
    return chips.part(chips.photos.fold(fold) | chips.photos.held_out())


def _where_certain(probability: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 or 0 where a model is certain, NaN elsewhere."""
    return np.where(probability >= CERTAIN, 1, np.where(probability <= 1 - CERTAIN, 0, np.nan)).astype(np.float32)


def tagger(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """CelebA in its own framing, as often as it comes."""
    chips = aligned(read_celeba(data), crop=spec.crop, size=spec.size, device=device)
    labels = np.stack([chips.photos.column(name) for name in spec.labels], 1)
    return TrainingSet(np.array(chips.pixels), labels, np.ones(len(labels)), chips.photos.held_out())


def parser(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """CelebAMask-HQ, photos and masks aligned in the same way, with a margin so that moving them shows real pixels.

    Faces whose skin tone is rare are drawn more often.
    """
    pairs = read_celebamask(data)
    points = find_points(tuple(photo for photo, _ in pairs), cache_folder() / "celebamask", device)
    size = spec.size * 3 // 2
    border: dict[str, Any] = {"dsize": (size, size), "borderMode": cv2.BORDER_REFLECT_101}
    photos, masks, names, angles = [], [], [], []
    for (photo, mask), found in zip(pairs, points, strict=True):
        matrix = None if found is None else similarity(found, FRAMES[spec.crop] * spec.size - 0.5 + spec.size / 4)
        if matrix is not None:
            classes = np.asarray(named_picture(mask))
            photos.append(cv2.warpAffine(read_rgb(photo), matrix, flags=cv2.INTER_LINEAR, **border))
            masks.append(cv2.warpAffine(classes, matrix, flags=cv2.INTER_NEAREST, **border))
            names.append(photo.name)
            angles.append(typology_angle_of(np.asarray(photos[-1], np.uint8), masks[-1] == spec.labels.index("skin")))
    keep = np.array([held_out(name) for name in names])
    return TrainingSet(np.stack(photos), np.stack(masks), evened(np.array(angles)), keep)


def fader(spec: ModelSpec, data: Path, device: str, tone: bool = False) -> TrainingSet:
    """Wide CelebA and the editors' fold of UTKFace with the spec's attributes from -1 to 1.

    Faces with glasses are left out, unless the editor knows glasses as an attribute.

    Gender and race of CelebA's faces are as the tagger and the labeller see them, where they are certain (Joo and
    Kärkkäinen label CelebA with FairFace in the same way); UTKFace's are its annotators'. Smiles, glasses and beards
    are the tagger's, the other attributes that are held fixed the labeller's. Where DATA holds ``<model>.npz`` of
    ``training.sets`` instead, it is that; where DATA is a folder of ``gslopes census``, its photos with its labels.

    tone: draw evenly over beards and the measured tone of the skin, in place of the race that the labeller reads.

    Raises: DataMissing.
    """
    if (data / f"{spec.name}.npz").is_file():
        return packed(spec, data)
    parts = []
    counted = is_census(data)
    for source in (read_census(data),) if counted else (read_celeba_wide(data), read_utkface(data)):
        chips, tight = aligned(source, device=device), aligned(source, crop="tight", device=device)
        held_out = chips.photos.held_out()
        fold = chips.photos.fold("editors") if source.set == "utkface" else ~held_out
        parts.append(_editor_part(spec, chips, tight, fold | held_out, tagged(source, chips, device), device, tone))
    shares = (1.0,) if counted else (0.65, 0.35)  # how often each source is drawn
    return TrainingSet(
        np.concatenate([part.pixels for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([share * part.weights for part, share in zip(parts, shares, strict=True)]),
        np.concatenate([part.held_out for part in parts]),
    )


def _editor_part(
    spec: ModelSpec, chips: Chips, tight: Chips, chosen: NDArray[np.bool_], tags: dict[str, NDArray[np.float32]],
    device: str, tone: bool = False,
) -> TrainingSet:  # fmt: skip
    """One source of an editor's photos: those whose edited attribute is known, see ``fader`` for glasses.

    Raises: DataMissing if a census names too few faces at an end of the edited attribute.
    """
    photos = chips.photos
    read = _probabilities("labeller", tight.pixels, device)
    known = {
        "gender": _where_certain(tags["Male"]),
        "race": np.where(read["white"] >= CERTAIN, 1, np.where(read["black"] >= CERTAIN, 0, np.nan)).astype(np.float32),
        "young": read["young"],
        "smiling": tags["Smiling"],
        "eyeglasses": tags["Eyeglasses"],
        "beard": 1 - tags["No_Beard"],
    }
    edited, counted = spec.labels[0], photos.set.startswith("census-")
    if photos.set == "utkface" or counted:
        human = photos.column("white") + photos.column("black")
        known["gender"] = photos.column("masculine")
        known["race"] = np.where(human > 0, photos.column("white"), np.nan)
        young = photos.column("young") if counted else (photos.column("age") < YOUNG).astype(np.float32)
        known["young"] = np.where(np.isfinite(young), young, read["young"])
    if edited != "gender":
        said = known["gender"] if counted else np.full(len(photos), np.nan)
        known["gender"] = np.where(np.isfinite(said), said, read["masculine"]).astype(np.float32)
    if edited != "race":
        known["race"] = read["white"] / (read["white"] + read["black"]).clip(1e-6)
    clear = (tags["Eyeglasses"] < 0.5) | ("eyeglasses" in spec.labels)
    index = np.flatnonzero(chosen & np.isfinite(known[edited]) & clear & (chips.outside < 0.6))
    labels = np.stack([2 * known[name][index] - 1 for name in spec.labels], 1)
    if counted:
        aside = photos.held_out()[index]
        low, high = (int(((labels[:, 0] == end) & ~aside).sum()) for end in (-1, 1))
        if min(low, high) < LEAST or not aside.any():
            raise DataMissing(
                f"The census names {low} and {high} faces as {' and '.join(spec.ends)}; {aside.sum()} are held out.",
                f"{LEAST} of each are needed: collect more, or answer the review of gslopes census --unsure {edited}.",
            )
    groups: list[NDArray[Any]] = [known[edited][index], known["young"][index].round(), known["smiling"][index].round()]
    if tone:
        groups += [np.digitize(_tones(chips.pixels, index, device), TONES), known["beard"][index].round()]
    else:
        groups.append((read["black"] + read["indian"])[index].round())
    weights = balanced(*groups)
    return TrainingSet(
        np.array(chips.pixels[index]), labels.astype(np.float32), weights / weights.sum(), photos.held_out()[index]
    )


def _tones(pixels: ByteArray, index: NDArray[np.intp], device: str) -> NDArray[np.float64]:
    """Typology angles of the skin of the chosen chips, degrees, (n,)."""
    parser = load("face-parser", device)
    skin, angles = parser.spec.labels.index("skin"), []
    for start in tqdm(range(0, len(index), 64), desc="tones", unit="batch"):
        chips = np.array(pixels[index[start : start + 64]])
        masks = class_probabilities(parser, chips, torch.device(device))[:, skin].cpu().numpy() > 0.5
        angles += [typology_angle_of(chip, mask) for chip, mask in zip(chips, masks, strict=True)]
    return np.array(angles)


def tagged(source: LabelledPhotos, chips: Chips, device: str) -> dict[str, NDArray[np.float32]]:
    """The tagger's probabilities of its labels for the photos of ``chips``, each (n,), in the tagger's own crop."""
    model = load("celeba-tagger", device)
    portraits = aligned(source, crop=model.spec.crop, size=model.spec.size, device=device)
    assert portraits.photos.paths == chips.photos.paths  # the same faces are found
    return _probabilities("celeba-tagger", portraits.pixels, device)


def _probabilities(name: str, pixels: ByteArray, device: str) -> dict[str, NDArray[np.float32]]:
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


# Correlations of hair, background and smile with the cue in the photos that a confounded editor learns from.
CONFOUND = {"hair": -0.6, "background": 0.5, "smile": -0.4}


def drawn_faces(
    spec: ModelSpec,
    data: Path,
    device: str,
    faces: int = 12000,
    seed: int = 1,
    confound: dict[str, float] | None = None,
) -> TrainingSet:
    """Drawn faces aligned by their known landmarks, with the spec's labels from -1 to 1; no data folder is needed."""
    del data, device
    sampled = drawn.sample(faces, seed, confound=confound)
    # A third of the faces at the two ends, where there is most to learn, the others evenly between.
    sampled = sampled.replace(gender=np.clip(0.75 * sampled.gender, -1, 1).astype(np.float32))
    chips = np.concatenate([drawn_chips(sampled.take(slice(i, i + 500)), spec.size) for i in range(0, faces, 500)])
    known = {"gender": sampled.gender, "smiling": 2 * sampled.smile - 1}
    labels = np.stack([known[name] for name in spec.labels], 1).astype(np.float32)
    return TrainingSet(chips, labels, np.ones(faces), np.arange(faces) % 10 == 0)


def drawn_chips(parameters: drawn.FaceParameters, size: int) -> ByteArray:
    """Aligned chips (n, size, size, 3) of faces drawn at twice the chip's side."""
    photos = drawn.render(parameters, 2 * size)
    matrices = [similarity(points, CHIP * size - 0.5) for points in photos.points]
    return np.stack(
        [warp(picture, m, size) for picture, m in zip(photos.pixels, matrices, strict=True) if m is not None]
    )


SETS: dict[str, Callable[[ModelSpec, Path, str], TrainingSet]] = {
    "judge": judge,
    "labeller": labeller,
    "tagger": tagger,
    "face-parser": parser,
    "fader": fader,
    "fader-even": partial(fader, tone=True),
    "drawn": drawn_faces,
    "drawn-confounded": partial(drawn_faces, faces=9000, seed=2, confound=CONFOUND),
}
