"""What a recipe learns from: opened and counted before any work, then made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.core.text import many
from gslopes.faces.zoo import ModelSpec
from training.editor_sets import check_ends, fader, learnt_from, read_people_sets, said
from training.group_sets import groups, read_groups
from training.layouts import read_attributes
from training.sets import (
    TrainingSet,
    drawn_faces,
    judge,
    labeller,
    packed,
    packed_file,
    parser,
    tagger,
)
from training.shards import Shards, index_of
from training.sources import (
    LabelledPhotos,
    read_celeba,
    read_celeba_wide,
    read_celebamask,
    read_london,
    read_utkface,
)
from training.tone_scale import london


@dataclass(frozen=True, slots=True)
class Data:
    """One kind of training set.

    read: the sets of photos below a folder; it opens no photo.  make: chips, labels and weights of them.
    """

    read: Callable[[Path], Sequence[LabelledPhotos]]
    make: Callable[[ModelSpec, Sequence[LabelledPhotos], str], TrainingSet]


# Correlations of hair, background and smile with the cue in the photos that a confounded editor learns from.
CONFOUND = {"hair": -0.6, "background": 0.5, "smile": -0.4}

SETS = {
    "judge": Data(lambda data: [read_utkface(data), read_celeba(data)], judge),
    "labeller": Data(lambda data: [read_utkface(data), read_celeba_wide(data)], labeller),
    "tagger": Data(lambda data: [read_attributes(data)], tagger),
    "face-parser": Data(lambda data: [read_celebamask(data)], parser),
    "fader": Data(read_people_sets, fader),
    "fader-even": Data(read_people_sets, partial(fader, tone=True)),
    "london": Data(lambda data: [read_london(data)], london),
    "groups": Data(read_groups, groups),
    "drawn": Data(lambda data: [], drawn_faces),
    "drawn-confounded": Data(
        lambda data: [], partial(drawn_faces, faces=9000, seed=2, confound=CONFOUND)
    ),
}


def made(name: str, spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """The set of this name; if ``data`` holds ``<model>.npz`` of ``python -m training pack``, that.

    Raises: DataMissing.
    """
    if packed_file(spec, data).is_file():
        return packed(spec, data)
    return SETS[name].make(spec, SETS[name].read(data), device)


def found(name: str, spec: ModelSpec, data: Path) -> list[dict[str, Any]]:
    """What there is for a set in a folder, a dictionary of numbers a source; no photo is opened.

    Of an editor's sources it counts the faces at either end, if the set names them.

    Raises: DataMissing if a set is absent, or labels too few photos.
    """
    if index_of(spec, data).is_file():
        shards = Shards(spec, data)
        kept = sum(count for _, count in shards.aside)
        counts = {"photos": len(shards) + kept, "held_out": kept, "learnt_from": len(shards)}
        return [{"set": f"shards of {spec.name}", **counts, **shards.ends}]
    if packed_file(spec, data).is_file():
        chips = packed(spec, data)
        return [
            _counts(spec, f"{spec.name}.npz", chips.labels[:, 0], chips.held_out, ~chips.held_out)
        ]
    sources = SETS[name].read(data)
    if SETS[name].read is not read_people_sets:
        return [
            {"set": photos.set, "photos": len(photos), "held_out": int(photos.held_out().sum())}
            for photos in sources
        ]
    edited = [
        2 * said(photos)[spec.labels[0]] - 1 if spec.labels[0] in said(photos) else None
        for photos in sources
    ]
    if all(values is not None for values in edited):
        aside = np.concatenate([photos.held_out() for photos in sources])
        usable = np.concatenate([learnt_from(photos) for photos in sources]) | aside
        labels = np.concatenate([values for values in edited if values is not None])
        check_ends(spec, labels[usable], aside[usable], f"{len(aside):,} photos of {data}")
    return [
        _counts(spec, photos.set, values, photos.held_out(), learnt_from(photos))
        for photos, values in zip(sources, edited, strict=True)
    ]


def _counts(spec: ModelSpec, name: str, edited: Any, held_out: Any, learnt: Any) -> dict[str, Any]:
    facts = {
        "set": name,
        "photos": len(held_out),
        "held_out": int(held_out.sum()),
        "learnt_from": int(learnt.sum()),
    }
    if edited is not None:
        facts |= {
            word: int((learnt & (edited == end)).sum())
            for word, end in zip(spec.ends, (-1, 1), strict=True)
        }
    return facts


TITLES = {
    "utkface": "UTKFace",
    "celeba": "CelebA",
    "celeba-wide": "wide CelebA",
    "table": "the folder with a CSV",
    "celeba-hq": "CelebA-HQ",
    "fairface": "FairFace",
    "ffhq": "FFHQ",
}


def sentence(spec: ModelSpec, facts: dict[str, Any]) -> str:
    """One source of ``found`` in words."""
    text = f"Found {many(facts['photos'], 'photo')} in {TITLES.get(facts['set'], facts['set'])}"
    if "learnt_from" not in facts:
        return f"{text}, {facts['held_out']:,} of them held out."
    ends = [f"{facts[word]:,} {word}" for word in spec.ends if word in facts]
    counts = f" ({' and '.join(ends)})" if ends else f", whose {spec.labels[0]} a model will read"
    return (
        f"{text}: {facts['learnt_from']:,} to learn from{counts}, {facts['held_out']:,} held out."
    )
