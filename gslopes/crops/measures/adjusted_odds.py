"""Is being favoured associated with contrast, light or size? A description, which justifies nothing."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.crops.measures.bootstrap import interval
from gslopes.crops.measures.measurer import Measurer
from gslopes.crops.tables import EXPLAINED
from gslopes.stats.logistic import fit_weighted
from gslopes.stats.resampling import bootstrap_counts

Array = NDArray[np.float64]
HELD = ("skin_contrast", "skin_luminance", "head_contrast", "head_height", "sharpness")
_DRAWS = 200


def explain(measurer: Measurer, key: dict[str, Any], h: Array, covariates: pd.DataFrame) -> pd.DataFrame:
    """Rows of EXPLAINED: the log-odds of one group over another, without and with covariates held alike.

    Model: logit P(i over j) = beta + gamma (z_i - z_j), z standardised; no intercept, both orders being averaged.
    Intervals: percentile bootstrap over people.
    """
    rows: list[dict[str, Any]] = []
    if covariates.empty:
        return pd.DataFrame(rows, columns=EXPLAINED.columns)
    z = np.stack([_standard(measurer.by_person(covariates[covariates["name"] == name], "value")) for name in HELD], 1)
    for column, groups in measurer.numbers.items():
        for a, b in combinations(groups, 2):
            first, second = (groups[name][~np.isnan(z[groups[name]]).any(axis=1)] for name in (a, b))
            if min(len(first), len(second)) < measurer.config.min_group or np.isnan(h[np.ix_(first, second)]).all():
                continue
            away = z[first][:, None, :] - z[second][None, :, :]
            table = h[np.ix_(first, second)]
            labels = {**key, "column": column, "group": a, "other": b, "covariates": ", ".join(HELD)}
            for when, design in (("before", None), ("after", away)):
                labels |= _fitted(table, design, when, measurer.config.seed)
            rows.append(labels)
    return pd.DataFrame(rows, columns=EXPLAINED.columns)


def _fitted(table: Array, away: Array | None, when: str, seed: int) -> dict[str, float]:
    m, n = table.shape
    generator = np.random.default_rng([seed, 9])
    value = logit_beta(table, away, np.ones((m, n)))
    draws = []
    for _ in range(_DRAWS):
        rows, columns = (bootstrap_counts(size, 1, generator)[:, 0].astype(np.float64) for size in (m, n))
        draws.append(logit_beta(table, away, np.outer(rows, columns)))
    low, high = interval(np.array(draws))
    return {f"beta_{when}": value, f"beta_{when}_low": low, f"beta_{when}_high": high}


def logit_beta(table: Array, away: Array | None, weights: Array) -> float:
    """The log-odds of the row's group over the column's, by weighted logistic regression with a light ridge.

    table: (m, n) in [0, 1], NaN where not asked.  away: (m, n, q) differences of covariates, or None.
    """
    asked = ~np.isnan(table) & (weights > 0)
    y, w = table[asked], weights[asked]
    design = np.ones((len(y), 1)) if away is None else np.column_stack([np.ones(len(y)), away[asked]])
    return float(fit_weighted(design, y, w, ridge=1e-4)[0])


def _standard(values: Array) -> Array:
    spread = float(np.nanstd(values))
    return (values - np.nanmean(values)) / (spread if spread > 0 else 1.0)
