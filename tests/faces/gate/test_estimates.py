import numpy as np
import pytest

from gslopes.faces.gate import estimates
from gslopes.faces.gate.estimates import Estimate, by_group, interval, mean, means
from gslopes.stats.resampling import bootstrap_rows as draws


def test_interval_of_a_mean_is_about_two_standard_errors_wide() -> None:
    values = np.random.default_rng(0).normal(3, 2, 400)
    found = mean(values)
    assert found.value == values.mean()
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * values.std() / 20, rel=0.15)


def test_the_same_interval_comes_from_columns_and_from_a_statistic_of_rows() -> None:
    values = np.random.default_rng(1).normal(0, 1, (300, 3))
    slow = interval(lambda rows: float(values[rows, 1].mean()), 300)
    quick = means(values)[1]
    assert quick.value == pytest.approx(slow.value)
    np.testing.assert_allclose([quick.low, quick.high], [slow.low, slow.high], atol=0.02)


def test_interval_is_the_same_every_time_and_in_any_block_size(monkeypatch) -> None:
    values = np.random.default_rng(2).normal(0, 1, (50, 2))
    whole = means(values)
    assert means(values) == whole
    monkeypatch.setattr(estimates, "_CELLS", 700)
    assert means(values) == whole


def test_interval_over_people_is_wider_where_their_photos_are_alike() -> None:
    people = np.repeat(np.arange(50), 8)
    values = np.random.default_rng(3).normal(0, 1, 50)[people]
    photos = interval(lambda rows: float(values[rows].mean()), 400)
    persons = interval(lambda rows: float(values[rows].mean()), 400, clusters=people)
    assert persons.high - persons.low > 2 * (photos.high - photos.low)


def test_a_drawn_person_comes_with_all_photos() -> None:
    people = np.array(["b", "a", "b", "c", "b"])
    for rows in draws(5, 20, clusters=people):
        counts = np.bincount(rows, minlength=5)
        assert counts[0] == counts[2] == counts[4]
        assert len(np.repeat([1, 1, 1], 1)) == counts[0] + counts[1] + counts[3]


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


def test_one_large_group_has_no_gap() -> None:
    assert by_group(lambda rows: 1.0, ["a"] * 30 + ["b"] * 3).gap is None


def test_95_percent_intervals_hold_the_truth_about_95_times_of_100() -> None:
    random = np.random.default_rng(4)
    found = [mean(random.normal(1, 1, 60), resamples=200) for _ in range(300)]
    assert 0.9 <= np.mean([number.low <= 1 <= number.high for number in found]) <= 0.98
