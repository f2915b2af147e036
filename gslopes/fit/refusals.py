"""Answers that never came: do they depend on the value, and what could the slope be with them?

A photo refused at one value drops out of every slope, so refusals that depend on the value and on what is in the photo
bias what is left.  Three things are said about it:

    slope of refusal   photo-rate of "refused": a finding about the classifier by itself
    worst case         the slope over all photos asked, if every lost answer were as far against it as it can be
    trimmed            the slope of the photos that would be answered at every value, if refusing is monotone: a photo
                       refused where refusals are rarer is refused where they are more frequent as well

Both bounds say where the slope can lie for the photos at hand; the sampling error is not in them.

Sources: Manski 1990, American Economic Review 80, 319-323; Lee 2009, doi 10.1111/j.1467-937X.2009.00536.x.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from gslopes.core.errors import TableError
from gslopes.fit.paired import Paired, mean_test
from gslopes.stats.clusters import codes_of
from gslopes.stats.ols import line_weights

Array = NDArray[np.float64]
STATUS = ("answered", "refused", "failed")


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What became of every picture asked about: status is (n, K), 0 not asked, 1 answered, 2 refused, 3 failed.

    photos: (n,) ids, sorted.  values: (K,).
    """

    photos: NDArray[np.object_]
    values: Array
    status: NDArray[np.int8]

    @property
    def lost(self) -> NDArray[np.bool_]:
        """(n, K) asked about without an answer."""
        return self.status > 1

    def refused(self) -> tuple[NDArray[np.object_], NDArray[np.float32]]:
        """The photos asked about at all values, and (n, K) whether they were refused there."""
        whole = (self.status > 0).all(axis=1)
        return self.photos[whole], (self.status[whole] == 2).astype(np.float32)


def check_status(asked: pa.Table) -> None:
    """Raises: TableError for a status other than answered, refused or failed."""
    unknown = sorted(set(pc.unique(asked.column("status")).to_pylist()) - set(STATUS))
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise TableError(f"The asked table has the status {names}.", f"Write {', '.join(STATUS[:-1])} or {STATUS[-1]}.")


def asked_about(
    asked: pa.Table, classifier: str, attribute: str, values: Array, photos: Collection[str] | None = None
) -> Asked:
    """One classifier's questions along one attribute; with ``photos``, those photos alone."""
    rows = _rows_of(asked, classifier, attribute)
    names = np.array(rows.column("photo").cast(pa.string()).to_pylist(), dtype=object)
    status = np.array([STATUS.index(text) + 1 for text in rows.column("status").to_pylist()], dtype=np.int8)
    step = rows.column("step").to_numpy().astype(np.int64)
    if photos is not None:
        keep = np.isin(names.astype(str), list(photos))
        names, status, step = names[keep], status[keep], step[keep]
    ids, row = np.unique(names.astype(str), return_inverse=True) if len(names) else (names, np.empty(0, np.int64))
    table = np.zeros((len(ids), len(values)), dtype=np.int8)
    table[row, step] = status
    return Asked(ids.astype(object), values, table)


def refusal_rows(found: Asked) -> pd.DataFrame:
    """A row a value: how many pictures were asked about, answered, refused, failed, and the share lost."""
    counts = {name: (found.status == code + 1).sum(axis=0) for code, name in enumerate(STATUS)}
    total = (found.status > 0).sum(axis=0)
    lost = np.divide(total - counts["answered"], total, out=np.full(len(total), np.nan), where=total > 0)
    steps = np.arange(len(found.values))
    return pd.DataFrame({"step": steps, "value": found.values, "asked": total, **counts, "lost": lost})


def refusal_slope(
    found: Asked, units: Callable[[NDArray[np.object_]], NDArray[np.int64] | None], confidence: float
) -> Paired:
    """photo-rate of "refused", (1,) each, over the photos asked about at all values.

    units: gives the codes of photos' clusters, or None where each photo is its own.
    """
    ids, numbers = found.refused()
    slopes = 100 * numbers.astype(np.float64) @ line_weights(found.values)
    codes = codes_of(units(ids), len(ids))
    sums = np.bincount(codes, slopes, minlength=int(codes.max(initial=-1)) + 1)
    sums[np.abs(sums) < 1e-9] = 0
    sizes = np.bincount(codes).astype(np.float64)
    return mean_test(sparse.csr_array(sums[None, :]), sizes, confidence=confidence)


def bounds(present: Array, found: Asked) -> tuple[Array, Array, Array, Array]:
    """Worst case, low and high, and trimmed, low and high: (L,) each, percentage points per unit.

    present: (L, K) pictures answered with the label, of all photos asked about.

    >>> status = np.array([[1, 1, 1], [1, 1, 2]], np.int8)
    >>> asked = Asked(np.array(["a", "b"], object), np.array([-1.0, 0.0, 1.0]), status)
    >>> [float(end[0]) for end in bounds(np.array([[0.0, 0.0, 1.0]]), asked)]
    [25.0, 50.0, 50.0, 50.0]
    """
    weights = 100 * line_weights(found.values)
    total = max(len(found.photos), 1)
    answered = (found.status == 1).sum(axis=0)
    missing = total - answered
    known = present @ weights
    worst = [(known + float(missing @ side)) / total for side in (np.minimum(weights, 0), np.maximum(weights, 0))]
    least = int(answered.min(initial=total)) or np.nan  # no photo left: no trimmed bounds
    fewest = np.maximum(present - (answered - least), 0) / least
    most = np.minimum(present, least) / least
    ends = [np.where(weights > 0, one, other) @ weights for one, other in ((fewest, most), (most, fewest))]
    return worst[0], worst[1], ends[0], ends[1]


def label_counts(scores: pa.Table, classifier: str, attribute: str, labels: NDArray[np.object_], found: Asked) -> Array:
    """(L, K) answered pictures with each label, photos that drop out of the slopes among them."""
    pairs = _rows_of(scores, classifier, attribute).group_by(["photo", "label", "step"]).aggregate([])
    photo, label = (
        pd.Index(known).get_indexer(pairs.column(name).cast(pa.string()).to_pylist())
        for name, known in (("photo", found.photos), ("label", labels))
    )
    step = pairs.column("step").to_numpy().astype(np.int64)
    counts = np.zeros((len(labels), len(found.values)))
    keep = (photo >= 0) & (label >= 0)
    keep[keep] &= found.status[photo[keep], step[keep]] == 1
    np.add.at(counts, (label[keep], step[keep]), 1)
    return counts


def _rows_of(table: pa.Table, classifier: str, attribute: str) -> pa.Table:
    chosen = (pc.field("classifier") == classifier) & (pc.field("attribute") == attribute)
    return table.filter(chosen)
