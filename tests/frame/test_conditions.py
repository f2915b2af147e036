"""A condition holds for the rows that it says, and is never run as Python."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import summary
from gslopes.core.errors import UsageError
from gslopes.frame.conditions import Condition
from gslopes.slopes.page import changes, decisions

COLUMNS = {"label": "", "slope": 0.0, "q": 0.0, "decision": "", "finding": False}
ROWS = pd.DataFrame(
    [
        ("Male", 28.0, 0.001, "finding", True),
        ("Lips", -9.0, 0.001, "finding", True),
        ("Bangs", 2.0, 0.001, "finding", True),
        ("Nose", 40.0, 0.4, "none", False),
        ("Hat", math.nan, math.nan, "unjudged", False),
    ],
    columns=list(COLUMNS),
)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("finding and abs(slope) > 5", ["Male", "Lips"]),
        ("finding and label not in ('Male', 'No_Beard') and abs(slope) > 5", ["Lips"]),
        ("decision == 'none' or slope < -8", ["Lips", "Nose"]),
        ("-5 < slope <= 2", ["Bangs"]),
        ("slope != 2", ["Male", "Lips", "Nose"]),  # a number that is missing differs from nothing
        ("not finding", ["Nose", "Hat"]),
        ("True", ["Male", "Lips", "Bangs", "Nose", "Hat"]),
    ],
)
def test_a_condition_holds_for_these_rows(text: str, labels: list[str]) -> None:
    assert Condition(text, COLUMNS).rows(ROWS)["label"].tolist() == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        "slope",
        "finding and",
        "slpe > 5",
        "slope > 'a'",
        "label > 5",
        "abs(label) > 1",
        "finding and slope",
        "slope.real > 1",
        "__import__('os').system('true') == 0",
        "(lambda: True)()",
        "[x for x in (1,)] == 1",
        "abs(slope, 1) > 1",
        "slope ** 9 > 1",
        "label in label",
        "label is 'a'",
        "finding or slpe > 1",
        "f'{label}' == 'a'",
        "(" * 300 + "finding" + ")" * 190,
        "finding" + " and finding" * 100,
    ],
)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_is_no_condition_is_refused_before_any_row_is_seen(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        Condition(text, COLUMNS)
    assert refused.value.hint


def test_a_misspelt_column_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'slope'"):
        Condition("slpe > 5", COLUMNS)


def test_the_page_about_gates_names_exactly_the_columns_that_a_condition_may_name() -> None:
    text = (Path(__file__).parents[2] / "docs/pages/howto/gate.md").read_text("utf-8")
    found = dict(
        re.findall(r"^\| `gslopes (\w+)`[^|]*\|[^|]*\| (`.+`) \|$", text, flags=re.MULTILINE)
    )
    named = {verb: set(re.findall(r"`(\w+)`", columns)) for verb, columns in found.items()}
    siblings = set(summary.conditions(summary.FINDINGS))
    assert named == {
        "audit": set(summary.conditions(decisions.FINDINGS)),
        "compare": set(changes.CONDITION),
        "contexts": siblings,
    }
