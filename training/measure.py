"""What a trained model reaches on the photos that it never saw: the numbers of its card, each with a 95 % interval.

Intervals are percentile bootstraps over the held-out photos (200 resamples, seed 0): they speak of the choice of
photos, not of training again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from gslopes.core.geometry import OFFSET
from gslopes.core.records import ByteArray
from gslopes.faces.gate import manipulation
from gslopes.faces.networks.fader import Fader
from gslopes.faces.zoo import LoadedModel, ModelSpec, load_folder
from gslopes.faces.zoo.parsing import FACE, SKIN, class_probabilities
from gslopes.stats.agreement import auc
from training.augment import to_float
from training.chips import face_window
from training.field_editor import FieldEditor
from training.sets import TrainingSet

# -- numbers -----------------------------------------------------------------------------------------------------------


RESAMPLES = 200
Rows = NDArray[np.intp]
Number = dict[str, float]


def measure(spec: ModelSpec, folder: Path, held_out: TrainingSet, device: str) -> dict[str, Any]:
    """Held-out numbers of the model in ``folder``."""
    module = load_folder(folder, device).module
    of = {
        "tagger": _tagger,
        "feature-pyramid": _parser,
        "fader": _fader,
        "edit-field": _edit_ends,
        "edit-ends": _edit_ends,
    }[spec.network]
    with torch.inference_mode():
        return {"held_out": len(held_out.pixels), **of(spec, module, held_out, device)}


def with_interval(statistic: Callable[[Rows], float], n: int) -> Number:
    """A statistic of n photos, a function of their rows, with the ends of its 95 % bootstrap interval."""
    number = manipulation.interval(statistic, n, RESAMPLES)
    return {name: round(getattr(number, name), 4) for name in ("value", "low", "high")}


def _batches(spec: ModelSpec, pixels: ByteArray, device: str) -> Iterator[tuple[slice, Tensor]]:
    for start in range(0, len(pixels), 64):
        rows = slice(start, start + 64)
        yield rows, to_float(torch.from_numpy(np.array(pixels[rows])).to(device), spec.mean, spec.std)


def _tagger(spec: ModelSpec, module: nn.Module, data: TrainingSet, device: str) -> dict[str, Any]:
    logits = np.concatenate([module(x).float().cpu().numpy() for _, x in _batches(spec, data.pixels, device)])
    areas = {}
    for column, label in enumerate(spec.labels):
        known = np.isfinite(data.labels[:, column])
        areas[label] = _area(data.labels[known, column] > 0.5, logits[known, column])
    return {"auc": areas}


def _area(truth: NDArray[np.bool_], scores: NDArray[np.float32]) -> Number:
    return with_interval(lambda rows: auc(truth[rows], scores[rows]), len(truth))


def _parser(spec: ModelSpec, module: nn.Module, data: TrainingSet, device: str) -> dict[str, Any]:
    counts = region_counts(LoadedModel(module, spec, ""), data, device)
    return {"iou": {name: _ratio(count) for name, count in counts.items()}}


def region_counts(parser: LoadedModel, data: TrainingSet, device: str) -> dict[str, NDArray[np.int64]]:
    """{region: (n, 2)}, pixels in both and in either of what annotators drew and of the region as masks are cut.

    A pixel is in a region if the likelihoods of the region's classes add up to a half, see ``faces.compose.masks``.
    """
    size = parser.spec.size
    edge = (data.pixels.shape[1] - size) // 2
    inside = slice(edge, edge + size)
    counts: dict[str, list[NDArray[np.int64]]] = {"face": [], "skin": []}
    for start in range(0, len(data.pixels), 32):
        rows = slice(start, start + 32)
        chips, drawn = np.array(data.pixels[rows, inside, inside]), data.labels[rows, inside, inside]
        seen = class_probabilities(parser, chips, torch.device(device))
        for name, members in (("face", FACE), ("skin", SKIN)):
            classes = [parser.spec.labels.index(label) for label in members]
            a, b = np.isin(drawn, classes), (seen[:, classes].sum(1) >= 0.5).cpu().numpy()
            counts[name].append(np.stack([(a & b).sum((1, 2)), (a | b).sum((1, 2))], 1))
    return {name: np.concatenate(parts) for name, parts in counts.items()}


def _ratio(counts: NDArray[np.int64]) -> Number:
    """Sum of the first column over that of the second, (n, 2)."""
    return with_interval(lambda rows: float(np.divide(*counts[rows].sum(0))), len(counts))


def _fader(spec: ModelSpec, module: Any, data: TrainingSet, device: str) -> dict[str, Any]:
    """Reconstruction and the size of the edit; what others read on composites is ``evaluation.editor``'s to say."""
    region = face_window(spec.size).to(device)
    error, edit = [], []
    for rows, x in _batches(spec, data.pixels, device):
        a = torch.from_numpy(data.labels[rows]).to(device)
        z = module.encode(x)
        error.append((module.decode(z, a) - x).abs().mean((1, 2, 3)) / 2)
        ends = edits(spec, module, x, a, (-2.0, 2.0))
        edit.append((region * (ends[1] - ends[0])).abs().mean((1, 2, 3)) / 2)
    return {"l1": _mean(torch.cat(error)), "edit_size": _mean(torch.cat(edit))}


def _edit_ends(spec: ModelSpec, module: Any, data: TrainingSet, device: str) -> dict[str, Any]:
    """The size of the edit between -2 and 2, and how far a unit moves parts of the face at most."""
    sizes, moved = [], []
    teacher = FieldEditor(LoadedModel(module, spec, ""), device) if spec.network == "edit-field" else None
    region = face_window(spec.size).to(device)
    for start in range(0, len(data.pixels), 64):
        x = torch.from_numpy(np.array(data.pixels[start : start + 64])).to(device).permute(0, 3, 1, 2).float() / 255
        ratios, motion = teacher.ends(x) if teacher else module(2 * x - 1)
        low, high = ((x + OFFSET / 255)[:, None] * ratios.exp()).unbind(1)
        sizes.append((region * (high - low).abs()).mean((1, 2, 3)))
        moved.append((motion.norm(dim=1) * region).flatten(1).amax(1))
    return {"edit_size": _mean(torch.cat(sizes)), "farthest_moved": _mean(torch.cat(moved))}


def _mean(values: Tensor | NDArray[np.floating[Any]]) -> Number:
    array = values.float().cpu().numpy() if isinstance(values, Tensor) else values
    return with_interval(lambda rows: float(array[rows].mean()), len(array))


# -- sample sheets: what an editor does to a few faces -----------------------------------------------------------------


VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)


def odd_part(network: Fader, latents: Tensor, condition: Tensor) -> Tensor:
    """e(a) = (D(z, a) - D(z, -a)) / 2 with all other attributes as they are; (B, 3, S, S)."""
    return (network.decode(latents, condition) - network.decode(latents, network.mirrored(condition))) / 2


@torch.no_grad()
def edits(spec: ModelSpec, network: Fader, x: Tensor, photo: Tensor, values: Sequence[float]) -> list[Tensor]:
    """What is added at each value, (B, 3, S, S) each, network units: what the template changes, else the odd part.

    x: (B, 3, S, S) in the network's units.  photo: (B, A) the faces' own values, the edited attribute first.
    """
    if network.template is not None:
        units = network.config.gain * (photo.new_tensor(list(values))[None] - photo[:, :1])
        mean, std = (x.new_tensor(v)[:, None, None] for v in (spec.mean, spec.std))
        logs = (255 * (x * std + mean) + OFFSET).log()[:, None] + units[:, :, None, None, None] * network.template
        return list((((logs.exp() - OFFSET) / 255 - mean) / std - x[:, None]).unbind(1))
    z = network.encode(x)
    at_photo = odd_part(network, z, photo)
    return [odd_part(network, z, network.condition(photo, value)) - at_photo for value in values]


@torch.no_grad()
def sheet(
    spec: ModelSpec,
    network: nn.Module,
    pixels: ByteArray,
    labels: NDArray[np.float32],
    path: Path,
    device: str,
) -> None:
    """Write a picture with a row a face: the photo, D(z, a) at -2, -1, 0, 1, 2, then the photo edited.

    pixels: (n, S, S, 3) uint8 RGB.  labels: (n, A) the faces' own values, the edited attribute first.
    """
    assert isinstance(network, Fader)
    x = to_float(torch.from_numpy(np.array(pixels)), spec.mean, spec.std).to(device)
    photo = torch.from_numpy(np.array(labels)).to(device)
    z = network.encode(x)
    conditions = [network.condition(photo, value) for value in VALUES]
    region = face_window(spec.size).to(device)
    edited = [x + region * edit for edit in edits(spec, network, x, photo, VALUES)]
    columns = [x, *(network.decode(z, condition) for condition in conditions), *edited]
    grid = torch.cat([torch.cat(list(column), 1) for column in columns], 2)  # (3, n S, columns S)
    levels = (grid.clamp(-1, 1).permute(1, 2, 0).cpu().numpy() + 1) * 127.5
    Image.fromarray(levels.round().astype(np.uint8)).save(path)
