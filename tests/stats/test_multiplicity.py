import gc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.stats.multitest import multipletests

from gslopes.stats.multiplicity import adjust, benjamini_hochberg, benjamini_yekutieli, holm

p_values = hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1))


@given(p_values)
def test_q_is_that_of_statsmodels(p: np.ndarray) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12, atol=1e-300)


@given(p_values)
def test_q_is_monotone_in_p_and_never_below_it(p: np.ndarray) -> None:
    q = benjamini_hochberg(p)
    order = np.argsort(p, kind="stable")
    assert (np.diff(q[order]) >= 0).all()
    assert (q >= p * (1 - 1e-12)).all()
    assert (q <= 1).all()


def test_no_test_gives_no_q() -> None:
    assert np.isnan(benjamini_hochberg(np.full(3, np.nan))).all()
    assert benjamini_hochberg(np.empty(0)).shape == (0,)


@pytest.fixture
def frozen() -> Iterator[None]:
    """statsmodels collects garbage in every call of Holm's correction; it need not look at what was there before."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("frozen")
@settings(max_examples=30)
@given(p_values)
def test_by_and_holm_are_those_of_statsmodels(p: np.ndarray) -> None:
    for ours, name in ((benjamini_yekutieli, "fdr_by"), (holm, "holm")):
        np.testing.assert_allclose(ours(p), multipletests(p, method=name)[1], rtol=1e-12, atol=1e-300)


@given(p_values, st.integers(1, 5))
def test_labels_without_a_test_count_in_no_correction(p: np.ndarray, gaps: int) -> None:
    for how in ("bh", "by", "holm"):
        q = adjust(np.append(p, np.full(gaps, np.nan)), how)
        np.testing.assert_array_equal(q[: len(p)], adjust(p, how))
        assert np.isnan(q[len(p) :]).all()
