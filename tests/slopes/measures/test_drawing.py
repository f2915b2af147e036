"""What drawing does by itself: recovers what was planted, at its level, and tells it from what the attribute does."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gslopes.slopes.measures.observed import drawing_rows
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.page.lead import headline
from tests.skewed import corrected
from tests.slopes.measures.test_observed import VALUES, answers
from tests.slopes.page.test_lead import decided, slopes_of

OPTIONS = FitOptions(permutations=0)


def planted(n: int, drawn: float, slope: float, labels: int = 1, seed: int = 5) -> pd.DataFrame:
    """Labels with a number of their own that drawing moves by ``drawn`` at every value, and the edit by ``slope``."""
    draw = np.random.default_rng(seed)
    own = draw.normal(0, 3, (labels, n))
    after = own + drawn + draw.normal(0, 1, (labels, n))
    along = after[..., None] + (slope + draw.normal(0, 0.3, (labels, n)))[..., None] * VALUES
    sweep, unedited = answers(along, VALUES, "value"), answers(own[..., None], np.zeros(1), "value")
    return drawing_rows(sweep, unedited, OPTIONS)


def test_of_many_labels_the_intervals_hold_and_equal_effects_are_told_apart_at_the_level() -> None:
    found = planted(
        40, drawn=2.0, slope=0.5, labels=400
    )  # from end to end the edit moves it by 2.0 as well
    held = ((found["ci_low"] <= 2.0) & (found["ci_high"] >= 2.0)).mean()
    assert 0.915 < held < 0.983  # 95 % within three standard errors of 400 draws
    assert found["drawing"].mean() == pytest.approx(2.0, abs=0.03)
    assert found["sweep"].mean() == pytest.approx(2.0, abs=0.03)
    assert (found["q"] < 0.05).sum() <= 4  # of 400 true null hypotheses


@pytest.mark.parametrize(("drawn", "slope", "further"), [
    (-3.0, 0.1, True), (3.0, 0.1, True), (0.1, 0.5, False), (0.0, 0.0, False), (-1.0, 0.5, False),
])  # fmt: skip
def test_the_sentence_stands_where_drawing_moves_a_label_further_than_the_sweep(
    drawn: float, slope: float, further: bool
) -> None:
    (row,) = planted(60, drawn, slope).to_dict("records")
    rows = slopes_of(l000=0.5)
    known = decided(l000="none")
    alone = headline(rows, known, "gender").sentence
    said = headline(rows, known, "gender", {"l000": row}).sentence.removeprefix(alone).strip()
    assert (row["q"] < 0.05) == further == bool(said)
    assert not further or said.startswith(
        "The drawing moves “l000” more than the attribute does: by "
    )


@pytest.mark.row("slopes-0-drawing")
def test_presence_is_paired_photo_by_photo_in_points_and_a_lost_label_counts() -> None:
    """Thirty of forty photos have the label, and no drawing of them has it."""
    before = np.r_[np.ones(30), np.zeros(10)][None, :, None]
    (row,) = drawing_rows(
        answers(np.zeros((1, 40, 5)), VALUES), answers(before, np.zeros(1)), OPTIONS
    ).to_dict("records")  # fmt: skip
    assert (row["photo"], row["drawing"], row["sweep"], row["n"]) == (75, -75, 0, 40)
    low, high, p = corrected(-100 * before.ravel())
    assert (row["ci_high"], row["q"]) == pytest.approx((high, p))
    # more than half of the way to -100, and so bent
    assert low < row["ci_low"] == pytest.approx(-100 + 12.5 * np.exp(1 - (-75 - low) / 12.5))


def test_clusters_widen_and_few_photos_say_nothing() -> None:
    few = drawing_rows(
        answers(np.zeros((1, 5, 5)), VALUES), answers(np.ones((1, 5, 1)), np.zeros(1)), OPTIONS
    )
    assert few["q"].isna().all()
    assert few["note"].all()
    draw = np.random.default_rng(0).normal(1, 1, 30).repeat(4)[None, :, None]
    sweep, unedited = (
        answers(np.broadcast_to(draw, (1, 120, 5)), VALUES, "value"),
        answers(0 * draw, np.zeros(1), "value"),
    )
    people = np.arange(120) // 4
    alone, together = (
        drawing_rows(replace(sweep, units=u), unedited, OPTIONS).iloc[0] for u in (None, people)
    )
    assert (together["ci_high"] - together["ci_low"]) > 1.8 * (alone["ci_high"] - alone["ci_low"])


def test_there_is_none_where_the_sweep_has_no_value_0() -> None:
    numbers = np.ones((1, 20, 2))
    assert drawing_rows(
        answers(numbers, np.array([-1.0, 1.0])), answers(numbers[..., :1], np.zeros(1)), OPTIONS
    ).empty
