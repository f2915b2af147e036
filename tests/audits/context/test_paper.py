"""What does not add up in the paper, recomputed from its own tables; none of it is corrected silently."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.audits.context.conftest import CONTEXTS, TAGGERS, golden


def test_the_people_add_up(table7):
    rows = golden("table3.csv").set_index("gender").astype(int)
    assert rows["total"].tolist() == [307, 290]
    assert (rows.drop(columns="total").sum(axis=1) == rows["total"]).all()
    assert {sum(cell) for cell in table7.values()} == {597}


def test_1_three_marginals_cannot_be_reached_from_their_own_row(table7):
    printed = golden("table8.csv").set_index("context")
    wrong = []
    for context in CONTEXTS:
        for tagger in TAGGERS:
            marginal, *given = printed.loc[context, tagger].split(";")
            counts = [range(n + 1) for n in table7[tagger, context]]
            fit = [
                [k for k in reachable if n == 0 or text == "NA" or abs(k / n - float(text)) <= 5.0001e-4]
                for reachable, n, text in zip(counts, table7[tagger, context], given, strict=True)
            ]
            fit = [reachable if text != "NA" else [0] for reachable, text in zip(fit, given, strict=True)]
            totals = {a + b + c for a in fit[0] for b in fit[1] for c in fit[2]}
            if not any(abs(total / 597 - float(marginal)) <= 5.0001e-4 for total in totals):
                wrong.append((tagger, context))
    assert sorted(wrong) == [("A", "M3"), ("M", "F1"), ("W", "M2")]


def test_3_a_neutral_answer_is_a_miss_or_amazons_baseline_cannot_be_reached(table7):
    """Amazon, wedding shop: men .27, women .06 from 9 and 46 inferred; without neutral answers .27 has no solution."""
    woman, man, _ = table7["A", "F1"]
    as_miss = [tp for tp in range(man + 1) if round(2 * tp / (man + 290), 2) == 0.27]
    assert as_miss
    left_out = [
        (tp, women)
        for tp in range(man + 1)
        for women in range(woman + 1)
        if round(2 * tp / (2 * tp + (man - tp) + (woman - women)), 2) == 0.27
        and round(2 * women / (2 * women + (woman - women) + (man - tp)), 2) == 0.06
    ]
    assert not left_out


def test_4_f1_is_higher_for_women_in_more_cells_than_the_text_says():
    printed = golden("table9.csv").set_index("context")
    higher = []
    for context, row in printed.iterrows():
        for tagger in TAGGERS:
            men, women = row[tagger].split("/")
            if "NA" not in (men, women) and float(women) > float(men):
                higher.append(f"{tagger}-{context}")
    assert sorted(higher) == ["A-B", "C-F1", "M-F1", "W-B", "W-M4"]


def test_5_microsoft_rises_too_and_so_does_imagga_by_a_hundredth():
    printed = golden("table9.csv").set_index("context")
    women = {context: printed.loc[context, "M"].split("/")[1] for context in ("B", "F1", "F3", "F4")}
    assert women == {"B": ".08", "F1": ".42", "F3": ".49", "F4": ".32"}
    assert float(printed.loc["M4", "I"].split("/")[0]) > float(printed.loc["B", "I"].split("/")[0])


def test_6_clarifais_men_rise_in_one_masculine_context_and_one_feminine(table7):
    base = table7["C", "B"][1]
    assert [name for name in CONTEXTS if table7["C", name][1] > base] == ["F4", "M1"]
    assert max((name for name in CONTEXTS if name != "F1"), key=lambda name: table7["C", name][0]) == "M3"
    assert table7["M", "M1"][1] > table7["M", "B"][1]


def test_6_neutral_rises_in_32_of_40_cells_and_in_four_of_clarifais(table7):
    rising = [(t, c) for t in TAGGERS for c in CONTEXTS if table7[t, c][2] > table7[t, "B"][2]]
    assert len(rising) == 32
    assert [c for t, c in rising if t == "C"] == ["F1", "M1", "M2", "M4"]


def test_7_clarifai_does_not_always_recognise_the_background():
    assert golden("table8.csv").set_index("context").loc["F2", "C"].split(";")[0] == ".983"


@pytest.mark.parametrize(("context", "p"), [("F2", 1.0), ("F4", 0.78), ("M2", 0.43), ("M3", 0.0022), ("M4", 0.059)])
def test_8_amazon_recognises_better_behind_a_gender_in_one_context_of_five(context, p, answers, table7):
    named, every = answers["A", context][:3], table7["A", context]
    gendered = named[0] + named[1], every[0] + every[1]
    table = [[gendered[0], gendered[1] - gendered[0]], [named[2], every[2] - named[2]]]
    assert stats.fisher_exact(table).pvalue == pytest.approx(p, abs=0.5 * 10 ** -len(str(p).partition(".")[2]))


def test_9_a_baseline_depends_on_the_context_in_table_11_and_not_in_table_13():
    rows = golden("table11_13.csv").set_index("row")
    base = {
        name: (float(row["W"]) - float(row["dW"]), float(row["M"]) - float(row["dM"])) for name, row in rows.iterrows()
    }
    assert base["C-F1-demographics"] == pytest.approx((0.199, 0.119), abs=5.001e-4)
    assert base["C-M1-demographics"] == pytest.approx((0.174, 0.130), abs=5.001e-4)
    assert base["C-F1-concrete"] == pytest.approx((0.209, 0.206), abs=5.001e-4)
    assert base["C-M1-concrete"] == pytest.approx((0.266, 0.281), abs=5.001e-4)
    for kind in ("demographics", "concrete"):
        assert base[f"A-F1-{kind}"] == pytest.approx(base[f"A-M1-{kind}"], abs=1.001e-3)


def test_10_a_t_of_2_62_is_not_below_two_thousandths():
    assert golden("table11_13.csv").set_index("row").loc["C-F1-concrete", "t"] == "-2.62*"
    assert 2 * stats.t.sf(2.62, 595) == pytest.approx(0.009, abs=5e-4)
    assert stats.t.isf(0.001, 595) == pytest.approx(3.10, abs=5e-3)


def test_12_men_change_more_in_clarifais_sports_bar():
    row = golden("table10_12.csv").set_index("context").loc["C-M3"]
    women, men = (np.mean([float(row[f"{race}{gender}"]) for race in "ABLW"]) for gender in "WM")
    assert men > women
    assert golden("table10_12.csv").set_index("context").loc["C-M2", "race"] == "B>W"


def test_12_in_amazons_restaurant_kitchen_white_people_change_more_than_black_ones_too():
    assert golden("table10_12.csv").set_index("context").loc["A-M2", "race"] == "A>B W>B"


def test_13_one_number_has_four_decimals():
    row = golden("table10_12.csv").set_index("context").loc["A-F1"]
    assert [len(text) for text in row if text.startswith(".")].count(5) == 1


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
