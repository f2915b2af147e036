"""What is decided of each label, the sentence, and the first table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core.summary import FINDINGS
from gslopes.core.tables import SLOPES
from gslopes.slopes.page import decisions
from gslopes.slopes.page.decisions import (
    COLUMNS,
    Decision,
    findings_table,
    headline,
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


def test_every_code_has_a_word_and_a_sentence_and_is_counted() -> None:
    assert set(decisions.SHOWN) == set(decisions.ABOUT) == set(decisions.CODES)
    counted = decisions.counts({"a": decisions.Decision("none", "")})
    assert counted == {"finding": 0, "placebo": 0, "open": 0, "none": 1, "unjudged": 0}


# -- test headline ----------------------------------------------------------------------------------------------------


def slopes_of(n: int = 100, **slopes: float) -> pd.DataFrame:
    frame = pd.DataFrame(
        {"label": list(slopes), "slope": list(slopes.values()), "n": n, "intercept": 50.0}
    )
    frame = frame.assign(y_first=0.5 - frame["slope"] / 100, y_last=0.5 + frame["slope"] / 100)
    return frame.assign(ci_low=frame["slope"] - 2.64, ci_high=frame["slope"] + 2.64)


def decided(**codes: str) -> dict[str, Decision]:
    return {label: Decision(code, "") for label, code in codes.items()}


EXPECTED = Decision("finding", "", expected=True)
LATER = "too few photos change their answer (9 of 12 do; 10 must; about 14 like these would do)"


@pytest.mark.parametrize(
    ("slopes", "codes", "sentence"),
    [
        (
            {"Male": 17.54, "Makeup": -30.0, "Hat": 1.0, "Bald": 90.0},
            {
                "Male": "finding",
                "Makeup": Decision("placebo", "light alone"),
                "Hat": "none",
                "Bald": "unjudged",
            },
            "“Male” rises from 32 to 68 of 100 photos between the feminine and the masculine end "
            "(slope +17.5 [+14.9, +20.2] points per unit, 100 photos); 1 of 3 labels moves, 1 does not, "
            "“Makeup” is undecided: it lies in [−32.6, −27.4] points per unit (light alone).",
        ),
        (
            {"Makeup": -18.4},
            {"Makeup": "finding"},
            "“Makeup” falls from 68 to 32 of 100 photos between the feminine and the masculine end "
            "(slope −18.4 [−21.0, −15.8] points per unit, 100 photos).",
        ),
        (
            {"a": 2.0, "b": 1.0},
            {"a": "placebo", "b": "none"},
            "None of 2 labels moves with perceived gender more than chance or a placebo explains "
            "(100 photos; widest: [−0.6, +4.6] points per unit, 5 would matter).",
        ),
        (
            {"age": 0.1, "rare": 9.0},
            {"age": "none", "rare": "unjudged"},
            "“age” does not move with perceived gender more than chance explains "
            "(100 photos; widest: [−2.5, +2.7] points per unit, 5 would matter).",
        ),
        (
            {"a": 5.0},
            {"a": Decision("open", "no placebo sweep was run")},
            "“a” rises from 45 to 55 of 100 photos between the feminine and the masculine end "
            "(slope +5.0 [+2.4, +7.6] points per unit, 100 photos). "
            "Not settled: no placebo sweep was run.",
        ),
        (
            {"Male": 28.0, "Heavy_Makeup": -21.9, "Hat": 1.0},
            {"Heavy_Makeup": "finding", "Hat": "none", "Male": EXPECTED},
            "“Heavy makeup” falls from 72 to 28 of 100 photos between the feminine and the masculine end "
            "(slope −21.9 [−24.5, −19.3] points per unit, 100 photos); 2 of 3 labels move "
            "(“Male” as expected), 1 does not.",
        ),
        (
            {"Male": 28.0, "Hat": 1.0},
            {"Hat": "none", "Male": EXPECTED},
            "“Male” rises from 22 to 78 of 100 photos between the feminine and the masculine end "
            "(slope +28.0 [+25.4, +30.6] points per unit, 100 photos); 1 of 2 labels moves, as expected, 1 does not.",
        ),
    ],
)
def test_the_headline_says_what_moves_and_of_what_it_cannot_be_said(
    slopes: dict, codes: dict, sentence: str
) -> None:
    found = {
        label: code if isinstance(code, Decision) else Decision(code, "")
        for label, code in codes.items()
    }
    assert headline(slopes_of(**slopes), found, "gender").sentence == sentence


def test_a_run_that_judges_nothing_says_how_many_photos_would_do() -> None:
    found = {"a": Decision("unjudged", "never"), "b": Decision("unjudged", LATER)}
    one = headline(slopes_of(a=1.0, b=2.0).assign(varying=[1, 9]), found, "gender")
    assert one.sentence == (
        "No label's answer varies on enough of 100 photos to say whether it moves with perceived gender. "
        f"The nearest is “b”: {LATER}."
    )
    assert (one.strongest, one.moves, one.still, one.unjudged) == ("", 0, 0, 2)
    single = headline(slopes_of(1, a=1.0, b=2.0).assign(varying=[0, 1]), found, "gender")
    assert single.sentence == "One photo cannot say whether a label moves with perceived gender."
    found = {**decided(Makeup="open"), "Male": EXPECTED}
    assert headline(slopes_of(Male=28.0, Makeup=-2.9), found, "gender").strongest == "Makeup"


def test_with_few_photos_or_a_wide_interval_it_says_that_it_cannot_tell() -> None:
    wide = slopes_of(a=1.0, b=2.0).assign(ci_low=[-9.0, -3.0], ci_high=[11.0, 21.0], n=30)
    assert headline(wide, decided(a="none", b="none"), "gender").sentence == (
        "Cannot tell with 30 photos whether any of 2 labels moves with perceived gender more than chance explains: "
        "“b” may lie anywhere in [−3.0, +21.0] points per unit (5 would matter)."
    )
    one = headline(slopes_of(n=8, a=1.0), decided(a="none"), "gender")
    assert one.sentence.startswith(
        "Cannot tell with 8 photos whether “a” moves with perceived gender"
    )
    bare = slopes_of(a=0.0).assign(ci_low=float("nan"), ci_high=float("nan"))
    assert headline(bare, decided(a="none"), "gender").sentence.endswith("“a” has no interval.")
    frame = slopes_of(a=1.0, b=2.0, c=30.0).assign(ci_high=[3.0, 9.0, 33.0])
    some = headline(frame, decided(a="none", b="placebo", c="none"), "gender").sentence
    assert "is shown to move" in some
    assert "with 100 photos 2 are undecided: " in some


def test_each_measure_has_its_own_size_that_matters() -> None:
    frame = slopes_of(a=0.0).assign(ci_low=-0.1, ci_high=0.19, measure="log-odds")
    assert headline(frame, decided(a="none"), "gender").sentence.startswith("“a” does not move")
    assert headline(frame.assign(ci_high=0.21), decided(a="none"), "gender").sentence.startswith(
        "Cannot tell"
    )
    years = frame.assign(measure="value", unit="years per unit", sd=1.0)
    assert headline(years, decided(a="none"), "gender").sentence.startswith("“a” does not move")
    assert headline(years.assign(sd=0.5), decided(a="none"), "gender").sentence.startswith(
        "Cannot tell"
    )
    assert headline(years.assign(sd=None), decided(a="none"), "gender").sentence.startswith(
        "Cannot tell"
    )


@pytest.mark.parametrize("measure", ["presence", "log-odds", "value"])
@pytest.mark.parametrize(("share", "matters"), [(0.5, 5.0), (0.02, 0.392)])
def test_absence_is_shown_by_an_interval_about_0_within_what_matters(
    measure: str, share: float, matters: float
) -> None:
    size = {"presence": matters, "log-odds": 0.2, "value": 0.2 * 7}[measure]
    facts = {
        "measure": measure,
        "intercept": 100 * share,
        "sd": 7.0,
        "unit": "years per unit",
        "n": 60,
    }
    for (low, high), still in {
        (-0.9, 0.9): True,
        (0.1, 0.9): False,
        (-0.9, -0.1): False,
        (-0.9, 1.1): False,
    }.items():
        for units in (5, 9, 10, 60):
            rows = slopes_of(a=0.0).assign(
                ci_low=low * size, ci_high=high * size, units=units, **facts
            )
            said = headline(rows, {"a": Decision("none", "q 0.06")}, "gender").sentence
            assert said.startswith("“a” does not move") == (still and units >= 10)
            assert said.endswith("(q 0.06).") == (low * high > 0)
            assert (
                said.startswith(f"Cannot tell with {units} clusters' worth") or still or units == 60
            )
            rows = pd.concat([rows, slopes_of(b=30.0).assign(units=units, **facts)])
            said = headline(
                rows, {"a": Decision("none", "q 0.06"), "b": Decision("finding", "")}, "gender"
            ).sentence
            assert ("1 does not" in said) == (still and units >= 10)
            assert ("“a” is undecided: it" in said) == (not still or units < 10)


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
    write_findings(tmp_path, frame)
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
