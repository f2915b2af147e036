"""Rows of the results, and the numbers in them: differences of groups, how these change between stages, rates.

One interval for each, by what is counted: Newcombe's and Fisher's if a concept is in an image or not; Welch's t
if an image counts by its share of captions; added pairs for changes; Wilson's for rates. Images are independent.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
from pandas import DataFrame
from scipy import sparse, special

from gslopes.captions.config import TABLES, AuditOptions
from gslopes.captions.stimuli.corpus import Caption, Corpus, Presence, presence_of_images
from gslopes.core import Record, Row, hexdigest
from gslopes.core.records import Array, Flags, Int8Array
from gslopes.core.tables import ends, records
from gslopes.stats.clusters import clustered_ratio
from gslopes.stats.contrast import Units, contrast, difference
from gslopes.stats.intervals import bent, mean_change, newcombe, normal_quantile, wilson
from gslopes.stats.rounding import exceeds, settled, sort_key
from gslopes.stats.shares import fisher
from gslopes.words.graph import Fact

Sides = Int8Array
LEAST = 10  # images of a group, below which nothing is tested


SMALL_GROUP = f"a group has fewer than {LEAST} images"
RARE = "too few images have it"
EMPTY = "there is nothing that it could be a share of"
NO_INTERVAL = "too few images with and without it for an interval"


def compare(presence: Presence, sides: Sides, options: AuditOptions) -> DataFrame:
    """Differences of two groups of images, a row for each concept, in points, as columns of the measures table.

    Estimator: difference of the shares.  Interval and p: Newcombe's and Fisher's exact; Welch's t over images if an
    image counts by its share of captions, see ``intervals.bent``.  No t if a group has fewer than 10 images with a
    share above 0, or fewer than 10 with one below 1.  Tested are concepts in at least ``min_active`` images, or a
    concept by itself in any.  note: why a concept has no test; then it has no interval either.

    sides: (U,) 1, −1 or 0 for neither.
    """
    groups = [presence.matrix[:, np.flatnonzero(sides == side)].tocsr() for side in (1, -1)]
    n, m = (group.shape[1] for group in groups)
    sums = [group.sum(1) for group in groups]
    active = sum(np.diff(group.indptr) for group in groups)
    alone = len(active) == 1
    enough = active >= (1 if alone else options.min_active)
    tested = enough & (min(n, m) >= LEAST)
    with np.errstate(invalid="ignore"):
        share = sums[0] / np.float64(n)
        share_other = sums[1] / np.float64(m)
    if presence.binary:
        counts = [(round(a), n, round(b), m) for a, b in zip(*sums, strict=True)]
        tests = np.full((len(counts), 3), nan)
        for concept in np.flatnonzero(tested):
            tests[concept] = *newcombe(*counts[concept]), fisher(*counts[concept])
        low, high, p = tests.T
    else:
        first, second = (contrast(Units(group, np.ones(group.shape[1]))) for group in groups)
        welch, _ = difference((share, first.se, n), (share_other, second.se, m), most=1)
        usable = np.logical_and.reduce([tested, *map(_varies, groups)])
        low, high, p = np.where(usable, [welch.low, welch.high, welch.p], nan)
    untested = np.where(np.isnan(p), NO_INTERVAL, "")
    return DataFrame(
        {
            "n": n + m,
            "active": active,
            "value": 100 * settled(share - share_other, share + share_other),
            "ci_low": 100 * low,
            "ci_high": 100 * high,
            "p": p,
            "unit": "pp",
            "note": SMALL_GROUP if min(n, m) < LEAST else np.where(enough, untested, RARE),
        }
    )


def _varies(shares: sparse.csr_array) -> Flags:
    """(C,) whether at least ``LEAST`` images have a share above 0, and as many one below 1."""
    full = shares.copy()
    full.data = ~exceeds(1, shares.data)
    below = shares.shape[1] - full.sum(1)
    return np.asarray((np.diff(shares.indptr) >= LEAST) & (below >= LEAST))


def change(
    before: sparse.csr_array, after: sparse.csr_array, sides: Sides
) -> tuple[Array, Array, Array, Array]:
    """(value, low, high, p): how the difference of two groups changes from before to after, (C,) each, as shares.

    Interval: ``stats.intervals.mean_change`` of each group, and p of the same normal, inside of 1, or of 2 if the group
    that loses had the concept before: a difference that turns can change by more.  Null hypothesis: the difference does
    not change.

    before, after: (C, U) of the same images.  sides: (U,) 1, −1 or 0 for neither.
    """
    images = np.ones(after.shape[1])
    changed = Units(after.tocsr(), images).minus(Units(before.tocsr(), images)).sums
    groups = []
    for side in (1, -1):
        images = np.flatnonzero(sides == side)
        part = changed[:, images]
        n = len(images)
        start = before[:, images].sum(1)
        total = part.sum(1)
        size = abs(part).sum(1)
        mean, spread = mean_change(settled(total, size), part.multiply(part).sum(1), n)
        groups.append((*np.array([total, size, start]) / max(n, 1), mean, spread))
    apart = np.array(groups[0]) - groups[1]
    together = np.abs(groups).sum(0)
    value, middle = settled(apart[[0, 3]], together[[1, 3]])
    error = np.sqrt(together[4])
    half = normal_quantile() * error
    p = 2 * special.ndtr(-abs(middle) / error)
    opposed = np.where(value > 0, groups[1][2], groups[0][2])
    most = np.where(opposed > 0, 2, 1)
    low, high = bent(value, (middle - half, middle + half), (-most, most))
    return value, low, high, np.asarray(p)


def rate(counts: Array, captions: Array) -> tuple[float, float, float]:
    """A ratio of sums over images, Σ counts / Σ captions, with its interval; NaN without a caption.

    Interval: Wilson's with as many captions as would tell as much if they were independent; if none has a case, or
    all have one, as many as there are images.

    counts, captions: (U,) captions with a case, and all captions.

    Source of the number of captions: Korn & Graubard 1998, Survey Methodology 24:193.
    """
    share, se, *_ = clustered_ratio(counts, captions)
    images = np.count_nonzero(captions > 0)
    n = float(images)
    if se > 0:
        n = share * (1 - share) / se**2 * images / (images - 1)
    return share, *wilson(share, min(n, captions.sum()))


def rank(rows: Sequence[Row], *measures: str) -> None:
    """Give each row its ``rank``, from 1: the largest first, by the first measure that differs, else by concept."""
    frame = DataFrame(rows, columns=[*measures, "concept"])
    sizes = {name: -frame[name].fillna(0.0) for name in measures}
    order = frame.assign(**sizes).sort_values([*measures, "concept"], key=sort_key)
    for number, row in enumerate(order.index, 1):
        rows[row]["rank"] = number


# -- rows of the tables ------------------------------------------------------------------------------------------------

EQUAL_PROBABILITIES = "the same probability in both groups"
_BLANK: Row = {
    **TABLES["measures"].blank,
    "captions": "union",
    "kind": "rule",
    "unit": "share",
    "reading": "face",
    "origin": "ours",
}
_OF_HEADER = ("harm", "technique", "stage", "truth", "reading")
_CASE_KEY = TABLES["cases"].columns[1:-3]  # from harm to group
RESULTS = ("measures", "cases", "inclusions", "salience", "examples")


class Recorder:
    """The rows of one technique at one stage for each of the tables of results, in the order of their making.

    stage, truth: what is measured, and what it is compared with; empty without a truth.
    captions: of each image, at the stage.  header: the columns that all rows share, of which a row can override any.
    """

    def __init__(
        self,
        corpus: Corpus,
        options: AuditOptions,
        stage: str,
        truth: str,
        header: Row,
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

    def all_captions(self) -> Iterator[tuple[str, Caption]]:
        """Each image with each of its captions."""
        for image in self.images:
            for caption in self.captions[image]:
                yield image, caption

    # -- measures --

    def measure(self, **columns: Any) -> None:
        """Add a row to the measures; columns that are not given are empty or NaN."""
        self.measures.append({**_BLANK, **self.header, **columns})

    def share(self, active: int, n: int, **columns: Any) -> None:
        """Add a share of images with Wilson's interval."""
        value = active / n if n else nan
        numbers = {
            "n": n,
            "active": active,
            "value": value,
            **ends(wilson(value, n)),
        }
        if not n:
            numbers["note"] = EMPTY
        self.measure(**{**numbers, "estimator": "share of images, Wilson", **columns})

    def image_shares(
        self, images_with: Mapping[str, Iterable[str]], images: Sequence[str], **columns: Any
    ) -> None:
        """``shares`` of the images that have each concept.  images_with: concept to images."""
        self.shares(presence_of_images(images_with, images), **columns)

    def shares(self, table: Presence, **columns: Any) -> None:
        """Add every concept's share of the images, and by pair the groups' shares and difference."""
        n = len(table.images)
        totals = table.matrix.sum(1)
        active = np.diff(table.matrix.indptr)
        for concept, total, count in zip(table.concepts, totals, active.tolist(), strict=True):
            if table.binary:
                self.share(count, n, **columns, concept=concept)
            else:
                self.measure(
                    **columns,
                    concept=concept,
                    n=n,
                    active=count,
                    value=total / n if n else nan,
                    estimator="mean share of captions",
                )
        kind = "shares, Newcombe" if table.binary else "mean shares, Welch"
        groups = {}
        for pair in self.corpus.pairs:
            sides = self.corpus.sides(pair, table.images)
            groups[pair.column, pair.group] = sides == 1
            groups[pair.column, pair.other] = sides == -1
            rows = records(compare(table, sides, self.options))
            for concept, row in zip(table.concepts, rows, strict=True):
                names = {"concept": concept, **pair._asdict(), "estimator": f"difference of {kind}"}
                self.difference(row, **columns, **names)
        for (column, group), members in groups.items():
            part = table.matrix[:, np.flatnonzero(members)]
            size = part.shape[1]
            for concept, total in zip(table.concepts, part.sum(1), strict=True):
                value = total / size if size else nan
                self.measure(
                    **columns,
                    concept=concept,
                    column=column,
                    group=group,
                    n=size,
                    active=round(total) if table.binary else 0,
                    value=value,
                    **ends(wilson(value, size)),
                    estimator="share of images",
                )

    def difference(self, row: Record, **columns: Any) -> None:
        """Add the difference of one concept, a row of ``compare``; its note tells why it has no test."""
        notes = [row["note"]]
        if row["note"] in ("", NO_INTERVAL):
            notes.insert(0, {**self.header, **columns}.get("note"))
        columns = {"null_hypothesis": EQUAL_PROBABILITIES, **columns, **row}
        self.measure(**columns | {"note": "; ".join(filter(None, notes))})

    def compare(self, table: Presence, sides: Sides) -> Record:
        """The difference of two groups, of the only concept.  sides: as of ``compare``."""
        return records(compare(table, sides, self.options))[0]

    def rates(self, counts: Mapping[str, int], images: Iterable[str], **columns: Any) -> None:
        """Add the number of captions with a case, and that number per 1,000 captions.

        counts: image to captions with a case.  images: those at risk.
        """
        cases, risk = (
            np.array(
                [(counts.get(image, 0), len(self.captions[image])) for image in sorted(images)],
                float,
            )
            .reshape(-1, 2)
            .T
        )
        columns |= {"n": len(cases), "active": np.count_nonzero(cases)}
        self.measure(
            **columns,
            value=cases.sum(),
            unit="count",
            estimator="captions",
        )
        value, *interval = (1000 * number for number in rate(cases, risk))
        columns |= {"value": value, **ends(interval), "unit": "per 1,000 captions"}
        self.measure(**columns, estimator="ratio of captions, Wilson over images")

    # -- cases --

    def case(self, rule: str, image: str, *captions: Caption | None, **columns: Any) -> None:
        """Add a case to be read by a person; its key is made of what it is about.

        captions: the one that it is about, None for all of them; the image's first one by default.
        """
        caption = next(iter([*captions, *self.captions.get(image, ())]), None)
        row = {
            **TABLES["cases"].blank,
            **{name: self.header[name] for name in _OF_HEADER},
            "rule": rule,
            "image": image,
            "source": -1,
            "truth_text": self.corpus.text_of(self.header["truth"], image),
        }
        if caption:
            row |= {"source": caption.source, "text": caption.text}
        row |= columns
        key = "\0".join(str(row[name]) for name in _CASE_KEY).encode("utf-8", "surrogatepass")
        self.cases.append({**row, "case": hexdigest(key)[:16]})
