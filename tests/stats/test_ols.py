import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from gslopes.stats.ols import fit_lines, line_slopes, line_weights

FIELDS = ("slope", "intercept", "se", "t", "p", "low", "high")
GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "ols_statsmodels.json").read_text(encoding="utf-8")
)
VALUES = np.linspace(-2, 2, 7)

curves = hnp.arrays(np.float64, (4, 7), elements=st.floats(0, 3, width=32))


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_line_is_the_one_that_statsmodels_stored(case: dict) -> None:
    lines = fit_lines(np.array(case["values"]), np.array([case["curve"]]))
    for field in FIELDS:
        assert getattr(lines, field)[0] == pytest.approx(case[field], rel=1e-8, abs=1e-12), field


@given(st.floats(0.001, 100))
def test_flat_curve_has_slope_zero_and_p_one(level: float) -> None:
    lines = fit_lines(VALUES, np.full((1, 7), level))
    assert [lines.slope[0], lines.se[0], lines.t[0], lines.p[0]] == [0, 0, 0, 1]
    assert [lines.low[0], lines.high[0]] == [0, 0]


@given(st.floats(0.01, 3), st.sampled_from([-1, 1]))
def test_exactly_straight_curve_has_no_error_and_p_zero(slope: float, sign: int) -> None:
    lines = fit_lines(VALUES, 10 + sign * slope * VALUES[None])
    assert lines.slope[0] == pytest.approx(sign * slope, rel=1e-9)
    assert [lines.se[0], lines.t[0], lines.p[0]] == [0, sign * np.inf, 0]
    assert lines.low[0] == lines.high[0] == lines.slope[0]


def test_curve_with_a_gap_is_nan_and_leaves_the_others_alone() -> None:
    both = np.stack([np.full(7, np.nan), 1 + 0.1 * np.sin(VALUES)])
    lines, alone = fit_lines(VALUES, both), fit_lines(VALUES, both[1:])
    for field in FIELDS:
        assert np.isnan(getattr(lines, field)[0])
        assert getattr(lines, field)[1] == getattr(alone, field)[0]


@pytest.mark.parametrize("values", [[0.0], [1.0, 1.0, 1.0]])
def test_too_few_values_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="2 different values"):
        fit_lines(np.array(values), np.ones((1, len(values))))


@given(curves, st.floats(-5, 5), st.floats(0.1, 50))
def test_a_constant_leaves_the_slope_a_factor_scales_it_and_mirrored_values_turn_its_sign(
    curve: np.ndarray, constant: float, factor: float
) -> None:
    before, after = fit_lines(VALUES, curve), fit_lines(VALUES, curve[:, ::-1] * factor + constant)
    for field, expected in (("slope", -before.slope), ("se", before.se), ("low", -before.high)):
        np.testing.assert_allclose(getattr(after, field), factor * expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        after.intercept, factor * before.intercept + constant, rtol=1e-9, atol=1e-10
    )


@given(curves)
def test_interval_misses_zero_exactly_where_p_is_below_five_percent(curve: np.ndarray) -> None:
    lines = fit_lines(VALUES, curve)
    clear = np.abs(lines.p - 0.05) > 1e-9
    outside = (lines.low > 0) | (lines.high < 0)
    assert (outside == (lines.p < 0.05))[clear].all()


def test_slopes_are_those_of_least_squares_lines() -> None:
    readings = np.random.default_rng(0).normal(0, 1, (4, 7))
    np.testing.assert_allclose(line_slopes(readings, VALUES), np.polyfit(VALUES, readings.T, 1)[0])
    np.testing.assert_allclose(readings @ line_weights(VALUES), line_slopes(readings, VALUES))
