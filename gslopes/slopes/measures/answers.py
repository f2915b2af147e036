"""Answers of one classifier along one sweep, photo by photo: what every estimator is computed from.

A photo's *answers* for a label are K numbers. Almost all of them are zero for almost all labels, so only pairs of photo
and label that occur are kept, sorted by label. ``values_by_attribute`` gives the value of each step.

Which of the returned labels count as present is decided when slopes are fitted (``Cut``, ``present``): services are
asked for all that one price buys, but a label that every picture has, with some score, has no slope. Rows below the cut
are as if they had not been returned, so asking for more never changes a slope (but for scores that are equal at the
last place that counts: a service that is asked for no more leaves some of them out).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame

from gslopes.core import ConfigError, Row, TableError, Texts, frozen, frozen_identity
from gslopes.core.records import (
    Array,
    Flags,
    FloatArray,
    Int8Array,
    Int32Array,
    Integers,
    Objects,
    centre_of,
    doubles,
)
from gslopes.core.tables import EVERY
from gslopes.stats.rounding import STORED, exceeds, settled


@frozen_identity
class Answers:
    """One classifier's answers for one attribute, over the photos answered at all K values.

    values: (K,) float64, increasing; the centre is ``core.records.centre_of`` them.
    labels: (L,) str, sorted: every label returned for this attribute, those on dropped photos too.
    photos: (n,) str, sorted, answered at all K values; the others drop out whole, see ``selection.Asked``.
    photo: (P,) int32 into photos.  label: (P,) int32 into labels; pairs are sorted by label, then photo.
    present: (P, K) bool, whether the label was returned.  score: (P, K) float32, 0 if it was not; in [0, 1] but for
        numbers in another unit.
    threshold: the smallest score that the classifier returned; 0 if it returned none.
    measures: label to measure, of the labels that are not judged by presence; see ``slopes.measures.kinds``.
    orders: (T, K) of the K answers, from which permutations are drawn; None for all of them.
    ends: (2, K) weights of the answers that make y_first and y_last; None for the first and the last value.
    units: (n,) codes of the clusters that photos belong to; None if each photo is a unit.
    """

    classifier: str
    attribute: str
    values: Array
    labels: Objects
    photos: Objects
    photo: Int32Array
    label: Int32Array
    present: Flags
    score: FloatArray
    threshold: float
    measures: Texts = field(default_factory=dict)
    orders: Int8Array | None = None
    ends: Array | None = None
    units: Integers | None = None

    def only(self, keep: Flags) -> "Answers":
        """The same for some of the photos; ``keep`` is (n,) bool. All labels stay."""
        pairs = keep[self.photo]
        new_code = (np.cumsum(keep) - 1).astype(np.int32)
        return replace(
            self,
            photos=self.photos[keep],
            units=None if self.units is None else self.units[keep],
            photo=new_code[self.photo[pairs]],
            label=self.label[pairs],
            present=self.present[pairs],
            score=self.score[pairs],
        )

    def among(self, photos: Iterable[str]) -> "Answers":
        """About these photos alone, as far as they are there."""
        return self.only(isin(self.photos, photos))

    def at_step(self, step: int) -> "Answers":
        """The same for one of the values, with K = 1."""
        return replace(self, present=self.present[:, [step]], score=self.score[:, [step]])

    def frame(self, **columns: Any) -> DataFrame:
        """A row a label, with its classifier and attribute: the named columns, (L,) each or one value for all.

        Labels may be other ones, as of two sweeps together.
        """
        named = {"classifier": self.classifier, "attribute": self.attribute, "label": self.labels}
        return DataFrame(named | columns)

    def measures_of(self, labels: Iterable[str]) -> Objects:
        """(L,) the measure by which each of the labels is judged."""
        return np.array([self.measures.get(label, "presence") for label in labels], object)

    def by_number(self, labels: Objects) -> Flags:
        """(L,) whether each of the labels is judged by its number."""
        return self.measures_of(labels) != "presence"

    def places_in(self, labels: Objects) -> Integers:
        """(L,) the place of each of these answers' labels among others."""
        return pd.Index(labels).get_indexer(pd.Index(self.labels))

    @property
    def codes(self) -> Integers:
        """(n,) the number of each photo's unit, from 0."""
        from gslopes.stats.clusters import codes_of  # not at the top: it loads scipy

        return codes_of(self.units, len(self.photos))

    @property
    def sizes(self) -> Array:
        """(U,) photos of each unit."""
        return doubles(np.bincount(self.codes))

    @property
    def single(self) -> "Answers":
        """The same with each photo as a unit."""
        return replace(self, units=None)

    @property
    def active(self) -> Integers:
        """(L,) photos with the label at one step at least."""
        return np.bincount(self.label, minlength=len(self.labels))

    def counts(self) -> Integers:
        """(L, K) photos with the label at each step."""
        size = len(self.labels)
        return np.stack(
            [np.bincount(self.label[column], minlength=size) for column in self.present.T], 1
        )

    def facts(self) -> Row:
        """Columns that hold for every estimator; y_centre is the share of photos with the label at the centre."""
        centre = self.counts()[:, centre_of(self.values)] / max(len(self.photos), 1)
        return {"n": len(self.photos), "active": self.active, "y_centre": centre}

    def labelled(self) -> "Answers":
        """The same without the labels that none of the photos has."""
        active = self.active > 0
        new_code = (np.cumsum(active) - 1).astype(np.int32)
        return replace(self, labels=self.labels[active], label=new_code[self.label])


def columns_of(record: Any, *left_out: str) -> Row:
    """The fields of a dataclass as columns, ``low`` and ``high`` as ci_low and ci_high; not skew and error."""
    ends = {"low": "ci_low", "high": "ci_high"}
    names = [field.name for field in fields(record)]
    return {
        ends.get(name, name): getattr(record, name)
        for name in names
        if name not in (*left_out, "skew", "error")
    }


def joined(frames: Sequence[DataFrame]) -> DataFrame:
    """The frames below one another; an empty one of none."""
    return pd.concat(frames, ignore_index=True) if frames else DataFrame()


def of_pair(classifier: str, attribute: str) -> pc.Expression:
    """The rows of one classifier along one attribute."""
    return (pc.field("classifier") == classifier) & (pc.field("attribute") == attribute)


def gather(scores: pa.Table, asked: pa.Table, values: Mapping[str, Array]) -> Iterator[Answers]:
    """Answers of each pair of classifier and attribute that has scores, in that order.

    A label counts for a picture if its row is there, whatever its score; of two rows the higher score counts.

    scores, asked: Arrow tables of the schemas in core.tables, texts plain or dictionary-encoded; ``asked`` decides
        which photos count.
    values: attribute to its (K,) values.
    """
    asked = asked.filter(pc.field("status") == "answered")
    codes = [
        encode(asked.column(name), scores.column(name))
        for name in ("classifier", "attribute", "photo")
    ]
    (classifier, classifiers), (attribute, attributes), (photo, photos) = codes
    label, labels = encode(scores.column("label"))
    asked_step = asked.column("step").to_numpy()
    step, score = (scores.column(name).to_numpy() for name in ("step", "score"))
    pair = classifier * len(attributes) + attribute
    asked_pair, pair = np.split(pair, [len(asked)])
    asked_photo, photo = np.split(photo, [len(asked)])
    names = {
        int(code): (classifiers[code // len(attributes)], attributes[code % len(attributes)])
        for code in np.flatnonzero(np.bincount(pair))
    }
    for code, (name, edit) in sorted(names.items(), key=lambda item: item[1]):
        width = len(values[edit])
        questions = asked_pair == code
        rows = np.flatnonzero(pair == code)
        cells = asked_photo[questions].astype(np.int64) * width + asked_step[questions]
        complete = np.bincount(np.unique(cells) // width, minlength=len(photos)) == width
        threshold = float(score[rows].min(initial=1.0)) if len(rows) else 0.0
        names_of, label_codes = ranks(labels, np.bincount(label[rows], minlength=len(labels)) > 0)
        ids, photo_codes = ranks(photos, complete)
        rows = rows[complete[photo[rows]]]
        steps = step[rows]
        number = score[rows]
        size = max(len(ids), 1)
        # pairs of label and photo that occur, sorted
        key = label_codes[label[rows]].astype(np.int64) * size + photo_codes[photo[rows]]
        row, pairs = pd.factorize(key, sort=True)
        table = np.full((len(pairs), width), np.nan, np.float32)
        table[row, steps] = number
        # a label returned twice for one picture
        higher = np.flatnonzero(number > table[row, steps])
        np.maximum.at(table, (row[higher], steps[higher]), number[higher])
        yield Answers(
            name,
            edit,
            values[edit],
            labels=names_of,
            photos=ids,
            photo=(pairs % size).astype(np.int32),
            label=(pairs // size).astype(np.int32),
            present=~np.isnan(table),
            score=np.nan_to_num(table, copy=False),
            threshold=threshold,
        )


def encode(*columns: pa.ChunkedArray) -> tuple[Int32Array, Objects]:
    """The columns, one after the other, as (rows,) codes into (names,) the texts in them."""
    kind = pa.dictionary(pa.int32(), pa.string())
    chunks = []
    for column in columns:
        # one dictionary for all chunks, or each of them would be looked through for each chunk
        if pa.types.is_dictionary(column.type):
            chunks.append(column.combine_chunks().cast(kind))
        else:
            chunks += [chunk.dictionary_encode().cast(kind) for chunk in column.chunks]
    if not chunks:
        return np.empty(0, np.int32), np.empty(0, object)
    unified = pa.chunked_array(chunks, type=kind).unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in unified.chunks])
    names = np.array(unified.chunk(0).dictionary.to_pylist(), object)
    return codes.astype(np.int32, copy=False), names


def isin(names: Objects, others: Iterable[str]) -> Flags:
    """(n,) which of the names are among others, by their hashes."""
    return np.fromiter(map({*others}.__contains__, names), bool, len(names))


def ranks(names: Objects, keep: Flags) -> tuple[Objects, Int32Array]:
    """The kept names, sorted, and each old code's new one (-1 for the others)."""
    codes = np.flatnonzero(keep)
    order = np.asarray(pc.sort_indices(pa.array(names[codes], pa.string())), np.int64)
    new_codes = np.full(len(names), -1, np.int32)
    new_codes[codes[order]] = np.arange(len(codes), dtype=np.int32)
    return names[codes][order], new_codes


def same_photos(one: Answers, other: Answers) -> tuple[Answers, Answers]:
    """Both, cut to the photos that both have, with the units of the first."""
    first = one.among(other.photos)
    return first, replace(other.among(one.photos), units=first.units)


def all_labels(one: Answers, other: Answers) -> Objects:
    """The labels of either sweep, sorted."""
    return np.array(sorted({*one.labels.tolist(), *other.labels.tolist()}), object)


def active_photos(one: Answers, other: Answers, labels: Objects) -> Integers:
    """(L,) photos with the label at one value of either sweep at least."""
    photos = max(len(one.photos), 1)
    pairs = [sweep.places_in(labels)[sweep.label] * photos + sweep.photo for sweep in (one, other)]
    return np.bincount(np.unique(np.concatenate(pairs)) // photos, minlength=len(labels))


def differing_photos(one: Answers, other: Answers, labels: Objects) -> Array:
    """(L,) photos about which the answers to the label differ at some value, scores by more than rounding.

    one, other: about the same photos.  labels: of either.  NaN if their values are not the same.
    """
    if not np.array_equal(one.values, other.values):
        return np.full(len(labels), np.nan)
    photos = max(len(one.photos), 1)
    frames = []
    for sweep in (one, other):
        pairs = sweep.places_in(labels)[sweep.label] * photos + sweep.photo
        frames.append(DataFrame(np.where(sweep.present, sweep.score, np.nan), index=pairs))
    first, second = frames[0].align(frames[1])
    gap = settled(first - second, first.abs() + second.abs(), STORED)
    same = ((gap == 0) | (first.isna() & second.isna())).all(axis=1)
    return doubles(np.bincount(first.index.to_numpy()[~same] // photos, minlength=len(labels)))


# -- the value of each step ---------------------------------------------------------------------------------------


def values_by_attribute(
    scores: pa.Table, asked: pa.Table, passed: Mapping[str, Sequence[float]] | None = None
) -> dict[str, Array]:
    """The K values of every attribute that has scores, (K,) float64, increasing.

    scores, asked: Arrow tables of the schemas in core.tables.
    passed: attribute to its K values; one that is not in it takes its values from the scores table.

    Raises: ConfigError if passed values are fewer than two, or do not increase; TableError if the tables'
        are so, or contradict the passed ones, or leave the values of some step unknown.
    """
    ends = [("value", "min"), ("value", "max")]
    pairs = scores.group_by(["attribute", "step"]).aggregate(ends).to_pandas().sort_values("step")
    last = asked.group_by("attribute").aggregate([("step", "max")]).to_pandas()
    last = last.set_index("attribute")["step_max"]
    by_attribute = {}
    for name, rows in pairs.groupby("attribute", observed=True):
        attribute = str(name)
        least, most = rows[["value_min", "value_max"]].to_numpy(np.float64).T
        in_table = (least + most) / 2
        steps = rows["step"].tolist()
        chosen = (passed or {}).get(attribute)
        values = in_table if chosen is None else doubles(chosen)
        error: type[ConfigError | TableError] = TableError if chosen is None else ConfigError
        if values.ndim != 1 or len(values) < 2:
            raise error(
                f"The sweep of {attribute} has {len(values)} values.",
                "Pass the values of the sweep, two or more.",
            )
        if not np.isfinite(values).all() or (np.diff(values) <= 0).any():
            raise error(
                f"The values of {attribute} do not increase: {values.tolist()}.", "Sort them."
            )
        count = max(int(last.get(name, 0)), *steps) + 1
        apart = settled(most - least, np.maximum(np.abs(most), 1), STORED).any()
        if apart or min(steps) < 0 or count > len(values):
            raise TableError(
                f"The tables have steps 0 to {count - 1} of {attribute} and {len(values)} values for them.",
                "Give each step one value, and pass all values of the sweep.",
            )
        if settled(values[steps] - in_table, np.maximum(np.abs(in_table), 1), STORED).any():
            raise TableError(
                f"The scores table has other values of {attribute}: {in_table.tolist()}.",
                "Pass those.",
            )
        # freed from the rounding to float32 if it is even
        line = np.linspace(values[0], values[-1], len(values))
        uneven = settled(line - values, max(1.0, float(np.abs(values).max())), STORED).any()
        by_attribute[attribute] = values if uneven else line
    return by_attribute


# -- which labels count as present --------------------------------------------------------------------------------


@frozen
class Cut:
    """What counts as present.

    score: the least, in [0, 1]; 0: any.  most: labels a picture, those with the highest scores; 0: all.
        Labels that are tied at the last place all count.
    """

    score: float = 0.0
    most: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 1 or self.most < 0:
            raise ConfigError(
                f"A presence of {self} means nothing.",
                "A score is in [0, 1], a number of labels 0 or more.",
            )

    def __str__(self) -> str:
        score = f"score at least {self.score:g}" * (self.score > 0)
        most = f"the {self.most} highest of a picture" * (self.most > 0)
        return ", ".join(filter(None, (score, most))) or EVERY


ALL = Cut()


def present(scores: pa.Table, cuts: Mapping[str, Cut]) -> pa.Table:
    """The rows of the labels that count.

    scores: an Arrow table of ``core.tables.SCORES``, rows in any order.  cuts: by classifier; others keep every row.
    Returns: the same rows in the same order, fewer of them.
    """
    cuts = {name: cut for name, cut in cuts.items() if cut != ALL}
    if not cuts or not len(scores):
        return scores
    classifier = scores.column("classifier")
    score = scores.column("score").to_numpy()
    keep = np.ones(len(scores), bool)
    for name, cut in cuts.items():
        own = pc.equal(classifier.cast(pa.string()), name).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(own)
        # Scores are stored with 24 bits: one that was cut at 0.55 by the service is not lost to rounding here.
        counts = ~exceeds(cut.score, score[rows])
        if cut.most:
            counts &= _places(scores, rows) <= cut.most
        beyond = exceeds(np.abs(score[rows] - 0.5), 0.5)
        if beyond.any():  # a number in another unit has no cut
            label = scores.column("label").take(pa.array(rows)).cast(pa.string())
            counts |= pc.is_in(label, label.filter(pa.array(beyond)).combine_chunks()).to_numpy()
        keep[rows[~counts]] = False
    return scores.filter(pa.array(keep))


def _places(scores: pa.Table, rows: Integers) -> Array:
    """(rows,) place of each label among its picture's, from 1; tied labels have the best place of them."""
    frame = scores.take(pa.array(rows)).select(["photo", "attribute", "step", "score"]).to_pandas()
    pictures = frame.groupby(["photo", "attribute", "step"], observed=True, sort=False)
    picture = pictures.ngroup().to_numpy()
    score = frame["score"].to_numpy(np.float64)
    order = np.lexsort((-score, picture))
    count = len(order)
    score = score[order]
    first = np.r_[True, np.diff(picture[order]) > 0][:count]
    tied = ~first & ~np.r_[True, exceeds(score[:-1], score[1:])][:count]
    rank = np.arange(count)
    within = rank - np.maximum.accumulate(np.where(first, rank, 0))
    best = np.maximum.accumulate(np.where(tied, 0, rank))
    result = np.empty(count)
    result[order] = 1 + within[best]
    return result
