import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.stats.multitest import multipletests

from gslopes.stats.multiplicity import benjamini_hochberg

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


@given(p_values, st.integers(1, 5))
def test_labels_without_a_test_do_not_count(p: np.ndarray, gaps: int) -> None:
    q = benjamini_hochberg(np.append(p, np.full(gaps, np.nan)))
    np.testing.assert_array_equal(q[: len(p)], benjamini_hochberg(p))
    assert np.isnan(q[len(p) :]).all()
