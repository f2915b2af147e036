"""Slopes of people next to opponents whom they share: an interval over both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.crops.config import CropsConfig
from gslopes.crops.measures.bootstrap import interval
from gslopes.crops.tables import SWEEP_SLOPES
from gslopes.stats.ols import line_slopes
from gslopes.stats.resampling import multinomial_counts

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_BLOCK = 1 << 24  # weights held at once


@dataclass(frozen=True, slots=True)
class PairSlope:
    """The mean slope over pairs of a person and an opponent.

    slope: per unit of the values.  low, high: ends of the percentile interval.  p: two-sided, of slope 0; 1/B at least.
    """

    slope: float
    low: float
    high: float
    p: float


def pair_slope(
    slopes: Array, person: Codes, opponent: Codes, people: int, count: int = 2000, seed: int = 0
) -> PairSlope:
    """Draw people again: a pair weighs its person's weight times its opponent's.

    A person is in the sample twice, as the one who is edited and as an opponent of others; the one-sample t interval
    over persons covers the first alone. Resampling both ways is conservative for crossed samples.

    slopes: (P,), NaN ones are left out.  person, opponent: (P,) codes below ``people``.
    count: draws.  Source: Owen 2007, "The pigeonhole bootstrap", doi 10.1214/07-AOAS122.
    """
    known = ~np.isnan(slopes)
    slopes, person, opponent = slopes[known], person[known], opponent[known]
    if not len(slopes):
        return PairSlope(*[float("nan")] * 4)
    generator = np.random.default_rng([seed, 12])
    draws = []
    for start in range(0, count, max(1, _BLOCK // len(slopes))):
        size = min(max(1, _BLOCK // len(slopes)), count - start)
        drawn = multinomial_counts(people, size, generator)
        weights = drawn[:, person] * drawn[:, opponent]
        total = weights.sum(axis=1)
        draws.append(np.divide(weights @ slopes, total, out=np.full(size, np.nan), where=total > 0))
    all_draws = np.concatenate(draws)
    all_draws = all_draws[~np.isnan(all_draws)]
    low, high = interval(all_draws)
    beyond = min(float((all_draws <= 0).mean()), float((all_draws >= 0).mean())) if len(all_draws) else float("nan")
    return PairSlope(float(slopes.mean()), low, high, min(1.0, max(2 * beyond, 1 / count)))


def slope_intervals(
    facing: pd.DataFrame,
    slopes: pd.DataFrame,
    person: Mapping[str, str],
    values: Mapping[str, Sequence[float]],
    config: CropsConfig,
) -> pd.DataFrame:
    """Rows of SWEEP_SLOPES.  facing: OPPONENTS.  slopes: SLOPES.  person: photo to person.  values: by attribute."""
    code = {name: index for index, name in enumerate(sorted(set(person.values())))}
    of_photo = {photo: code[name] for photo, name in person.items()}
    by_pair = dict(iter(facing.groupby(["classifier", "attribute", "label"])))
    rows = []
    for row in slopes[slopes["estimator"] == "photo-score"].to_dict("records"):
        key = {name: row[name] for name in ("classifier", "attribute", "label")}
        of_pair = by_pair.get(tuple(key.values()), facing.iloc[:0])
        steps = np.asarray(values[str(row["attribute"])], dtype=np.float64)
        wide = of_pair.pivot_table(index=["photo", "opponent"], columns="step", values="share")
        wide = wide.reindex(columns=range(len(steps)))
        people = [wide.index.get_level_values(n).map(of_photo).to_numpy(np.int64) for n in ("photo", "opponent")]
        by_pair_slopes = line_slopes(wide.to_numpy(np.float64), steps)
        drawn = pair_slope(by_pair_slopes, people[0], people[1], len(code), config.bootstrap, config.seed)
        of_t = (row["ci_low"], row["ci_high"]) if row["ci_high"] > row["ci_low"] else (np.nan, np.nan)
        low, high = (drawn.low, drawn.high) if drawn.high - drawn.low > of_t[1] - of_t[0] else of_t
        counts = {"photos": int(row["n"]), "people": len(np.unique(np.concatenate(people))), "pairs": len(wide)}
        ends = {"t_low": of_t[0], "t_high": of_t[1], "boot_low": drawn.low, "boot_high": drawn.high}
        p = row["p"] if np.isnan(drawn.p) else np.maximum(row["p"], drawn.p)
        rows.append({**key, **counts, "slope": row["slope"], **ends, "ci_low": low, "ci_high": high, "p": p})
    return pd.DataFrame(rows, columns=SWEEP_SLOPES.columns)
