import numpy as np
import pytest

from gslopes.validate.estimates import Estimate
from gslopes.validate.manipulation import by_group, means_by_value, share_monotone, shift

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
