"""Crowd answers: how feminine or masculine does a context look?  Section 4.2 of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.contexts.people import gender_of
from gslopes.contexts.tables import filled
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.files import show
from gslopes.stats.intervals import percentile

CODINGS = ("correct", "partial", "incorrect")
NEUTRAL = 5.0
DRAWS = 2000  # of the bootstrap
_COLUMNS = ("context", "rater", "gender", "rating", "coding")


def read_ratings(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Answers of raters, (rows, warnings): columns context, rater, gender, rating, coding.

    path: a CSV with context, rater, rating and, where known, gender and coding (correct, partial, incorrect).  Of two
    answers of a rater about one context the last counts.

    Raises: UsageError as ``read_csv``; for a table without a row; with the line of a rating that is no number from 0 to
        10, or of an unknown coding.
    """
    table = read_csv(path, ("context", "rater", "rating"), strip=True, hint="It needs context, rater and rating.")
    if not len(table):
        raise UsageError(f"{show(path)} has no rows.", "Add a row for each answer, or leave out --ratings.")
    frame = pd.DataFrame([_row(row, f"{show(path)}, line {line}") for line, row in table.rows()], columns=_COLUMNS)
    warnings = [] if "coding" in table.columns else ["None of the ratings was coded: all count."]
    twice = frame.duplicated(["context", "rater"], keep="last")
    if twice.any():
        first = frame[twice].iloc[0]
        warnings.append(
            f"{int(twice.sum()):,} of the ratings do not count, as their rater answered again about that context, "
            f"such as {first['rater'][:40]} about {first['context'][:40]}."
        )
    return frame[~twice].reset_index(drop=True), warnings


def _row(row: Mapping[str, str], where: str) -> tuple[str, str, str, float, str]:
    try:
        rating = float(row["rating"])
    except ValueError:
        rating = math.nan
    if not 0 <= rating <= 10:
        raise UsageError(f"{where}: the rating is {row['rating'][:40]!r}; it must be a number from 0 to 10.")
    coding = (row.get("coding") or "correct").casefold()
    if coding not in CODINGS:
        raise UsageError(f"{where}: the coding is {coding[:40]!r}.", f"Known: {', '.join(CODINGS)}.")
    return row["context"], row["rater"], gender_of(row.get("gender", "")), rating, coding


def summarise_ratings(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Rows of the ``ratings`` table.

    Estimator: the median of the answers that are not coded incorrect.  Interval: percentile bootstrap over *raters*;
    none where all answers are equal.  Category: feminine or masculine if the interval, or what several raters all say,
    lies on one side of 5, else neutral.  alpha: Krippendorff's, of all contexts, interval level.
    """
    kept = answers[answers["coding"] != "incorrect"]
    raters, codes = np.unique(kept["rater"].to_numpy(str), return_inverse=True)
    alpha = krippendorff_alpha(kept)
    generator = np.random.default_rng([seed, 3])
    picks = generator.integers(0, max(len(raters), 1), (DRAWS, len(raters)))
    rows = []
    for context in sorted(set(answers["context"])):
        in_context = (kept["context"] == context).to_numpy()
        part = kept[in_context]
        low, high = _interval(part["rating"].to_numpy(float), codes[in_context], picks)
        row = {"context": context, "n": len(part), "dropped": int((answers["context"] == context).sum()) - len(part)}
        row |= {name: part["rating"].quantile(q) for name, q in (("q1", 0.25), ("median", 0.5), ("q3", 0.75))}
        for name, gender in (("women", "woman"), ("men", "man")):
            row[name] = part.loc[part["gender"] == gender, "rating"].median()
        least, most = (row["median"], row["median"]) if math.isnan(low) and len(part) > 1 else (low, high)
        row["category"] = "feminine" if most < NEUTRAL else "masculine" if least > NEUTRAL else "neutral"
        rows.append({**row, "ci_low": low, "ci_high": high, "alpha": alpha})
    return filled("ratings", rows)


def krippendorff_alpha(answers: pd.DataFrame) -> float:
    """Agreement of raters over contexts, interval level; NaN where raters cannot disagree.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability; by the library krippendorff.
    """
    import krippendorff

    table = answers.pivot_table(index="rater", columns="context", values="rating", aggfunc="last").to_numpy(float)
    if table.shape[0] < 2 or np.unique(table[np.isfinite(table)]).size < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="interval"))


def _interval(ratings: NDArray[np.float64], rater: NDArray[np.int64], picks: NDArray[np.int64]) -> tuple[float, float]:
    if not len(ratings) or not np.ptp(ratings):
        return math.nan, math.nan
    medians = np.full(len(picks), np.nan)
    for index, pick in enumerate(picks):
        times = np.bincount(pick, minlength=picks.shape[1])[rater]
        drawn = np.repeat(ratings, times)
        if len(drawn):
            medians[index] = np.median(drawn)
    return percentile(medians)
