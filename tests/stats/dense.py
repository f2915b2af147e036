"""Outcomes from a dense array, for tests and benches; the fit gathers them from rows."""

import numpy as np

from gslopes.core.records import Array, Integers
from gslopes.stats.outcomes import Outcomes, Single, gathered


def dense(numbers: Single, values: Array, cluster: Integers | None = None) -> Outcomes:
    """Outcomes from a dense array, (L, n, K); cluster as in ``gathered``."""
    label, photo = np.nonzero(numbers.any(axis=2))
    rows = np.ascontiguousarray(numbers[label, photo], dtype=np.float32)
    codes = photo.astype(np.int32), label.astype(np.int32)
    return gathered(values, numbers.shape[1], *codes, rows, len(numbers), cluster)
