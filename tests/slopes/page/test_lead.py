"""The sentence about one classifier along one attribute."""

import pandas as pd
import pytest

from gslopes.slopes.page.decisions import Decision
from gslopes.slopes.page.lead import headline


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
