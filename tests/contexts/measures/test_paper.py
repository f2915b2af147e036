"""What the paper prints, recomputed from its own tables: Tables 3, 7, 8, 11, 13 and 14."""

from __future__ import annotations

from scipy import stats

from tests.contexts.conftest import CONTEXTS, golden


def test_the_people_add_up(table7):
    rows = golden("table3.csv").set_index("gender").astype(int)
    assert rows["total"].tolist() == [307, 290]
    assert (rows.drop(columns="total").sum(axis=1) == rows["total"]).all()
    assert {sum(cell) for cell in table7.values()} == {597}


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


def test_table_14_sums_up_what_tables_10_and_12_print():
    rows = golden("table10_12.csv").set_index("context")

    def found(tagger: str, column: str, sign: str) -> list[str]:
        return [name for name in CONTEXTS if sign in rows.loc[f"{tagger}-{name}", column]]

    assert found("C", "gender", "W>M") == ["F1", "F3", "M1"]
    assert len(found("C", "race", "B>")) == 6
    assert found("A", "gender", "W>M") == list(CONTEXTS)
    assert (len(found("A", "race", "A>")), found("A", "race", "B>")) == (7, ["F2"])
