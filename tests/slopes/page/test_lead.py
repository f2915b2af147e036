"""The sentence about one classifier along one attribute."""

import pandas as pd
import pytest

from gslopes.slopes.page.decisions import Decision, decide
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
            "“Male” rises from 32 to 68 of 100 photos, feminine to masculine.\n"
            "Slope +17.5 [+14.9, +20.2] points per unit, 100 photos.\n"
            "1 of 4 labels moves, 1 does not, 1 cannot be judged. "
            "“Makeup” is undecided: it has the 95 % interval [−32.6, −27.4] points per unit (light alone).",
        ),
        (
            {"Makeup": -18.4},
            {"Makeup": "finding"},
            "“Makeup” falls from 68 to 32 of 100 photos, feminine to masculine.\n"
            "Slope −18.4 [−21.0, −15.8] points per unit, 100 photos.",
        ),
        (
            {"a": 2.0, "b": 1.0},
            {"a": "placebo", "b": "none"},
            "None of 2 labels moves with perceived gender.\n"
            "100 photos, from feminine to masculine: no interval reaches what would matter. "
            "The widest is of “a”: [−0.6, +4.6] points per unit, 5 points or more would matter.",
        ),
        (
            {"age": 0.1, "rare": 9.0},
            {"age": "none", "rare": "unjudged"},
            "“age” does not move with perceived gender.\n"
            "100 photos, from feminine to masculine: the interval does not reach what would matter: "
            "[−2.5, +2.7] points per unit, 5 points or more would matter.\n1 other label cannot be judged.",
        ),
        (
            {"a": 5.0},
            {"a": Decision("open", "no placebo sweep was run")},
            "“a” rises from 45 to 55 of 100 photos, feminine to masculine.\n"
            "Slope +5.0 [+2.4, +7.6] points per unit, 100 photos.\n"
            "What moves it is not settled (no placebo sweep was run).",
        ),
        (
            {"a": 5.0, "b": -6.0, "c": 4.0, "d": 1.0, "rare": 9.0},
            {
                "a": "finding",
                "b": Decision("open", "refusals depend on the value"),
                "c": "finding",
                "d": "none",
                "rare": "unjudged",
            },
            "“a” rises from 45 to 55 of 100 photos, feminine to masculine.\n"
            "Slope +5.0 [+2.4, +7.6] points per unit, 100 photos.\n3 of 5 labels move, 1 does not, 1 cannot be judged. "
            "What moves 1 of them is not settled (refusals depend on the value).",
        ),
        (
            {"a": 5.0, "b": 6.0},
            {
                "a": Decision("open", "no placebo sweep was run"),
                "b": Decision("open", "no placebo sweep was run"),
            },
            "“b” rises from 44 to 56 of 100 photos, feminine to masculine.\n"
            "Slope +6.0 [+3.4, +8.6] points per unit, 100 photos.\n2 of 2 labels move. "
            "What moves them is not settled (no placebo sweep was run).",
        ),
        (
            {"Male": 28.0, "Heavy_Makeup": -21.9, "Hat": 1.0},
            {"Heavy_Makeup": "finding", "Hat": "none", "Male": EXPECTED},
            "“Heavy makeup” falls from 72 to 28 of 100 photos, feminine to masculine.\n"
            "Slope −21.9 [−24.5, −19.3] points per unit, 100 photos.\n2 of 3 labels move "
            "(“Male” as expected), 1 does not.",
        ),
        (
            {"Male": 28.0, "Hat": 1.0},
            {"Hat": "none", "Male": EXPECTED},
            "“Male” rises from 22 to 78 of 100 photos, feminine to masculine.\n"
            "Slope +28.0 [+25.4, +30.6] points per unit, 100 photos.\n1 of 2 labels moves, as expected, 1 does not.",
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
        f"No label can be judged with 100 photos.\nNearest to it is “b”: {LATER}."
    )
    assert (one.strongest, one.moves, one.still, one.unjudged) == ("", 0, 0, 2)
    single = headline(slopes_of(1, a=1.0, b=2.0).assign(varying=[0, 1]), found, "gender")
    assert single.sentence == "One photo cannot say whether a label moves with perceived gender."
    found = {**decided(Makeup="open"), "Male": EXPECTED}
    assert headline(slopes_of(Male=28.0, Makeup=-2.9), found, "gender").strongest == "Makeup"


def test_with_few_photos_or_a_wide_interval_it_says_that_it_cannot_tell() -> None:
    wide = slopes_of(a=1.0, b=2.0).assign(ci_low=[-9.0, -3.0], ci_high=[11.0, 21.0], n=30)
    assert headline(wide, decided(a="none", b="none"), "gender").sentence == (
        "Cannot tell whether any of 2 labels moves with perceived gender.\n30 photos, from feminine to masculine: "
        "“b” has the 95 % interval [−3.0, +21.0] points per unit (5 points or more would matter)."
    )
    one = headline(slopes_of(n=8, a=1.0), decided(a="none"), "gender")
    assert one.sentence.startswith(
        "Cannot tell whether “a” moves with perceived gender.\n8 photos, from"
    )
    bare = slopes_of(a=0.0).assign(ci_low=float("nan"), ci_high=float("nan"))
    assert headline(bare, decided(a="none"), "gender").sentence.endswith("“a” has no interval.")
    frame = slopes_of(a=1.0, b=2.0, c=30.0).assign(ci_high=[3.0, 9.0, 33.0])
    some = headline(frame, decided(a="none", b="placebo", c="none"), "gender").sentence
    assert "is shown to move" in some
    assert (
        "\n100 photos, from feminine to masculine: “c” has the 95 % interval [+27.4, +33.0]" in some
    )
    assert some.endswith(
        "\nUndecided: 2 of 3 labels; of the others a move that would matter is ruled out."
    )


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
            told = said.startswith("Cannot tell") and f"\n{units} clusters' worth" in said
            assert told or still or units == 60
            rows = pd.concat([rows, slopes_of(b=30.0).assign(units=units, **facts)])
            said = headline(
                rows, {"a": Decision("none", "q 0.06"), "b": Decision("finding", "")}, "gender"
            ).sentence
            assert ("1 does not" in said) == (still and units >= 10)
            assert ("“a” is undecided: it" in said) == (not still or units < 10)


def test_of_labels_that_were_asked_it_counts_those_that_cannot_be_judged() -> None:
    names = [f"l{place:02d}" for place in range(21)]
    rows = slopes_of(16, **{name: 25.0 + place / 10 for place, name in enumerate(names)})
    codes = ["finding"] * 6 + ["unjudged"] * 15
    ends = {"y_first": 14 / 16, "y_last": 0.0, "slope": -25.0}
    sentence = headline(
        rows.assign(**ends), decided(**dict(zip(names, codes, strict=True))), "gender"
    ).sentence
    assert sentence.startswith("“l00” falls from 14 to 0 of 16 photos, feminine to masculine.\n")
    assert sentence.endswith("16 photos.\n6 of 21 labels move, 15 cannot be judged.")


def test_the_count_after_a_slope_is_of_clusters_where_they_are_the_units() -> None:
    rows = slopes_of(120, a=9.0).assign(units=30)
    sentence = headline(rows, decided(a="finding"), "gender").sentence
    assert sentence.endswith("points per unit, 30 clusters' worth of photos.")


LONG = "list:" + "very_long_name_of_an_adjective_" * 3


@pytest.mark.parametrize(
    "attribute",
    [
        *(
            "gender",
            "race: East Asian − Middle Eastern",
            "a_name_that_a_stranger_gave_to_an_attribute",
        ),
        *("gender-x-tone", "gender-x-race: Middle Eastern − Southeast Asian"),
    ],
)
@pytest.mark.parametrize("measure", ["presence", "log-odds", "value"])
@pytest.mark.parametrize("codes", [["finding"], ["none", "placebo"], ["none"], ["unjudged"]])
def test_a_heading_has_at_most_90_characters_and_its_numbers_stand_below(
    attribute: str, measure: str, codes: list[str]
) -> None:
    found = {f"{LONG}{place}": Decision(code, "") for place, code in enumerate(codes)}
    facts = {"measure": measure, "unit": "USD per unit", "sd": 1.0, "attribute": attribute}
    for n in (1, 5, 1234):
        for low in (-900.0, 0.1):
            rows = slopes_of(n, **dict.fromkeys(found, 1.0)).assign(ci_low=low, **facts)
            heading, *lines = headline(rows, found, attribute).sentence.splitlines()
            assert len(heading) <= 90
            assert heading.endswith(".")
            assert "[" not in heading
            assert codes == ["unjudged"] or f"{n:,} photo" in lines[0]
            assert codes == ["unjudged"] or "[" in lines[0]


def test_a_number_and_its_logarithm_are_one_label() -> None:
    rows = slopes_of(**{"salary (USD)": 5.0, "salary (log points)": 6.0, "own (log points)": 1.0})
    found = decided(**dict.fromkeys(rows["label"], "finding"))
    assert headline(rows, found, "gender").sentence.endswith("\n2 of 2 labels move.")


@pytest.mark.parametrize("reason", ["own-test", "same", "light", "random"])
@pytest.mark.parametrize("moving", [False, True])
def test_why_a_label_is_undecided_is_told_without_a_p(reason: str, moving: bool) -> None:
    why = "light alone: +2.7; paired difference +4.7 [+0.25, +12], p 0.065"
    found = {"a": Decision("placebo", why, reason=reason)}
    found |= {"b": Decision("finding", "")} if moving else {}
    rows = slopes_of(a=9.0, b=30.0)[: len(found)]
    said = headline(rows, found, "gender").sentence
    assert "“a”" in said
    assert "[+6.4, +11.6] points per unit (" in said
    for word in ("paired", "p 0", "q 0", "+4.7"):
        assert word not in said
    assert "chance" in said if reason == "own-test" else "may move as far" in said


# -- two attributes crossed -------------------------------------------------------------------------------------------

CROSSED = "gender-x-race"


def interaction(codes: dict[str, str], **columns: object) -> str:
    rows = slopes_of(**dict.fromkeys(codes, -3.0)).assign(attribute=CROSSED, **columns)
    return headline(rows, decided(**codes), CROSSED).sentence


def test_an_interaction_is_told_as_a_slope_that_differs() -> None:
    still = {"ci_low": -1.0, "ci_high": 1.0}
    assert interaction({"a": "none"}, **still) == (
        "“a” does not depend on both attributes together.\n100 photos. Its slope along perceived gender does not "
        "differ with perceived race by what would matter: "
        "[−1.0, +1.0] points per unit of both, 5 points or more would matter."
    )
    assert interaction({"a": "none", "b": "placebo"}, **still).startswith(
        "None of 2 labels depends on both attributes together.\n100 photos. No slope along perceived gender differs"
    )
    assert interaction({"a": "none", "b": "none"}, n=9, **still).startswith(
        "Cannot tell whether any of 2 labels depends on both attributes together.\n9 photos. Does a slope along"
    )
    assert interaction({"a": "none", "b": "none"}, ci_low=[-1.0, -9.0], ci_high=1.0).startswith(
        "None of 2 labels is shown to depend on both attributes together.\n"
        "100 photos. Does a slope along perceived gender differ with perceived race? “b” has"
    )
    assert interaction({"a": "unjudged"}) == ("No label can be judged with 100 photos.")
    assert "depends on both attributes together" in interaction({"a": "unjudged"}, n=1)


def test_an_interaction_that_is_found_counts_labels_that_have_one() -> None:
    ends = {"y_first": -0.25, "y_last": -1 / 16, "n": 16}
    assert interaction({"a": "finding", "b": "none", "c": "unjudged"}, **ends) == (
        "“a” falls by 4 of 16 photos on darker-skinned faces, by 1 on lighter-skinned.\n"
        "From feminine to masculine: interaction −3.0 [−5.6, −0.4] points per unit of both, 16 photos.\n"
        "1 of 3 labels has an interaction, 1 cannot be judged. “b” is undecided: "
        "it has the 95 % interval [−5.6, −0.4] points per unit of both (5 or more would matter)."
    )


# -- the order of a task's options ------------------------------------------------------------------------------------

FOLLOWED = (
    "The answers follow the order of the options, so nothing is said of the face.\n"
    "The place of an option moves its score by 95.0 points."
)


def ordered(points: float, code: str = "finding") -> str:
    rows = slopes_of(boss=10.0).assign(by_order=points, measure="presence")
    rows = rows.assign(decision=code, detail="", expected=None, reason="")
    return headline(rows, decide(rows), "gender").sentence


def test_a_task_whose_answers_follow_the_order_of_the_options_says_nothing_of_the_face() -> None:
    for code in ("finding", "none", "unjudged"):
        assert ordered(95.0, code) == FOLLOWED


def test_an_order_that_goes_further_than_the_face_is_told_first_with_both_sizes() -> None:
    assert ordered(94.9).startswith(
        "The order of the options moves the answers further than the face does.\n"
        "By 94.9 points, the face by 20.0 at most.\n"
        "“boss” rises from 40 to 60 of 100 photos"
    )
    assert ordered(20.0).startswith("The order")
    for less in (19.9, 4.9, float("nan")):
        assert ordered(less).startswith("“boss” rises from 40 to 60 of 100 photos")
