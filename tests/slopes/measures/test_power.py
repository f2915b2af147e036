from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from gslopes.core.errors import ConfigError
from gslopes.slopes.measures.power import (
    Pilot,
    Pool,
    Presence,
    power,
    smallest_slope,
    units_needed,
)


def pilot(
    sd: float = 9.0, fake: float = 0.0, labels: int = 1, each: int = 1, mean: float = 0.0
) -> Pilot:
    """Numbers of 1,000 people; photos of one person are the same.  sd, fake: along the edit, along placebos."""
    rng = np.random.default_rng(0)
    slopes = rng.standard_normal((4, labels, 1000)) * np.array([sd, *[fake] * 3])[:, None, None]
    slopes[0, 0] += mean
    seen = np.repeat(slopes, each, axis=2)
    return Pilot(Pool(seen, np.ones(seen.shape[1:], bool), np.full(1000, each), np.arange(labels)))


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize(("photos", "slope"), [(100, 2.0), (20, 6.0), (300, 1.5)])
def test_without_noise_along_placebos_power_is_that_of_statsmodels_one_sample_t(
    photos: int, slope: float
) -> None:
    expected = TTestPower().power(slope / 9.0, photos, 0.05)
    assert power(pilot(), photos, slope, sets=600) == pytest.approx(expected, abs=0.05)


@pytest.mark.slow
@pytest.mark.evidence
def test_noise_and_other_labels_and_few_photos_with_placebos_cost_power() -> None:
    noisy = pilot(fake=9.0, labels=20)
    chances = [
        power(pilot(), 100, 3.0),
        power(pilot(labels=20), 100, 3.0),
        power(noisy, 100, 3.0),
        power(noisy, 100, 3.0, 40),
    ]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] - chances[-1] > 0.3


@pytest.mark.slow
@pytest.mark.evidence
def test_people_whose_photos_are_alike_count_once() -> None:
    alone, four = pilot(), pilot(each=4)
    assert four.photos_each == 4
    assert power(four, 30, 5.0) == pytest.approx(power(alone, 30, 5.0), abs=0.05)
    known = Presence(0.3, 0.5)
    people = replace(known, photos_each=4)
    alike = power(people, 30, 4.0)
    assert power(known, 30, 4.0) < alike < power(known, 120, 4.0)


@pytest.mark.slow
def test_the_three_questions_agree() -> None:
    label = Presence(0.3, 0.5, labels=5)
    slope = smallest_slope(label, 60)
    assert power(label, 60, slope) == pytest.approx(0.8, abs=0.05)
    assert units_needed(label, slope) == pytest.approx(60, rel=0.12)


@pytest.mark.parametrize(("rate", "slope"), [(0.05, 1.2), (0.31, 25.8), (0.01, 30.0), (0.99, 8.4)])
def test_a_label_moves_by_the_slope_that_is_asked_for(rate: float, slope: float) -> None:
    pool = Presence(rate, 0.4).pool(slope)
    assert pool.slopes[0, 0].mean() == pytest.approx(slope, rel=0.05, abs=0.06)
    assert np.abs(pool.slopes[1:].mean(axis=2)).max() < 0.2
    assert np.abs(pool.slopes[0, 1].mean()) < 0.2
    assert pool.varies[0].mean() > slope / 100


def test_a_pilot_keeps_what_it_can_tell_from_0_and_no_noise() -> None:
    seen = pilot(labels=3, fake=9.0, mean=5.0).seen
    seen.slopes[0, 1] -= 4.0
    seen.slopes[2, 2] += 4.0
    pool = Pilot(seen).pool(2.0)
    means = pool.slopes.mean(axis=2)
    assert means[0, 0] == pytest.approx(2.0)
    assert means[0, 1] == pytest.approx(seen.slopes[0, 1].mean())
    assert means[2, 2] == pytest.approx(seen.slopes[2, 2].mean())
    kept = np.zeros_like(means, bool)
    kept[[0, 0, 2], [0, 1, 2]] = True
    assert means[~kept] == pytest.approx(0, abs=1e-12)


def test_a_pilots_spread_shrinks_to_the_placebos_as_the_slope_does() -> None:
    wide = pilot(sd=5.0, fake=3.0, mean=5.0)
    sds = [wide.pool(slope).slopes[0, 0].std() for slope in (0.01, 2.5, 5.0, 10.0)]
    assert sds == pytest.approx([3.0, np.hypot(3, 2), 5.0, np.hypot(3, 8)], rel=0.1)


@pytest.mark.parametrize("slope", [25.8, 31.0])
def test_a_label_of_a_pilot_is_planned_for_at_its_own_slope_however_steep(slope: float) -> None:
    steep = pilot(sd=9.0, fake=4.0, labels=15, mean=slope)
    assert power(replace(steep, bound=32.1), 60, slope, sets=50) == 1.0
    alike = pilot(sd=0.0, mean=slope)
    assert alike.steepest > slope


@pytest.mark.parametrize(
    ("attempt", "why"),
    [
        (lambda: Presence(0.0), "between 0 and 1"),
        (lambda: Presence(0.1, noise=2), "The noise is 2"),
        (lambda: power(Presence(0.1), 1, 1.0), "no spread"),
        (lambda: power(Presence(0.01), 50, 40.0), "cannot move by 40"),
        (lambda: power(replace(pilot(), bound=32.0), 50, 40.0), "cannot move by 40"),
        (lambda: units_needed(Presence(0.1), 0.0), "slope of 0"),
        (lambda: smallest_slope(Presence(0.1), 100, 0.01), "cannot be planned for"),
        (lambda: smallest_slope(Presence(0.01), 5), "No slope of such a label"),
        pytest.param(
            lambda: units_needed(pilot(1.0, 1.0), 0.1, placebo_photos=3),
            "200,000 photos",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_designs_that_mean_nothing_are_refused(attempt, why) -> None:
    with pytest.raises(ConfigError, match=why):
        attempt()
