import numpy as np
import pytest

from gslopes.faces.gate.estimates import Estimate
from gslopes.faces.gate.manipulation import by_group, means_by_value, share_monotone, share_of_target, shift

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
    assert [number.value for number in means_by_value(readings)] == pytest.approx([0.2, 0.35, 0.7])


def test_an_edit_that_works_on_men_alone_has_a_gap() -> None:
    steps = np.linspace(0, 0.8, 7)
    readings = np.concatenate([np.tile(steps, (40, 1)), np.zeros((60, 7))])
    found = by_group(readings, np.repeat(["man", "woman"], [40, 60]))
    assert found.each["man"].number.value == pytest.approx(0.8)
    assert found.each["woman"].number == Estimate(0, 0, 0)
    assert found.gap is not None
    assert found.gap.value == pytest.approx(0.8)


def test_a_group_of_19_has_a_number_but_no_say_in_the_gap() -> None:
    readings = np.zeros((19 + 20 + 20, 3))
    readings[:19, 2] = 1
    found = by_group(readings, np.repeat(["a", "b", "c"], [19, 20, 20]))
    assert found.each["a"].number.value == 1
    assert found.gap == Estimate(0, 0, 0)


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


def test_a_reading_that_stays_has_no_share() -> None:
    target, other = sweep(300, 0.5, 1), sweep(300, 0, 2)
    found = share_of_target(other, target, VALUES, other_unedited=other[:, 3], target_unedited=target[:, 3])
    assert found.low < 0.005
    assert found.high > -0.005


def test_a_reading_without_spread_has_no_share_to_speak_of() -> None:
    target = sweep(10, 1, 0)
    found = share_of_target(target, target, VALUES, other_unedited=np.ones(10), target_unedited=target[:, 0])
    assert np.isnan(found.value)
