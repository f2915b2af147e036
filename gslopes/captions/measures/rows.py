"""Rows of the measures and cases tables: every number with its reading, truth, estimator, null hypothesis and lists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Caption, Material, Pair, Presence, presence_of_images
from gslopes.captions.measures.estimates import LEAST, Differences, compare, rate
from gslopes.stats.intervals import wilson
from gslopes.words.graph import Fact

Row = dict[str, Any]
EQUAL_PROBABILITIES = "the same probability in both groups"
_BLANK: Row = dict.fromkeys(("harm", "technique", "stage", "truth", "concept", "column", "group", "other"), "")
_BLANK |= dict.fromkeys(("estimator", "null_hypothesis", "lists", "note"), "") | {"n": 0, "active": 0}
_BLANK |= {"captions": "union", "kind": "rule", "unit": "share", "reading": "face", "origin": "ours"}
_BLANK |= dict.fromkeys(("value", "ci_low", "ci_high", "p", "q"), math.nan)
_CASE_KEY = ("harm", "technique", "rule", "stage", "truth", "image", "source", "word", "concept", "bound", "group")


RESULTS = ("measures", "cases", "inclusions", "salience")


class Recorder:
    """The rows of one technique at one stage for each of the four tables of results, as they are found.

    stage, truth: what is measured, and what it is compared with; empty if there is none.
    header: the columns that all rows share, of which a row can override any.
    """

    def __init__(self, material: Material, options: AuditOptions, stage: str, truth: str, header: Row) -> None:
        self.measures, self.cases, self.inclusions, self.salience = (list[Row]() for _ in RESULTS)
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
        """Add a row to the measures; columns that are not given are empty or NaN."""
        self.measures.append({**_BLANK, **self.header, **columns})

    def share(self, active: int, n: int, **columns: Any) -> None:
        """Add a share of images with Wilson's interval."""
        value = active / n if n else math.nan
        low, high = wilson(value, n)
        numbers = {"n": n, "active": active, "value": value, "ci_low": low, "ci_high": high}
        self.measure(**{**numbers, "estimator": "share of images, Wilson", **columns})

    def image_shares(self, images_with: Mapping[str, Iterable[str]], images: Sequence[str], **columns: Any) -> None:
        """``shares`` of the images that have each concept.  images_with: concept to images."""
        self.shares(presence_of_images(images_with, images), **columns)

    def shares(self, table: Presence, **columns: Any) -> None:
        """Add every concept's share of the images, and by pair the groups' shares and difference; q over concepts."""
        n = len(table.images)
        totals, active = np.asarray(table.matrix.sum(axis=1)).ravel(), np.diff(table.matrix.indptr)
        for concept, total, count in zip(table.concepts, totals, active.tolist(), strict=True):
            if table.binary:
                self.share(count, n, **columns, concept=concept)
            else:
                numbers = {"n": n, "active": count, "value": total / n if n else math.nan}
                self.measure(**{**columns, **numbers}, concept=concept, estimator="mean share of captions")
        seen: set[tuple[str, str, str]] = set()  # a group's share is one row, however many groups it is compared with
        for pair in self.material.pairs:
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
                        self.measure(**{**columns, **numbers, **names, "estimator": "share of images"})

    def difference(self, differences: Differences, index: int, **columns: Any) -> None:
        """Add the difference of one concept with its test, or why there is none."""
        numbers = differences.columns(index)
        note = str({**self.header, **columns}.get("note", ""))
        if math.isnan(numbers["ci_low"]):
            note = "; ".join(filter(None, (note, "too few images with and without it for an interval")))
        note = note if numbers["active"] >= self.options.min_active else "too few images have it"
        if min(differences.n, differences.n_other) < LEAST:
            note = "a group has fewer than 10 images: no test"
        self.measure(**{"null_hypothesis": EQUAL_PROBABILITIES, **columns, **numbers, "note": note})

    def compare(self, table: Presence, pair: Pair) -> Differences:
        """The differences of a pair's groups, by concept."""
        return compare(table, self.material.sides(pair, table.images), self.options)

    def rates(self, counts: Mapping[str, int], images: Iterable[str], **columns: Any) -> None:
        """Add the number of captions with a case, and that number per 1,000 captions.

        counts: image to captions with a case.  images: those at risk.
        """
        images = sorted(images)
        cases = np.array([counts.get(image, 0) for image in images], dtype=np.float64)
        risk = np.array([len(self.material.stages[self.stage][image]) for image in images], dtype=np.float64)
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
        caption = captions[0] if captions else next(iter(self.material.stages[self.stage].get(image, ())), None)
        shared = {name: self.header[name] for name in ("harm", "technique", "stage", "truth", "reading")}
        row = {**dict.fromkeys(("word", "concept", "bound", "group"), ""), **shared, "rule": rule, "image": image}
        row |= {"source": -1 if caption is None else caption.source, "text": caption.text if caption else "", **columns}
        key = "\0".join(str(row[name]) for name in _CASE_KEY).encode("utf-8", "surrogatepass")
        row |= {"case": sha256(key).hexdigest()[:16], "truth_text": self.material.text_of(self.header["truth"], image)}
        self.cases.append(row)
