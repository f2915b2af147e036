"""Cells of the coverage bench: error rates at a value of the edit, and their change per unit, where truth is known.

A yes-or-no label is true of half of the photos. It is answered if u + e_k + 1.5 (true) + slope * value passes 0.75, u
the photo's own (variance 0.6; in clusters of three photos it is the cluster's), e_k new in every picture (0.4), values
from -2 to 2 in 7 steps. Misses and false alarms then have a rate of 22.7 % at value 0. The tables are those of
``slopes.measures.truth.error_tables``; the true rates and slopes are exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from coverage_cases import VALUES, Count, counted
from scipy import special

from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.measures.selection import Asked, loss_trend
from gslopes.slopes.measures.truth import Truth, error_tables
from gslopes.stats.ols import line_weights

LIMIT, APART = 0.75, 1.5


def true_rates(slope: float) -> dict[str, np.ndarray]:
    """Measure to the rate at each value."""
    miss = special.ndtr(LIMIT - APART - slope * VALUES)
    alarm = special.ndtr(slope * VALUES - LIMIT)
    return {"miss": miss, "false alarm": alarm, "error": (miss + alarm) / 2}


def drawn(
    rng: np.random.Generator, photos: int, slope: float, size: int
) -> tuple[Answers, Truth, np.ndarray]:
    """Answers about photos, their truth, and clusters of ``size`` photos."""
    clusters = np.arange(photos) // size
    true = rng.random(photos) < 0.5
    levels = np.sqrt(0.6) * rng.standard_normal(clusters[-1] + 1)[clusters]
    level = (
        levels[:, None]
        + np.sqrt(0.4) * rng.standard_normal((photos, 7))
        + APART * true[:, None]
        + slope * VALUES
    )
    answered = level > LIMIT
    names = np.array([f"{index:04}" for index in range(photos)], dtype=object)
    rows = np.flatnonzero(answered.any(axis=1))
    pairs = (
        rows.astype(np.int32),
        np.zeros(len(rows), np.int32),
        answered[rows],
        answered[rows].astype(np.float32),
    )
    answers = Answers("c", "gender", VALUES, np.array(["smile"], dtype=object), names, *pairs, 0.5)
    return (
        answers,
        Truth("smiles", "smile", pd.Series(np.where(true, "yes", "no"), index=names)),
        clusters,
    )


def error_rates(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """20, 60 and 300 photos; 60 and 300 in clusters of three; without and with a slope of the errors."""
    options, weights = FitOptions(permutations=0), line_weights(VALUES)
    for photos, size in ((20, 1), (60, 1), (300, 1), (60, 3), (300, 3)):
        for slope in (0.0, 0.3):
            truth = true_rates(slope)
            facts: dict[str, list[bool]] = {}
            for _ in range(sets):
                answers, expected, clusters = drawn(rng, photos, slope, size)
                rates, slopes = error_tables(
                    replace(answers, units=clusters if size > 1 else None), [expected], options
                )
                for row in rates.to_dict("records"):
                    if row["step"] in (3, 6):
                        start = truth[row["measure"]][row["step"]]
                        name = f"{row['measure']}, rate at {row['value']:g} held"
                        facts.setdefault(name, []).append(row["ci_low"] <= start <= row["ci_high"])
                for row in slopes.to_dict("records"):
                    if not row["note"]:
                        start = 100 * float(weights @ truth[row["measure"]])
                        facts.setdefault(f"{row['measure']}, slope held", []).append(
                            row["ci_low"] <= start <= row["ci_high"]
                        )
                        if not slope:
                            facts.setdefault(f"{row['measure']}, p < 0.05", []).append(
                                row["p"] < 0.05
                            )
            what = f"{photos} photos{f', {size} a cluster' * (size > 1)}, slope {slope:g}"
            for name, hits in facts.items():
                yield counted(f"{what}: {name}", "error_tables", np.array(hits))


def answered(wrong: np.ndarray) -> tuple[Answers, Truth]:
    """Answers about photos that all have the label; it is missed where ``wrong`` (n, K) is true."""
    names = np.array([f"{index:04}" for index in range(len(wrong))], dtype=object)
    rows = np.flatnonzero(~wrong.all(axis=1))
    pairs = (
        rows.astype(np.int32),
        np.zeros(len(rows), np.int32),
        ~wrong[rows],
        (~wrong[rows]).astype(np.float32),
    )
    expected = Truth("smiles", "smile", pd.Series("yes", index=names))
    return Answers(
        "c", "gender", VALUES, np.array(["smile"], dtype=object), names, *pairs, 0.5
    ), expected


def missed(wrong: np.ndarray, options: FitOptions, clusters: np.ndarray | None = None) -> pd.Series:
    """The row of the slope of misses."""
    answers, expected = answered(wrong)
    slopes = error_tables(replace(answers, units=clusters), [expected], options, {}, ["smile"])[1]
    return slopes.set_index("measure").loc["miss"]


def rare_errors(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """20, 60, 300 photos wrong by lot at every value, and photos of which 30 % are wrong at the two upper values only.

    Photo-rate's interval, and p as it was (t) and as it is (permutation within photos, or t below its floor).
    """
    options, weights = FitOptions(permutations=999), line_weights(VALUES)
    anew = {
        f"rate {rate:g}, slope {100 * rate * slope:g} points": rate * (1 + slope * VALUES)
        for rate, slope in itertools.product((0.03, 0.2), (0.0, 0.3))
    }
    for photos, (design, chance) in itertools.product(
        (20, 60, 300),
        [*anew.items(), ("wrong at the two upper values of 30 %", 0.3 * (VALUES > 1))],
    ):
        size = 7 if design in anew else 1
        rows = [missed(rng.random((photos, size)) < chance, options) for _ in range(sets)]
        judged = pd.DataFrame([row for row in rows if not row["note"]])
        what = f"{photos} photos, {design}"
        yield counted(
            f"{what}: judged", "error_tables", np.array([not row["note"] for row in rows])
        )
        if len(judged):
            start = 100 * float(weights @ chance)
            yield counted(
                f"{what}: held",
                "t",
                ((judged["ci_low"] <= start) & (start <= judged["ci_high"])).to_numpy(),
            )
            for name, method in (("p", "t, as it was"), ("p_test", "permutation")):
                yield counted(f"{what}: p < 0.05", method, (judged[name] < 0.05).to_numpy())


def alike_errors(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Wrong at the two upper values of every photo: no standard error.  And each photo wrong at two values by lot."""
    for photos, size in ((12, 1), (40, 1), (60, 3)):
        clusters = np.arange(photos) // size if size > 1 else None
        for what, same in (
            ("at the two upper values of all", True),
            ("at two values by lot", False),
        ):
            options, decided = FitOptions(permutations=999), []
            for number in range(sets):
                wrong = np.zeros((photos, 7), bool)
                wrong[:, -2:] = True
                wrong = wrong if same else rng.permuted(wrong, axis=1)
                decided.append(missed(wrong, replace(options, seed=number), clusters))
            rows, name = (
                pd.DataFrame(decided),
                f"{photos} photos{f', {size} a cluster' * (size > 1)}, wrong {what}: moves",
            )
            yield counted(name, "t, as it was", (rows["p"] < 0.05).to_numpy())
            yield counted(
                name, "permutation", rows["decision"].isin(["open", "finding"]).to_numpy()
            )


def failures(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """20, 60 and 300 photos, single or three a person, of which pictures fail: by photo, by value, or at one value."""
    designs = {
        "whatever the value": lambda shares: np.broadcast_to(0.3 * shares, (len(shares), 7)),
        "more towards one end": lambda shares: 0.3 * shares * (1 + 0.3 * VALUES),
        "at the last value of all": lambda shares: np.broadcast_to(
            np.arange(7) == 6, (len(shares), 7)
        ),
    }
    for (photos, size), (what, chance) in itertools.product(
        ((20, 1), (60, 1), (300, 1), (60, 3)), designs.items()
    ):
        old, new, codes = [], [], np.arange(photos) // size
        for _ in range(sets):
            shares = rng.beta(0.5, 2, codes[-1] + 1)[codes][:, None]
            status = np.where(rng.random((photos, 7)) < chance(shares), 3, 1).astype(np.int8)
            result = Asked(np.arange(photos), VALUES, status)
            trend = loss_trend(result, "failed", codes.take)
            old.append(False)
            new.append(not trend.p >= 0.05 and bool((status == 3).any()))
        name = f"{photos} photos{f', {size} a person' * (size > 1)}, failing {what}: flagged"
        yield counted(name, "as it was", np.array(old))
        yield counted(name, "t and Cochran's Q", np.array(new))


CASES = {"error-rates": error_rates}
LATER = {"rare-errors": rare_errors, "alike-errors": alike_errors, "failures": failures}
