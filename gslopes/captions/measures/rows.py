"""Rows of the measures and cases tables: every number with its reading, truth, estimator, null hypothesis and lists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from gslopes.captions.material import Caption, Material, Presence
from gslopes.captions.measures.estimates import Differences, compare, ratio
from gslopes.captions.options import AuditOptions
from gslopes.stats.proportions import wilson

Row = dict[str, Any]
EQUAL_PROBABILITIES = "the same probability in both groups"


@dataclass(frozen=True, slots=True)
class RowHeader:
    """What stands on every row of one technique at one stage."""

    harm: str
    technique: str
    stage: str
    truth: str = ""
    captions: str = "union"
    kind: str = "rule"
    reading: str = "face"
    origin: str = "ours"
    lists: str = ""
    note: str = ""


@dataclass(slots=True)
class TechniqueResult:
    """What a technique gives."""

    measures: list[Row] = field(default_factory=list)
    cases: list[Row] = field(default_factory=list)
    inclusions: list[Row] = field(default_factory=list)
    salience: list[Row] = field(default_factory=list)

    def add(self, other: TechniqueResult) -> None:
        """Take in what another technique gives."""
        self.measures += other.measures
        self.cases += other.cases
        self.inclusions += other.inclusions
        self.salience += other.salience


def measure(header: RowHeader, **facts: Any) -> Row:
    """One row; what is not given is empty or NaN."""
    empty = {"concept": "", "column": "", "group": "", "other": "", "n": 0, "active": 0, "unit": "share"}
    numbers = dict.fromkeys(("value", "ci_low", "ci_high", "boot_low", "boot_high", "p", "q"), math.nan)
    row = {name: getattr(header, name) for name in RowHeader.__dataclass_fields__}
    row |= empty | numbers | {"estimator": "", "null_hypothesis": ""}
    return row | {name: value for name, value in facts.items() if value is not None}


def share_row(header: RowHeader, active: int, n: int, **facts: Any) -> Row:
    """A share of images with Wilson's interval."""
    value = active / n if n else math.nan
    low, high = wilson(value, n) if n else (math.nan, math.nan)
    numbers = {"n": n, "active": active, "value": value, "ci_low": low, "ci_high": high}
    return measure(header, **numbers, estimator="share of images, Wilson", **facts)


def difference_row(header: RowHeader, found: Differences, place: int = 0, /, **facts: Any) -> Row:
    """One of the differences between two groups' shares, in points, with its intervals, p and q.  place: which one."""
    return measure(
        header,
        n=found.n + found.n_other,
        active=int(found.active[place]),
        value=found.difference[place],
        unit="pp",
        ci_low=found.low[place],
        ci_high=found.high[place],
        boot_low=found.boot_low[place],
        boot_high=found.boot_high[place],
        p=found.p[place],
        q=found.q[place],
        **facts,
    )


def shares(header: RowHeader, material: Material, presence: Presence, options: AuditOptions) -> list[Row]:
    """Every concept's share of the images, and by pair its difference between the groups; q over the concepts."""
    rows = []
    totals = np.asarray(presence.matrix.sum(axis=1)).ravel()
    n = len(presence.images)
    active = np.diff(presence.matrix.indptr)
    for concept, total, have in zip(presence.concepts, totals, active, strict=True):
        if presence.binary:
            row = share_row(header, int(have), n, concept=concept)
            rows.append(row | ({"ci_low": math.nan, "ci_high": math.nan} if material.clusters else {}))
        else:
            numbers = {"n": n, "active": int(have), "value": total / n if n else math.nan}
            rows.append(measure(header, concept=concept, **numbers, estimator="mean share of captions"))
    for pair in material.pairs:
        clusters = material.cluster_of(presence.images)
        found = compare(presence, material.members(pair, presence.images), options, clusters)
        estimator = "difference of shares, Newcombe" if presence.binary else "difference of mean shares, bootstrap"
        estimator = estimator if clusters is None else "difference of shares, bootstrap over clusters"
        for place, concept in enumerate(presence.concepts):
            enough = found.active[place] >= options.min_active
            note = header.note if enough else "too rare to judge"
            if min(found.n, found.n_other) < 10:
                note = "a group has fewer than 10 images: no test"
            facts = {"concept": concept, "column": pair.column, "group": pair.group, "other": pair.other}
            facts |= {"estimator": estimator, "null_hypothesis": EQUAL_PROBABILITIES, "note": note}
            rows.append(difference_row(header, found, place, **facts))
            for value, size, group in ((found.share, found.n, pair.group), (found.other, found.n_other, pair.other)):
                low, high = wilson(value[place], size) if size and clusters is None else (math.nan, math.nan)
                numbers = {"n": size, "value": value[place], "ci_low": low, "ci_high": high}
                numbers |= {"active": round(value[place] * size) if presence.binary and size else 0}
                rows.append(
                    measure(
                        header, concept=concept, column=pair.column, group=group, **numbers, estimator="share of images"
                    )
                )
    return _once(rows)


def rate_rows(
    header: RowHeader,
    material: Material,
    counts: Mapping[str, int],
    of: Mapping[str, int],
    options: AuditOptions,
    **facts: Any,
) -> list[Row]:
    """A number of captions and how many that is per 1,000 captions; without Wilson's interval where images cluster.

    counts: image to captions with a case.  of: image to captions at risk.
    """
    images = sorted(of)
    have = np.array([counts.get(image, 0) for image in images], dtype=np.float64)
    risk = np.array([of[image] for image in images], dtype=np.float64)
    total, cases = int(risk.sum()), int(have.sum())
    clusters = material.cluster_of(images)
    value, low, high = ratio(have, risk, options, clusters)
    ends = wilson(value, total) if total and clusters is None else (math.nan, math.nan)
    shared = {"n": len(images), "active": int((have > 0).sum()), **facts}
    return [
        measure(header, **shared, value=float(cases), unit="count", estimator="captions"),
        measure(
            header,
            **shared,
            value=1000 * value,
            unit="per 1,000 captions",
            ci_low=1000 * ends[0],
            ci_high=1000 * ends[1],
            boot_low=1000 * low,
            boot_high=1000 * high,
            estimator="ratio of captions, Wilson; bootstrap over images",
        ),
    ]


def case(
    header: RowHeader,
    rule: str,
    image: str,
    caption: Caption | None = None,
    *,
    word: str = "",
    concept: str = "",
    bound: str = "",
    group: str = "",
    truth_text: str = "",
) -> Row:
    """One case to be read by a person; its key is made of what it is about."""
    source = -1 if caption is None else caption.source
    key = [
        header.harm,
        header.technique,
        rule,
        header.stage,
        header.truth,
        image,
        str(source),
        word,
        concept,
        bound,
        group,
    ]
    return {
        "case": sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:16],
        "harm": header.harm,
        "technique": header.technique,
        "rule": rule,
        "stage": header.stage,
        "truth": header.truth,
        "image": image,
        "source": source,
        "word": word,
        "concept": concept,
        "bound": bound,
        "group": group,
        "text": caption.text if caption is not None else "",
        "truth_text": truth_text,
        "reading": header.reading,
    }


def truth_text(material: Material, truth: str, image: str) -> str:
    """What truth says of an image: its captions, or its objects' words."""
    captions: Sequence[Caption] = material.stages.get(truth, {}).get(image, ())
    texts = [caption.text for caption in captions if caption.text]
    if texts:
        return " · ".join(texts)
    words: Iterable[str] = (fact.word for caption in captions for fact in caption.kept if fact.kind == "object")
    return ", ".join(sorted(set(words))[:40])


def _once(rows: list[Row]) -> list[Row]:
    seen: dict[tuple[object, ...], Row] = {}
    for row in rows:
        key = tuple(row[name] for name in ("concept", "column", "group", "other", "unit"))
        seen.setdefault(key, row)
    return list(seen.values())
