"""Table 3 and its picture."""

import numpy as np
import pandas as pd
import pytest

from gslopes.core.tables import COMPOSITION
from gslopes.report.composition import SIDES, by_occupation, print_shares, table3
from tests.published import gender_slopes, in_order


def composition(**shares: float) -> pd.DataFrame:
    rows = []
    for name, female in shares.items():
        for value, share in (("female", female), ("male", 1 - female)):
            ends = (max(0.0, share - 0.1), min(1.0, share + 0.1))
            rows.append((name.replace("_", " "), "any", "gender", value, 40, 4, share, *ends))
    return pd.DataFrame(rows, columns=COMPOSITION.columns)


def test_the_most_skewed_come_first_whichever_way():
    table = by_occupation(
        composition(chef=0.3, nurse=0.95, pilot=0.02, judge=0.5), {"nurse": 0.879}
    )
    assert table["occupation"].tolist() == ["pilot", "nurse", "chef", "judge"]
    assert table["female"].tolist() == pytest.approx([0.02, 0.95, 0.3, 0.5])
    assert table["women"].isna().tolist() == [True, False, True, True]


def test_answers_beside_female_and_male_are_told():
    frame = composition(chef=0.3)
    more = frame.iloc[:1].assign(value="non-binary", share=0.05)
    assert by_occupation(pd.concat([frame, more]), {})["other_answers"].tolist() == [0.05]


def test_the_line_for_all_occupations_is_not_an_occupation():
    frame = pd.concat([composition(chef=0.3), composition(all=0.4).assign(occupation="")])
    assert by_occupation(frame, {})["occupation"].tolist() == ["chef"]


@pytest.mark.row("slopes-table-3")
def test_table_3_of_the_printed_shares_has_the_printed_order_and_form():
    printed = gender_slopes(3)
    female = printed["number"].where(printed["of"] == "female", 1 - printed["number"])
    others = {"judge": 0.5, "chef": 0.3, "writer": 0.6}
    drawn = composition(**others, **dict(zip(printed["label"][::-1], female[::-1], strict=True)))
    table = table3(by_occupation(drawn, {}))
    assert tuple(table) == SIDES
    sides = [
        table[list(SIDES[position : position + 2])].set_axis(["label", "number"], axis=1)
        for position in (0, 2)
    ]
    ours = pd.concat(
        [side.assign(of=end) for side, end in zip(sides, ("female", "male"), strict=True)]
    )
    assert in_order(ours[["of", "label", "number"]].round(3)) == in_order(printed)
    lines = print_shares(by_occupation(drawn, {})).splitlines()
    assert [line.split() for line in lines[2:5:2]] == [
        ["occupation", "female", "occupation", "male"],
        ["nutritionist", ".921", "pest", "control", "worker", ".971"],
    ]


def test_the_text_has_both_shares_with_intervals_and_says_what_they_are():
    text = print_shares(by_occupation(composition(chef=0.25), {"chef": 0.269}))
    assert "25.0 % [15.0, 35.0]" in text
    assert "75.0 % [65.0, 85.0]" in text
    assert "26.9 %" in text
    assert "not who a person is" in text
    unread = composition(chef=0.25).assign(n=0, share=np.nan, ci_low=np.nan, ci_high=np.nan)
    assert " – " in print_shares(by_occupation(unread, {}))


def test_photos_without_an_occupation_give_a_sentence_and_no_empty_table():
    text = print_shares(by_occupation(composition(all=0.4).assign(occupation=""), {}))
    assert text.startswith("No photo has an occupation: name the sub-folders by it")
    assert "perceived female" not in text
