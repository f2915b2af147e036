import ast
from pathlib import Path

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.stats.multitest import multipletests

import gslopes as package
from gslopes.stats.multiplicity import LEVEL, benjamini_hochberg, is_finding

p_values = hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1))


@given(p_values)
def test_q_is_that_of_statsmodels(p: np.ndarray) -> None:
    np.testing.assert_allclose(
        benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12, atol=1e-300
    )


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


def test_a_finding_has_a_small_q_and_an_interval_without_the_null_value() -> None:
    q = np.array([0.01, 0.01, 0.01, 0.01, LEVEL, np.nan])
    low, high = np.array([1, -3, -1, np.nan, 1, 1]), np.array([3, -1, 1, np.nan, 3, 3])
    assert is_finding(q, low, high).tolist() == [True, True, False, True, False, False]
    assert is_finding(q).tolist() == [True] * 4 + [False] * 2
    assert not is_finding(0.01, 0.4, 0.6, null=0.5)
    assert is_finding(0.01, 0.4, 0.6)
    assert not is_finding(0.01, 0.0, 0.6)  # an end on the null value holds it


def test_what_is_a_finding_is_decided_in_one_place() -> None:
    """Nothing else is held against the level, but for a chance of one and a test with a level of its own."""
    home, result = Path(package.__file__).parent, set()
    for path in home.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            if any(isinstance(side, ast.Name) and side.id == "LEVEL" for side in sides):
                result.add(path.relative_to(home).as_posix())
    assert result == {"stats/multiplicity.py", "slopes/measures/power.py", "crops/page/sections.py"}
