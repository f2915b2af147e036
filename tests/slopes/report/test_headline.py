import pandas as pd

from gslopes.slopes.report.decisions import Decision
from gslopes.slopes.report.headline import headline


def rows(n: int = 100, **slopes: float) -> pd.DataFrame:
    frame = pd.DataFrame({"label": list(slopes), "slope": list(slopes.values()), "n": n})
    return frame.assign(ci_low=frame["slope"] - 2.64, ci_high=frame["slope"] + 2.64)


def decided(**codes: str) -> dict[str, Decision]:
    return {label: Decision(code, "") for label, code in codes.items()}


def test_the_strongest_finding_is_told_with_its_direction_interval_and_how_many_move() -> None:
    found = decided(Male="finding", Makeup="placebo", Hat="none", Bald="unjudged")
    one = headline(rows(Male=17.54, Makeup=-30.0, Hat=1.0, Bald=90.0), found, "gender")
    assert one.sentence == (
        "“Male” appears 17.5 points more often per step toward masculine [14.9, 20.2]; "
        "1 of 3 labels moves, 1 does not, of 1 it cannot be said."
    )
    assert (one.strongest, one.moves, one.still, one.unjudged) == ("Male", 1, 2, 1)


def test_a_negative_slope_points_to_the_other_end_with_a_positive_number() -> None:
    one = headline(rows(Makeup=-18.4), decided(Makeup="finding"), "gender")
    assert "appears 18.4 points more often per step toward feminine [15.8, 21.0]; 1 of 1 label moves." in one.sentence


def test_nothing_found_is_said_in_as_many_words() -> None:
    one = headline(rows(a=2.0, b=1.0), decided(a="placebo", b="none"), "race")
    assert one.sentence == (
        "None of 2 labels moves with perceived race more than chance or a placebo explains "
        "(100 photos; widest: [−0.6, +4.6] points per step)."
    )
    assert headline(rows(a=1.0), decided(a="unjudged"), "race").sentence.startswith(
        "No label's answer varies on enough"
    )


def test_one_label_is_named_where_it_does_not_move() -> None:
    one = headline(rows(age=0.1, rare=9.0), decided(age="none", rare="unjudged"), "gender")
    assert one.sentence == (
        "“age” does not move with perceived gender more than chance explains "
        "(100 photos; widest: [−2.5, +2.7] points per step)."
    )


def test_a_run_that_judges_nothing_says_how_many_photos_would_do() -> None:
    why = "its answer varies on 9 of 12 photos; 10 are needed, about 14 photos like these would do"
    found = {"a": Decision("unjudged", "never"), "b": Decision("unjudged", why)}
    sentence = headline(rows(a=1.0, b=2.0).assign(varying=[1, 9]), found, "gender").sentence
    assert sentence == (
        "No label's answer varies on enough photos to say whether it moves with perceived gender. "
        f"The nearest is “b”: {why}."
    )


def test_a_sentence_without_findings_says_what_would_settle_it() -> None:
    found = {"a": Decision("open", "no placebo sweep of a random change was run")}
    sentence = headline(rows(a=5.0), found, "gender").sentence
    assert sentence.endswith("1 of 1 label moves. Not settled: no placebo sweep of a random change was run.")


def test_a_label_that_names_the_attribute_does_not_lead_while_another_moves() -> None:
    found = {**decided(Makeup="finding", Hat="none"), "Male": Decision("finding", "", expected=True)}
    one = headline(rows(Male=28.0, Makeup=-21.9, Hat=1.0), found, "gender")
    assert one.sentence.startswith("“Makeup” appears 21.9 points more often per step toward feminine")
    assert "2 of 3 labels move (“Male” as expected)" in one.sentence
    assert (one.strongest, one.moves, one.expected) == ("Makeup", 2, 1)


def test_an_open_label_leads_before_an_expected_finding() -> None:
    found = {**decided(Makeup="open"), "Male": Decision("finding", "", expected=True)}
    assert headline(rows(Male=28.0, Makeup=-2.9), found, "gender").strongest == "Makeup"


def test_where_expected_labels_alone_move_the_sentence_says_so() -> None:
    found = {**decided(Hat="none"), "Male": Decision("finding", "", expected=True)}
    one = headline(rows(Male=28.0, Hat=1.0), found, "gender")
    assert one.sentence.startswith("“Male” appears 28.0 points more often per step toward masculine")
    assert "1 of 2 labels moves, as expected" in one.sentence
    assert (one.strongest, one.expected) == ("Male", 1)


def test_with_few_photos_or_a_wide_interval_it_says_that_it_cannot_tell() -> None:
    wide = rows(a=1.0, b=2.0).assign(ci_low=[-9.0, -3.0], ci_high=[11.0, 21.0], n=30)
    none = decided(a="none", b="none")
    assert headline(wide, none, "gender").sentence == (
        "Cannot tell with 30 photos whether any of 2 labels moves with perceived gender more than chance explains: "
        "“b” may lie anywhere in [−3.0, +21.0] points per step."
    )
    one = headline(rows(n=8, a=1.0), decided(a="none"), "gender")
    assert one.sentence.startswith("Cannot tell with 8 photos whether “a” moves with perceived gender")
    bare = rows(a=0.0).assign(ci_low=float("nan"), ci_high=float("nan"))
    assert headline(bare, decided(a="none"), "gender").sentence.endswith("“a” has no interval.")


def test_of_several_labels_it_says_of_how_many_it_cannot_tell() -> None:
    frame = rows(a=1.0, b=2.0, c=30.0).assign(ci_high=[3.0, 9.0, 33.0])
    one = headline(frame, decided(a="none", b="placebo", c="none"), "gender")
    assert "is shown to move" in one.sentence
    assert "of 2 it cannot be said with 100 photos" in one.sentence
    moved = headline(frame, decided(a="none", b="none", c="finding"), "gender").sentence
    assert moved.endswith("1 of 3 labels moves, 1 does not, of 1 it cannot be said.")


def test_each_measure_has_its_own_size_that_matters() -> None:
    frame = rows(a=0.0).assign(ci_low=-0.1, ci_high=0.19, measure="log-odds")
    assert headline(frame, decided(a="none"), "gender").sentence.startswith("“a” does not move")
    assert headline(frame.assign(ci_high=0.21), decided(a="none"), "gender").sentence.startswith("Cannot tell")
    years = frame.assign(measure="value", unit="years per unit", sd=1.0)
    assert headline(years, decided(a="none"), "gender").sentence.startswith("“a” does not move")
    assert headline(years.assign(sd=0.5), decided(a="none"), "gender").sentence.startswith("Cannot tell")
    assert headline(years.assign(sd=None), decided(a="none"), "gender").sentence.startswith("Cannot tell")
