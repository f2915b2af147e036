import numpy as np
import pytest

from gslopes.stats.ridge_logistic import fit_ridge
from gslopes.stats.score_test import fit_weighted


def test_fits_under_many_weights_are_those_of_newtons_method_and_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    features, weights = random.normal(size=(150, 12)), (random.random((150, 5)) < 0.7).astype(float)
    y = (random.random(150) < 1 / (1 + np.exp(-features[:, 0]))).astype(float)
    ours = fit_ridge(features, y, weights, 1.0)
    free = fit_ridge(features, y, weights, 1e-9)
    design = np.column_stack([np.ones(150), features])
    for place in range(5):
        assert free[:, place] == pytest.approx(fit_weighted(design, y, weights[:, place]), abs=1e-3)
    linear = pytest.importorskip(
        "sklearn.linear_model", reason="scikit-learn is not installed: pip install scikit-learn"
    )
    for place in range(5):
        model = linear.LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(
            features, y, weights[:, place]
        )
        assert ours[1:, place] == pytest.approx(model.coef_[0], abs=1e-3)
        assert ours[0, place] == pytest.approx(model.intercept_[0], abs=1e-3)
