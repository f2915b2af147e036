"""A grid of two attributes: its views are orthogonal, a planted interaction is found, and none where there is none."""

import numpy as np
import pandas as pd
import pytest

from gslopes.core.crossed import Grid, grid_of
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.crossed import views
from gslopes.slopes.measures.options import FitOptions, Study
from tests.slopes.measures.conftest import build
from tests.slopes.measures.crossed import (
    CROSSED,
    GENDER,
    GIVEN,
    GRID,
    RACE,
    answered,
    audited,
    drawn,
    interactions,
    read,
)


def test_main_slopes_and_interaction_are_orthogonal():
    weights = np.zeros((3, 15))
    for row, name in zip(weights, (*GRID.names, GRID.name), strict=True):
        row[CROSSED[name].steps] = CROSSED[name].values - CROSSED[name].values.mean()
    np.testing.assert_allclose(weights @ weights.T, np.diag(np.square(weights).sum(1)), atol=1e-12)


def test_an_order_moves_whole_rows_and_columns_so_that_main_effects_stay_out_of_the_interaction():
    view = CROSSED[GRID.name]
    assert len(np.unique(view.orders, axis=0)) == 720  # 5! rows times 3! columns
    own = np.random.default_rng(1).standard_normal((5, 1)) + np.random.default_rng(
        2
    ).standard_normal((1, 3))
    centred = view.values - view.values.mean()
    np.testing.assert_allclose(centred[view.orders] @ own.T.ravel()[view.steps], 0, atol=1e-12)
    rows = CROSSED["gender"]
    assert len(rows.orders) == 120
    by_column = RACE[rows.steps]
    centred = rows.values - rows.values.mean()
    np.testing.assert_allclose(centred[rows.orders] @ by_column, 0, atol=1e-12)


def test_slopes_are_those_of_the_photos_own_least_squares_planes():
    present = drawn(np.random.default_rng(3), 40, 3, 0.05, 0.03)
    made = analyse(*answered(present), Study(values=GIVEN), options=FitOptions(permutations=0))
    design = np.stack([np.ones(15), GENDER, RACE, GENDER * RACE], 1)
    plane = 100 * np.linalg.lstsq(design, present.mean(0).T, rcond=None)[0]
    rows = made.slopes.set_index(["attribute", "label"])["slope"]
    for place, name in ((1, "gender"), (2, "race"), (3, GRID.name)):
        np.testing.assert_allclose(rows[name].to_numpy(), plane[place], atol=1e-6)
    shares = present.mean(0).reshape(3, 3, 5).swapaxes(1, 2)
    for end, value in ((0, "-2"), (-1, "2")):
        slope = 100 * np.polyfit(GRID.values[0], shares[..., end].T, 1)[0]
        np.testing.assert_allclose(rows[f"gender-x-race={value}"].to_numpy(), slope, atol=1e-6)
        slope = 100 * np.polyfit(GRID.values[1], shares[:, end].T, 1)[0]
        np.testing.assert_allclose(rows[f"race-x-gender={value}"].to_numpy(), slope, atol=1e-6)
    ends = made.slopes.set_index(["attribute", "label"])[["y_first", "y_last"]]
    np.testing.assert_allclose(ends.loc["gender"], shares[:, [0, -1]].mean(2), atol=1e-6)
    np.testing.assert_allclose(ends.loc["race"], shares[:, :, [0, -1]].mean(1), atol=1e-6)
    np.testing.assert_allclose(ends.loc["race-x-gender=2"], shares[:, -1, [0, -1]], atol=1e-6)
    np.testing.assert_allclose(
        ends.loc[GRID.name], (shares[:, -1] - shares[:, 0])[:, [0, -1]], atol=1e-6
    )


@pytest.mark.slow
def test_a_planted_interaction_beyond_its_placebos_is_a_finding_and_no_main_slope_is():
    made = audited(np.random.default_rng(5), 60, 4, 0.0, 0.06)
    found = read(made)
    assert (found["decision"] == "finding").all()
    assert (found["ci_low"] < 6).all()
    assert (found["ci_high"] > 6).all()
    mains = made.slopes[made.slopes["attribute"].isin(GRID.names)]
    assert "finding" not in set(mains["decision"])
    assert set(made.placebos["attribute"]) == set(CROSSED)
    assert list(CROSSED) == [
        *("gender", "race", "gender-x-race"),
        *("gender-x-race=-2", "gender-x-race=2", "race-x-gender=-2", "race-x-gender=2"),
    ]


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("main", "spread"),
    [*(pytest.param(main, 0.0, marks=pytest.mark.slow) for main in (0.0, 0.06)), (0.03, 0.03)],
)
def test_without_an_interaction_its_p_is_small_as_often_as_it_says_whatever_the_main_slopes(
    main, spread
):
    p = pd.concat(interactions(np.random.default_rng(7), 40, 40, main, 0.0, spread))["p_test"]
    assert 0.01 <= (p < 0.05).mean() <= 0.10  # of 200


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize(
    ("photos", "main", "interaction", "spread", "least", "most"),
    [(40, 0.0, 0.0, 0.0, 0.035, 0.065), (40, 0.06, 0.0, 0.0, 0.035, 0.065), (12, 0.06, 0.0, 0.0, 0.03, 0.065),
     (40, 0.03, 0.0, 0.03, 0.035, 0.07), (40, 0.03, 0.02, 0.0, 0.5, 0.75), (100, 0.03, 0.02, 0.0, 0.9, 1.0)],
)  # fmt: skip
def test_500_audits_hold_level_power_and_interval(photos, main, interaction, spread, least, most):
    rows = pd.concat(
        interactions(np.random.default_rng(11), 500, photos, main, interaction, spread)
    )
    share = (rows["p_test"] < 0.05).mean()
    held = ((rows["ci_low"] <= 100 * interaction) & (rows["ci_high"] >= 100 * interaction)).mean()
    assert (least <= share <= most, 0.93 <= held <= 0.97) == (True, True), (share, held)


def test_a_picture_without_an_answer_leaves_its_photo_out_of_every_view_that_has_it():
    scores, asked = answered(drawn(np.random.default_rng(3), 20, 2, 0.05, 0.0))
    asked.loc[(asked["photo"] == asked["photo"][0]) & (asked["step"] == 14), "status"] = "refused"
    made = analyse(scores, asked, Study(values=GIVEN), options=FitOptions(permutations=0))
    n = made.slopes.groupby("attribute")["n"].max()
    assert (
        n[["gender", "race", GRID.name, "gender-x-race=2", "race-x-gender=2"]].tolist() == [19] * 5
    )
    assert n[["gender-x-race=-2", "race-x-gender=-2"]].tolist() == [20, 20]


def test_a_cell_that_nobody_answered_leaves_the_slopes_that_do_without_it():
    scores, asked = answered(drawn(np.random.default_rng(3), 20, 2, 0.05, 0.0))
    asked.loc[asked["step"] == 14, "status"] = "refused"
    made = analyse(
        scores, asked, Study(values=GIVEN), options=FitOptions(permutations=0)
    ).slopes.groupby("attribute")
    assert (made["n"].max() == 20).to_dict() == {name: name.endswith("=-2") for name in CROSSED}
    assert set(made["decision"].unique().explode()[list(CROSSED)[:3]]) == {"unjudged"}


NAMED = Grid(("gender", "race"), ((-2.0, 2.0), (0.0, 1.0, 2.0)), ("White", "Black", "East Asian"))


def test_names_in_place_of_values_are_found_again_in_a_run_s_values():
    assert grid_of(NAMED.sweeps | {NAMED.name: [0.0] * 6}) == NAMED
    assert list(NAMED.sweeps) == ["gender", "race: Black − White", "race: East Asian − White"]
    axes = NAMED.axes
    assert axes["gender"] == [-2, 2] * 3
    np.testing.assert_array_equal(axes["race: Black − White"], [0, 0, 1, 1, np.nan, np.nan])
    np.testing.assert_array_equal(axes["race: East Asian − White"], [0, 0, np.nan, np.nan, 1, 1])


def test_contrasts_of_names_are_differences_of_means_of_their_cells():
    present = np.random.default_rng(5).random((40, 3, 6)) < np.linspace(0.2, 0.8, 6)
    steps = [float(step) for step in range(6)]
    given = {**NAMED.sweeps, NAMED.name: steps}
    answers = build(present, steps, attribute=NAMED.name)
    made = analyse(*answers, Study(values=given), options=FitOptions(permutations=99))
    photo = made.slopes[made.slopes["estimator"] == "photo-rate"]
    rows = photo.set_index(["attribute", "label"])["slope"]
    cells = 100 * present.mean(0).reshape(3, 3, 2)  # label, name, gender
    for name, level in (("Black", 1), ("East Asian", 2)):
        sweep = f"race: {name} − White"
        change = cells[:, level] - cells[:, 0]  # label, gender
        expected = {
            sweep: change.mean(1),
            f"{sweep}-x-gender=-2": change[:, 0],
            f"{sweep}-x-gender=2": change[:, 1],
            f"gender-x-{sweep}": (change[:, 1] - change[:, 0]) / 4,
            f"gender-x-{sweep}=1": (cells[:, level, 1] - cells[:, level, 0]) / 4,
        }
        for view, slopes in expected.items():
            np.testing.assert_allclose(rows[view].to_numpy(), slopes, atol=1e-6, err_msg=view)
    both = (cells[..., 1] - cells[..., 0]).mean(1) / 4
    np.testing.assert_allclose(rows["gender"].to_numpy(), both, atol=1e-6)
    baseline = (cells[:, 0, 1] - cells[:, 0, 0]) / 4
    np.testing.assert_allclose(
        rows["gender-x-race: Black − White=0"].to_numpy(), baseline, atol=1e-6
    )
    assert "gender-x-race: East Asian − White=0" not in rows.index.get_level_values(0)  # the same
    assert NAMED.name not in rows.index.get_level_values(0)


def test_of_two_attributes_of_names_every_contrast_has_its_slope_at_both_ends_of_the_other():
    grid = Grid(("gender: m − f", "race"), ((0.0, 1.0), (0.0, 1.0, 2.0)), ("W", "B", "A"))
    for name in ("race: B − W", "race: A − W"):
        for end in (0, 1):
            assert f"{name}-x-gender: m − f={end}" in views(grid)
    assert [name for name in views(grid) if name.endswith("W=0")] == [
        "gender: m − f-x-race: B − W=0"
    ]
