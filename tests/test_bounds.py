"""The checker of intervals finds what cannot be."""

import pandas as pd
import pytest

from tests.bounds import Bound, bare, faults, impossible, told


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((0.8, 0.4, 1.1), "too high"),
        ((0.8, -0.1, 0.9), "too low"),
        ((0.8, 0.81, 0.9), "not around"),
        ((0.8, 0.9, 0.7), "before it begins"),
        ((0.8, float("nan"), 0.9), "one end only"),
        ((0.8, 0.4, 1.0), ""),
        ((0.8, float("nan"), float("nan")), ""),
    ],
)
def test_an_interval_that_cannot_be_is_a_fault(row: tuple[float, ...], why: str) -> None:
    frame = pd.DataFrame([row], columns=["share", "ci_low", "ci_high"])
    found = faults(frame, [Bound("share", least=0, most=1)])
    assert any(why in line for line in found) if why else not found


def test_an_interval_without_a_bound_is_named() -> None:
    columns = ["slope", "ci_low", "ci_high", "per_reach_low", "per_reach_high", "below"]
    assert bare(columns, [Bound("slope")]) == ["per_reach_high", "per_reach_low"]


def test_intervals_of_a_page_are_read_with_their_unit() -> None:
    text = "moves by +80.0 [+43.6, +100.5] points; −3.2 [−4.0, +1.0] points per unit; 30 % (12 to 46 %)"
    assert [(one.value, one.low, one.high) for one in told(text)] == [
        (80, 43.6, 100.5),
        (-3.2, -4, 1),
        (30, 12, 46),
    ]
    assert len(impossible(text)) == 1
    assert impossible("16 % [−113 %, 211 %]") == ["16 % [−113 %, 211 %]"]
    assert impossible("5 [6, 7] years") == ["5 [6, 7]"]
