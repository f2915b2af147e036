import doctest
from types import ModuleType

import numpy as np
import pytest

from gslopes.report import headline, inline, numbers, units, words


@pytest.mark.parametrize("module", [headline, inline, numbers, units, words])
def test_examples_in_the_docstrings_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    "write",
    [
        numbers.points,
        numbers.signed,
        numbers.ratio,
        numbers.share,
        numbers.decimal,
        numbers.probability,
    ],
)
def test_no_number_is_minus_zero_and_none_is_a_dash(write: numbers.Format) -> None:
    assert not write(-1e-9).startswith(("-", "−")) or write is numbers.probability
    assert write(float("nan")) == numbers.NONE
    assert "-" not in write(-3.25)


def test_numbers_for_scripts_are_rounded_and_none_where_there_is_none() -> None:
    assert numbers.rounded([0.123456789, np.nan, np.inf], 3) == [0.123, None, None]
