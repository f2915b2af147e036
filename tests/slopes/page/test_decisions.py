"""What is decided of each label, the sentence, and the first table."""

from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core.summary import FINDINGS
from gslopes.core.tables import SLOPES
from gslopes.slopes.page import decisions
from gslopes.slopes.page.decisions import (
    COLUMNS,
    Decision,
    findings_table,
    summary_rows,
    write_findings,
)


def test_the_decision_of_the_fit_is_taken_as_it_is() -> None:
    rows = pd.DataFrame({"label": list("abc"), "decision": ["placebo", "finding", "unjudged"]})
    found = decisions.decide(
        rows.assign(
            detail=["light alone: p 0.4", "", "too few photos change their answer"], expected=None
        )
    )
    assert {label: one.code for label, one in found.items()} == {
        "a": "placebo",
        "b": "finding",
        "c": "unjudged",
    }
    assert [one.why for one in found.values()] == [
        "light alone: p 0.4",
        "",
        "too few photos change their answer",
    ]
    assert [one.moves for one in found.values()] == [False, True, False]


def test_a_task_whose_answers_follow_the_order_of_its_options_is_not_judged() -> None:
    rows = slopes({"label": "boss", "slope": 20.0}, {"label": "assistant", "slope": -20.0})
    judged = findings_table(rows.assign(by_order=94.9))
    assert judged["decision"].tolist() == ["finding"] * 2
    found = findings_table(rows.assign(by_order=95.0))
    assert found["decision"].tolist() == ["unjudged"] * 2
    assert set(found["reason"]) == {"order"}
    assert set(found["detail"]) == {"the answers follow the order of the options"}


def test_an_interaction_comes_before_main_slopes_and_these_before_those_at_an_end() -> None:
    names = [
        "gender",
        "gender-x-race",
        "gender-x-race=-2",
        "gender-x-race=2",
        "race",
        "race-x-gender=2",
    ]
    rows = slopes(*({"label": "a", "slope": 1.0, "attribute": name} for name in names))
    found = [attribute for _, attribute, _, _ in decisions.by_pair(rows)]
    assert found == ["gender-x-race", "gender", "race", *names[2:4], names[5]]


def test_every_code_has_a_word_and_a_sentence_and_is_counted() -> None:
    assert {*decisions.SHOWN} == {"finding", "placebo", "open", "none", "unjudged"}
    assert all(text["word"] and text["about"] for text in decisions.MEANINGS.values())
    counted = decisions.counts({"a": decisions.Decision("none", "")})
    assert counted == {"finding": 0, "placebo": 0, "open": 0, "none": 1, "unjudged": 0}


# -- test recommended -------------------------------------------------------------------------------------------------


def slopes(*rows: dict[str, object]) -> pd.DataFrame:
    base = {
        "classifier": "c",
        "attribute": "gender",
        "n": 40,
        "estimator": "photo-rate",
        "note": "",
        "reason": "",
    }
    base |= {"unit": "percentage points per unit", "q": 0.001, "decision": "finding", "detail": ""}
    return pd.DataFrame([base | row for row in rows]).reindex(columns=list(SLOPES.columns))


def test_a_label_stands_once_however_many_estimators_and_placebos_there_are() -> None:
    frame = slopes(
        {"label": "lips", "slope": -26.8},
        {"label": "lips", "slope": -0.4, "estimator": "paper", "decision": None},
        {"label": "lips", "slope": 4.0, "attribute": "gender-light"},
        {"label": "lips", "slope": 6.7, "attribute": "gender-random"},
    )
    found = findings_table(frame)
    assert found["slope"].tolist() == [-26.8]
    assert tuple(found) == tuple(findings_table(slopes().head(0))) == COLUMNS
    rows = summary_rows(found)
    assert list(rows) == FINDINGS.columns
    assert rows.loc[0, ["model", "contrast", "label", "value"]].tolist() == [
        "c",
        "gender",
        "lips",
        -26.8,
    ]


def test_findings_come_first_and_the_steepest_of_them_before_the_others() -> None:
    rare = {
        "decision": "unjudged",
        "reason": "rare",
        "detail": "too few photos change their answer",
        "q": np.nan,
    }
    found = findings_table(
        slopes(
            {"label": "a", "slope": 90.0, **rare},
            {"label": "b", "slope": 2.0},
            {"label": "c", "slope": -5.0},
            {
                "label": "d",
                "slope": 9.0,
                "decision": "none",
                "reason": "own-test",
                "detail": "q 0.4",
            },
        )
    )
    assert found["label"].tolist() == ["c", "b", "d", "a"]
    assert found["reason"].tolist() == ["", "", "own-test", "rare"]


def test_a_label_is_read_by_its_measure() -> None:
    odds = {"estimator": "photo-measure", "unit": "log-odds per unit", "measure": "log-odds"}
    found = findings_table(
        slopes(
            {"label": "scored", "slope": 0.0, "decision": "unjudged"},
            {"label": "scored", "slope": 0.7, **odds},
            {"label": "tagged", "slope": 8.0, "measure": "presence"},
        )
    )
    assert dict(zip(found["label"], found["slope"], strict=True)) == {"tagged": 8.0, "scored": 0.7}
    assert set(found["unit"]) == {"percentage points per unit", "log-odds per unit"}


def test_the_table_for_a_paper_has_intervals_decisions_and_no_label_that_is_not_judged(
    tmp_path: Path,
) -> None:
    frame = slopes(
        {"label": "a_b", "slope": -9.0, "ci_low": -11.0, "ci_high": -7.0},
        {
            "label": "hat",
            "slope": 50.0,
            "decision": "unjudged",
            "reason": "rare",
            "detail": "too few photos change their answer",
        },
    )
    write_findings(tmp_path, findings_table(frame))
    tex = (tmp_path / "findings.tex").read_text()
    assert (
        "a\\_b & perceived gender & $-$9.0 & [$-$11.0, $-$7.0] & percentage points per unit & 0.001 & finding"
        in tex
    )
    assert "photo-rate" in tex
    assert "hat" not in tex
    assert pd.read_csv(tmp_path / "findings.csv")["label"].tolist() == ["a_b", "hat"]


def test_slopes_of_error_rates_stand_last_and_those_along_placebos_nowhere() -> None:
    rows = [
        ("gender", "Smiling", "miss", 4.0, "finding"),
        ("gender", "all labels", "error", 9.0, "none"),
    ]
    rows += [("gender-light", "Smiling", "miss", 1.0, None)]
    errors = pd.DataFrame(rows, columns=["attribute", "label", "measure", "slope", "decision"])
    errors = errors.assign(
        classifier="c", n=20, q=0.01, ci_low=1.0, ci_high=9.0, reason="", note=""
    )
    found = findings_table(slopes({"label": "lips", "slope": -26.8}), errors)
    assert found["label"].tolist() == ["lips", "errors: Smiling, miss", "errors: all labels, error"]
    assert found["unit"].tolist()[1:] == ["percentage points of errors per unit"] * 2
    assert tuple(found) == COLUMNS


def test_an_expected_finding_stands_below_the_others_and_moves_no_number() -> None:
    frame = slopes(
        {"label": "Male", "slope": 30.0, "expected": True},
        {"label": "Hat", "slope": 2.0},
        {
            "label": "Mandarin",
            "slope": 9.0,
            "decision": "none",
            "reason": "own-test",
            "detail": "q 0.4",
        },
    )
    found = findings_table(frame)
    assert found["label"].tolist() == ["Hat", "Male", "Mandarin"]
    assert found["expected"].tolist() == [False, True, False]
    off = findings_table(frame.assign(expected=False))
    assert off["label"].tolist() == ["Male", "Hat", "Mandarin"]
    assert Decision("finding", "", expected=True).shown == "finding, expected"
