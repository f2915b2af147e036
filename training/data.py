"""What a recipe learns from: opened and counted before any work, then made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import DataMissing, UsageError
from gslopes.core.text import many
from gslopes.faces.zoo import ModelSpec
from training.editor_sets import LEAST, check_ends, fader, learnt_from, read_people_sets, said
from training.group_sets import groups, named_end, read_groups
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
    place,
    read_celeba,
    read_celeba_wide,
    read_celebamask,
    read_london,
    read_utkface,
)
from training.tone_scale import london

Ends = Callable[[ModelSpec, LabelledPhotos], NDArray[Any] | None]


def unknown(spec: ModelSpec, photos: LabelledPhotos) -> None:
    """Of a set without ends."""
    del spec, photos


def two_ends(spec: ModelSpec, photos: LabelledPhotos) -> NDArray[np.float32] | None:
    """(n,) 0 or 1 as the set names the edited attribute, NaN for neither; None if it does not."""
    return said(photos).get(spec.labels[0])


@dataclass(frozen=True, slots=True)
class Data:
    """One kind of training set.

    read: the sets of photos below a folder; it opens no photo.  make: chips, labels and weights of them.
    fold: of UTKFace that is learned from.  ends: of photos, as their set tells them: (n,) numbers, NaN for none.
    """

    read: Callable[[Path], Sequence[LabelledPhotos]]
    make: Callable[..., TrainingSet]  # of a spec, the sets and a device
    fold: str = "editors"
    ends: Ends = unknown


# Correlations of hair, background and smile with the cue in the photos that a confounded editor learns from.
CONFOUND = {"hair": -0.6, "background": 0.5, "smile": -0.4}

SETS = {
    "judge": Data(lambda data: [read_utkface(data), read_celeba(data)], judge, fold="judges"),
    "labeller": Data(lambda data: [read_utkface(data), read_celeba_wide(data)], labeller),
    "tagger": Data(lambda data: [read_attributes(data)], tagger),
    "face-parser": Data(lambda data: [read_celebamask(data)], parser),
    "fader": Data(read_people_sets, fader, ends=two_ends),
    "fader-even": Data(read_people_sets, partial(fader, tone=True), ends=two_ends),
    "london": Data(lambda data: [read_london(data)], london),
    "groups": Data(read_groups, groups, ends=named_end),
    "drawn": Data(lambda data: [], drawn_faces),
    "drawn-confounded": Data(
        lambda data: [], partial(drawn_faces, faces=9000, seed=2, confound=CONFOUND)
    ),
}


def made(
    name: str,
    spec: ModelSpec,
    data: Path,
    device: str,
    limit: int | None = None,
    sources: Sequence[LabelledPhotos] | None = None,
) -> TrainingSet:
    """The set of this name; if ``data`` holds ``<model>.npz`` of ``python -m training pack``, that.

    limit: at most so many photos, see ``even_handed``.  sources: as ``chosen`` gave them.

    Raises: DataMissing.
    """
    if packed_file(spec, data).is_file():
        chips = packed(spec, data)
        return chips if limit is None else few_of(chips, limit)
    if sources is None:
        sources = chosen(name, spec, data, limit)
    if not sources and limit:
        return SETS[name].make(spec, sources, device, most=limit)
    everything = SETS[name].make(spec, sources, device)
    aside = int(everything.held_out.sum())
    if len(everything.pixels) - aside < LEAST or not aside:
        faces = (
            f"{many(len(everything.pixels) - aside, 'face')} to learn from, and {aside} held out"
        )
        what = f"The photos of {data} have {faces}."
        raise DataMissing(what, f"It takes {LEAST} and one held out: add photos.")
    return everything


def chosen(name: str, spec: ModelSpec, data: Path, limit: int | None) -> list[LabelledPhotos]:
    """The sets of photos of a training set, in all at most ``limit`` photos; none if they are drawn, or packed.

    Raises: DataMissing if a set is absent, or the limit leaves too few; UsageError for a limit of shards.
    """
    if index_of(spec, data).is_file():
        if limit is not None:
            raise UsageError(
                "Shards hold chips in lots, of which --limit takes none.", "Leave it out."
            )
        return []
    if packed_file(spec, data).is_file():
        return []
    sources = list(SETS[name].read(data))
    if limit is None or not sources:
        return sources
    few = [
        source.part(rows)
        for source, rows in zip(sources, _rows(name, spec, sources, limit), strict=True)
    ]
    aside = sum(int(photos.held_out().sum()) for photos in few)
    learned = sum(map(len, few)) - aside
    if learned < LEAST or not aside:
        what = f"A limit of {limit} leaves {many(learned, 'photo')} to learn from, and {aside} held out."
        raise DataMissing(what, f"It takes {LEAST} and one held out: raise --limit.")
    return few


def usable(name: str, spec: ModelSpec, photos: LabelledPhotos) -> NDArray[np.bool_]:
    """(n,) which photos a set may learn from or measure on, as far as is known before they are opened."""
    learnt = photos.fold(SETS[name].fold) if photos.set == "utkface" else ~photos.held_out()
    ends = SETS[name].ends(spec, photos)
    known = np.ones(len(photos), bool) if ends is None else np.isfinite(ends)
    return (learnt | photos.held_out()) & known


def _rows(
    name: str, spec: ModelSpec, sources: Sequence[LabelledPhotos], limit: int
) -> list[NDArray[np.intp]]:
    """Which photos of each set ``even_handed`` takes, in their order."""
    where = [np.flatnonzero(usable(name, spec, source)) for source in sources]
    rows = np.concatenate(where)
    which = np.repeat(np.arange(len(sources)), [len(part) for part in where])
    parts = [source.part(part) for source, part in zip(sources, where, strict=True)]
    ends = [SETS[name].ends(spec, part) for part in parts]
    columns = [
        np.zeros(len(part)) if end is None else end for part, end in zip(parts, ends, strict=True)
    ]
    held_out = np.concatenate([part.held_out() for part in parts])
    names = [path.name for part in parts for path in part.paths]
    taken = even_handed(names, which, held_out, np.concatenate(columns), limit)
    return [np.sort(rows[taken[which[taken] == number]]) for number in range(len(sources))]


def even_handed(
    names: Sequence[str],
    which: NDArray[np.intp],
    held_out: NDArray[np.bool_],
    ends: NDArray[Any],
    limit: int,
) -> NDArray[np.intp]:
    """The rows of at most ``limit`` photos: as many of each end, of each set and of held-out ones their share.

    The order within these is by a hash of the name, so that a smaller choice is a part of a larger one.

    names, which set, held_out, ends: (n,) each.
    """
    order = np.argsort([place(f"limit {name}") for name in names])
    places = np.zeros(len(names))
    for number in np.unique(which):
        for aside in (False, True):
            here = (which == number) & (held_out == aside)
            each = np.unique(ends[here])
            for end in each:
                rows = order[(here & (ends == end))[order]]
                places[rows] = (np.arange(len(rows)) + 0.5) * len(each) / here.sum()
    return np.argsort(places, kind="stable")[:limit]


def few_of(chips: TrainingSet, limit: int) -> TrainingSet:
    """At most ``limit`` rows, as ``even_handed``."""
    count = len(chips.pixels)
    ends = np.nan_to_num(np.sign(chips.labels[:, 0])) if chips.labels.ndim == 2 else np.zeros(count)
    names = [str(row) for row in range(count)]
    rows = even_handed(names, np.zeros(count, np.intp), chips.held_out, ends, limit)
    return chips.part(np.sort(rows))


def found(
    name: str,
    spec: ModelSpec,
    data: Path,
    limit: int | None = None,
    sources: Sequence[LabelledPhotos] | None = None,
) -> list[dict[str, Any]]:
    """What there is for a set in a folder, a dictionary of numbers a source; no photo is opened.

    Of an editor's sources it counts the faces at either end, if the set names them.  limit, sources: as of ``made``.

    Raises: DataMissing if a set is absent, or labels too few photos.
    """
    if index_of(spec, data).is_file():
        shards = Shards(spec, data)
        kept = sum(count for _, count in shards.aside)
        counts = {"photos": len(shards) + kept, "held_out": kept, "learnt_from": len(shards)}
        return [{"set": f"shards of {spec.name}", **counts, **shards.ends}]
    if packed_file(spec, data).is_file():
        chips = made(name, spec, data, "cpu", limit)
        return [
            _counts(spec, f"{spec.name}.npz", chips.labels[:, 0], chips.held_out, ~chips.held_out)
        ]
    if sources is None:
        sources = chosen(name, spec, data, limit)
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
        of_use = np.concatenate([learnt_from(photos) for photos in sources]) | aside
        labels = np.concatenate([values for values in edited if values is not None])
        what = f"{len(aside):,} photos of {data}"
        check_ends(
            spec,
            labels[of_use],
            aside[of_use],
            what if limit is None else f"{what} within the limit",
        )
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
