"""One rule for all audits: nothing found is nothing there only where the data could have shown it."""

import doctest
import math

from gslopes.report import caution
from gslopes.report.caution import LEAST, POINTS, Nothing, widest


def nothing(low: float, high: float, n: int = 100, matters: float = POINTS) -> Nothing:
    return Nothing("a", low, high, n, matters, "")


def test_the_examples_hold() -> None:
    assert not doctest.testmod(caution).failed


def test_few_units_a_wide_interval_none_and_an_unknown_size_tell_nothing() -> None:
    assert nothing(-4.9, 4.9, LEAST).clear
    assert not nothing(-0.1, 0.1, LEAST - 1).clear
    assert not nothing(-5.0, 0.0).clear
    assert not nothing(0.0, 5.0).clear
    assert not nothing(math.nan, math.nan).clear
    assert not nothing(-0.1, 0.1, matters=math.nan).clear
    assert not nothing(-0.1, 0.1, matters=0.0).clear


def test_the_widest_is_one_that_cannot_be_told_if_there_is_any() -> None:
    few, wide, narrow = nothing(-1, 1, 3), nothing(-9, 1), nothing(-2, 2)
    assert widest([few, narrow]) is few
    assert widest([few, wide, narrow]) is wide
    assert widest([nothing(-1, 1), narrow]) is narrow
