"""Answers of one classifier along one sweep, photo by photo: what every estimator is computed from.

A photo's *answers* for a label are K numbers. Almost all of them are zero for almost all labels, so only pairs of photo
and label that occur are kept, sorted by label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Array = NDArray[np.float64]

_CELLS = 1 << 22  # of one dense block of photos x labels while pairs are looked up


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """One classifier's answers for one attribute, over the photos answered at all K values.

    values: (K,) float64, increasing; the centre is the middle one.
    labels: (L,) str, sorted: every label returned for this attribute, those on dropped photos too.
    photos: (n,) str, sorted, answered at all K values; the others drop out whole and are counted in ``dropped``.
    dropped: reason (refused, failed, missing: not asked at some value) to number of photos, each counted once, under
        the first of the reasons that holds.
    photo: (P,) int32 into photos.  label: (P,) int32 into labels; pairs are sorted by label, then photo.
    present: (P, K) bool, whether the label was returned.  score: (P, K) float32, 0 where it was not; in [0, 1] but for
        numbers in a unit of their own.
    threshold: the smallest score that the classifier returned; 0 if it returned none.
    measures: label to measure, of the labels that are not judged by presence; see ``slopes.fit.measures``.
    """

    classifier: str
    attribute: str
    values: Array
    labels: NDArray[np.object_]
    photos: NDArray[np.object_]
    dropped: Mapping[str, int]
    photo: NDArray[np.int32]
    label: NDArray[np.int32]
    present: NDArray[np.bool_]
    score: NDArray[np.float32]
    threshold: float
    measures: Mapping[str, str] = field(default_factory=dict)

    def only(self, keep: NDArray[np.bool_]) -> Answers:
        """The same for some of the photos; ``keep`` is (n,) bool. All labels stay."""
        pairs = keep[self.photo]
        place = (np.cumsum(keep) - 1).astype(np.int32)
        return replace(
            self,
            photos=self.photos[keep],
            photo=place[self.photo[pairs]],
            label=self.label[pairs],
            present=self.present[pairs],
            score=self.score[pairs],
        )

    def frame(self, **columns: Any) -> pd.DataFrame:
        """A row a label, with its classifier and attribute: the named columns, (L,) each or one value for all."""
        return pd.DataFrame(
            {"classifier": self.classifier, "attribute": self.attribute, "label": self.labels} | columns
        )

    def labelled(self) -> Answers:
        """The same without the labels that none of the photos has."""
        seen = np.bincount(self.label, minlength=len(self.labels)) > 0
        place = (np.cumsum(seen) - 1).astype(np.int32)
        return replace(self, labels=self.labels[seen], label=place[self.label])


def columns_of(found: Any, *left_out: str) -> dict[str, Any]:
    """The fields of a dataclass as columns of a table: ``low`` and ``high`` are ci_low and ci_high there."""
    names = [field.name for field in fields(found) if field.name not in left_out]
    return {f"ci_{name}" if name in ("low", "high") else name: getattr(found, name) for name in names}


def gather(scores: pa.Table, asked: pa.Table, values: Mapping[str, Array]) -> Iterator[Answers]:
    """Answers of each pair of classifier and attribute that has scores, in that order.

    A label counts for a picture if its row is there, whatever its score; of two rows the higher score counts. The order
    of rows does not matter, but rows sorted by photo are gathered faster.

    scores, asked: Arrow tables of the schemas in core.tables, texts plain or dictionary-encoded; ``asked`` decides
        which photos count.
    values: attribute to its (K,) values.
    """
    codes = {name: encode(asked.column(name), scores.column(name)) for name in ("classifier", "attribute", "photo")}
    (classifier, classifiers), (attribute, attributes), (photo, photos) = codes.values()
    del codes
    cut = len(asked)
    pair = classifier.astype(np.int32) * len(attributes) + attribute
    label, labels = encode(scores.column("label"))
    steps = [table.column("step").to_numpy() for table in (asked, scores)]
    found = scores.column("score").to_numpy()
    status = encode(asked.column("status"))
    names = {
        int(group): (classifiers[group // len(attributes)], attributes[group % len(attributes)])
        for group in np.flatnonzero(np.bincount(pair[cut:]))
    }
    for group, (name, edit) in sorted(names.items(), key=lambda item: item[1]):
        here = pair[:cut] == group
        in_group = pair[cut:] == group
        rows: slice | NDArray[np.bool_] = slice(None) if in_group.all() else in_group
        kept, dropped = _complete(photo[:cut][here], steps[0][here], status, here, len(photos), len(values[edit]))
        yield _answers(
            name,
            edit,
            values[edit],
            labels,
            photos,
            kept,
            dropped,
            (photo[cut:][rows], label[rows], steps[1][rows], found[rows]),
        )


def encode(*columns: pa.ChunkedArray) -> tuple[NDArray[np.int32], NDArray[np.object_]]:
    """The columns, one after the other, as (rows,) codes into (names,) the texts in them."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    encoded = [c if pa.types.is_dictionary(c.type) else c.dictionary_encode() for c in chunks]
    if not encoded:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=object)
    kind = pa.dictionary(pa.int32(), pa.string())
    whole = pa.chunked_array([chunk.cast(kind) for chunk in encoded], type=kind).unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in whole.chunks])
    return codes.astype(np.int32, copy=False), np.array(whole.chunk(0).dictionary.to_pylist(), dtype=object)


def _complete(
    photo: NDArray[np.int32],
    step: NDArray[np.int16],
    status: tuple[NDArray[np.int32], NDArray[np.object_]],
    here: NDArray[np.bool_],
    photos: int,
    steps: int,
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """(photos,) whether the photo was answered at every one of the steps, and why the other photos were not."""
    codes, names = status
    said = names[codes[here]]
    answered = said == "answered"
    pairs = np.unique(photo[answered].astype(np.int64) * steps + step[answered])
    complete = np.bincount(pairs // steps, minlength=photos) == steps
    rest = np.zeros(photos, dtype=bool)
    rest[photo] = True
    rest &= ~complete
    dropped = {}
    for reason in ("refused", "failed"):
        hit = np.zeros(photos, dtype=bool)
        hit[photo[said == reason]] = True
        dropped[reason] = int((hit & rest).sum())
        rest &= ~hit
    return complete, {**dropped, "missing": int(rest.sum())}


def _answers(
    classifier: str,
    attribute: str,
    values: Array,
    labels: NDArray[np.object_],
    photos: NDArray[np.object_],
    kept: NDArray[np.bool_],
    dropped: dict[str, int],
    rows: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int16], NDArray[np.float32]],
) -> Answers:
    photo, label, step, score = rows
    seen = np.bincount(label, minlength=len(labels)) > 0
    threshold = float(score.min(initial=1.0)) if len(score) else 0.0
    complete = kept[photo]
    if not complete.all():
        photo, label, step, score = photo[complete], label[complete], step[complete], score[complete]
    names, new_codes = _ranks(labels, seen)
    ids, spots = _ranks(photos, kept)
    photo = spots[photo]
    if (np.diff(photo) < 0).any():
        order = np.argsort(photo, kind="stable")
        photo, label, step, score = photo[order], label[order], step[order], score[order]
    pairs, found = _pairs(photo, new_codes[label], step, score, len(ids), len(names), len(values))
    first, second = pairs
    order = np.argsort(second.astype(np.uint16 if len(names) < 1 << 16 else np.int64), kind="stable")
    found = found[order]
    present = ~np.isnan(found)
    np.nan_to_num(found, copy=False)
    return Answers(
        classifier, attribute, values, names, ids, dropped, first[order], second[order], present, found, threshold
    )


def _ranks(names: NDArray[np.object_], keep: NDArray[np.bool_]) -> tuple[NDArray[np.object_], NDArray[np.int32]]:
    """The kept names, sorted, and each old code's new one (-1 for the others)."""
    kept = np.flatnonzero(keep)
    order = np.asarray(pc.sort_indices(pa.array(names[kept], pa.string())), dtype=np.int64)
    new_codes = np.full(len(names), -1, dtype=np.int32)
    new_codes[kept[order]] = np.arange(len(kept), dtype=np.int32)
    return names[kept][order], new_codes


def _pairs(
    photo: NDArray[np.int32],
    label: NDArray[np.int32],
    step: NDArray[np.int16],
    score: NDArray[np.float32],
    photos: int,
    labels: int,
    steps: int,
) -> tuple[tuple[NDArray[np.int32], NDArray[np.int32]], NDArray[np.float32]]:
    """Pairs that occur, sorted by photo and label, and their (P, K) scores, NaN where not returned; rows by photo."""
    size = max(1, _CELLS // max(labels, 1))
    bounds = np.searchsorted(photo, np.arange(0, photos + size, size))
    blocks = []
    for number, (start, stop) in enumerate(pairwise(bounds)):
        base = number * size
        cell = (photo[start:stop] - base).astype(np.int64) * labels + label[start:stop]
        occurs = np.zeros(min(size, photos - base) * labels, dtype=bool)
        occurs[cell] = True
        place = np.cumsum(occurs, dtype=np.int32)[cell] - 1
        which = np.flatnonzero(occurs)
        table = np.full((len(which), steps), np.nan, dtype=np.float32)
        table[place, step[start:stop]] = score[start:stop]
        higher = np.flatnonzero(score[start:stop] > table[place, step[start:stop]])
        if len(higher):  # a label returned twice for one picture
            np.maximum.at(table, (place[higher], step[start:stop][higher]), score[start:stop][higher])
        blocks.append(((base + which // labels).astype(np.int32), (which % labels).astype(np.int32), table))
    if not blocks:
        empty = np.empty(0, dtype=np.int32)
        return (empty, empty), np.empty((0, steps), dtype=np.float32)
    firsts, seconds, tables = zip(*blocks, strict=True)
    return (np.concatenate(firsts), np.concatenate(seconds)), np.concatenate(tables)


def same_photos(one: Answers, other: Answers) -> tuple[Answers, Answers]:
    """Both, cut to the photos that both have."""
    keep = [np.isin(sweep.photos.astype(str), rest.photos.astype(str)) for sweep, rest in ((one, other), (other, one))]
    return one.only(keep[0]), other.only(keep[1])


def all_labels(one: Answers, other: Answers) -> NDArray[np.object_]:
    """The labels of either sweep, sorted."""
    return np.array(sorted({*one.labels.tolist(), *other.labels.tolist()}), dtype=object)


def active_photos(one: Answers, other: Answers, labels: NDArray[np.object_]) -> NDArray[np.int64]:
    """(L,) photos with the label at one value of either sweep at least."""
    index, photos = pd.Index(labels), max(len(one.photos), 1)
    pairs = [index.get_indexer(pd.Index(sweep.labels))[sweep.label] * photos + sweep.photo for sweep in (one, other)]
    return np.bincount(np.unique(np.concatenate(pairs)) // photos, minlength=len(labels))
