"""The sentences of the context audit's page."""

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.measures.paired import ALIKE, TOO_FEW
from gslopes.contexts.page.sections import headline, headline_of


def slopes(*rows: tuple[str, float, float, float], q: float = 0.01) -> dict[str, pd.DataFrame]:
    """(classifier, slope, low, high) as the ``congruence`` table, of 40 people."""
    head = {
        "measure": "correct",
        "gender": "all",
        "group": "all",
        "tags": "gross",
        "estimator": "person",
        "n": 40,
    }
    head |= {"note": ""}
    alike = {"q": np.nan, "se": 0.0, "note": ALIKE}
    frame = pd.DataFrame(
        [
            {"classifier": c, **head, "slope": s, "ci_low": a, "ci_high": b, "q": 0.9, "se": 1.0}
            | ({"q": q} if a * b > 0 else {} if a < b else alike)
            for c, s, a, b in rows
        ]
    )
    return {"congruence": frame}


UNIT = "points per unit of congruence: −1 where the room does not fit the person's gender, 1 where it fits"
UNKNOWN = "Cannot tell whether the room changes how often gender is inferred as people report it."


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [("a", 8.0, 6.0, 10.0)],
            "Gender is inferred as people report it for 16 more of 100 where the room fits it.\n"
            f"a: +8.0 [+6.0, +10.0] {UNIT}; 40 people.",
        ),
        (
            [("a", 1.0, -1.0, 3.0), ("b", -8.0, -10.0, -6.0)],
            "Gender is inferred as people report it for 16 fewer of 100 where the room fits it.\n"
            f"b: −8.0 [−10.0, −6.0] {UNIT}; 40 people; a finding for 1 of 2 taggers.",
        ),
        (
            [("a", 0.7, -0.5, 1.9)],
            "Gender is inferred as people report it, equally often whether the room fits or not.\n"
            "a, 40 people: the 95 % interval is [−0.5, +1.9] points per unit of congruence, 5",
        ),
        (
            [("a", 0.7, -0.5, 1.9), ("b", 7.0, -6.0, 20.0)],
            f"{UNKNOWN}\n40 people: b",
        ),
    ],
)
def test_the_heading_is_the_finding_and_below_it_is_its_interval(rows, sentence):
    text = headline(slopes(*rows))
    assert text.startswith(sentence)
    assert len(text.splitlines()[0]) <= 90


def test_an_interval_without_0_is_no_finding_by_itself() -> None:
    alone, strong = (slopes(("a", 8.0, 1.0, 15.0), q=q)["congruence"] for q in (0.08, 0.01))
    text = headline({"congruence": alone})
    assert text.startswith(f"{UNKNOWN}\n40 people: a ")
    assert text.endswith("[+1.0, +15.0] points per unit of congruence (q 0.08 is not below 0.05).")
    both = pd.concat(
        [alone, strong.assign(classifier="b", slope=4.0, ci_high=7.0)], ignore_index=True
    )
    assert "\nb: +4.0" in headline({"congruence": both})
    assert headline_of({"described": both, "congruence": both}).model == "b"


def test_what_matters_of_right_answers_is_the_log_odds_at_their_share() -> None:
    counted = {
        "classifier": "a",
        "tags": "gross",
        "gender": "woman",
        "inferred": ["woman", "man"],
        "n": 400,
    }
    often = slopes(("a", 0.7, -0.5, 1.9)) | {
        "inferred": pd.DataFrame({**counted, "count": [392, 8]})
    }
    assert "[−0.5, +1.9] points per unit of congruence (0.39 " in headline(often)


def test_eight_people_tell_nothing_however_narrow_the_interval() -> None:
    few = {"congruence": slopes(("a", 0.7, -0.5, 1.9))["congruence"].assign(n=8)}
    assert headline(few).startswith(f"{UNKNOWN}\n8 people: a ")


def test_fewer_than_ten_people_are_not_judged_and_not_counted() -> None:
    row = {"n": 2, "q": np.nan, "ci_low": np.nan, "ci_high": np.nan, "note": TOO_FEW}
    two = slopes(("a", 30.0, 1.0, 59.0))["congruence"].assign(**row)
    assert headline({"congruence": two}) == (
        "Too few people to say whether the room changes which gender is inferred.\na: fewer than 10 people."
    )
    others = slopes(("b", 0.7, -0.5, 1.9))["congruence"]
    text = headline({"congruence": pd.concat([two, others], ignore_index=True)})
    assert "equally often whether the room fits or not.\nb, 40 people" in text
    assert text.endswith("\na cannot be judged: fewer than 10 people.")


def test_no_more_of_100_people_than_the_share_of_right_answers_leaves_room_for() -> None:
    counted = {"classifier": "a", "tags": "gross", "gender": "woman", "inferred": ["woman", "man"]}
    often = pd.DataFrame({**counted, "n": 100, "count": [75, 25]})
    for slope, people in ((20, 40), (31, 56), (90, 100)):
        text = headline(slopes(("a", slope, slope - 5, slope + 5)) | {"inferred": often})
        assert f" {people} more of 100 " in text


@pytest.mark.row("contexts-6-google")
def test_a_tagger_that_infers_the_same_everywhere_has_no_slope_of_0_with_certainty():
    sentence = "The same is inferred of every person before every background.\n"
    nothing = "nothing varies, so there is no slope to judge."
    assert headline(slopes(("a", 0.0, 0.0, 0.0))) == f"{sentence}a: {nothing}"
    several = slopes(("a", 0.0, 0.0, 0.0), ("b", 0.0, 0.0, 0.0))
    assert headline(several) == f"{sentence}2 taggers: {nothing}"
    assert "\nb: +9.0" in headline(slopes(("a", 0.0, 0.0, 0.0), ("b", 9.0, 8.0, 10.0)))


def test_a_slope_that_is_the_same_for_everybody_has_no_interval():
    text = headline(slopes(("a", 50.0, np.nan, np.nan)))
    assert text.endswith(f"a: +50.0 {UNIT}; for every person alike, so there is no interval.")
    text = headline(slopes(("a", 50.0, np.nan, np.nan), ("b", 1.0, -1.0, 3.0)))
    assert "equally often" in text
    assert text.endswith(f"\na cannot be judged: {ALIKE}.")


def test_without_a_slope_it_says_what_is_missing():
    assert "two contexts of different rating" in headline({})
    assert "two contexts of different rating" in headline(slopes(("a", np.nan, np.nan, np.nan)))
