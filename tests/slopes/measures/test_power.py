import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from gslopes.core.errors import ConfigError
from gslopes.slopes.measures.power import (
    GENDER,
    Design,
    Measured,
    Presence,
    photos_needed,
    power,
    presence_of,
    smallest_slope,
)
from gslopes.stats.ols import line_weights

STILL = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("photos", "slope"), [(20, 6.0), (100, 2.0), (3000, 0.5)])
def test_without_noise_along_placebos_power_is_that_of_statsmodels_one_sample_t(
    photos: int, slope: float
) -> None:
    design = Design(Measured(9.0, STILL, STILL))
    assert power(design, photos, slope) == pytest.approx(
        TTestPower().power(slope / 9.0, photos, 0.05), abs=0.04
    )


def test_noise_and_other_labels_and_few_photos_with_placebos_cost_power() -> None:
    quiet, noisy = Measured(9.0, STILL, STILL), Measured(9.0, (9.0,) * 3, STILL)
    chances = [
        power(design, 100, 3.0)
        for design in (
            Design(quiet),
            Design(quiet, 20),
            Design(noisy, 20),
            Design(noisy, 20, placebo_photos=40),
        )
    ]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] - chances[-1] > 0.3


def test_the_three_questions_agree() -> None:
    design = Design(Presence(0.3, 0.5), 20)
    slope = smallest_slope(design, 100)
    assert power(design, 100, slope) == pytest.approx(0.8, abs=0.03)
    assert photos_needed(design, slope) == pytest.approx(100, rel=0.08)


def test_a_label_moves_by_the_slope_that_is_asked_for() -> None:
    label = Presence(0.05, 0.4, spread=1.0)
    slopes, varies = label.pool(1.2)
    assert slopes[0].mean() == pytest.approx(1.2, abs=0.06)
    assert slopes[1:].mean(axis=1) == pytest.approx([0, 0, 0], abs=0.06)
    assert varies.mean() > 0.05


def test_a_pilot_gives_back_the_noise_and_the_spread_that_its_answers_have() -> None:
    label = Presence(0.2, 0.6, spread=0.8)
    slopes, _ = label.pool(4.0)
    seen = presence_of(0.2, 4.0, 9.0, float(slopes[0].var()), float(slopes[1:].var(axis=1).mean()))
    assert (seen.noise, seen.spread) == pytest.approx((0.6, 0.8), abs=0.1)
    drawn = 1e4 * 0.2 * 0.8 * float(np.square(line_weights(np.asarray(GENDER))).sum())
    assert presence_of(0.2, 0.1, 0.5, drawn, drawn).noise == pytest.approx(1, abs=1e-6)
    assert presence_of(0.2, 0.1, 0.5, 1.0, 0.0) == Presence(0.2, 0.0)


@pytest.mark.parametrize(
    ("attempt", "why"),
    [
        (lambda: Presence(0.0), "between 0 and 1"),
        (lambda: Presence(0.1, noise=2), "The noise is 2"),
        (lambda: Design(Presence(0.1), labels=0), "labels is 0"),
        (lambda: power(Design(Presence(0.1)), 1, 1.0), "no spread"),
        (lambda: power(Design(Presence(0.01)), 50, 20.0), "cannot move by 20 points"),
        (lambda: photos_needed(Design(Presence(0.1)), 0.0), "slope of 0"),
        (lambda: smallest_slope(Design(Presence(0.1)), 100, 0.01), "cannot be planned for"),
        (lambda: smallest_slope(Design(Presence(0.01)), 20), "No slope of such a label"),
        pytest.param(
            lambda: photos_needed(Design(Measured(1.0, (1.0,) * 3, STILL), placebo_photos=3), 0.1),
            "200,000 photos",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_designs_that_mean_nothing_are_refused(attempt, why) -> None:
    with pytest.raises(ConfigError, match=why):
        attempt()
