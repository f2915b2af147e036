"""How feminine or masculine contexts are: their records, or the answers of the user's own raters."""

from collections.abc import Callable
from math import nan
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.contexts import filled
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.stimuli.people import gender_of
from gslopes.core import UsageError, show
from gslopes.core.csv_table import read_csv
from gslopes.stats.resampling import percentile

CODINGS = ("correct", "partial", "incorrect")
NEUTRAL = 5.0
DRAWS = 2000  # of the bootstrap
_COLUMNS = ("context", "rater", "gender", "rating", "coding")


def sides(backgrounds: DataFrame) -> dict[str, str]:
    """Context to feminine, masculine or none: its label, which the paper counts by, or without one its rating."""
    contexts = backgrounds.drop_duplicates("context")
    rating = contexts["rating"].astype(float)
    by_rating = np.select([rating < NEUTRAL, rating > NEUTRAL], ["feminine", "masculine"], "none")
    labels = contexts["label"].where(contexts["label"].isin(["feminine", "masculine"]), by_rating)
    return dict(zip(contexts["context"], labels, strict=True))


def rated(backgrounds: DataFrame, ratings: DataFrame) -> DataFrame:
    """The backgrounds with the median of the user's own raters as their rating, if they rated the context."""
    medians = backgrounds["context"].map(ratings.set_index("context")["median"])
    by_raters = backgrounds["context"].isin(ratings["context"])
    return backgrounds.assign(rating=medians.where(by_raters, backgrounds["rating"]).astype(float))


def ratings_of(
    options: ContextOptions, backgrounds: DataFrame, note: Callable[[str], None]
) -> DataFrame:
    """The ``ratings`` table of the user's own raters; problems in their answers are noted.  Raises: UsageError."""
    assert options.ratings
    answers, warnings = read_ratings(options.ratings)
    ratings = summarise_ratings(answers, seed=options.seed)
    for name in sorted(set(ratings["context"]) - set(backgrounds["context"])):
        warnings.append(f"{show(options.ratings)} rates {name}, which is no context of this run.")
    for warning in warnings:
        note(warning)
    return ratings


def read_ratings(path: Path) -> tuple[DataFrame, list[str]]:
    """Answers of raters, (rows, warnings): columns context, rater, gender, rating, coding.

    path: a CSV with context, rater, rating and, if known, gender and coding (correct, partial, incorrect).  Of two
    answers of a rater about one context the last counts.

    Raises: UsageError as ``read_csv``; for a table without a row; with the line of a rating outside of 0 to 10, or an
        unknown coding.
    """
    hint = "It needs context, rater and rating."
    table = read_csv(path, ("context", "rater", "rating"), strip=True, hint=hint)
    if not table.lines:
        raise UsageError(
            f"{show(path)} has no rows.", "Add a row for each answer, or leave out --ratings."
        )
    answers = DataFrame({name: table.columns.get(name, "") for name in _COLUMNS})
    answers["gender"] = answers["gender"].map(gender_of)
    answers["rating"] = pd.to_numeric(answers["rating"], errors="coerce")
    answers["coding"] = answers["coding"].str.casefold().replace("", "correct")
    in_range = answers["rating"].between(0, 10)
    for line, cell, usable, coding in zip(
        table.lines, table.columns["rating"], in_range, answers["coding"], strict=True
    ):
        row = f"{show(path)}, line {line}"
        if not usable:
            raise UsageError(
                f"{row}: the rating is {cell[:40]!r}; it must be a number from 0 to 10."
            )
        if coding not in CODINGS:
            raise UsageError(
                f"{row}: the coding is {coding[:40]!r}.", f"Known: {', '.join(CODINGS)}."
            )
    warnings = [] if "coding" in table.columns else ["None of the ratings was coded: all count."]
    twice = answers.duplicated(["context", "rater"], keep="last")
    if twice.any():
        first = answers[twice].iloc[0]
        warnings.append(
            f"{int(twice.sum()):,} of the ratings do not count, as their rater answered again about that context, "
            f"such as {first['rater'][:40]} about {first['context'][:40]}."
        )
    return answers[~twice].reset_index(drop=True), warnings


def summarise_ratings(answers: DataFrame, *, seed: int = 0) -> DataFrame:
    """Rows of the ``ratings`` table.

    Estimator: the median of the answers that are not coded incorrect.  Interval: percentile bootstrap over a context's
    raters; missing if all answers are equal.  Category: feminine or masculine if the interval, or the one answer of
    several raters, lies on one side of 5, else neutral.  alpha: Krippendorff's, of all contexts, interval level.
    """
    counted = answers.query("coding != 'incorrect'")
    alpha = krippendorff_alpha(counted)
    rows = []
    for context, size in answers.groupby("context").size().items():
        part = counted.query("context == @context")
        ratings = part["rating"].to_numpy(float)
        by_gender = part.groupby("gender")["rating"].median()
        q1, median, q3 = part["rating"].quantile([0.25, 0.5, 0.75])
        low = high = nan
        least = most = median if len(ratings) > 1 else nan
        if len(ratings) and np.ptp(ratings):
            drawn = np.random.default_rng([seed, 3]).choice(ratings, (DRAWS, len(ratings)))
            least, most = low, high = percentile(np.median(drawn, 1))
        rows.append(
            {
                "context": context,
                "n": len(ratings),
                "dropped": size - len(ratings),
                "median": median,
                "q1": q1,
                "q3": q3,
                "ci_low": low,
                "ci_high": high,
                "women": by_gender.get("woman", nan),
                "men": by_gender.get("man", nan),
                "category": str(
                    np.select(
                        [most < NEUTRAL, least > NEUTRAL], ["feminine", "masculine"], "neutral"
                    )
                ),
                "alpha": alpha,
            }
        )
    return filled("ratings", rows)


def krippendorff_alpha(answers: DataFrame) -> float:
    """Agreement of raters over contexts, interval level; NaN if raters cannot disagree.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability; by the library krippendorff.
    """
    import krippendorff

    table = answers.pivot_table(
        index="rater", columns="context", values="rating", aggfunc="last"
    ).to_numpy(float)
    if table.shape[0] < 2 or np.unique(table[np.isfinite(table)]).size < 2:
        return nan
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="interval"))
