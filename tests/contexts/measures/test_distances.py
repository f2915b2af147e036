"""ANOVA and Tukey against statsmodels 0.15 and scipy 1.17, and planted differences."""

from dataclasses import replace

import numpy as np
import pytest

from gslopes.contexts.measures.inference import anova, compare_groups, distances_table, tukey
from gslopes.contexts.measures.paired import ALIKE, ALONE
from gslopes.stats.intervals import bent
from tests.contexts.conftest import grid_of
from tests.skewed import corrected

CELLS = {
    "WA": ".10 .14 .12",
    "WB": ".21 .25 .23 .19",
    "WL": ".11 .15",
    "WW": ".09 .12 .15",
    "MA": ".08 .06 .10 .09",
    "MB": ".16 .18 .14",
    "ML": ".07 .12 .08",
    "MW": ".05 .11",
}
VALUES = np.array([float(number) for row in CELLS.values() for number in row.split()])
GENDER = np.array([name[0] for name, row in CELLS.items() for _ in row.split()], object)
GROUP = np.array([name[1] for name, row in CELLS.items() for _ in row.split()], object)


@pytest.mark.row("contexts-5.4-anova")
def test_analysis_of_variance_by_sums_of_squares_of_type_2():
    table = anova(VALUES, GENDER, GROUP).set_index("term")
    assert table.loc["gender", ["F", "p"]].tolist() == pytest.approx(
        (18.4995, 5.49399e-4), rel=1e-5
    )
    assert table.loc["group", ["F", "p"]].tolist() == pytest.approx((19.6981, 1.27649e-5), rel=1e-5)
    assert table.loc["gender:group", ["F", "p"]].tolist() == pytest.approx(
        (0.281339, 0.838086), rel=1e-5
    )
    assert table.loc["residual", "sum_sq"] == pytest.approx(0.010275, rel=1e-6)
    assert table.loc["residual", "df"] == 16


@pytest.mark.row("contexts-5.4-tukey")
def test_tukey_one_way():
    pairs = tukey(VALUES, GROUP).set_index(["one", "other"])
    want = {
        ("A", "B"): (-0.095714, 1.820286e-4),
        ("B", "L"): (0.088286, 1.222167e-3),
        ("B", "W"): (0.090286, 9.696908e-4),
    }
    for pair, (difference, p) in want.items():
        assert pairs.loc[pair, "difference"] == pytest.approx(difference, abs=5e-7)
        assert pairs.loc[pair, "p"] == pytest.approx(p, rel=1e-4)
    for pair, p in {("A", "L"): 0.981276, ("A", "W"): 0.992485, ("L", "W"): 0.999693}.items():
        assert pairs.loc[pair, "p"] == pytest.approx(p, abs=1e-5)


def test_an_empty_cell_drops_the_interaction():
    keep = ~((GENDER == "W") & (GROUP == "L"))
    table = anova(VALUES[keep], GENDER[keep], GROUP[keep])
    assert set(table["term"]) == {"gender", "group", "residual"}


def test_one_group_alone_has_no_factor_of_groups():
    keep = GROUP == "A"
    assert set(anova(VALUES[keep], GENDER[keep], GROUP[keep])["term"]) == {"gender", "residual"}


def test_no_test_of_what_only_rounding_varies():
    alike = np.where(GENDER == "W", 0.1 + 0.2, 0.75) + 1e-15 * np.arange(len(GENDER))
    table = anova(alike, GENDER, GROUP).set_index("term")
    assert table.loc["residual", "sum_sq"] == 0 == table.loc["group", "sum_sq"]
    assert table[["F", "p"]].isna().all(axis=None)
    assert anova(alike[GENDER == "W"], GENDER[GENDER == "W"], GROUP[GENDER == "W"]).empty
    assert tukey(alike, GENDER)["p"].isna().all()


def _planted(per_cell: int = 40):
    generator = np.random.default_rng(4)
    gender, group, d = [], [], []
    for g in ("woman", "man"):
        for name in "ABLW":
            gender += [g] * per_cell
            group += [name] * per_cell
            effect = 0.05 * (g == "woman") + 0.10 * (name == "B")
            d.append(0.10 + effect + 0.02 * generator.standard_normal(per_cell))
    column = np.concatenate(d)
    cells = [(0, True, 1)] * len(column)
    distance = np.stack([np.full(len(column), np.nan), column], 1)
    return grid_of(
        {"B": cells, "F1": cells}, gender=gender, group=group, measures={"distance": distance}
    )


@pytest.mark.row("contexts-5.4-level")
def test_planted_differences_of_gender_and_group_are_found_and_no_interaction():
    table, pairs = compare_groups(_planted())
    terms = table.set_index("term")
    assert terms.loc["gender", "paper_significant"]
    assert terms.loc["group", "paper_significant"]
    assert not terms.loc["gender:group", "paper_significant"]
    races = pairs[(pairs["factor"] == "group") & pairs["paper_significant"]]
    assert set(zip(races["one"], races["other"], strict=True)) == {
        ("A", "B"),
        ("B", "L"),
        ("B", "W"),
    }


@pytest.mark.slow
@pytest.mark.row("contexts-5.4-level")
def test_the_level_is_that_of_bonferroni_over_the_contexts():
    grid = _planted(10)
    distance = np.full((80, 9), np.nan)
    distance[:, 1:] = (np.resize([0.0, 1.0], 80) + 0.26 * (grid.gender == "woman"))[:, None] / 10
    names = [f"F{number}" for number in range(1, 9)]
    eight = replace(
        grid, conditions=("canvas", *(f"{name}.1" for name in names)), contexts=("", *names)
    )
    wide = {
        name: np.repeat(getattr(grid, name)[:, :1], 9, axis=1)
        for name in ("answered", "inferred", "recognised")
    }
    for tested, significant in (
        (replace(eight, measures={"distance": distance}, **wide), False),
        (grid, True),
    ):
        tested.measures["distance"] = distance[:, : len(tested.conditions)]
        terms = compare_groups(tested)[0].query("term == 'gender'")
        assert terms["p"].between(0.00625, 0.05).all()
        assert set(terms["paper_significant"]) == {significant}


def test_cells_of_few_people_are_left_out_and_named():
    gender = ["woman"] * 12 + ["man"] * 12
    group = (["A"] * 10 + ["B"] * 2) + ["A"] * 6 + ["B"] * 6
    distance = np.stack([np.full(24, np.nan), np.linspace(0, 1, 24)], 1)
    cells = [(0, True, 1)] * 24
    grid = grid_of(
        {"B": cells, "F1": cells}, gender=gender, group=group, measures={"distance": distance}
    )
    table, _ = compare_groups(grid)
    assert "woman B (2)" in table["note"].iloc[0]
    assert "no interaction" in table["note"].iloc[0]


@pytest.mark.row("contexts-table-10")
def test_means_of_cells_with_their_intervals_and_what_is_undefined():
    grid = _planted(10)
    grid.measures["distance"][0, 1] = np.nan
    means = distances_table(grid).set_index(["gender", "group"])
    assert (means.loc[("woman", "A"), "n"], means.loc[("woman", "A"), "undefined"]) == (9, 1)
    row = means.loc[("man", "B")]
    assert row["ci_low"] < row["mean"] < row["ci_high"]


WOMEN = [0.1, 0.2, 0.4, 0.0, 0.4]


def test_the_interval_of_few_people_is_by_t_and_equal_ones_have_none():
    distance = np.array([[np.nan, value] for value in WOMEN + [0.3, 0.1 + 0.2] * 3 + [0.5] * 4])
    cells = [(0, True, 1)] * 15
    grid = grid_of(
        {"B": cells, "F1": cells},
        gender=["woman"] * 5 + ["man"] * 6 + ["other"] * 4,
        measures={"distance": distance},
    )
    means = distances_table(grid).set_index("gender")
    ends = bent(0.22, corrected(distance[:5, 1])[:2], (0, 1))
    assert means.loc["woman", ["ci_low", "ci_high"]].tolist() == pytest.approx(np.array(ends))
    assert means.loc["woman", "ci_low"] > 0
    assert np.isnan(means.loc[["man", "other"], ["ci_low", "ci_high"]].to_numpy(float)).all()
    assert means["note"].tolist() == ["", ALIKE, ALONE]
