import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from gslopes.core.errors import ConfigError
from gslopes.slopes.fit.estimators import linear
from gslopes.slopes.fit.power import Design, photos_needed, power, smallest_slope
from gslopes.stats.contrast import infer
from gslopes.stats.outcomes import dense, moments


@pytest.mark.parametrize(("photos", "slope"), [(20, 3.0), (100, 2.0), (3000, 0.4)])
def test_power_is_that_of_statsmodels_one_sample_t(photos: int, slope: float) -> None:
    design = Design(0.2, within=0.0, spread=0.0, alpha=0.01)
    theirs = TTestPower().power(slope / design.deviation(), photos, 0.01)
    assert power(design, photos, slope) == pytest.approx(theirs, abs=2e-3)


@pytest.mark.parametrize(("within", "spread"), [(0.0, 0.0), (0.7, 0.0), (0.0, 1.5), (0.7, 1.5)])
def test_power_is_that_of_simulated_audits(within: float, spread: float) -> None:
    photos, sets, rate = 100, 600, 0.4
    design = Design(rate, within=within, spread=spread)
    slope = smallest_slope(design, photos)
    rng = np.random.default_rng(0)
    values = np.asarray(design.values)
    slopes = slope * (1 + spread * rng.normal(size=(sets, photos, 1)))
    shares = rate + slopes / 100 * values
    same = rng.random((sets, photos, 1)) < within
    # a photo that keeps its answer still follows the slope: one uniform number serves its K values
    lot = np.where(same, rng.random((sets, photos, 1)), rng.random((sets, photos, 7)))
    sums = moments(dense((lot < shares).astype(np.float32), values))
    found = np.mean(infer(linear("rate", sums, values), sums).p < 0.05)
    assert found == pytest.approx(0.8, abs=0.06)


def test_the_three_questions_agree() -> None:
    design = Design(0.05, within=0.5, spread=0.0)
    slope = smallest_slope(design, 500)
    assert power(design, 500, slope) == pytest.approx(0.8, abs=1e-6)
    assert photos_needed(design, slope) in (499, 500, 501)
    assert power(design, photos_needed(design, 0.3), 0.3) >= 0.8 > power(design, photos_needed(design, 0.3) - 1, 0.3)
    assert power(design, 500, -slope) == power(design, 500, slope)


def test_more_photos_frequent_answers_and_longer_sweeps_show_more() -> None:
    one = {"within": 0.0, "spread": 0.0}
    few, many = (smallest_slope(Design(0.1, **one), photos) for photos in (100, 10_000))
    assert many == pytest.approx(few / 10, rel=0.05)
    quarter = {"within": 0.75, "spread": 0.0}
    assert Design(0.1, **quarter).deviation() == pytest.approx(Design(0.1, **one).deviation() / 2)
    assert Design(0.1, **quarter).deviation(2) > Design(0.1, **quarter).deviation(1)
    assert smallest_slope(Design(0.1, values=[-1, 0, 1]), 1000) > smallest_slope(Design(0.1, values=[-2, 0, 2]), 1000)
    assert power(Design(0.1), 50, 0.0) == pytest.approx(0.05, abs=1e-4)
    assert stats.norm.isf(0.025) < smallest_slope(Design(0.5, **one), 10_000) * 100 / Design(0.5, **one).deviation()


@pytest.mark.parametrize("slope", [1.0, 3.0, 12.0])
def test_without_a_correlation_the_worst_one_is_planned_for(slope: float) -> None:
    """Neither end asks for the most photos at every slope: 0 does for a small one, 0.9 for a large one."""
    ends = [photos_needed(Design(0.1, within=within, spread=0.0), slope) for within in (0.0, 0.5, 0.9)]
    assert photos_needed(Design(0.1, spread=0.0), slope) >= max(ends)
    assert (ends[2] > ends[0]) == (slope > 2)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: Design(0.0),
        lambda: Design(0.1, within=1.0),
        lambda: Design(0.1, spread=-1.0),
        lambda: Design(0.1, alpha=1.0),
        lambda: Design(0.1, values=[0.0, 0.0, 0.0]),
        lambda: power(Design(0.1), 1, 1.0),
        lambda: photos_needed(Design(0.1), 0.0),
        lambda: smallest_slope(Design(0.1), 100, 0.01),
    ],
)
def test_designs_that_mean_nothing_are_refused(attempt) -> None:
    with pytest.raises(ConfigError):
        attempt()
