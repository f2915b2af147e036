"""Cells of the coverage bench: what becomes a finding, of whole audits with placebo sweeps.

A classifier that answers anew every time: label l of a photo is present at a value v with the chance
expit(a + b v), a the photo's own (logit of the rate, standard deviation 1), along the edit; b is 0 along placebos, but
for the light, in cells about it. Every audit goes through the fit's own functions: estimates with 999 permutations,
paired placebo differences, decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from coverage_cases import VALUES, Count, as_answers, counted
from scipy import special

from gslopes.core import placebo
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.decision import decide, placebo_differences
from gslopes.slopes.measures.estimators import slope_rows
from gslopes.slopes.measures.options import FitOptions
from gslopes.stats.multiplicity import LEVEL, benjamini_hochberg
from gslopes.stats.permutation import below_floor
from tests.slopes.measures.conftest import build

OPTIONS = FitOptions(estimators=("photo-rate",), permutations=999)
LABELS = 20
Cell = Callable[[np.random.Generator, int], Iterator[Count]]
Sweeps = list[np.ndarray]  # (labels, photos, 7) along the edit and along each placebo


def drawn(rng: np.random.Generator, log_odds: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """(labels, photos, 7) presence.  log_odds: (labels, photos, 1).  slope: (labels,) a unit."""
    return rng.random((*log_odds.shape[:2], 7)) < special.expit(
        log_odds + slope[:, None, None] * VALUES
    )


def audit(
    rng: np.random.Generator,
    photos: int,
    slope: np.ndarray,
    light: np.ndarray | None = None,
    rate: float = 0.3,
) -> pd.DataFrame:
    """The decided rows of one audit, with p of the rule before (column was: its decision).

    slope, light: (labels,) log-odds a unit along the edit, along the light placebo.
    """
    log_odds = special.logit(rate) + rng.standard_normal((len(slope), photos, 1))
    still = np.zeros(len(slope))
    edit = as_answers(drawn(rng, log_odds, slope))
    along = {"same": still, "light": still if light is None else light, "random": still}
    fakes = {kind: as_answers(drawn(rng, log_odds, along[kind])) for kind in placebo.KINDS}
    rows = slope_rows(edit, OPTIONS)
    differences = placebo_differences(edit, fakes, OPTIONS)
    rows = decide(rows, differences, OPTIONS, units=np.ones(photos))
    return rows.assign(was=before(rows, differences))


def before(rows: pd.DataFrame, differences: pd.DataFrame) -> np.ndarray:
    """(labels,) whether the rule of before had a finding: one family of the largest p of all tests."""
    largest = rows["p_test"].to_numpy(float)
    for _, part in differences.groupby("placebo"):
        part = part.set_index("label").reindex(rows["label"])
        p = below_floor(
            part["p_perm"].to_numpy(float), part["p"].to_numpy(float), OPTIONS.permutations
        )[0]
        ahead = np.sign(part["difference"].to_numpy()) == np.sign(rows["slope"].to_numpy())
        largest = np.where(
            np.isnan(largest), np.nan, np.maximum(largest, np.where(ahead & ~np.isnan(p), p, 1.0))
        )
    return (rows["q"].to_numpy(float) < 0.05) & (benjamini_hochberg(largest) < 0.05)


def numbered(rows: np.ndarray, measure: str = "value") -> Answers:
    """(labels, photos, 7) numbers as answers."""
    every = as_answers(np.ones(rows.shape, bool))
    measures = dict.fromkeys(every.labels.tolist(), measure)
    return replace(every, score=rows.reshape(-1, 7).astype(np.float32), measures=measures)


def _tallied(title: str, audits: Iterator[pd.DataFrame], moving: int, sets: int) -> Iterator[Count]:
    """Of labels that move: own test and findings; else of audits: with any finding."""
    one_family = was = now = 0
    for rows in audits:
        part = rows.iloc[:moving] if moving else rows
        hits = [part["q"] < 0.05, part["was"], part["decision"] == "finding"]
        item, two, three = (int(hit.sum()) if moving else int(hit.any()) for hit in hits)
        one_family, was, now = one_family + item, was + two, now + three
    number = sets * max(moving, 1)
    yield title, "own test", one_family, number
    yield title, "finding, as it was", was, number
    yield title, "finding", now, number


def findings(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """One label of 20 moves; of 2 and of 500."""
    for photos, labels, slope in (
        (20, 20, 0.8),
        (60, 20, 0.3),
        (60, 20, 0.6),
        (300, 20, 0.3),
        (60, 2, 0.3),
    ):
        moves = np.zeros(labels)
        moves[0] = slope
        audits = (audit(rng, photos, moves) for _ in range(sets))
        yield from _tallied(
            f"{photos} photos, 1 of {labels} labels by {slope} logits", audits, 1, sets
        )


def findings_of_many(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """One label of 500 moves."""
    moves = np.zeros(500)
    moves[0] = 0.6
    yield from _tallied(
        "60 photos, 1 of 500 labels by 0.6 logits",
        (audit(rng, 60, moves) for _ in range(sets)),
        1,
        sets,
    )


def no_effect(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Nothing moves: audits with any finding."""
    for photos, labels in ((20, 2), (60, 2), (60, 20), (300, 20), (60, 500)):
        audits = (audit(rng, photos, np.zeros(labels)) for _ in range(sets))
        yield from _tallied(
            f"{photos} photos, {labels} labels, nothing moves: any", audits, 0, sets
        )


def light_only(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """The light placebo moves some labels as far as the edit: audits with any finding."""
    for photos, labels, moving, slope in (
        (60, 20, 1, 0.3),
        (60, 20, 10, 0.6),
        (300, 20, 1, 0.15),
        (300, 20, 10, 0.3),
    ):
        moves = np.zeros(labels)
        moves[:moving] = slope
        audits = (audit(rng, photos, moves, light=moves) for _ in range(sets))
        title = f"{photos} photos, light moves {moving} of {labels} labels by {slope} logits, as the edit: any"
        yield from _tallied(title, audits, 0, sets)


def refused_by_value(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """60 photos, 20 labels that do not move; a picture with the first is refused more often towards the upper end."""
    chance = np.clip(0.1 + 0.1 * VALUES, 0, 1)
    hits = {"own test": np.zeros(sets, bool), "finding": np.zeros(sets, bool)}
    for index in range(sets):
        log_odds = special.logit(0.3) + rng.standard_normal((LABELS, 60, 1))
        parts = []
        for name in ("gender", *placebo.names("gender")):
            present = drawn(rng, log_odds, np.zeros(LABELS)).transpose(1, 0, 2)
            scores, questions = build(present, VALUES, attribute=name)
            lost = rng.random((60, 7)) < chance * present[:, 0] * (name == "gender")
            questions = questions.assign(status=np.where(lost.ravel(), "refused", "answered"))
            retained = ~lost[scores["photo"].str[-8:].apply(int, base=16), scores["step"]]
            parts.append((scores[retained], questions))
        tables = [pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)]
        rows = analyse(*tables, options=OPTIONS).slopes
        rows = rows[rows["attribute"] == "gender"]
        hits["own test"][index] = (rows["q"] < LEVEL).any()
        hits["finding"][index] = (rows["decision"] == "finding").any()
    for method, hit in hits.items():
        yield counted("60 photos, 20 labels, nothing moves, refused by value: any", method, hit)


CASES: dict[str, Cell] = {
    "refused-by-value": refused_by_value,
    "findings": findings,
    "findings-of-many": findings_of_many,
    "no-effect": no_effect,
    "light-only": light_only,
}
