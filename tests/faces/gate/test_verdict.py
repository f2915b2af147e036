import numpy as np
import pytest

from gslopes.core.errors import ConfigError
from gslopes.core.options import build
from gslopes.core.reasons import Reason
from gslopes.faces.gate.verdict import (
    GateConfig,
    Measured,
    follows,
    largest_change,
    steepest,
    verdict,
)

VALUES = np.linspace(-2, 2, 7)
GOOD = {
    "looked": 3, "found": 3, "tau": 0.9, "shift": 0.8, "off_target": 0.05, "off_target_reading": "young",
    "mask_share": 0.6, "change": 5.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({}, ""),
        ({"shift": 0.1, "tau": 0.6, "off_target": 0.15}, ""),  # the thresholds themselves
        ({"found": 2}, "face not found again (2 of 3 values)"),
        ({"mask_share": 0.01}, "mask too small for the face (0.01 of its box)"),
        ({"mask_share": 1.7}, "mask too large for the face (1.70 of its box)"),
        ({"change": 0.1}, "hardly any pixel changes (0.1 of 255)"),
        ({"change": 90.0}, "the pixels change too much (90 of 255)"),
        ({"change": 90.0, "mask_share": np.nan}, ""),  # whole pictures that others made
        ({"shift": 0.02}, "the reading does not follow the edit (shift +0.02)"),
        ({"shift": -0.9, "tau": -1.0}, "the reading does not follow the edit (shift -0.90)"),
        ({"tau": 0.3}, "the reading does not rise steadily (tau +0.30)"),
        ({"off_target": -0.2}, "the reading of young moves too (-0.20 per unit)"),
        ({"identity": 0.995}, ""),
        ({"identity": 0.4, "shift": 0.0}, "another person (similarity 0.40)"),
    ],
)
def test_each_check_drops_a_sweep_by_its_own_reason(bad: dict, why: str) -> None:
    assert verdict(Measured(**GOOD | bad), GateConfig()) == why


def test_what_could_not_be_measured_drops_nothing_and_thresholds_out_of_range_are_refused() -> None:
    assert verdict(Measured(), GateConfig()) == ""
    for bad in ({"shift": 2}, {"tau": -2}, {"off_target": -1}, {"identity": 1.5}):
        with pytest.raises(ConfigError):
            build(GateConfig, bad)


def test_sweeps_of_known_faces_are_judged_only_if_asked_for() -> None:
    judges = [
        GateConfig(on=on).judges(expected)
        for on in (None, True, False)
        for expected in (None, "faces.csv")
    ]
    assert judges == [True, False, True, True, False, False]


def test_with_ears_and_neck_more_may_change_than_with_the_face_alone() -> None:
    measured = Measured(**GOOD | {"mask_share": 1.6})
    assert verdict(measured, GateConfig()).reason == Reason.MASK_TOO_LARGE
    assert not verdict(measured, GateConfig(), neck=True)


def test_a_sure_reader_that_wavers_in_its_last_digits_follows_and_one_that_turns_back_does_not() -> (
    None
):
    tau, shift = follows([0.012, 0.008, 0.004, 0.5, 0.99, 0.994, 0.992], VALUES)
    assert tau > 0.8
    assert shift == pytest.approx(0.98)
    assert follows([0.1, 0.4, 0.9, 0.5, 0.3, 0.2, 0.3], VALUES)[0] < 0.6
    assert follows([0.5] * 7, VALUES) == (0, 0)


def test_the_steepest_reading_is_named_whichever_its_direction() -> None:
    slope, name = steepest([0.1 * VALUES, -0.3 * VALUES], ["young", "smiling"], VALUES)
    assert (round(slope, 6), name) == (-0.3, "smiling")
    assert steepest([], [], VALUES)[1] == ""


def test_change_is_that_of_the_picture_farthest_from_the_middle_one() -> None:
    centre = np.full((4, 4, 3), 250, np.uint8)
    assert largest_change([centre - np.uint8(7), centre, centre + np.uint8(5)]) == 7
