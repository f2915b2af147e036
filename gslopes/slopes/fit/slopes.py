"""The estimator of the paper, and tables in their final form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import tables
from gslopes.slopes.fit.answers import Answers, columns_of
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import fit_lines

Array = NDArray[np.float64]


def counts(answers: Answers) -> NDArray[np.int64]:
    """(L, K) photos with the label at each step, of those answered at all K values."""
    size = len(answers.labels)
    return np.stack([np.bincount(answers.label[column], minlength=size) for column in answers.present.T], axis=1)


def active(answers: Answers) -> NDArray[np.int64]:
    """(L,) photos with the label at one step at least."""
    return np.bincount(answers.label, minlength=len(answers.labels))


def centre_shares(answers: Answers) -> Array:
    """y_c, (L,): the share of photos with the label at the middle step; 0 without any photo."""
    return np.asarray(counts(answers)[:, len(answers.values) // 2] / max(len(answers.photos), 1), dtype=np.float64)


def paper(answers: Answers) -> pd.DataFrame:
    """The paper's rows of one classifier and attribute; the columns that it does not speak of are left out.

    y_k is the share of photos with the label at step k, over the photos answered at all K steps; z_k = y_k / y_c with c
    the middle step; the slope is that of the least squares line of z on the K values, so 0.1 reads: 10 % of its
    frequency at the centre more for each unit of the attribute.  The p-value is two-sided, from t with K-2 degrees of
    freedom, for the null hypothesis that the slope is 0; the interval covers 95 %; q is Benjamini and Hochberg's over
    the labels that have a p-value.  A label that no photo has at the centre has no slope: its row holds nulls.

    Source: Joo & Kärkkäinen 2020, section 4.3, doi 10.1145/3422841.3423533.
    """
    found = counts(answers)
    centre = found[:, [len(answers.values) // 2]].astype(np.float64)
    relative = np.divide(found, centre, out=np.full(found.shape, np.nan), where=centre > 0)
    lines = fit_lines(answers.values, relative)
    known = {"n": len(answers.photos), "active": active(answers), "y_centre": centre_shares(answers)}
    fitted = columns_of(lines) | {"p_perm": np.nan, "q": benjamini_hochberg(lines.p), "estimator": "paper"}
    return answers.frame(**known, **fitted)


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
