"""Crowd answers: how feminine or masculine does a context look?  Section 4.2 of the paper."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.contexts.people import gender_of
from gslopes.core.errors import UsageError
from gslopes.stats.intervals import percentile

CODINGS = ("correct", "partial", "incorrect")
NEUTRAL = 5.0
_COLUMNS = ("context", "rater", "gender", "rating", "coding")


def read_ratings(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Answers of raters, (rows, warnings): columns context, rater, gender, rating, coding.

    path: a CSV with context, rater, rating and, where known, gender and coding (correct, partial, incorrect).  Of two
    answers of a rater about one context the last counts.

    Raises: UsageError with the line of a rating that is no number from 0 to 10, or of an unknown coding.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            lacks = [name for name in ("context", "rater", "rating") if name not in (reader.fieldnames or ())]
            if lacks:
                raise UsageError(f"{path} has no column {lacks[0]}.", "It needs context, rater and rating.")
            rows = [_row(row, f"{path}, line {reader.line_num}") for row in reader]
            coded = "coding" in (reader.fieldnames or ())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", "Name the CSV of the ratings.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} is not a CSV in UTF-8: {error}.", "Save it as CSV in UTF-8.") from error
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    warnings = [] if coded else ["None of the ratings was coded: all count."]
    twice = frame.duplicated(["context", "rater"], keep="last")
    if twice.any():
        first = frame[twice].iloc[0]
        warnings.append(f"Rater {first['rater']} answered twice about {first['context']}: the last answer counts.")
    return frame[~twice].reset_index(drop=True), warnings


def _row(row: dict[str, Any], where: str) -> tuple[str, str, str, float, str]:
    text = (row["rating"] or "").strip()
    try:
        rating = float(text)
    except ValueError:
        rating = math.nan
    if not 0 <= rating <= 10:
        raise UsageError(f"{where}: the rating is {text!r}; it must be a number from 0 to 10.")
    coding = (row.get("coding") or "correct").strip().casefold()
    if coding not in CODINGS:
        raise UsageError(f"{where}: the coding is {coding!r}.", f"Known: {', '.join(CODINGS)}.")
    gender = gender_of(row.get("gender") or "")
    return (row["context"] or "").strip(), (row["rater"] or "").strip(), gender, rating, coding


def summarise_ratings(answers: pd.DataFrame, *, draws: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Rows of the ``ratings`` table.

    Estimator: the median of the answers that are not coded incorrect.  Interval: percentile bootstrap over *raters*.
    Category: feminine or masculine if the interval lies on one side of 5.  alpha: Krippendorff's, of all contexts,
    interval level.
    """
    kept = answers[answers["coding"] != "incorrect"]
    raters, codes = np.unique(kept["rater"].to_numpy(str), return_inverse=True)
    alpha = krippendorff_alpha(kept)
    generator = np.random.default_rng([seed, 3])
    picks = generator.integers(0, max(len(raters), 1), (draws, len(raters)))
    rows = []
    for context in sorted(set(answers["context"])):
        in_context = (kept["context"] == context).to_numpy()
        ratings = kept["rating"].to_numpy(float)[in_context]
        low, high = _interval(ratings, codes[in_context], picks)
        quartiles = np.quantile(ratings, [0.25, 0.5, 0.75]) if len(ratings) else [math.nan] * 3
        genders = kept["gender"].to_numpy(object)[in_context]
        rows.append(
            {
                "context": context,
                "n": len(ratings),
                "dropped": int((answers["context"] == context).sum() - in_context.sum()),
                "median": quartiles[1],
                "q1": quartiles[0],
                "q3": quartiles[2],
                "ci_low": low,
                "ci_high": high,
                "women": _median(ratings[genders == "woman"]),
                "men": _median(ratings[genders == "man"]),
                "category": category(low, high),
                "alpha": alpha,
            }
        )
    return pd.DataFrame(rows)


def category(low: float, high: float) -> str:
    """``feminine`` if the interval of the rating lies below 5, ``masculine`` above it, else ``neutral``."""
    return "feminine" if high < NEUTRAL else "masculine" if low > NEUTRAL else "neutral"


def krippendorff_alpha(answers: pd.DataFrame, level: Literal["interval", "ordinal"] = "interval") -> float:
    """Agreement of raters over contexts; NaN where nobody can disagree.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability; by the library krippendorff.
    """
    import krippendorff

    table = answers.pivot_table(index="rater", columns="context", values="rating", aggfunc="last").to_numpy(float)
    if table.shape[0] < 2 or np.unique(table[np.isfinite(table)]).size < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement=level))


def _interval(ratings: NDArray[np.float64], rater: NDArray[np.int64], picks: NDArray[np.int64]) -> tuple[float, float]:
    if not len(ratings):
        return math.nan, math.nan
    medians = np.full(len(picks), np.nan)
    for index, pick in enumerate(picks):
        times = np.bincount(pick, minlength=picks.shape[1])[rater]
        drawn = np.repeat(ratings, times)
        if len(drawn):
            medians[index] = np.median(drawn)
    return percentile(medians)


def _median(values: NDArray[np.float64]) -> float:
    return float(np.median(values)) if len(values) else math.nan
