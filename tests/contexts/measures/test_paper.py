"""What the paper prints, recomputed from its own tables: Tables 3, 7, 8, 11, 13 and 14."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.contexts.conftest import CONTEXTS, golden


def test_the_people_add_up(table7):
    rows = golden("table3.csv").set_index("gender").astype(int)
    assert rows["total"].tolist() == [307, 290]
    assert (rows.drop(columns="total").sum(axis=1) == rows["total"]).all()
    assert {sum(cell) for cell in table7.values()} == {597}


@pytest.mark.parametrize(("context", "p"), [("F2", 1.0), ("F4", 0.78), ("M2", 0.43), ("M3", 0.0022), ("M4", 0.059)])
def test_8_amazon_recognises_better_behind_a_gender_in_one_context_of_five(context, p, answers, table7):
    named, every = answers["A", context][:3], table7["A", context]
    gendered = named[0] + named[1], every[0] + every[1]
    table = [[gendered[0], gendered[1] - gendered[0]], [named[2], every[2] - named[2]]]
    assert stats.fisher_exact(table).pvalue == pytest.approx(p, abs=0.5 * 10 ** -len(str(p).partition(".")[2]))


def test_10_all_other_stars_of_tables_11_and_13_are_below_two_thousandths():
    rows = golden("table11_13.csv").set_index("row").astype(str)
    wrong = []
    for column in ("t", "t.1"):
        for name, text in rows[column].items():
            if text == "ns":
                continue
            p = 2 * stats.t.sf(abs(float(text.rstrip("*"))), 595)
            if (p < 0.002) != text.endswith("*"):
                wrong.append((name, column))
    assert wrong == [("C-F1-concrete", "t")]


@pytest.mark.parametrize(
    ("tagger", "context", "statistic", "p"),
    [("C", "F1", 243.22, None), ("C", "M4", 19.55, None), ("M", "M4", 1.97, 0.37), ("I", "M1", 2.81, 0.24)],
)
def test_columns_of_table_7_against_their_baseline(tagger, context, statistic, p, table7):
    table = np.array([table7[tagger, "B"], table7[tagger, context]])
    table = table[:, table.sum(axis=0) > 0]
    found = stats.chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(statistic, abs=0.006)
    if p is not None:
        assert math.isclose(found.pvalue, p, abs_tol=0.005)


def test_table_14_sums_up_what_tables_10_and_12_print():
    rows = golden("table10_12.csv").set_index("context")

    def found(tagger: str, column: str, sign: str) -> list[str]:
        return [name for name in CONTEXTS if sign in rows.loc[f"{tagger}-{name}", column]]

    assert found("C", "gender", "W>M") == ["F1", "F3", "M1"]
    assert len(found("C", "race", "B>")) == 6
    assert found("A", "gender", "W>M") == list(CONTEXTS)
    assert (len(found("A", "race", "A>")), found("A", "race", "B>")) == (7, ["F2"])
