""""""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.faces.gate.manipulation import (
    Estimate,
    by_group,
    interval,
    mean,
    means,
    share_monotone,
    share_of_target,
    shift,
)


def test_interval_of_a_mean_is_about_two_standard_errors_wide() -> None:
    values = np.random.default_rng(0).normal(3, 2, 400)
    found = mean(values)
    assert found.value == values.mean()
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * values.std() / 20, rel=0.15)


def test_interval_over_people_is_wider_where_their_photos_are_alike() -> None:
    people = np.repeat(np.arange(50), 8)
    values = np.random.default_rng(3).normal(0, 1, 50)[people]
    photos = interval(lambda rows: float(values[rows].mean()), 400)
    persons = interval(lambda rows: float(values[rows].mean()), 400, clusters=people)
    assert persons.high - persons.low > 2 * (photos.high - photos.low)


def test_photos_without_a_value_are_left_out_and_nothing_gives_nothing() -> None:
    assert mean([2.0, np.nan, 2.0]) == Estimate(2, 2, 2)
    assert np.isnan([mean([]).value, mean([]).low, interval(lambda rows: 0.0, 0).high]).all()


def test_gap_is_between_the_groups_that_are_large_enough() -> None:
    values = np.repeat([0.0, 1.0, 9.0], [30, 40, 5])
    found = by_group(lambda rows: float(values[rows].mean()), np.repeat(["low", "high", "few"], [30, 40, 5]))
    assert {name: (group.n, group.number.value) for name, group in found.each.items()} == {
        "few": (5, 9.0),
        "high": (40, 1.0),
        "low": (30, 0.0),
    }
    assert found.gap == Estimate(1, 1, 1)


def test_95_percent_intervals_hold_the_truth_about_95_times_of_100() -> None:
    random = np.random.default_rng(4)
    found = [mean(random.normal(1, 1, 60), resamples=200) for _ in range(300)]
    assert 0.9 <= np.mean([number.low <= 1 <= number.high for number in found]) <= 0.98


VALUES = np.linspace(-2, 2, 7)


def test_faces_that_rise_count_and_flat_or_falling_ones_do_not() -> None:
    rising, falling, flat = VALUES, -VALUES, np.zeros(7)
    nearly = VALUES[[1, 0, 2, 3, 4, 5, 6]]  # one pair of 21 in the wrong order: tau 19 / 21
    hardly = VALUES[[1, 0, 3, 2, 5, 4, 6]]  # three of them: tau 15 / 21
    found = share_monotone(np.stack([rising, falling, flat, nearly, hardly]), VALUES)
    assert found.value == pytest.approx(2 / 5)
    assert share_monotone(hardly[None], VALUES, least=0.7).value == 1


def test_shift_is_last_minus_first() -> None:
    readings = np.array([[0.1, 0.5, 0.9], [0.3, 0.2, 0.5]])
    assert shift(readings).value == pytest.approx(0.5)
    assert [number.value for number in means(readings)] == pytest.approx([0.2, 0.35, 0.7])


# -- what else moves --

VALUES = np.linspace(-2, 2, 7)


def sweep(n: int, slope: float, seed: int, spread: float = 1.0) -> np.ndarray:
    """Readings of n photos of their own level, all of which move by ``slope`` a unit, with a little noise."""
    random = np.random.default_rng(seed)
    return random.normal(0, spread, (n, 1)) + slope * VALUES + random.normal(0, 0.01, (n, 7))


def test_share_is_in_standard_deviations_of_unedited_photos() -> None:
    target, other = sweep(500, 0.5, 1), sweep(500, 0.1, 2)
    people = np.random.default_rng(3).normal(0, 1, 5000)
    found = share_of_target(other, target, VALUES, other_unedited=2 * people, target_unedited=people)
    assert found.value == pytest.approx(0.1, rel=0.05)
    assert found.low < found.value < found.high


def test_the_unit_of_a_reading_does_not_matter_and_the_sign_tells_the_direction() -> None:
    target, other = sweep(100, 0.5, 1), sweep(100, -0.1, 2)
    a = share_of_target(other, target, VALUES, other_unedited=other[:, 3], target_unedited=target[:, 3])
    b = share_of_target(
        100 * other, target / 7, VALUES, other_unedited=100 * other[:, 3], target_unedited=target[:, 3] / 7
    )
    assert a.value == pytest.approx(b.value)
    assert a.value < 0


def test_a_reading_without_spread_has_no_share_to_speak_of() -> None:
    target = sweep(10, 1, 0)
    found = share_of_target(target, target, VALUES, other_unedited=np.ones(10), target_unedited=target[:, 0])
    assert np.isnan(found.value)
