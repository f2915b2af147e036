"""What a trained model reaches on the photos that it never saw: the numbers of its card, each with a 95 % interval.

Intervals are percentile bootstraps over the held-out photos (seed 0): they speak of the choice of photos, not of
training again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gslopes.core.geometry import OFFSET
from gslopes.core.records import ByteArray
from gslopes.faces.compose.skin import REGIONS, class_probabilities
from gslopes.faces.gate import manipulation
from gslopes.faces.gate.manipulation import Interval
from gslopes.faces.zoo import LoadedModel, ModelSpec, load_folder
from gslopes.stats.resampling import Rows
from training.augment import to_float
from training.chips import face_window, typology_angle_of
from training.field_editor import FieldEditor
from training.ranking import auc
from training.sets import TrainingSet
from training.tone_scale import measured

RESAMPLES = 200
LEAST = 20  # photos of a group with a number of its own
THIRDS = ("darkest third", "middle third", "lightest third")
Number = dict[str, float]


def measure(spec: ModelSpec, folder: Path, held_out: TrainingSet, device: str) -> dict[str, Any]:
    """Numbers of the model in ``folder`` on held-out photos: kind to number, or kind to name to number.

    ``auc`` of each label and of gender by race and age, ``iou`` of each region and of each third by skin tone, ``l1``
    of a reconstruction, ``edit_size`` and ``farthest_moved`` of an edit.
    """
    module = load_folder(folder, device).module
    readings = {
        "tagger": _tagger,
        "feature-pyramid": _parser,
        "fader": _fader,
        "edit-field": _edit_ends,
        "edit-ends": _edit_ends,
        "tone-scale": _tone_scale,
        "edit-groups": _edit_groups,
    }[spec.network]
    with torch.inference_mode():
        return {"held_out": len(held_out.pixels), **readings(spec, module, held_out, device)}


def cell(number: Interval) -> Number:
    """A number as metrics.json holds it, rounded to four places."""
    return {name: round(getattr(number, name), 4) for name in ("value", "low", "high")}


def thirds(light: NDArray[np.floating[Any]]) -> NDArray[np.object_]:
    """(n,) names of each face's third by the lightness of its skin, (n,) in any unit."""
    rank = np.argsort(np.argsort(light, kind="stable"), kind="stable") * 3 // max(1, len(light))
    return np.array(THIRDS, object)[rank]


def _batches(spec: ModelSpec, pixels: ByteArray, device: str) -> Iterator[tuple[slice, Tensor]]:
    for start in range(0, len(pixels), 64):
        rows = slice(start, start + 64)
        yield (
            rows,
            to_float(torch.from_numpy(np.array(pixels[rows])).to(device), spec.mean, spec.std),
        )


def _tone_scale(
    spec: ModelSpec, module: nn.Module, data: TrainingSet, device: str
) -> dict[str, Any]:
    return {
        kind: {name: cell(number) for name, number in numbers.items()}
        for kind, numbers in measured(module, data, device).items()
    }


def _tagger(spec: ModelSpec, module: nn.Module, data: TrainingSet, device: str) -> dict[str, Any]:
    logits = np.concatenate(
        [module(x).float().cpu().numpy() for _, x in _batches(spec, data.pixels, device)]
    )
    areas = {}
    for column, label in enumerate(spec.labels):
        usable = np.isfinite(data.labels[:, column])
        area = _area(data.labels[usable, column] > 0.5, logits[usable, column])
        areas[label] = cell(manipulation.interval(area, int(usable.sum()), RESAMPLES))
    gender = "Male" if "Male" in spec.labels else "masculine"
    column = spec.labels.index(gender)
    names = group_names(spec.labels, data.labels)
    usable = np.isfinite(data.labels[:, column]) & (names != "")
    if usable.any():
        area = _area(data.labels[usable, column] > 0.5, logits[usable, column])
        groups = manipulation.by_group(area, names[usable], LEAST, RESAMPLES).each
        areas |= {
            f"{gender}, {name}": cell(group.number)
            for name, group in groups.items()
            if group.n >= LEAST and np.isfinite(group.number.value)
        }
    return {"auc": areas}


def _area(truth: NDArray[np.bool_], scores: NDArray[np.float32]) -> Callable[[Rows], float]:
    return lambda rows: auc(truth[rows], scores[rows])


def group_names(labels: tuple[str, ...], values: NDArray[np.float32]) -> NDArray[np.object_]:
    """(n,) race and age if the set has them (UTKFace), else only age; empty if unknown."""
    young = values[:, labels.index("young" if "young" in labels else "Young")]
    age = np.where(np.isfinite(young), np.where(young > 0.5, "young", "not young"), "").astype(
        object
    )
    races = [name for name in ("white", "black", "asian", "indian", "other") if name in labels]
    if not races:
        return np.asarray(age)
    shares = values[:, [labels.index(name) for name in races]]
    race = np.array(races, object)[np.argmax(np.nan_to_num(shares), 1)]
    return np.where(np.isfinite(shares).all(1), race + ", " + age, "")


def _parser(spec: ModelSpec, module: nn.Module, data: TrainingSet, device: str) -> dict[str, Any]:
    """Pixels in both and in either of what annotators drew and of a region as masks are cut.

    A pixel is in a region if the likelihoods of the region's classes add up to a half, see ``faces.compose.masks``.
    Thirds are by the individual typology angle of the skin, which light changes as much as skin does.
    """
    parser = LoadedModel(module, spec, "")
    edge = (data.pixels.shape[1] - spec.size) // 2
    inside = slice(edge, edge + spec.size)
    counts: dict[str, list[NDArray[np.int64]]] = {"face": [], "skin": []}
    angles: list[float] = []
    for start in range(0, len(data.pixels), 32):
        rows = slice(start, start + 32)
        chips = np.array(data.pixels[rows, inside, inside])
        drawn = data.labels[rows, inside, inside]
        likely = class_probabilities(parser, chips, torch.device(device))
        for region, members in ((name, REGIONS[name]) for name in ("face", "skin")):
            classes = [spec.labels.index(label) for label in members]
            a = np.isin(drawn, classes)
            b = (likely[:, classes].sum(1) >= 0.5).cpu().numpy()
            counts[region].append(np.stack([(a & b).sum((1, 2)), (a | b).sum((1, 2))], 1))
        skin = drawn == spec.labels.index("skin")
        angles += [typology_angle_of(chip, mask) for chip, mask in zip(chips, skin, strict=True)]
    names = thirds(np.array(angles))
    shares = {}
    for region, parts in counts.items():
        of_region = np.concatenate(parts)

        def ratio(rows: Rows, counts: NDArray[np.int64] = of_region) -> float:
            return float(np.divide(*counts[rows].sum(0)))

        shares[region] = cell(manipulation.interval(ratio, len(names), RESAMPLES))
        groups = manipulation.by_group(ratio, names, resamples=RESAMPLES).each
        shares |= {f"{region}, {name}": cell(group.number) for name, group in groups.items()}
    return {"iou": shares}


def _fader(spec: ModelSpec, module: Any, data: TrainingSet, device: str) -> dict[str, Any]:
    """Only the reconstruction; ``evaluation.editor`` tells what others read on composites."""
    error = []
    for rows, x in _batches(spec, data.pixels, device):
        a = torch.from_numpy(data.labels[rows]).to(device)
        error.append((module.decode(module.encode(x), a) - x).abs().mean((1, 2, 3)) / 2)
    return {"l1": _mean(torch.cat(error))}


def _edit_ends(spec: ModelSpec, module: Any, data: TrainingSet, device: str) -> dict[str, Any]:
    """The size of the edit between -2 and 2, and how far a unit moves parts of the face at most."""
    sizes = []
    moved = []
    teacher = (
        FieldEditor(LoadedModel(module, spec, ""), device) if spec.network == "edit-field" else None
    )
    region = face_window(spec.size).to(device)
    for start in range(0, len(data.pixels), 64):
        x = (
            torch.from_numpy(np.array(data.pixels[start : start + 64]))
            .to(device)
            .permute(0, 3, 1, 2)
            .float()
            / 255
        )
        ratios, motion = teacher.ends(x) if teacher else module(2 * x - 1)
        low, high = ((x + OFFSET / 255)[:, None] * ratios.exp()).unbind(1)
        sizes.append((region * (high - low).abs()).mean((1, 2, 3)))
        moved.append((motion.norm(dim=1) * region).flatten(1).amax(1))
    return {"edit_size": _mean(torch.cat(sizes)), "farthest_moved": _mean(torch.cat(moved))}


def _edit_groups(spec: ModelSpec, module: Any, data: TrainingSet, device: str) -> dict[str, Any]:
    """The size of the edit to each end of faces of the others, without the tone, and how far parts of the face move."""
    region = face_window(spec.size).to(device)
    sizes: dict[str, list[Tensor]] = {name: [] for name in spec.ends}
    moved = {name: list[Tensor]() for name in spec.ends}
    for start in range(0, len(data.pixels), 64):
        pixels = torch.from_numpy(np.array(data.pixels[start : start + 64])).to(device)
        x = pixels.permute(0, 3, 1, 2).float() / 255
        ratios, motions = module(2 * x - 1)
        for end, name in enumerate(spec.ends):
            others = torch.from_numpy(data.labels[start : start + 64, end]).to(device) < 0.5
            change = (x + OFFSET / 255) * ratios[:, end].expm1()
            sizes[name].append((region * change.abs()).mean((1, 2, 3))[others])
            moved[name].append((motions[:, end].norm(dim=1) * region).flatten(1).amax(1)[others])
    return {
        "edit_size": {name: _mean(torch.cat(parts)) for name, parts in sizes.items()},
        "farthest_moved": {name: _mean(torch.cat(parts)) for name, parts in moved.items()},
    }


def _mean(values: Tensor) -> Number:
    return cell(manipulation.mean(values.float().cpu().numpy(), RESAMPLES))
