"""A classifier's answers along one attribute as one matrix: a row for each photo and label that it ever returned there.

From it come the curves of every label with their intervals, the photos that moved most, and what the explorer shows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.slopes.report import loading

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of one classifier along one attribute.

    values: (K,).  photos: ids, sorted.  labels: sorted.  complete: (photos,) whether answered at all K values.
    photo, label: (P,) places in those lists, sorted by photo, then label.
    scores: (P, K) in [0, 1], NaN where the label was not returned.
    """

    values: Array
    photos: list[str]
    labels: list[str]
    complete: NDArray[np.bool_]
    photo: Whole
    label: Whole
    scores: Array

    def weights(self) -> Array:
        """(K,) that turn K numbers into the slope of their least squares line, per unit of the attribute."""
        from gslopes.stats.ols import line_weights  # scipy

        return line_weights(self.values)

    def slopes(self) -> Array:
        """(P,) of each photo's score of each label, a label not returned counting as 0."""
        return np.asarray(np.nan_to_num(self.scores) @ self.weights(), dtype=np.float64)

    def rows_of(self, label: str) -> Whole:
        """Rows (of the P) of a label, of photos answered at all values."""
        if label not in self.labels:
            return np.empty(0, np.int64)
        return np.flatnonzero((self.label == self.labels.index(label)) & self.complete[self.photo])


def read(run: Path, classifier: str, attribute: str, values: Array) -> Answers:
    """The answers of a run folder; none if it has no such table.

    values: (K,); rows of other steps are left out.

    Raises: TableError if a table is damaged.
    """
    steps = len(values)
    complete = loading.answered_everywhere(run, classifier, attribute, steps)
    table = present(_scores(run, classifier, attribute, steps), *limits(run, classifier))
    photos, photo = _codes(table, "photo", complete)
    labels, label = _codes(table, "label", [])
    pairs, row = np.unique(photo * max(len(labels), 1) + label, return_inverse=True)
    scores = np.full((len(pairs), steps), np.nan)
    scores[row, table.column("step").to_numpy()] = table.column("score").to_numpy()
    inside = np.isin(np.array(photos, dtype=object), np.array(complete, dtype=object)) if photos else np.empty(0, bool)
    wide = max(len(labels), 1)
    return Answers(values, photos, labels, inside, pairs // wide, pairs % wide, scores)


def limits(run: Path, classifier: str) -> tuple[float, int]:
    """(least score, most labels of a picture, 0 for all) of the labels that counted when the run was fitted."""
    try:
        found = read_json(run / "presence.json")["limits"][classifier]
        return float(found["score"]), int(found["most"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return 0.0, 0


def present(scores: pa.Table, least: float, most: int) -> pa.Table:
    """The rows of the labels that count: the page's shares must be those of the fit.

    scores: columns photo, step, label and score.  least, most: of ``limits``; labels tied at the last place all count.
    """
    if least > 0:  # scores have 24 bits
        scores = scores.filter(pc.greater_equal(scores.column("score"), pa.scalar(np.float32(least), pa.float32())))
    if not most or not len(scores):
        return scores
    frame = scores.select(["photo", "step", "score"]).to_pandas()
    ranks = frame.groupby(["photo", "step"], observed=True)["score"].rank(method="min", ascending=False)
    return scores.filter(pa.array((ranks <= most).to_numpy()))


def curves(answers: Answers) -> tuple[Array, Array, Array]:
    """(share, low, high), each (labels, K) in [0, 1]: the share of photos with the label, and its interval.

    Over the photos answered at all values.  Interval: 95 %, Wilson.  Where the fit had clusters, it is too narrow: its
    units are photos.
    """
    from gslopes.stats.intervals import wilson  # scipy

    count = max(int(answers.complete.sum()), 1)
    inside = answers.complete[answers.photo]
    present = ~np.isnan(answers.scores[inside])
    labels, many = answers.label[inside], len(answers.labels)
    shares = np.stack([np.bincount(labels, column, many) for column in present.T], 1) / count  # (labels, K)
    low, high = wilson(shares, count)
    return shares, np.minimum(low, shares), np.maximum(high, shares)


def mean_curve(answers: Answers, label: int) -> tuple[Array, Array, Array]:
    """(mean, low, high), each (K,), of a label's scores over the photos answered at all values; interval: 95 %, t."""
    from gslopes.stats.intervals import half_width  # scipy

    rows = (answers.label == label) & answers.complete[answers.photo] & ~np.isnan(answers.scores).any(axis=1)
    scores = answers.scores[rows]
    if len(scores) < 2:
        gap = np.full(len(answers.values), np.nan)
        return gap, gap, gap
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    half = half_width(error, len(scores) - 1, 0.95)
    return mean, mean - half, mean + half


def heights(answers: Answers, measured: Collection[str]) -> tuple[Array, Array, Array, Array]:
    """As ``curves``, and (labels, 2) as ``lines``; of labels that are judged by their number its means instead.

    measured: those labels.  Their line is in the unit of the number, not in points.
    """
    shares, low, high = curves(answers)
    drawn = lines(answers, shares)
    for place, label in enumerate(answers.labels):
        if label in measured:
            shares[place], low[place], high[place] = mean_curve(answers, place)
            drawn[place] = lines(answers, shares[[place]])[0] / 100
    return shares, low, high, drawn


def lines(answers: Answers, shares: Array) -> Array:
    """(labels, 2): intercept and slope, in percentage points, of the least squares line through each label's shares.

    Its slope is the mean of the photos' own slopes, which is that of photo-rate.
    """
    slopes = 100 * (shares @ answers.weights())
    return np.stack([100 * shares.mean(1) - slopes * answers.values.mean(), slopes], 1)


def typical(answers: Answers, label: str) -> int | None:
    """The row (of the P) of the photo whose own slope of a label is nearest to the mean over photos; None without one.

    Of photos answered at all values whose answer changes along the sweep; by presence first, then by score.
    """
    rows = answers.rows_of(label)
    if not len(rows) or not len(answers.values):
        return None
    present = ~np.isnan(answers.scores[rows])
    presence, scores = present @ answers.weights(), answers.slopes()[rows]
    mean = presence.sum() / max(int(answers.complete.sum()), 1)
    changes = np.ptp(present.astype(float), axis=1) > 0
    order = np.lexsort((np.abs(scores - scores.mean()), np.abs(presence - mean), ~changes))
    return int(rows[order[0]])


def movers(answers: Answers, most: int = 6) -> list[list[int]]:
    """For each label the rows (of the P) of the photos that moved most: first by presence, then by score.

    Photos not answered at all values are left out, and so are those that did not move at all.
    """
    weights = answers.weights()
    presence = np.abs((~np.isnan(answers.scores)) @ weights)
    score = np.abs(answers.slopes())
    varying = answers.complete[answers.photo] & ((presence > 1e-12) | (score > 1e-9))
    order = np.lexsort((answers.photo, -np.round(score, 9), -np.round(presence, 9), answers.label))
    order = order[varying[order]]
    labels = answers.label[order]
    starts = np.searchsorted(labels, np.arange(len(answers.labels)))
    ends = np.searchsorted(labels, np.arange(len(answers.labels)), side="right")
    return [order[start : min(end, start + most)].tolist() for start, end in zip(starts, ends, strict=True)]


def strongest(answers: Answers, most: int = 24) -> Whole:
    """Rows (of the P), at most ``most`` a photo: labels whose score moves most, then those of the highest score."""
    span = np.nan_to_num(answers.scores)
    varying = np.round(np.ptp(span, axis=1), 2) if len(span) else np.empty(0)
    order = np.lexsort((-span.max(axis=1, initial=0.0), -varying, answers.photo))
    photos = answers.photo[order]
    place = np.arange(len(order)) - np.searchsorted(photos, photos)
    return np.sort(order[place < most])


def _scores(run: Path, classifier: str, attribute: str, steps: int) -> pa.Table:
    columns = ["photo", "step", "label", "score"]
    path = run / "scores.parquet"
    if not path.exists():
        schema = pa.schema([tables.SCORES.schema.field(name) for name in columns])
        return pa.Table.from_pandas(tables.SCORES.empty()[columns], schema=schema, preserve_index=False)
    here = loading.of_pair(classifier, attribute)
    here &= (pc.field("step") >= 0) & (pc.field("step") < steps)
    try:
        if not pq.read_schema(path).equals(tables.SCORES.schema, check_metadata=False):
            raise TableError(f"{show(path)} is not a scores table.", "Run gslopes audit RUN --only score again.")
        return pq.read_table(path, columns=columns, filters=here)
    except (OSError, ValueError) as error:
        raise TableError(
            f"{show(path)} is not a readable Parquet file: {error}.", "Run gslopes audit RUN --only score again."
        ) from error


def _codes(table: pa.Table, column: str, more: list[str]) -> tuple[list[str], Whole]:
    """(the sorted texts of a column and of ``more``, the place of each row's text among them)."""
    encoded = table.column(column).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    texts = encoded.dictionary.to_pylist()
    known = sorted({*texts, *more})
    index = {text: place for place, text in enumerate(known)}
    lookup = np.array([index[text] for text in texts], dtype=np.int64)
    return known, lookup[encoded.indices.to_numpy(zero_copy_only=False)] if len(texts) else np.empty(0, np.int64)
