"""Cells of the coverage bench: error rates at a value of the edit, and their change per unit, where truth is known.

A yes-or-no label is true of half of the photos. It is said where u + e_k + 1.5 (true) + slope * value passes 0.75, u
the photo's own (variance 0.6; in clusters of three photos it is the cluster's), e_k new in every picture (0.4), values
from -2 to 2 in 7 steps. Misses and false alarms then have a rate of 22.7 % at value 0. The tables are those of
``slopes.fit.truth.error_tables``; the true rates and slopes are exact.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from coverage_cases import VALUES, Count, counted
from scipy import special

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.options import FitOptions
from gslopes.slopes.fit.truth import Truth, error_tables
from gslopes.stats.ols import line_weights

LIMIT, APART = 0.75, 1.5


def true_rates(slope: float) -> dict[str, np.ndarray]:
    """Measure to the rate at each value."""
    miss = special.ndtr(LIMIT - APART - slope * VALUES)
    alarm = special.ndtr(slope * VALUES - LIMIT)
    return {"miss": miss, "false alarm": alarm, "error": (miss + alarm) / 2}


def drawn(rng: np.random.Generator, photos: int, slope: float, size: int) -> tuple[Answers, Truth, np.ndarray]:
    """Answers about photos, their truth, and clusters of ``size`` photos."""
    clusters = np.arange(photos) // size
    true = rng.random(photos) < 0.5
    own = np.sqrt(0.6) * rng.standard_normal(clusters[-1] + 1)[clusters]
    level = own[:, None] + np.sqrt(0.4) * rng.standard_normal((photos, 7)) + APART * true[:, None] + slope * VALUES
    said = level > LIMIT
    names = np.array([f"{place:04}" for place in range(photos)], dtype=object)
    rows = np.flatnonzero(said.any(axis=1))
    pairs = rows.astype(np.int32), np.zeros(len(rows), np.int32), said[rows], said[rows].astype(np.float32)
    answers = Answers("c", "gender", VALUES, np.array(["smile"], dtype=object), names, {}, *pairs, 0.5)
    return answers, Truth("smiles", "smile", pd.Series(np.where(true, "yes", "no"), index=names)), clusters


def error_rates(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """20, 60 and 300 photos; 60 and 300 in clusters of three; without and with a slope of the errors."""
    options, weights = FitOptions(permutations=0), line_weights(VALUES)
    for photos, size in ((20, 1), (60, 1), (300, 1), (60, 3), (300, 3)):
        for slope in (0.0, 0.3):
            truth = true_rates(slope)
            held: dict[str, list[bool]] = {}
            for _ in range(sets):
                answers, known, clusters = drawn(rng, photos, slope, size)
                rates, slopes = error_tables(answers, [known], options, clusters if size > 1 else None)
                for row in rates.to_dict("records"):
                    if row["step"] in (3, 6):
                        at = truth[row["measure"]][row["step"]]
                        name = f"{row['measure']}, rate at {row['value']:g} held"
                        held.setdefault(name, []).append(row["ci_low"] <= at <= row["ci_high"])
                for row in slopes.to_dict("records"):
                    if not row["note"]:
                        at = 100 * float(weights @ truth[row["measure"]])
                        held.setdefault(f"{row['measure']}, slope held", []).append(
                            row["ci_low"] <= at <= row["ci_high"]
                        )
                        if not slope:
                            held.setdefault(f"{row['measure']}, p < 0.05", []).append(row["p"] < 0.05)
            what = f"{photos} photos{f', {size} a cluster' * (size > 1)}, slope {slope:g}"
            for name, hits in held.items():
                yield counted(f"{what}: {name}", "error_tables", np.array(hits))


CASES = {"error-rates": error_rates}
