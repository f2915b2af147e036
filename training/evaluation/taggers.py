"""The judge, the labeller, the tagger and the parser on held-out photos, and by group."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gslopes.faces.gate import manipulation
from gslopes.faces.zoo.loading import LoadedModel
from gslopes.stats import agreement
from gslopes.stats.resampling import Rows
from training.chips import typology_angle_of
from training.evaluation import measures
from training.evaluation.tables import Table, cell
from training.measure import region_counts
from training.sets import SETS


def evaluate_tagger(model: LoadedModel, data: Path, most: int | None, device: str) -> tuple[str, dict[str, Table]]:
    """The tables of the card of a judge, labeller or tagger.  Raises: DataMissing."""
    import torch

    from training.augment import to_float

    spec = model.spec
    everything = SETS["tagger" if spec.crop == "portrait" else spec.recipe](spec, data, device)
    held = everything.part(everything.held_out)
    rows = np.random.default_rng(0).permutation(len(held.pixels))[:most]
    pixels, labels = held.pixels[rows], held.labels[rows]
    parts = []
    with torch.inference_mode():
        for start in range(0, len(pixels), 128):
            x = to_float(torch.from_numpy(pixels[start : start + 128]).to(device), spec.mean, spec.std)
            parts.append(model.module(x).sigmoid().double().cpu().numpy())
    said = np.concatenate(parts)
    by_label: Table = {}
    for column, label in enumerate(spec.labels):
        known = np.isfinite(labels[:, column])
        yes, p = labels[known, column] > 0.5, said[known, column]
        by_label[label] = {
            "AUC": cell(measures.discrimination(yes, p)),
            "calibration error": cell(measures.expected_calibration_error(yes, p)),
        }
    tables = {"by label": by_label}
    gender = "Male" if "Male" in spec.labels else "masculine"
    column = spec.labels.index(gender)
    groups = group_names(spec.labels, labels)
    known = np.isfinite(labels[:, column]) & np.array([bool(name) for name in groups])
    if known.any():
        yes, p, names = labels[known, column] > 0.5, said[known, column], groups[known]
        areas = manipulation.by_group(lambda rows: agreement.auc(yes[rows], p[rows]), names, 20)
        tables[f"{gender} by group"] = {
            name: {"photos": group.n, "AUC": cell(group.number)}
            for name, group in areas.each.items()
            if group.n >= 20 and np.isfinite(group.number.value)
        }
    note = (
        f"Measured on {len(pixels)} held-out photos, never trained on by any model. In brackets 95 % bootstrap "
        "intervals over photos. Calibration error: distance of stated probability and frequency, bins of equal mass."
    )
    return note, tables


def group_names(labels: tuple[str, ...], values: NDArray[np.float32]) -> NDArray[np.object_]:
    """(n,) race and age where the set knows them (UTKFace), age alone otherwise; empty where nothing is known."""
    young = values[:, labels.index("young" if "young" in labels else "Young")]
    age = np.where(np.isfinite(young), np.where(young > 0.5, "young", "not young"), "").astype(object)
    races = [name for name in ("white", "black", "asian", "indian", "other") if name in labels]
    if not races:
        return np.asarray(age)
    shares = values[:, [labels.index(name) for name in races]]
    there = np.isfinite(shares).all(1)
    race = np.array(races, object)[np.argmax(np.nan_to_num(shares), 1)]
    return np.where(there, race + ", " + age, "")


Counts = NDArray[np.int64]
THIRDS = ("darkest third", "middle third", "lightest third")


def evaluate_face_parser(model: LoadedModel, data: Path, most: int | None, device: str) -> tuple[str, dict[str, Table]]:
    """The tables of the parser's card.  Raises: DataMissing."""
    spec = model.spec
    everything = SETS["face-parser"](spec, data, device)
    held = everything.part(everything.held_out)
    rows = np.random.default_rng(0).permutation(len(held.pixels))[:most]
    held = held.part(rows)
    edge = (held.pixels.shape[1] - spec.size) // 2
    inside = slice(edge, edge + spec.size)
    skin = spec.labels.index("skin")
    angle = [
        typology_angle_of(pixels[inside, inside], labels[inside, inside] == skin)
        for pixels, labels in zip(held.pixels, held.labels, strict=True)
    ]
    order = np.argsort(np.argsort(angle)) * 3 // len(angle)
    names = np.array(THIRDS, object)[order]
    table: Table = {}
    for region, counts in region_counts(model, held, device).items():
        both, either = counts.T

        def share(chosen: Rows, both: Counts = both, either: Counts = either) -> float:
            return float(both[chosen].sum() / either[chosen].sum())

        thirds = manipulation.by_group(share, names)
        row_of = {"all": cell(manipulation.interval(share, len(rows)))}
        row_of |= {name: cell(thirds.each[name].number) for name in THIRDS if name in thirds.each}
        if thirds.gap is not None:
            row_of["gap"] = cell(thirds.gap)
        table[region] = row_of
    note = (
        f"Intersection over union of each region, pixels of {len(rows)} held-out CelebAMask-HQ photos together; asked: "
        "at least 0.95 of the face and 0.93 of the skin, gap between thirds at most 0.02. Thirds by the individual "
        "typology angle of the skin, atan((L* - 50) / b*), which light changes as much as skin. In brackets 95 % "
        "bootstrap intervals over photos."
    )
    return note, {"intersection over union": table}
