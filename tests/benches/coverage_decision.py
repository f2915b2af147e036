"""Cells of the coverage bench: what becomes a finding, of whole audits with placebo sweeps, and what power promises.

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
from gslopes.slopes.measures.power import SPREAD, Design, Measured, Presence, power, presence_of
from gslopes.stats.multiplicity import LEVEL, benjamini_hochberg
from gslopes.stats.ols import line_weights
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


Classifier = Callable[[np.random.Generator, int, int, float], Sweeps]


def anew(rng: np.random.Generator, photos: int, labels: int, slope: float) -> Sweeps:
    """Presence only by chance, 10 % and the photo's slope times the value; slopes of spread 1.5."""
    slopes = slope / 100 * (1 + SPREAD * rng.standard_normal((1, photos, 1)))
    return _sweeps(
        labels, lambda moves: rng.random((labels, photos, 7)) < 0.1 + moves * slopes * VALUES
    )


def kept(rng: np.random.Generator, photos: int, labels: int, slope: float) -> Sweeps:
    """Presence by a threshold of the photo's own, which only the edit passes."""
    slopes, levels = (
        slope / 100 * (1 + SPREAD * rng.standard_normal((1, photos, 1))),
        rng.random((labels, photos, 1)),
    )
    return _sweeps(labels, lambda moves: levels < 0.1 + moves * slopes * VALUES)


def logistic(rng: np.random.Generator, photos: int, labels: int, slope: float) -> Sweeps:
    """As in the cells above, rate 0.3."""
    log_odds = special.logit(0.3) + rng.standard_normal((labels, photos, 1))
    return _sweeps(
        labels,
        lambda moves: (
            rng.random((labels, photos, 7)) < special.expit(log_odds + moves * slope * VALUES)
        ),
    )


def rare(rng: np.random.Generator, photos: int, labels: int, slope: float) -> Sweeps:
    """Presence past a normal threshold at 2 %; 0.6 of the variance the photo's own, all photos of one slope."""
    levels = np.sqrt(0.6) * rng.standard_normal((labels, photos, 1)) - special.ndtri(0.98)

    def sweep(moves: np.ndarray) -> np.ndarray:
        return (
            levels
            + np.sqrt(0.4) * rng.standard_normal((labels, photos, 7))
            + moves * slope * VALUES
            > 0
        )

    return _sweeps(labels, sweep)


def heavy(rng: np.random.Generator, photos: int, labels: int, slope: float) -> Sweeps:
    """Numbers: the photo's own, its slope of spread 1, and t with 5 degrees in every picture."""
    slopes, levels = (
        slope * (1 + rng.standard_normal((1, photos, 1))),
        rng.standard_normal((labels, photos, 1)),
    )
    return _sweeps(
        labels,
        lambda moves: levels + moves * slopes * VALUES + rng.standard_t(5, (labels, photos, 7)) / 2,
    )


def _sweeps(labels: int, sweep: Callable[[np.ndarray], np.ndarray]) -> Sweeps:
    """The edit, which moves the first label, and three placebos."""
    still = np.zeros((labels, 1, 1))
    moves = still.copy()
    moves[0] = 1
    return [sweep(moves), *(sweep(still) for _ in placebo.KINDS)]


def seen(
    rng: np.random.Generator, classifier: Classifier, photos: int, slope: float
) -> Presence | Measured:
    """The label as a pilot of so many photos sees it."""
    sweeps = [part[0] for part in classifier(rng, photos, 1, slope)]
    along = [part @ line_weights(VALUES) * (1 if classifier is heavy else 100) for part in sweeps]
    edit, *fakes = along
    if classifier is heavy:
        shared = tuple(float(np.corrcoef(edit, fake)[0, 1]) for fake in fakes)
        return Measured(
            float(edit.std(ddof=1)), tuple(float(fake.std(ddof=1)) for fake in fakes), shared
        )
    mean, t = abs(edit.mean()), edit.mean() / edit.std(ddof=1) * np.sqrt(photos)
    fake = float(np.mean([fake.var(ddof=1) for fake in fakes]))
    return presence_of(float(sweeps[0][:, 3].mean()), mean, t, float(edit.var(ddof=1)), fake)


def true_slope(rng: np.random.Generator, classifier: Classifier, slope: float) -> float:
    """Mean slope over 400,000 photos, in the unit of power."""
    return float((classifier(rng, 400_000, 1, slope)[0][0] @ line_weights(VALUES)).mean()) * (
        1 if classifier is heavy else 100
    )


def decided(edit: Answers, fakes: dict[str, Answers]) -> pd.DataFrame:
    """The rows of one audit to read, with their decisions."""
    estimator = "photo-measure" if edit.measures else "photo-rate"
    options = replace(
        OPTIONS, estimators=(estimator,), permutations=4999
    )  # fewer cost some points of power
    rows = slope_rows(edit, options)
    return decide(
        rows, placebo_differences(edit, fakes, options), options, units=np.ones(len(edit.photos))
    )


def numbered(rows: np.ndarray) -> Answers:
    """(labels, photos, 7) numbers as answers."""
    every = as_answers(np.ones(rows.shape, bool))
    measures = dict.fromkeys(every.labels.tolist(), "value")
    return replace(every, score=rows.reshape(-1, 7).astype(np.float32), measures=measures)


def planned(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """What power promises next to what becomes a finding, of six kinds of classifiers; one label moves."""
    expected = np.random.default_rng(66)  # of the pilots, the same in every portion
    plans = [
        (
            "anew, 272 photos, 1 label, pilot",
            anew,
            272,
            2.5,
            Design(seen(expected, anew, 1000, 2.5)),
        ),
        (
            "anew, 272 photos, 20 labels, pilot",
            anew,
            272,
            2.5,
            Design(seen(expected, anew, 1000, 2.5), 20),
        ),
        (
            "kept, 272 photos, 1 label, pilot",
            kept,
            272,
            1.0,
            Design(seen(expected, kept, 1000, 1.0)),
        ),
        (
            "logistic, 60 photos, 20 labels, pilot",
            logistic,
            60,
            0.4,
            Design(seen(expected, logistic, 400, 0.4), 20),
        ),
        ("rare, 1,000 photos, 200 with placebos, 20 labels, pilot", rare, 1000, 0.3, None),
        (
            "numbers, 40 photos, 20 labels, pilot",
            heavy,
            40,
            0.2,
            Design(seen(expected, heavy, 400, 0.2), 20),
        ),
    ]
    for title, classifier, photos, slope, options in plans:
        design = options or Design(seen(expected, classifier, 2000, slope), 20, placebo_photos=200)
        promised = power(design, photos, true_slope(expected, classifier, slope))
        result = 0
        answers_of = numbered if classifier is heavy else as_answers
        for _ in range(sets):
            edit, *fakes = classifier(rng, photos, design.labels, slope)
            questions = design.placebo_photos or photos
            rows = decided(
                answers_of(edit),
                {
                    k: answers_of(part[:, :questions])
                    for k, part in zip(placebo.KINDS, fakes, strict=True)
                },
            )
            result += int(rows.set_index("label")["decision"].get("000000") == "finding")
        yield title, "promised", round(1000 * promised), 1000
        yield title, "finding", result, sets


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
    "planned": planned,
}
