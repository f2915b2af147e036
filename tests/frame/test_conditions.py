"""A condition holds for the rows that it says, and is never run as Python."""

import math
import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from gslopes import slopes
from gslopes.core import placebo, summary
from gslopes.core.errors import UsageError
from gslopes.frame import conditions
from gslopes.frame.conditions import Condition
from gslopes.slopes.measures.estimators import ESTIMATORS
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
        ("label in ['Male', 'Hat'] or 'Nose' == label", ["Male", "Nose", "Hat"]),
        ("finding == True and label != 'Male'", ["Lips", "Bangs"]),
        ("slope in (28, 2)", ["Male", "Bangs"]),
        ("decision == 'open' or decision == 'placebo' or label == ''", []),  # words of ours
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
        "finding == 1",
        "finding > 0.5",
        "slope == True",
        "slope == finding",
        "label in (1, 2)",
        "finding in ('finding',)",
        "slope in ('5',)",
        "label < 'b'",
        "label in ()",
        "label in 'Male'",
        "label == ('Male', 'Lips')",
        "decision == 'fnding'",
        "'findings' == decision",
        "decision in ('finding', 'None')",
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
    with pytest.raises(UsageError, match="Did you mean 'slope'"):
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


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("label == 'Heavy Makeup'", "Did you mean 'Heavy_Makeup'?"),
        ("finding and 'heavy_makeup' == label", "Did you mean 'Heavy_Makeup'?"),
        ("label in ('Male', 'Lip')", "Did you mean 'Lips'?"),
        ("not (slope > 5 or label == 'Pilot')", ""),
        ("False and label == 'Pilot'", ""),
        ("label not in ('Male', 'Heavy Makeup')", "Did you mean 'Heavy_Makeup'?"),
        ("label != 'male'", "Did you mean 'Male'?"),
        ("unit == 'log odds per unit'", "Did you mean 'log-odds per unit'?"),
        ("reason == 'nothing'", ""),
    ],
)
def test_a_text_that_no_row_has_is_refused_with_the_nearest(text: str, advice: str) -> None:
    columns = COLUMNS | {"unit": "", "reason": ""}
    makeup = pd.DataFrame([("Heavy_Makeup", 1.0, 0.3, "none", False)], columns=list(COLUMNS))
    rows = pd.concat([ROWS, makeup]).assign(unit="log-odds per unit", reason=None)
    with pytest.raises(UsageError, match="which no row has; they have ") as refused:
        Condition(text, columns).rows(rows)
    assert refused.value.hint == advice


def test_a_label_that_did_not_occur_may_be_left_out_but_not_asked_for() -> None:
    assert len(Condition("label not in ('Nurse', 'Female')", COLUMNS).rows(ROWS)) == len(ROWS)
    with pytest.raises(UsageError, match="compares with 'Doctor'"):
        Condition("label in ('Male', 'Doctor')", COLUMNS).rows(ROWS)


def test_without_a_row_nothing_can_be_misspelt_and_columns_of_texts_compare_with_each_other() -> (
    None
):
    assert Condition("label == 'Nurse'", COLUMNS).rows(ROWS[:0]).empty
    assert len(Condition("label != decision", COLUMNS).rows(ROWS)) == len(ROWS)
    assert Condition("label == decision", COLUMNS).rows(ROWS).empty


def test_the_facts_count_rows_and_those_that_are_judged() -> None:
    assert Condition("slope > 28", COLUMNS).facts(ROWS) == {
        "condition": "slope > 28",
        "rows": 5,
        "judged": 4,
        "holds": [["Nose", "40.0", "0.4"]],
    }


def test_the_words_that_a_good_run_may_be_without_are_those_of_the_code() -> None:
    words = tomllib.loads(Path(conditions.__file__).with_suffix(".toml").read_text("utf-8"))
    decided = tomllib.loads((Path(slopes.__file__).parent / "sentences.toml").read_text("utf-8"))
    assert words["closed"]["decision"] == words["open"]["decision"] == [*decided["decisions"]]
    assert {*ESTIMATORS} - {"paper"} <= {*words["open"]["estimator"]}
    assert {estimator.unit for estimator in ESTIMATORS.values()} - {""} - {
        ESTIMATORS["paper"].unit
    } <= {*words["open"]["unit"]}
    assert decisions.ERRORS in words["open"]["unit"]
    source = (Path(slopes.__file__).parent / "measures/decision.py").read_text("utf-8")
    codes = {*placebo.KINDS, *re.findall(r'return \(?"\w+", "([\w-]+)"', source)} - {"placebo"}
    assert codes <= {*words["open"]["reason"]}
