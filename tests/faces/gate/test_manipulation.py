"""What moves with an edit, with intervals that hold."""

import numpy as np
import pytest

from gslopes.faces.gate.manipulation import (
    Interval,
    by_group,
    interval,
    mean,
    means,
    share_monotone,
    share_of_target,
    shift,
)

VALUES = np.linspace(-2, 2, 7)


def test_photos_without_a_value_are_left_out_and_nothing_gives_nothing() -> None:
    assert mean([2.0, np.nan, 2.0]) == Interval(2, 2, 2)
    assert np.isnan([mean([]).value, mean([]).low, interval(lambda rows: 0.0, 0).high]).all()


def test_gap_is_between_the_groups_that_are_large_enough() -> None:
    values = np.repeat([0.0, 1.0, 9.0], [30, 40, 5])
    groups = by_group(
        lambda rows: float(values[rows].mean()), np.repeat(["low", "high", "few"], [30, 40, 5])
    )
    numbers = {name: (group.n, group.number.value) for name, group in groups.each.items()}
    assert numbers == {"few": (5, 9.0), "high": (40, 1.0), "low": (30, 0.0)}
    assert groups.gap == Interval(1, 1, 1)


def test_95_percent_intervals_hold_the_truth_about_95_times_of_100() -> None:
    random = np.random.default_rng(4)
    numbers = means(random.normal(1, 1, (60, 300)), resamples=200)
    assert 0.9 <= np.mean([number.low <= 1 <= number.high for number in numbers]) <= 0.98


def test_faces_that_rise_count_and_flat_or_falling_ones_do_not() -> None:
    rising, falling, flat = VALUES, -VALUES, np.zeros(7)
    nearly = VALUES[[1, 0, 2, 3, 4, 5, 6]]  # one pair of 21 in the wrong order: tau 19 / 21
    hardly = VALUES[[1, 0, 3, 2, 5, 4, 6]]  # three of them: tau 15 / 21
    assert share_monotone(
        np.stack([rising, falling, flat, nearly, hardly]), VALUES
    ).value == pytest.approx(2 / 5)
    assert share_monotone(hardly[None], VALUES, least=0.7).value == 1


def test_shift_is_last_minus_first() -> None:
    readings = np.array([[0.1, 0.5, 0.9], [0.3, 0.2, 0.5]])
    assert shift(readings).value == pytest.approx(0.5)
    assert [number.value for number in means(readings)] == pytest.approx([0.2, 0.35, 0.7])


def test_share_is_in_standard_deviations_of_unedited_photos_whatever_the_unit_and_has_a_sign() -> (
    None
):
    random = np.random.default_rng(1)
    target, second = (
        random.normal(0, 1, (500, 1)) + slope * VALUES + random.normal(0, 0.01, (500, 7))
        for slope in (0.5, -0.1)
    )
    people = random.normal(0, 1, 5000)
    share = share_of_target(
        second, target, VALUES, other_unedited=2 * people, target_unedited=people
    )
    assert share.value == pytest.approx(-0.1, rel=0.05)
    assert share.low < share.value < share.high
    scaled = share_of_target(
        100 * second, target / 7, VALUES, other_unedited=200 * people, target_unedited=people / 7
    )
    assert scaled.value == pytest.approx(share.value)
    still = share_of_target(
        target, target, VALUES, other_unedited=np.ones(10), target_unedited=people
    )
    assert np.isnan(still.value)  # a reading without spread
