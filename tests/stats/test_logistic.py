import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from gslopes.stats.logistic import fit_logits, fit_weighted

VALUES = np.linspace(-2, 2, 5)


def test_a_line_of_log_odds_is_the_one_that_statsmodels_fits() -> None:
    counts = np.random.default_rng(0).binomial(80, expit(0.4 * VALUES - 1), (6, 5)).astype(float)
    for row, found in zip(counts, fit_logits(counts, 80, VALUES), strict=True):
        table = np.column_stack([row, 80 - row])
        theirs = sm.GLM(table, sm.add_constant(VALUES), family=sm.families.Binomial()).fit()
        assert found == pytest.approx(theirs.params, abs=1e-7)


def test_a_separated_label_has_no_line() -> None:
    assert np.isnan(fit_logits(np.array([[0.0, 0, 0, 9, 9], [0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]), 9, VALUES)).all()


def test_weighted_outcomes_have_the_coefficients_of_statsmodels() -> None:
    random = np.random.default_rng(1)
    design, weights = sm.add_constant(random.normal(size=(300, 2))), random.integers(0, 4, 300)
    y = (random.random(300) < expit(design @ [0.2, 1.0, -0.5])).astype(float)
    theirs = sm.GLM(y, design, family=sm.families.Binomial(), freq_weights=weights).fit()
    assert fit_weighted(design, y, weights) == pytest.approx(theirs.params, abs=1e-7)
    assert np.abs(fit_weighted(design, y, weights, ridge=1e4)).max() < 0.02


def test_scale_and_shift_of_logits_are_found_and_stay_finite_where_a_line_separates() -> None:
    random = np.random.default_rng(0)
    logits = random.normal(0, 2, 20_000)
    truth = (random.random(20_000) < expit(logits)).astype(float)
    design = np.column_stack([(logits - 1) / 2, np.ones(20_000)])
    assert fit_weighted(design, truth, np.ones(20_000)) == pytest.approx((2, 1), rel=0.06)
    apart = np.array([-2.0, -1, 1, 2])
    assert np.isfinite(fit_weighted(np.column_stack([apart, np.ones(4)]), apart > 0, np.ones(4))).all()
