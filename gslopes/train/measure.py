"""What a trained model reaches on the photos that it never saw: the first numbers of its card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata

from gslopes.core.records import ByteArray
from gslopes.train.augment import to_float
from gslopes.train.guide import window
from gslopes.train.parser import middle
from gslopes.train.sheet import sheet
from gslopes.train.sets import TrainingSet
from gslopes.zoo import ModelSpec, load_folder

# The regions that an edit may change, see compose.skin.
FACE = ("skin", "nose", "left brow", "right brow", "left eye", "right eye", "mouth", "upper lip", "lower lip")
SKIN = ("skin", "nose")


def measure(spec: ModelSpec, folder: Path, held_out: TrainingSet, work: Path, device: str) -> dict[str, Any]:
    """Held-out numbers of the model in ``folder``; an editor also leaves a sheet of faces in ``work``."""
    module = load_folder(folder, device).module
    of = {"tagger": _tagger, "bisenet": _parser, "fader": _fader}[spec.network]
    with torch.inference_mode():
        return {"held_out": len(held_out.pixels), **of(spec, module, held_out, work, device)}


def auc(truth: NDArray[np.bool_], scores: NDArray[np.float32]) -> float:
    """Area under the ROC curve: the share of (yes, no) pairs in order, ties counted half; NaN without both."""
    yes, no = int(truth.sum()), int((~truth).sum())
    if not yes or not no:
        return float("nan")
    return float((rankdata(scores)[truth].sum() - yes * (yes + 1) / 2) / (yes * no))


def _batches(spec: ModelSpec, pixels: ByteArray, device: str) -> Any:
    for start in range(0, len(pixels), 64):
        yield start, to_float(torch.from_numpy(np.array(pixels[start : start + 64])).to(device), spec.mean, spec.std)


def _tagger(spec: ModelSpec, module: Any, data: TrainingSet, work: Path, device: str) -> dict[str, Any]:
    del work
    logits = np.concatenate([module(x).float().cpu().numpy() for _, x in _batches(spec, data.pixels, device)])
    areas = {}
    for column, label in enumerate(spec.labels):
        known = np.isfinite(data.labels[:, column])
        areas[label] = round(auc(data.labels[known, column] > 0.5, logits[known, column]), 4)
    return {"auc": areas, "mean_auc": round(float(np.nanmean(list(areas.values()))), 4)}


def _parser(spec: ModelSpec, module: Any, data: TrainingSet, work: Path, device: str) -> dict[str, Any]:
    del work
    counts = {name: np.zeros(2) for name in ("face", "skin")}
    for start, x in _batches(spec, data.pixels, device):
        truth = middle(torch.from_numpy(data.labels[start : start + len(x), None]), spec.size)[:, 0].numpy()
        guess = module(middle(x, spec.size)).argmax(1).cpu().numpy()
        for name, names in (("face", FACE), ("skin", SKIN)):
            classes = [spec.labels.index(label) for label in names]
            a, b = np.isin(truth, classes), np.isin(guess, classes)
            counts[name] += (a & b).sum(), (a | b).sum()
    return {"iou": {name: round(float(both / either), 4) for name, (both, either) in counts.items()}}


def _fader(spec: ModelSpec, module: Any, data: TrainingSet, work: Path, device: str) -> dict[str, Any]:
    error, edit, count = 0.0, 0.0, 0
    for start, x in _batches(spec, data.pixels, device):
        a = torch.from_numpy(data.labels[start : start + len(x)]).to(device)
        z = module.encode(x)
        rebuilt = module.decode(z, a)
        flipped = module.decode(z, torch.cat([-a[:, :1], a[:, 1:]], 1))
        error += float((rebuilt - x).abs().mean((1, 2, 3)).sum()) / 2
        edit += float((window(spec.size).to(device) * (flipped - rebuilt)).abs().mean((1, 2, 3)).sum()) / 2
        count += len(x)
    chosen = np.linspace(0, len(data.pixels) - 1, 8).astype(int)
    sheet(spec, module, data.pixels[chosen], data.labels[chosen], work / "sheet.png", device)
    return {"l1": round(error / count, 4), "edit_size": round(edit / count, 4)}
