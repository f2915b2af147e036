from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.measures.changes import consistent, welch


def test_welch_is_the_textbooks_formula():
    one, other = np.array([3.0, 4, 5, 6]), np.array([1.0, 1, 2, 8, np.nan])
    found = welch(one, other)
    a, b = one.var(ddof=1) / 4, np.nanvar(other, ddof=1) / 4
    assert found["difference"] == pytest.approx(1.5)
    assert found["t"] == pytest.approx(1.5 / math.sqrt(a + b))
    assert found["df"] == pytest.approx((a + b) ** 2 / (a**2 / 3 + b**2 / 3))
    assert found["ci_low"] < 0 < found["ci_high"]


@pytest.mark.parametrize(("one", "other"), [([1.0], [1.0, 2.0]), ([2.0, 2.0], [3.0, 3.0]), ([np.nan] * 3, [1.0, 2.0])])
def test_too_few_or_no_variation_gives_no_number(one, other):
    assert all(math.isnan(number) for number in welch(np.array(one), np.array(other)).values())


def test_what_expectancy_bias_predicts_depends_on_the_side_of_the_context():
    rows = pd.DataFrame(
        {
            "context": ["bridal", "bridal", "garage", "office", "bridal"],
            "super": ["abstract", "concrete", "abstract", "abstract", "abstract"],
            "difference": [0.2, 0.2, -0.2, 0.2, 0.2],
            "q": [0.01, 0.01, 0.01, 0.01, 0.2],
        }
    )
    # below 5 a context goes with women: of them more is said in abstract tags, less in concrete ones
    assert consistent(rows, {"bridal": 1.5, "garage": 8.5}) == [True, False, True, False, False]


def test_shares_that_differ_by_rounding_alone_do_not_vary():
    one = np.array([1 / 3, 1 - 2 / 3, 0.1 + 0.2 + 1 / 3 - 0.3])
    assert np.ptp(one) > 0
    assert math.isnan(welch(one, one[::-1])["p"])
    assert welch(one, np.array([0.5, 0.6, 0.7]))["p"] < 0.1
