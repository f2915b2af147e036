"""Rows of the results, and the numbers in them: differences of groups, how these change between stages, rates.

One interval for each, by what is counted: Newcombe's and Fisher's where a concept is in an image or not; Welch's t
where an image counts by its share of captions; added pairs for changes; Wilson's for rates. Images are independent.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from gslopes.captions.config import AuditOptions
from gslopes.captions.stimuli.corpus import Caption, Corpus, Pair, Presence, presence_of_images
from gslopes.core.arrays import Array, Flags, Integers
from gslopes.core.tables import Row
from gslopes.stats.clusters import clustered_ratio
from gslopes.stats.contrast import Units, difference
from gslopes.stats.intervals import mean_change, newcombe, normal_quantile, wilson
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.rounding import exceeds, places, settled
from gslopes.stats.shares import fisher
from gslopes.words.graph import Fact

Sides = NDArray[np.int8]
LEAST = 10  # images of a group, below which nothing is tested


class Differences(NamedTuple):
    """Of C concepts between two groups, percentage points, (C,) each; NaN where there is none.

    share, other: of each group, 0 to 1.  active: images of both with the concept.  n, n_other: images of each group.
    """

    n: int
    n_other: int
    active: Integers
    share: Array
    other: Array
    difference: Array
    low: Array
    high: Array
    p: Array
    q: Array

    def columns(self, concept: int) -> Row:
        """One concept's columns in the measures table; what is not tested has no interval either."""
        low, high = np.where(np.isnan(self.p), np.nan, (self.low, self.high))
        numbers = {
            "value": self.difference,
            "ci_low": low,
            "ci_high": high,
            "p": self.p,
            "q": self.q,
        }
        counts = {"n": self.n + self.n_other, "active": int(self.active[concept]), "unit": "pp"}
        return counts | {name: values[concept] for name, values in numbers.items()}


def compare(presence: Presence, sides: Sides, options: AuditOptions) -> Differences:
    """Shares of images in two groups, by concept.

    Estimator: difference of the shares.  Interval and p: Newcombe's and Fisher's exact; Welch's t over images where an
    image counts by its share of captions.  No t where a group has fewer than 10 images with a share above 0,
    or fewer than 10 with one below 1.  q: over the concepts in at least ``min_active`` images.

    sides: (U,) 1, −1 or 0 for neither.
    """
    groups = [presence.matrix[:, np.flatnonzero(sides == side)].tocsr() for side in (1, -1)]
    n, m = (group.shape[1] for group in groups)
    sums = [np.asarray(group.sum(axis=1)).ravel() for group in groups]
    with np.errstate(invalid="ignore"):
        share = sums[0] / np.float64(n)
        other = sums[1] / np.float64(m)
    active = sum(np.diff(group.indptr) for group in groups).astype(np.int64)
    tested = (active >= options.min_active) & (min(n, m) >= LEAST)
    if presence.binary:
        counts = [(round(a), n, round(b), m) for a, b in zip(*sums, strict=True)]
        low, high = np.array([newcombe(*row) for row in counts]).reshape(-1, 2).T
        p = np.array(
            [fisher(*row) if test else np.nan for row, test in zip(counts, tested, strict=True)],
            float,
        )
    else:
        units = [Units(group, np.ones(group.shape[1])) for group in groups]
        variances = [
            unit.spread().squares / max(len(unit.sizes) * (len(unit.sizes) - 1), 1)
            for unit in units
        ]
        welch, _ = difference((share, np.sqrt(variances[0]), n), (other, np.sqrt(variances[1]), m))
        varied = np.logical_and.reduce([_varies(group) for group in groups])
        low, high, p = np.where(
            varied, [welch.low, welch.high, np.where(tested, welch.p, np.nan)], np.nan
        )
    points = 100 * settled(share - other, share + other)
    return Differences(
        n, m, active, share, other, points, 100 * low, 100 * high, p, benjamini_hochberg(p)
    )


def _varies(shares: sparse.csr_array) -> Flags:
    """(C,) whether at least ``LEAST`` images have a share above 0, and as many one below 1."""
    full = sparse.csr_array(
        (~exceeds(1, shares.data), shares.indices, shares.indptr), shares.shape
    ).sum(axis=1)
    return np.asarray(
        (np.diff(shares.indptr) >= LEAST) & (shares.shape[1] - np.asarray(full).ravel() >= LEAST)
    )


def change(
    before: sparse.csr_array, after: sparse.csr_array, sides: Sides
) -> tuple[Array, Array, Array, Array]:
    """(value, low, high, p): how the difference of two groups changes from before to after, (C,) each, as shares.

    Interval: ``stats.intervals.mean_change`` of each group, and p of the same normal.  Null hypothesis: the difference
    does not change.

    before, after: (C, U) of the same images.  sides: (U,) 1, −1 or 0 for neither.
    """
    images = np.ones(after.shape[1])
    changed = Units(after.tocsr(), images).minus(Units(before.tocsr(), images)).sums
    middle, variance, value, size = np.zeros((4, changed.shape[0]))
    for sign in (1, -1):
        part = changed[:, np.flatnonzero(sides == sign)]
        total, whole, squares = (
            np.asarray(of.sum(axis=1)).ravel() for of in (part, abs(part), part.multiply(part))
        )
        mean, spread = mean_change(settled(total, whole), squares, part.shape[1])
        middle = settled(middle + sign * mean, np.abs(middle) + np.abs(mean))
        variance = variance + spread
        value = value + sign * total / max(part.shape[1], 1)
        size = size + whole / max(part.shape[1], 1)
    value = settled(value, size)
    half = normal_quantile() * np.sqrt(variance)
    p = 2 * special.ndtr(-np.abs(middle) / np.sqrt(variance))
    return value, np.maximum(middle - half, -2), np.minimum(middle + half, 2), np.asarray(p)


def rate(counts: Array, captions: Array) -> tuple[float, float, float]:
    """A ratio of sums over images, Σ counts / Σ captions, with its interval; NaN where there is nothing to count.

    Interval: Wilson's with as many captions as would tell as much if they were independent; where none has a case, or
    all have one, as many as there are images.

    counts, captions: (U,) captions with a case, and all captions.

    Source of the number of captions: Korn & Graubard 1998, Survey Methodology 24:193.
    """
    share, se, *_ = clustered_ratio(counts, captions)
    images = int((captions > 0).sum())
    total = float(captions.sum())
    n = share * (1 - share) / se**2 * images / (images - 1) if se > 0 else images
    low, high = wilson(share, min(n, total))
    return share, float(low), float(high)


def rank(rows: Sequence[Row], *measures: str) -> None:
    """Give each row its ``rank``, from 1: the largest first, by the first measure that differs, else by concept."""
    steps = [places([-np.nan_to_num(row[name]) for row in rows]) for name in measures]
    order = sorted(zip(*steps, (row["concept"] for row in rows), range(len(rows)), strict=True))
    for number, (*_, place) in enumerate(order, 1):
        rows[place]["rank"] = number


# -- rows of the tables ------------------------------------------------------------------------------------------------

EQUAL_PROBABILITIES = "the same probability in both groups"
_BLANK: Row = dict.fromkeys(
    ("harm", "technique", "stage", "truth", "concept", "column", "group", "other"), ""
)
_BLANK |= dict.fromkeys(("estimator", "null_hypothesis", "lists", "note"), "") | {
    "n": 0,
    "active": 0,
}
_BLANK |= {
    "captions": "union",
    "kind": "rule",
    "unit": "share",
    "reading": "face",
    "origin": "ours",
}
_BLANK |= dict.fromkeys(("value", "ci_low", "ci_high", "p", "q"), math.nan)
_CASE_KEY = (
    "harm",
    "technique",
    "rule",
    "stage",
    "truth",
    "image",
    "source",
    "word",
    "concept",
    "bound",
    "group",
)


RESULTS = ("measures", "cases", "inclusions", "salience", "examples")


class Recorder:
    """The rows of one technique at one stage for each of the tables of results, as they are found.

    stage, truth: what is measured, and what it is compared with; empty if there is none.
    captions: of each image, at the stage.  header: the columns that all rows share, of which a row can override any.
    """

    def __init__(
        self, corpus: Corpus, options: AuditOptions, stage: str, truth: str, header: Row
    ) -> None:
        self.measures, self.cases, self.inclusions, self.salience, self.examples = (
            list[Row]() for _ in RESULTS
        )
        self.corpus = corpus
        self.options = options
        self.stage = stage
        self.truth = truth
        self.mentions = corpus.mentions
        self.captions = corpus.stages[stage]
        self.header = {"stage": stage, **header}
        self.images = corpus.images(*filter(None, (stage, self.header.get("truth"))))

    def facts(self, image: str) -> frozenset[Fact]:
        """The facts of an image at the measured stage."""
        return self.corpus.facts(self.stage, image)

    def truth_facts(self, image: str) -> frozenset[Fact]:
        """The facts of an image in the truth."""
        return self.corpus.facts(self.truth, image)

    # -- measures --

    def measure(self, **columns: Any) -> None:
        """Add a row to the measures; columns that are not given are empty or NaN."""
        self.measures.append({**_BLANK, **self.header, **columns})

    def share(self, active: int, n: int, **columns: Any) -> None:
        """Add a share of images with Wilson's interval."""
        value = active / n if n else math.nan
        low, high = wilson(value, n)
        numbers = {"n": n, "active": active, "value": value, "ci_low": low, "ci_high": high}
        self.measure(**{**numbers, "estimator": "share of images, Wilson", **columns})

    def image_shares(
        self, images_with: Mapping[str, Iterable[str]], images: Sequence[str], **columns: Any
    ) -> None:
        """``shares`` of the images that have each concept.  images_with: concept to images."""
        self.shares(presence_of_images(images_with, images), **columns)

    def shares(self, table: Presence, **columns: Any) -> None:
        """Add every concept's share of the images, and by pair the groups' shares and difference; q over concepts."""
        n = len(table.images)
        totals = np.asarray(table.matrix.sum(axis=1)).ravel()
        active = np.diff(table.matrix.indptr)
        for concept, total, count in zip(table.concepts, totals, active.tolist(), strict=True):
            if table.binary:
                self.share(count, n, **columns, concept=concept)
            else:
                numbers = {"n": n, "active": count, "value": total / n if n else math.nan}
                self.measure(
                    **{**columns, **numbers}, concept=concept, estimator="mean share of captions"
                )
        seen: set[tuple[str, str, str]] = (
            set()
        )  # a group's share is one row, however many groups it is compared with
        for pair in self.corpus.pairs:
            differences = self.compare(table, pair)
            for index, concept in enumerate(table.concepts):
                kind = "shares, Newcombe" if table.binary else "mean shares, Welch"
                names = {"concept": concept, **pair._asdict(), "estimator": f"difference of {kind}"}
                self.difference(differences, index, **columns, **names)
                groups = (
                    (pair.group, differences.share, differences.n),
                    (pair.other, differences.other, differences.n_other),
                )
                for group, shares, size in groups:
                    if (concept, pair.column, group) not in seen:
                        seen.add((concept, pair.column, group))
                        value = shares[index]
                        low, high = wilson(value, size)
                        numbers = {"n": size, "value": value, "ci_low": low, "ci_high": high}
                        numbers |= {"active": round(value * size) if table.binary and size else 0}
                        names = {"concept": concept, "column": pair.column, "group": group}
                        self.measure(
                            **{**columns, **numbers, **names, "estimator": "share of images"}
                        )

    def difference(self, differences: Differences, index: int, **columns: Any) -> None:
        """Add the difference of one concept with its test, or why there is none."""
        numbers = differences.columns(index)
        note = str({**self.header, **columns}.get("note", ""))
        if math.isnan(numbers["ci_low"]):
            note = "; ".join(
                filter(None, (note, "too few images with and without it for an interval"))
            )
        note = note if numbers["active"] >= self.options.min_active else "too few images have it"
        if min(differences.n, differences.n_other) < LEAST:
            note = "a group has fewer than 10 images: no test"
        self.measure(**{"null_hypothesis": EQUAL_PROBABILITIES, **columns, **numbers, "note": note})

    def compare(self, table: Presence, pair: Pair) -> Differences:
        """The differences of a pair's groups, by concept."""
        return compare(table, self.corpus.sides(pair, table.images), self.options)

    def rates(self, counts: Mapping[str, int], images: Iterable[str], **columns: Any) -> None:
        """Add the number of captions with a case, and that number per 1,000 captions.

        counts: image to captions with a case.  images: those at risk.
        """
        images = sorted(images)
        cases = np.array([counts.get(image, 0) for image in images], float)
        risk = np.array([len(self.captions[image]) for image in images], float)
        value, low, high = (1000 * number for number in rate(cases, risk))
        shared = {"n": len(images), "active": int((cases > 0).sum()), **columns}
        self.measure(**shared, value=float(cases.sum()), unit="count", estimator="captions")
        numbers = {"value": value, "ci_low": low, "ci_high": high, "unit": "per 1,000 captions"}
        self.measure(**shared, **numbers, estimator="ratio of captions, Wilson over images")

    # -- cases --

    def case(self, rule: str, image: str, *captions: Caption | None, **columns: Any) -> None:
        """Add a case to be read by a person; its key is made of what it is about.

        captions: the one that it is about, None for all of them; the image's first one by default.
        """
        caption = captions[0] if captions else next(iter(self.captions.get(image, ())), None)
        shared = {
            name: self.header[name] for name in ("harm", "technique", "stage", "truth", "reading")
        }
        row = {
            **dict.fromkeys(("word", "concept", "bound", "group"), ""),
            **shared,
            "rule": rule,
            "image": image,
        }
        row |= {
            "source": -1 if caption is None else caption.source,
            "text": caption.text if caption else "",
            **columns,
        }
        key = "\0".join(str(row[name]) for name in _CASE_KEY).encode("utf-8", "surrogatepass")
        row |= {
            "case": sha256(key).hexdigest()[:16],
            "truth_text": self.corpus.text_of(self.header["truth"], image),
        }
        self.cases.append(row)
