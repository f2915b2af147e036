"""Rows of the measures and cases tables: every number with its reading, truth, estimator, null hypothesis and lists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Caption, Material, Pair, Presence, presence_of_images
from gslopes.captions.measures.estimates import Differences, compare, floor_note, ratio
from gslopes.stats.intervals import wilson
from gslopes.words.graph import Fact

Row = dict[str, Any]
EQUAL_PROBABILITIES = "the same probability in both groups"
_BLANK: Row = dict.fromkeys(("harm", "technique", "stage", "truth", "concept", "column", "group", "other"), "")
_BLANK |= dict.fromkeys(("estimator", "null_hypothesis", "lists", "note"), "") | {"n": 0, "active": 0}
_BLANK |= {"captions": "union", "kind": "rule", "unit": "share", "reading": "face", "origin": "ours"}
_BLANK |= dict.fromkeys(("value", "ci_low", "ci_high", "boot_low", "boot_high", "p", "q"), math.nan)
_CASE_KEY = ("harm", "technique", "rule", "stage", "truth", "image", "source", "word", "concept", "bound", "group")


@dataclass(slots=True)
class TechniqueResult:
    """Rows for each of the four tables of results."""

    measures: list[Row] = field(default_factory=list)
    cases: list[Row] = field(default_factory=list)
    inclusions: list[Row] = field(default_factory=list)
    salience: list[Row] = field(default_factory=list)

    def add(self, other: TechniqueResult) -> None:
        """Append the rows of another result."""
        for name in ("measures", "cases", "inclusions", "salience"):
            getattr(self, name).extend(getattr(other, name))


def measure(header: Mapping[str, Any], **columns: Any) -> Row:
    """One row of the measures table; columns that are not given are empty or NaN."""
    return {**_BLANK, **header, **columns}


def share_row(header: Mapping[str, Any], active: int, n: int, **columns: Any) -> Row:
    """A share of images with Wilson's interval."""
    value = active / n if n else math.nan
    low, high = wilson(value, n)
    numbers = {"n": n, "active": active, "value": value, "ci_low": low, "ci_high": high}
    return measure(header, **{**numbers, "estimator": "share of images, Wilson", **columns})


class Recorder(TechniqueResult):
    """The rows of one technique at one stage, as they are found.

    stage, truth: what is measured, and what it is compared with; empty if there is none.
    header: the columns that all rows share, of which a row can override any.
    """

    __slots__ = ("header", "images", "material", "mentions", "options", "stage", "truth")

    def __init__(self, material: Material, options: AuditOptions, stage: str, truth: str, header: Row) -> None:
        super().__init__()
        self.material, self.options, self.stage, self.truth = material, options, stage, truth
        self.mentions = material.mentions
        self.header = {"stage": stage, **header}
        self.images = material.images(*filter(None, (stage, self.header.get("truth"))))

    def facts(self, image: str) -> frozenset[Fact]:
        """The facts of an image at the measured stage."""
        return self.material.facts(self.stage, image)

    def truth_facts(self, image: str) -> frozenset[Fact]:
        """The facts of an image in the truth."""
        return self.material.facts(self.truth, image)

    # -- measures --

    def measure(self, **columns: Any) -> None:
        """Add a row to the measures."""
        self.measures.append(measure(self.header, **columns))

    def share(self, active: int, n: int, **columns: Any) -> None:
        """Add a share of images with Wilson's interval."""
        self.measures.append(share_row(self.header, active, n, **columns))

    def image_shares(self, images_with: Mapping[str, Iterable[str]], images: Sequence[str], **columns: Any) -> None:
        """``shares`` of the images that have each concept.  images_with: concept to images."""
        self.shares(presence_of_images(images_with, images), **columns)

    def shares(self, table: Presence, **columns: Any) -> None:
        """Add every concept's share of the images, and by pair the groups' shares and difference; q over concepts."""
        rows = self._overall(table, columns)
        for pair in self.material.pairs:
            rows += self._by_group(table, pair, columns)
        unique: dict[tuple[object, ...], Row] = {}
        for row in rows:
            unique.setdefault(tuple(row[name] for name in ("concept", "column", "group", "other", "unit")), row)
        self.measures += unique.values()

    def _overall(self, table: Presence, columns: Row) -> list[Row]:
        totals = np.asarray(table.matrix.sum(axis=1)).ravel()
        n, header, rows = len(table.images), {**self.header, **columns}, []
        for concept, total, active in zip(table.concepts, totals, table.active, strict=True):
            if table.binary:
                row = share_row(header, int(active), n, concept=concept)
                rows.append(row | ({"ci_low": math.nan, "ci_high": math.nan} if self.material.clusters else {}))
            else:
                numbers = {"n": n, "active": int(active), "value": total / n if n else math.nan}
                rows.append(measure(header, concept=concept, **numbers, estimator="mean share of captions"))
        return rows

    def _by_group(self, table: Presence, pair: Pair, columns: Row) -> list[Row]:
        header, rows = {**self.header, **columns}, []
        found, clustered = self.compare(table, pair), bool(self.material.clusters)
        estimator = "difference of shares, Newcombe" if table.binary else "difference of mean shares, bootstrap"
        estimator = "difference of shares, bootstrap over clusters" if clustered else estimator
        for index, concept in enumerate(table.concepts):
            note = header.get("note", "") or floor_note(found.floor)
            numbers = found.columns(index)
            if math.isnan(numbers["ci_low"]) and math.isnan(numbers["boot_low"]):
                units = "clusters" if clustered else "images"
                note = "; ".join(filter(None, (note, f"too few {units} with and without it for an interval")))
            note = note if found.active[index] >= self.options.min_active else "too rare to judge"
            if min(found.n, found.n_other) < 10:
                note = "a group has fewer than 10 images: no test"
            facts = {"concept": concept, **pair.columns, "estimator": estimator, "note": note}
            facts["null_hypothesis"] = EQUAL_PROBABILITIES
            rows.append(measure(header, **numbers, **facts))
            for value, size, group in ((found.share, found.n, pair.group), (found.other, found.n_other, pair.other)):
                low, high = (math.nan, math.nan) if clustered else wilson(value[index], size)
                numbers = {"n": size, "value": value[index], "ci_low": low, "ci_high": high}
                numbers |= {"active": round(value[index] * size) if table.binary and size else 0}
                facts = {"concept": concept, "column": pair.column, "group": group, "estimator": "share of images"}
                rows.append(measure(header, **numbers, **facts))
        return rows

    def compare(self, table: Presence, pair: Pair) -> Differences:
        """The differences of a pair's groups, by concept."""
        sides, clusters = self.material.sides(pair, table.images), self.material.cluster_numbers(table.images)
        return compare(table, sides, self.options, clusters)

    def rates(self, counts: Mapping[str, int], images: Iterable[str], **columns: Any) -> None:
        """Add the number of captions with a case, and that number per 1,000 captions.

        counts: image to captions with a case.  images: those at risk.
        Wilson's interval takes captions as independent; there is none where images cluster.
        """
        images = sorted(images)
        cases = np.array([counts.get(image, 0) for image in images], dtype=np.float64)
        risk = np.array([len(self.material.stages[self.stage][image]) for image in images], dtype=np.float64)
        clusters = self.material.cluster_numbers(images)
        value, *boot = ratio(cases, risk, self.options, clusters)
        ends = wilson(value, int(risk.sum())) if clusters is None else (math.nan, math.nan)
        names = ("value", "ci_low", "ci_high", "boot_low", "boot_high")
        numbers = {name: 1000 * number for name, number in zip(names, (value, *ends, *boot), strict=True)}
        shared = {"n": len(images), "active": int((cases > 0).sum()), **columns}
        self.measure(**shared, value=float(cases.sum()), unit="count", estimator="captions")
        estimator = "ratio of captions, Wilson; bootstrap over images"
        self.measure(**shared, **numbers, unit="per 1,000 captions", estimator=estimator)

    # -- cases --

    def case(self, rule: str, image: str, *captions: Caption | None, **columns: Any) -> None:
        """Add a case to be read by a person; its key is made of what it is about.

        captions: the one that it is about, None for all of them; the image's first one by default.
        """
        caption = captions[0] if captions else next(iter(self.material.stages[self.stage].get(image, ())), None)
        shared = {name: self.header[name] for name in ("harm", "technique", "stage", "truth", "reading")}
        row = {**dict.fromkeys(("word", "concept", "bound", "group"), ""), **shared, "rule": rule, "image": image}
        row |= {"source": -1 if caption is None else caption.source, "text": caption.text if caption else "", **columns}
        key = "\0".join(str(row[name]) for name in _CASE_KEY).encode("utf-8", "surrogatepass")
        row |= {"case": sha256(key).hexdigest()[:16], "truth_text": self.material.text_of(self.header["truth"], image)}
        self.cases.append(row)
