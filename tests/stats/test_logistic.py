import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.special import expit

from gslopes.stats.intervals import t_quantile
from gslopes.stats.logistic import (
    choose_columns,
    efficient_scores,
    fit,
    fit_ridge,
    informative_units,
    score_interval,
)


def drawn(n: int = 200, beta: float = 0.8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    design, tested = sm.add_constant(random.normal(size=(n, 2))), random.choice([-0.5, 0.5], n)
    return tested, design, (random.random(n) < expit(beta * tested + design[:, 1])).astype(float)


def test_the_coefficient_is_that_of_statsmodels_and_both_ends_are_where_the_test_rejects() -> None:
    tested, design, y = drawn()
    result = score_interval(tested, design, y)
    theirs = sm.Logit(y, np.column_stack([design, tested])).fit(disp=0)
    assert result.value == pytest.approx(theirs.params[-1], abs=1e-6)
    assert (result.low, result.high) == pytest.approx(theirs.conf_int()[-1], abs=0.1)
    limit = t_quantile(informative_units(tested, design, y) - 4)
    for end, t in ((result.low, limit), (result.high, -limit)):
        assert efficient_scores(tested[:, None], design, y, end * tested)[0][0] == pytest.approx(
            t, abs=0.01
        )


def test_the_score_of_independent_images_is_raos() -> None:
    """Of a 2 by 2 table Pearson's X², but for the correction by n / (n - q)."""
    tested, y = (
        np.repeat([0.5, -0.5], [40, 50]),
        np.r_[np.arange(40) < 30, np.arange(50) < 20].astype(float),
    )
    theirs = stats.chi2_contingency([[30, 10], [20, 30]], correction=False).statistic
    ours = efficient_scores(tested[:, None], np.ones((90, 1)), y)[0][0] ** 2
    assert ours == pytest.approx(theirs * 89 / 90)


def test_a_group_that_all_have_it_leaves_one_end_open() -> None:
    tested = np.repeat([0.5, -0.5], 20)
    y = np.r_[np.ones(20), np.arange(20) < 8]
    result = score_interval(tested, np.ones((40, 1)), y)
    assert 0 < result.low < result.high == math.inf
    assert result.p < 0.01
    assert result.low == pytest.approx(1.85, abs=0.05)


def test_a_column_that_the_design_holds_has_no_interval() -> None:
    _, design, y = drawn()
    result = score_interval(design[:, 1] - 2, design, y)
    assert all(math.isnan(number) for number in result)
    assert informative_units(design[:, 1] - 2, design, y) == 0


def test_columns_that_matter_are_chosen_and_no_more_than_the_limit() -> None:
    random = np.random.default_rng(3)
    candidates = random.normal(size=(400, 50))
    y = (random.random(400) < expit(candidates[:, 4] - candidates[:, 30])).astype(float)
    choose = (np.ones((400, 1)), candidates, y, 0.05 / 50)
    assert sorted(choose_columns(*choose, 9)) == [4, 30]
    assert len(choose_columns(*choose, 1)) == 1
    assert choose_columns(*choose, 0) == []


def test_outcomes_at_given_log_odds_have_the_coefficients_of_statsmodels() -> None:
    random = np.random.default_rng(1)
    design, offset = sm.add_constant(random.normal(size=(300, 2))), random.normal(size=300)
    y = (random.random(300) < expit(design @ [0.2, 1.0, -0.5] + offset)).astype(float)
    theirs = sm.GLM(y, design, family=sm.families.Binomial(), offset=offset).fit()
    assert fit(design, y, offset) == pytest.approx(theirs.params, abs=1e-7)


def test_fits_under_many_weights_are_those_of_newtons_method_and_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    features, weights = random.normal(size=(150, 12)), (random.random((150, 5)) < 0.7).astype(float)
    y = (random.random(150) < 1 / (1 + np.exp(-features[:, 0]))).astype(float)
    ours = fit_ridge(features, y, weights, 1.0)
    free = fit_ridge(features, y, weights, 1e-9)
    design = np.column_stack([np.ones(150), features])
    for index in range(5):
        kept = weights[:, index] == 1
        assert free[:, index] == pytest.approx(fit(design[kept], y[kept]), abs=1e-3)
    linear = pytest.importorskip(
        "sklearn.linear_model", reason="scikit-learn is not installed: pip install scikit-learn"
    )
    for index in range(5):
        model = linear.LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(
            features, y, weights[:, index]
        )
        assert ours[1:, index] == pytest.approx(model.coef_[0], abs=1e-3)
        assert ours[0, index] == pytest.approx(model.intercept_[0], abs=1e-3)
