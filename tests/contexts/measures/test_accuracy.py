"""Table 9, and planted effects on F1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.accuracy import accuracy_table, f1
from tests.contexts.conftest import CONTEXTS, TAGGERS, golden, grid_of

QUICK = ContextOptions(bootstrap=200, permutations=199)
# Cells that the paper prints although the context was recognised in less than 10 % of the pictures.
BELOW = {("I", "F1"), ("W", "F2"), ("I", "M2"), ("W", "F4")}
RISES = {"man": "A-M1 A-M2 A-M4 C-M2 C-M3 C-M4 I-M4", "woman": "C-F1 C-F2 C-F3 C-F4 M-F1 M-F3 M-F4"}


def cells(tagger, paper_grid, options=QUICK):
    return accuracy_table(paper_grid(tagger), options).set_index(["context", "gender"])["f1"]


@pytest.mark.parametrize("tagger", TAGGERS)
def test_table_9_comes_out_of_the_answers(tagger, paper_grid):
    found, printed = cells(tagger, paper_grid), golden("table9.csv").set_index("context")[tagger]
    for context in ("canvas", *CONTEXTS):
        pair = printed["B" if context == "canvas" else context].split("/")
        for gender, text in zip(("man", "woman"), pair, strict=True):
            if text == "NA" or (tagger, context) in BELOW:
                assert np.isnan(found[context, gender]), (context, gender)
            else:
                assert found[context, gender] == pytest.approx(float(text), abs=0.005001), (context, gender)


@pytest.mark.parametrize("gender", ["man", "woman"])
def test_the_marks_of_table_9(gender, paper_grid):
    labels = {name: "feminine" if name[0] == "F" else "masculine" for name in CONTEXTS}
    rises = []
    for tagger in TAGGERS:
        rows = accuracy_table(paper_grid(tagger), QUICK, labels)
        marked = rows[rows["congruent_rise"] & (rows["gender"] == gender)]
        rises += [f"{tagger}-{name}" for name in marked["context"]]
    assert sorted(rises) == sorted(RISES[gender].split())


def test_the_rule_of_ten_percent_is_not_kept_by_the_paper(paper_grid):
    for tagger, context in BELOW:
        grid = paper_grid(tagger)
        assert grid.recognised[:, grid.of(context)].mean() < 0.1
        assert "NA/NA" not in golden("table9.csv").set_index("context").loc[context, tagger]


def test_nothing_right_is_0_and_nothing_to_say_is_no_number():
    assert f1(0, 3, 0) == 0
    assert f1(0, 0, 3) == 0
    assert np.isnan(f1(0, 0, 0))


def s1_cells() -> dict[str, list[tuple[int, bool, int]]]:
    def people(women, men, named=None):
        cells = []
        for said, hits in zip((women, men), named or (women, men), strict=True):
            for code, count, recognised in zip((1, 2, 0), said, hits, strict=True):
                cells += [(code, index < recognised, 1) for index in range(count)]
        return cells

    return {
        "B": people((80, 5, 15), (5, 70, 25)),
        "F": people((90, 0, 10), (20, 40, 40)),
        "N": people((70, 10, 20), (10, 60, 30), ((70, 10, 12), (10, 60, 18))),
        "M": people((40, 30, 30), (0, 85, 15), ((8, 0, 0), (0, 7, 0))),
    }


@pytest.fixture
def s1():
    return grid_of(s1_cells(), gender=["woman"] * 100 + ["man"] * 100)


@pytest.mark.parametrize(
    ("over", "context", "women", "men"),
    [
        ("recognised", "canvas", 0.8649, 0.8000),
        ("recognised", "F", 0.8571, 0.5714),
        ("recognised", "N", 0.8140, 0.7595),
        ("recognised", "M", None, None),
        ("all", "N", 0.7778, 0.7059),
        ("all", "M", 0.5714, 0.7907),
    ],
)
def test_planted_f1_comes_out_exactly(over, context, women, men, s1):
    grid = s1 if over == "recognised" else replace(s1, tagged=frozenset())
    found = accuracy_table(grid, ContextOptions(bootstrap=99, permutations=99))
    found = found.set_index(["context", "gender"])["f1"]
    for gender, want in (("woman", women), ("man", men)):
        if want is None:
            assert np.isnan(found[context, gender])
        else:
            assert found[context, gender] == pytest.approx(want, abs=5e-5)


def test_a_gain_of_selection_is_no_change(s1):
    """Over the same pictures the baseline's F1 is compared: recognising the easy half alone gains nothing."""
    right = [(1, True, 1)] * 50 + [(0, False, 1)] * 50
    grid = grid_of({"B": right, "F": right}, gender=["woman"] * 100)
    row = accuracy_table(grid, QUICK).set_index("context").loc["F"]
    assert row["f1"] == 1.0
    assert row["paired_change"] == 0.0


def test_a_gendered_word_for_everybody_raises_recall_and_ruins_precision():
    base = [(1, True, 1)] * 50 + [(2, True, 1)] * 50
    bride = [(1, True, 1)] * 100
    grid = grid_of({"B": base, "F": bride}, gender=["woman"] * 50 + ["man"] * 50)
    rows = accuracy_table(grid, QUICK).set_index(["context", "gender"])
    assert rows.loc[("F", "woman"), "f1"] == pytest.approx(2 / 3)
    assert rows.loc[("F", "man"), "f1"] == 0
    assert rows.loc[("F", "man"), "change_high"] < -0.89
    assert rows.loc[("F", "man"), "p"] < 0.01
