import pytest

from gslopes.core.errors import UsageError
from gslopes.faces.config import values_for


@pytest.mark.row("slopes-4.3-range", "slopes-4.3-values")
def test_the_papers_sweeps_are_the_default():
    assert values_for("gender").tolist() == pytest.approx([-2, -4 / 3, -2 / 3, 0, 2 / 3, 4 / 3, 2])
    assert values_for("race").tolist() == [-2, -1, 0, 1, 2]


@pytest.mark.row("slopes-3.1-continuous")
@pytest.mark.parametrize("steps", [-3, 1, 4])
def test_a_sweep_without_a_centre_or_of_a_range_that_does_not_grow_is_a_usage_error(steps):
    assert values_for("gender", 3, (-1, 1)).tolist() == [-1, 0, 1]
    with pytest.raises(UsageError, match="no centre"):
        values_for("gender", steps)
    for extent in ((1, 1), (2, -2), (float("nan"), 1), (0, float("inf"))):
        with pytest.raises(UsageError, match="cannot run"):
            values_for("gender", None, extent)
