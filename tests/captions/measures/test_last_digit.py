"""No difference between groups, and no change of one, goes by the last digit of a share of captions or of an area."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.rows import change, compare
from gslopes.captions.measures.salience import fit
from gslopes.captions.stimuli.corpus import Presence
from tests.last_digit import differences, moved

IMAGES = 60
SIDES = np.resize(np.array([1, -1], np.int8), IMAGES)


def shares(lot: np.random.Generator) -> np.ndarray:
    """(5, U): by chance, alike for all, alike within each group, never below 1 but for ten, and on nine images."""
    result = lot.integers(0, 4, (5, IMAGES)) / 3
    result[1], result[2] = 1 / 3, np.where(SIDES == 1, 0.1 + 0.2, 2 / 3)
    result[3] = np.where(np.arange(IMAGES) < 10, 2 / 3, 1.0)
    result[4] = np.where(np.arange(IMAGES) < 9, 1 / 3, 0.0)
    return result


def measured(
    after: np.ndarray, before: np.ndarray, features: np.ndarray
) -> dict[str, pd.DataFrame]:
    images = tuple(map(str, range(IMAGES)))
    table = Presence(("a", "b", "c", "d", "e"), images, sparse.csr_array(after), binary=False)
    result = compare(table, SIDES, AuditOptions(min_active=3))
    changes = change(sparse.csr_array(before), sparse.csr_array(after), SIDES)
    told = fit(features, 0, SIDES / 2, after[0] > 0.5)
    return {
        "differences": result,
        "changes": pd.DataFrame(dict(zip(("value", "low", "high", "p"), changes, strict=True))),
        "salience": pd.DataFrame(
            [{"held": told.held, "note": told.note, "low": told.ci_low, "p": told.p}]
        ),
    }


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 40))]
)
def test_no_difference_depends_on_the_last_digit(seed: int):
    lot = np.random.default_rng(seed)
    given = [
        shares(lot),
        shares(lot),
        np.column_stack([lot.random((IMAGES, 3)).round(2), np.full((IMAGES, 3), 0.3)]),
    ]
    assert not differences(
        measured(*given), measured(*(np.where(part, moved(part, lot), 0) for part in given))
    )
