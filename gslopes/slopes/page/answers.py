"""What a page draws of one classifier's answers along one attribute: curves, the photos that moved most, and scores.

Rows are the pairs of photo and label of ``slopes.measures.answers.Answers``, of photos answered at all K values.
"""

from collections.abc import Collection
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from gslopes.core import ConfigError, files, tables
from gslopes.core.records import Array, Integers, doubles
from gslopes.slopes.measures.answers import ALL, Answers, Cut, gather, of_pair, present
from gslopes.slopes.measures.kinds import beyond
from gslopes.stats.intervals import UNBOUNDED, mean_t, wilson
from gslopes.stats.ols import line_slopes
from gslopes.stats.rounding import STORED, highest, places


def read(run: Path, classifier: str, attribute: str, values: Array) -> Answers:
    """The answers of a run folder, with the labels that counted when it was fitted; empty without such answers.

    values: (K,); rows of other steps are left out.

    Raises: TableError if a table is damaged.
    """
    where = (
        of_pair(classifier, attribute) & (pc.field("step") >= 0) & (pc.field("step") < len(values))
    )
    scores, asked = (
        tables.read_arrow(table, file, where) if file.exists() else table.schema.empty_table()
        for table in (tables.SCORES, tables.ASKED)
        for file in [run / f"{table.name}.parquet"]
    )
    scores = present(scores, {classifier: cut_of(run, classifier)})
    names = np.empty(0, dtype=object)
    none = np.empty(0, dtype=np.int32)
    flat = np.empty((0, len(values)), dtype=np.float32)
    empty = Answers(
        classifier, attribute, values, names, names, none, none, flat.astype(bool), flat, 0.0
    )
    return next(gather(scores, asked, {attribute: values}), empty)


def cut_of(run: Path, classifier: str) -> Cut:
    """What counted as present when the run was fitted; every label if ``presence.json`` is silent."""
    try:
        limits = files.read_json(run / "presence.json")["limits"][classifier]
        return Cut(float(limits["score"]), int(limits["most"]))
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        ConfigError,
    ):
        return ALL


def scores(answers: Answers) -> Array:
    """(P, K) scores, NaN for a label that was not returned."""
    return np.where(answers.present, doubles(answers.score), np.nan)


def slopes(answers: Answers) -> Array:
    """(P,) least squares slope of each row's score, per unit of the attribute; a label not returned counts as 0."""
    return line_slopes(answers.score, answers.values, STORED)


def curves(answers: Answers) -> tuple[Array, Array, Array]:
    """(share, low, high), each (labels, K) in [0, 1]: the share of photos with the label, and its interval.

    Interval: 95 %, Wilson.  If the fit had clusters, it is too narrow: its units are photos.
    """
    photos = max(len(answers.photos), 1)
    shares = answers.counts() / photos
    low, high = wilson(shares, photos)
    return shares, low, high


def mean_curve(answers: Answers, label: int) -> tuple[Array, Array, Array]:
    """(mean, low, high), each (K,), of a label's scores over the photos that always have it; interval: 95 %, t."""
    rows = doubles(answers.score[(answers.label == label) & answers.present.all(axis=1)])
    if len(rows) < 2:
        gap = np.full(len(answers.values), np.nan)
        return gap, gap, gap
    bounds = UNBOUNDED if beyond(rows).any() else (0, 1)
    mean, _, low, high, _ = np.array([mean_t(numbers, bounds) for numbers in rows.T]).T
    return mean, low, high


def heights(answers: Answers, measured: Collection[str]) -> tuple[Array, Array, Array, Array]:
    """As ``curves``, and (labels, 2) as ``lines``; of labels that are judged by their number its means instead.

    measured: those labels.  Their line is in the unit of the number, not in points.
    """
    shares, low, high = curves(answers)
    drawn = lines(answers, shares)
    for row, label in enumerate(answers.labels):
        if label in measured:
            shares[row], low[row], high[row] = mean_curve(answers, row)
            drawn[row] = lines(answers, shares[[row]])[0] / 100
    return shares, low, high, drawn


def lines(answers: Answers, shares: Array) -> Array:
    """(labels, 2): intercept and slope, in percentage points, of the least squares line through each label's shares.

    Its slope is the mean of the photos' own slopes, as of photo-rate.
    """
    steep = 100 * line_slopes(shares, answers.values)
    return np.stack([100 * shares.mean(1) - steep * answers.values.mean(), steep], 1)


def typical(answers: Answers, label: str) -> int | None:
    """The row of the photo whose own slope of a label is nearest to the mean over photos; None without one.

    Of photos whose answer changes along the sweep, if any; by presence first, then by score.
    """
    rows = np.flatnonzero(answers.labels[answers.label] == label)
    if not len(rows) or not len(answers.values):
        return None
    present = answers.present[rows]
    presence = line_slopes(present, answers.values)
    steep = slopes(answers)[rows]
    far = presence - presence.sum() / max(len(answers.photos), 1), steep - steep.mean()
    near = [
        places(np.abs(gap), np.abs(slope).max())
        for gap, slope in zip(far, (presence, steep), strict=True)
    ]
    order = np.lexsort((near[1], near[0], present.all(axis=1)))
    return int(rows[order[0]])


def steepest(answers: Answers) -> str:
    """The label whose score has the steepest mean slope over photos; empty without answers."""
    if not len(answers.label):
        return ""
    return str(
        answers.labels[
            highest(np.abs(np.bincount(answers.label, slopes(answers), len(answers.labels))))
        ]
    )


def movers(answers: Answers, most: int = 6) -> list[list[int]]:
    """For each label the rows of the photos that moved most, by presence and then by score; none that stood still."""
    presence = np.abs(line_slopes(answers.present, answers.values))
    score = np.abs(slopes(answers))
    order = np.lexsort((answers.photo, places(-score), places(-presence), answers.label))
    order = order[((presence > 0) | (score > 0))[order]]
    ends = np.searchsorted(answers.label[order], np.arange(len(answers.labels) + 1))
    return [order[start : min(end, start + most)].tolist() for start, end in pairwise(ends)]


def strongest(answers: Answers, most: int = 24) -> Integers:
    """Rows, at most ``most`` a photo: labels whose score moves most, then labels with the highest score."""
    spread = np.ptp(doubles(answers.score), axis=1) if len(answers.score) else np.empty(0)
    varying = np.round(spread * (1 + STORED), 2)
    order = np.lexsort((places(-answers.score.max(axis=1, initial=0.0)), -varying, answers.photo))
    photos = answers.photo[order]
    rank = np.arange(len(order)) - np.searchsorted(photos, photos)
    return np.sort(order[rank < most])
