"""Table 8, and its tests of independence."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.recognised import NOT_APPLICABLE, pearson, recognised_table
from tests.contexts.conftest import CONTEXTS, TAGGERS, golden, grid_of
from tests.contexts.measures.test_accuracy import s1_cells

QUICK = ContextOptions(bootstrap=200, permutations=999)
# What table 8 prints and no count out of 597 gives, or not together with the table's other numbers.
MISPRINTS = {
    ("M", "F1", "all"): (0.434, 0.437),
    ("W", "M2", "all"): (0.862, 0.863),
    ("W", "M2", "neutral"): (0.862, 0.863),
    ("A", "M3", "neutral"): (0.879, 0.880),
}


@pytest.mark.parametrize("tagger", TAGGERS)
def test_table_8_comes_out_of_the_answers(tagger, paper_grid):
    rows = recognised_table(paper_grid(tagger), QUICK).set_index(["context", "given"])["share"]
    printed = golden("table8.csv").set_index("context")[tagger]
    for context in CONTEXTS:
        for given, text in zip(("all", "woman", "man", "neutral"), printed[context].split(";"), strict=True):
            found = rows[context, given]
            if text == "NA":
                assert np.isnan(found), (context, given)
                continue
            wrong, right = MISPRINTS.get((tagger, context, given), (float(text), float(text)))
            assert wrong == float(text)
            assert found == pytest.approx(right, abs=5.001e-4), (context, given)


@pytest.mark.parametrize(
    ("tagger", "context", "statistic", "df", "p"),
    [
        ("I", "M1", 110.235, 1, 8.7e-26),
        ("I", "M2", 54.270, 1, None),
        ("I", "M3", 33.623, 1, None),
        ("I", "M4", 12.301, 1, 4.5e-4),
        ("A", "M3", 7.943, 2, 0.019),
        ("A", "M4", 4.029, 2, 0.133),
        ("C", "F2", 8.512, 2, 0.014),
        ("M", "F4", 8.380, 2, 0.015),
        ("M", "F1", 2.857, 2, 0.240),
    ],
)
def test_pearsons_statistics(tagger, context, statistic, df, p, paper_grid):
    grid = paper_grid(tagger)
    column = grid.of(context)[0]
    found = pearson(grid.recognised[:, column], grid.inferred[:, column])
    assert found[0] == pytest.approx(statistic, abs=6e-4)
    assert found[1] == df
    if p is not None:
        assert found[2] == pytest.approx(p, rel=0.02)


def test_permuting_agrees_with_the_asymptotic_p(paper_grid):
    rows = recognised_table(paper_grid("A"), ContextOptions(permutations=9999)).set_index(["context", "given"])
    row = rows.loc[("M4", "all")]
    assert row["p_perm"] == pytest.approx(row["p"], abs=0.02)


def test_a_context_without_tags_is_not_applicable_rather_than_0():
    grid = grid_of({"B": [(1, False, 1)] * 4, "F1": [(1, False, 1)] * 4}, gender=["woman"] * 4, tagged=frozenset())
    (row,) = recognised_table(grid, QUICK).to_dict("records")
    assert row["note"] == NOT_APPLICABLE
    assert np.isnan(row["share"])


def test_two_pictures_of_a_person_are_permuted_together():
    named = [(1 + index % 2, index % 2 == 1, 1) for index in range(40)]
    grid = grid_of({"B": named, "F1": named}, gender=["woman"] * 40, person=[index // 2 for index in range(40)])
    row = recognised_table(grid, QUICK).iloc[0]
    # everybody has one named and one unnamed picture: permuting whole people changes nothing
    assert row["p_perm"] == 1.0
    assert row["p"] < 1e-5


def test_who_is_recognised_with_whom_in_the_planted_context():
    """S1, context N: everybody with a gendered answer, 12 of the women's 20 neutral ones and 18 of the men's 30."""
    grid = grid_of({"B": s1_cells()["N"], "N": s1_cells()["N"]}, gender=["woman"] * 100 + ["man"] * 100)
    found = pearson(grid.recognised[:, 1], grid.inferred[:, 1])
    assert found[:2] == (pytest.approx(66.667, abs=5e-4), 2)
    rows = recognised_table(grid, QUICK).set_index("given")
    assert rows.loc["neutral", ["count", "n"]].tolist() == [30, 50]
    assert rows.loc["gendered - neutral", "share"] == pytest.approx(0.4)
