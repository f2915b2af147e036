"""Slopes on congruence, and what linguistic expectancy bias predicts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import (
    NEEDS_TWO,
    congruence_table,
    consistent,
    kappa,
    slope_permutation_p,
    slope_weights,
    slopes,
)
from gslopes.contexts.measures.paired import ALIKE
from tests.contexts.conftest import golden, grid_of


@pytest.mark.row("contexts-table-11-bias")
def test_what_expectancy_bias_predicts_depends_on_the_side_of_the_context():
    rows = pd.DataFrame(
        {
            "context": ["bridal", "bridal", "garage", "office", "bridal", "bridal"],
            "super": ["abstract", "concrete", "abstract", "abstract", "abstract", "abstract"],
            "difference": [0.2, 0.2, -0.2, 0.2, 0.2, 0.2],
            "ci_low": [0.1, 0.1, -0.3, 0.1, 0.1, -0.1],
            "ci_high": [0.3, 0.3, -0.1, 0.3, 0.3, 0.5],
            "q": [0.01, 0.01, 0.01, 0.01, 0.2, 0.01],
        }
    )
    # below 5 a context goes with women: they get more abstract tags, fewer concrete ones
    assert consistent(rows, {"bridal": 1.5, "garage": 8.5}) == [
        True,
        False,
        True,
        False,
        False,
        False,
    ]


QUICK = ContextOptions(permutations=999)
RATINGS = {"F": 0.0, "N": 5.0, "M": 10.0}


@pytest.mark.row("contexts-4.1-eight")
def test_kappa_of_the_papers_ratings():
    rows = golden("table1.csv")
    women = np.array([kappa(float(rating), "woman") for rating in rows["rating"]])
    assert women == pytest.approx([1, 0.2, 0.2, 0, -0.8, -0.4, -0.4, 0])
    assert women.mean() == pytest.approx(-0.025)
    assert ((women - women.mean()) ** 2).sum() == pytest.approx(2.035)
    assert [kappa(float(rating), "man") for rating in rows["rating"]] == pytest.approx(
        (-women).tolist()
    )
    assert np.isnan(kappa(3, "non-binary"))


@pytest.fixture
def s1():
    def people(women, men):
        return [
            (code, True, 1)
            for counts in (women, men)
            for code, n in zip((1, 2, 0), counts, strict=True)
            for _ in range(n)
        ]

    cells = {
        "B": people((80, 5, 15), (5, 70, 25)),
        "F": people((90, 0, 10), (20, 40, 40)),
        "N": people((70, 10, 20), (10, 60, 30)),
        "M": people((40, 30, 30), (0, 85, 15)),
    }
    return grid_of(cells, gender=["woman"] * 100 + ["man"] * 100, group=["A", "B"] * 100)


def test_planted_slopes_come_out_exactly(s1):
    rows = congruence_table(s1, RATINGS, QUICK)
    rows_of = rows[(rows["measure"] == "correct") & (rows["group"] == "all")].set_index("gender")
    assert rows_of.loc["woman", "slope"] == pytest.approx(25)
    assert rows_of.loc["man", "slope"] == pytest.approx(22.5)
    assert rows_of.loc["all", "slope"] == pytest.approx(23.75)
    assert rows_of.loc["all", "ci_low"] < 23.75 < rows_of.loc["all", "ci_high"]
    assert rows_of.loc["all", "p_perm"] == pytest.approx(0.001)
    assert rows_of.loc["woman - man", "slope"] == pytest.approx(2.5)


def test_one_context_has_no_slope(s1):
    rows = congruence_table(s1, {"F": 0.0}, QUICK)
    assert set(rows.loc[rows["estimator"] == "person", "note"]) == {NEEDS_TWO}


def test_a_person_whose_contexts_fit_alike_is_left_out():
    values = np.array([[1.0, 0.0], [1.0, np.nan]])
    fitted = slopes(values, slope_weights(values, np.array([[1.0, -1.0], [1.0, -1.0]])))
    assert fitted[0] == 0.5
    assert np.isnan(fitted[1])


def test_answers_that_do_not_go_with_the_contexts_are_no_finding():
    generator = np.random.default_rng(1)
    hits = 0
    fit = np.tile([1.0, 0.2, -0.4, -1.0], (30, 1))
    for seed in range(200):
        p = slope_permutation_p((generator.random((30, 4)) < 0.5).astype(float), fit, 199, seed)
        hits += p <= 0.05
    assert 2 <= hits <= 22


def test_unknown_answers_stay_where_they_are():
    fit = np.tile([1.0, 0.0, -1.0], (20, 1))
    values = np.tile([1.0, np.nan, 0.0], (20, 1))
    assert slope_permutation_p(values, fit, 199, 0) == pytest.approx(0.005)


@pytest.mark.parametrize("level", [0.0, 1 / 3, 0.7])
def test_answers_that_never_vary_have_no_interval_rather_than_one_of_width_0(level):
    women = [(1, True, 1)] * 30
    grid = grid_of(dict.fromkeys(("B", "F", "N", "M"), women), gender=["woman"] * 15 + ["man"] * 15)
    grid.measures["concrete"][:] = level
    rows = congruence_table(grid, {"F": 0.3, "N": 4.9, "M": 9.1}, QUICK)
    rows = rows[rows["measure"].isin(["correct", "concrete"]) & (rows["estimator"] == "person")]
    assert (rows["slope"] == 0).all()
    assert (
        rows[["ci_low", "ci_high", "p", "p_perm", "rooms_low", "rooms_high", "p_rooms"]]
        .isna()
        .all(axis=None)
    )
    assert set(rows["note"]) == {ALIKE}


def test_rooms_of_a_context_that_differ_widen_what_is_said_of_any_such_rooms():
    generator = np.random.default_rng(4)
    cells = {"B": [(1, True, 1)] * 40}
    for number, share in enumerate([0.9, 0.3, 0.6, 0.5, 0.2, 0.7]):
        cells[f"room {number}"] = [(int(draw < share), True, 1) for draw in generator.random(40)]
    six_contexts = grid_of(cells, gender=["woman"] * 40)
    grid = replace(six_contexts, contexts=("", "F", "F", "N", "N", "M", "M"))
    rows = [congruence_table(answered, ratings, QUICK) for answered, ratings in (
        (grid, RATINGS), (six_contexts, dict(zip(cells, (5.0, 0.0, 0.0, 5.0, 5.0, 10.0, 10.0), strict=True)))
    )]  # fmt: skip
    rooms, alone = (
        part[(part["measure"] == "correct") & (part["gender"] == "woman")].iloc[0] for part in rows
    )
    assert rooms["slope"] == pytest.approx(alone["slope"])
    assert rooms["ci_low"] == pytest.approx(alone["ci_low"])
    assert rooms["rooms_low"] < rooms["ci_low"] - 20
    assert rooms["rooms_high"] > rooms["ci_high"] + 20
    assert rooms["p"] < rooms["p_rooms"]
    assert np.isnan(alone["rooms_low"])
