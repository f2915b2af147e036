from types import SimpleNamespace

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from gslopes.core.errors import ConfigError
from gslopes.slopes.fit.estimators import linear
from gslopes.slopes.fit.power import GENDER, SPREAD, Design, photos_needed, power, smallest_slope
from gslopes.stats.contrast import infer
from gslopes.stats.outcomes import dense, moments


@pytest.mark.parametrize(("photos", "slope"), [(20, 3.0), (100, 2.0), (3000, 0.4)])
def test_power_is_that_of_statsmodels_one_sample_t(photos: int, slope: float) -> None:
    design = SimpleNamespace(alpha=0.01, deviation=lambda slope=0.0: 9.0)
    assert power(design, photos, slope) == pytest.approx(TTestPower().power(slope / 9.0, photos, 0.01), abs=2e-3)


def test_power_is_that_of_simulated_audits_or_less() -> None:
    photos, sets, rate = 100, 600, 0.4
    design = Design(rate)
    slope = smallest_slope(design, photos)
    rng = np.random.default_rng(0)
    values = np.asarray(GENDER)
    slopes = slope * (1 + SPREAD * rng.normal(size=(sets, photos, 1)))
    shares = rate + slopes / 100 * values
    sums = moments(dense((rng.random((sets, photos, 7)) < shares).astype(np.float32), values))
    found = np.mean(infer(linear("rate", sums, values), sums).p < 0.05)
    assert found == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: Design(0.0),
        lambda: Design(0.1, alpha=1.0),
        lambda: power(Design(0.1), 1, 1.0),
        lambda: photos_needed(Design(0.1), 0.0),
        lambda: smallest_slope(Design(0.1), 100, 0.01),
    ],
)
def test_designs_that_mean_nothing_are_refused(attempt) -> None:
    with pytest.raises(ConfigError):
        attempt()
