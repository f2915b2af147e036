"""From answers to slopes: the estimator of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.fit.rates import Rates, count
from gslopes.fit.sweeps import values_by_attribute
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import fit_lines

CURVES = ("classifier", "attribute", "label", "step", "value", "y", "z")


def paper_slopes(
    scores: pd.DataFrame, asked: pd.DataFrame, *, values: Mapping[str, Sequence[float]] | None = None
) -> pd.DataFrame:
    """The slope of every label's frequency along the edited attribute, by the paper's estimator.

    y_k is the share of photos with the label at step k, over the photos answered at all K steps; z_k = y_k / y_c with c
    the middle step; the slope is that of the least squares line of z on the K values, so 0.1 reads: 10 % of its
    frequency at the centre more for each unit of the attribute.  The p-value is two-sided, from t with K-2 degrees of
    freedom, for the null hypothesis that the slope is 0; the interval covers 95 %; q is Benjamini and Hochberg's over
    the labels of one classifier and attribute that have a p-value.  A label that no photo has at the centre has no
    slope: its row holds nulls.  ``fit.findings.analyse`` gives the same rows, and more beside them.

    scores, asked: data frames with the columns of core.tables.SCORES and ASKED, rows in any order.  A photo that was
        refused, failed or not asked at one step drops out as a whole.
    values: attribute to its K values, K odd; without it they are read from the scores table.

    Returns a data frame with the columns of core.tables.SLOPES, sorted by classifier, attribute and label.

    Raises: TableError, ConfigError as ``sweeps.values_by_attribute``.
    Source: Joo & Kärkkäinen 2020, section 4.3, doi 10.1145/3422841.3423533.

    >>> asked = [(photo, "gender", step, "c", "answered", "", "") for photo in "ab" for step in range(3)]
    >>> asked = pd.DataFrame(asked, columns=tables.ASKED.columns)
    >>> found = [("a", 0), ("a", 1), ("a", 2), ("b", 2)]
    >>> scores = [(photo, "gender", step, step - 1.0, "c", "Chef", 0.9) for photo, step in found]
    >>> scores = pd.DataFrame(scores, columns=tables.SCORES.columns)
    >>> paper_slopes(scores, asked)[["label", "n", "active", "y_centre", "slope"]].values.tolist()
    [['Chef', 2, 2, 0.5, 0.5]]
    """
    frames = [paper(rates) for rates in _rates(scores, asked, values)]
    return checked(tables.SLOPES, frames)


def curves(
    scores: pd.DataFrame, asked: pd.DataFrame, *, values: Mapping[str, Sequence[float]] | None = None
) -> pd.DataFrame:
    """The points under the lines: y_k and z_k of every label, one row a step.

    scores, asked, values: as for ``paper_slopes``.

    Returns a data frame with the columns classifier, attribute, label, step (0 to K-1), value, y (share of photos in
    [0, 1]) and z (y / y at the centre, NaN for a label that no photo has there).
    """
    frames = [_curves(rates) for rates in _rates(scores, asked, values)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(CURVES))


def _rates(scores: pd.DataFrame, asked: pd.DataFrame, values: Mapping[str, Sequence[float]] | None) -> Iterable[Rates]:
    answers, questions = tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked)
    return count(answers, questions, values_by_attribute(answers, questions, values))


def paper(rates: Rates) -> pd.DataFrame:
    """The paper's rows of one classifier and attribute; the columns that it does not speak of are left out."""
    lines = fit_lines(rates.values, rates.relative)
    return pd.DataFrame(
        {
            "classifier": rates.classifier,
            "attribute": rates.attribute,
            "label": rates.labels,
            "n": rates.photos,
            "active": rates.active,
            "y_centre": rates.shares[:, len(rates.values) // 2],
            "slope": lines.slope,
            "intercept": lines.intercept,
            "se": lines.se,
            "t": lines.t,
            "p": lines.p,
            "ci_low": lines.low,
            "ci_high": lines.high,
            "p_perm": np.nan,
            "q": benjamini_hochberg(lines.p),
            "estimator": "paper",
        }
    )


def _curves(rates: Rates) -> pd.DataFrame:
    size, width = rates.counts.shape
    return pd.DataFrame(
        {
            "classifier": rates.classifier,
            "attribute": rates.attribute,
            "label": np.repeat(rates.labels, width),
            "step": np.tile(np.arange(width), size),
            "value": np.tile(rates.values, size),
            "y": rates.shares.ravel(),
            "z": rates.relative.ravel(),
        }
    )


def checked(table: tables.Table, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The frames as one table, sorted by its key and with the very types that reading the written table gives back.

    Columns that may be null and that no frame has are null.

    Raises: TableError as ``core.tables.check``.
    """
    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return tables.check(table, table.empty()).to_pandas()
    whole = pd.concat(frames, ignore_index=True)
    missing = {field.name: None for field in table.schema if field.nullable and field.name not in whole}
    ordered = whole.assign(**missing).sort_values(list(table.key), kind="stable")
    result: pd.DataFrame = tables.check(table, ordered).to_pandas()
    return result
