"""The sentences of the context audit's page."""

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.measures.paired import ALIKE, TOO_FEW
from gslopes.contexts.page.lead import headline, headline_of


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


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [("a", 8.0, 6.0, 10.0)],
            "a infers the self-reported gender of 16 more of 100 people where the context fits it wholly than where "
            "it fits not at all: +8.0 points per unit of congruence [+6.0, +10.0], 40 people.",
        ),
        (
            [("a", 1.0, -1.0, 3.0), ("b", -8.0, -10.0, -6.0)],
            "b infers the self-reported gender of 16 fewer of 100 people where the context fits it wholly than where "
            "it fits not at all: −8.0 points per unit of congruence [−10.0, −6.0], 40 people; "
            "a finding for 1 of 2 taggers.",
        ),
        (
            [("a", 0.7, -0.5, 1.9)],
            "No association between how well a context fits a person's gender and how often a infers it "
            "(40 people; widest: [−0.5, +1.9] points per unit of congruence, 5 would matter).",
        ),
        (
            [("a", 0.7, -0.5, 1.9), ("b", 7.0, -6.0, 20.0)],
            "Cannot tell with 40 people whether any of 2 taggers infers the self-reported gender more or less often "
            "where the context fits it: b may lie anywhere in [−6.0, +20.0] points per unit of congruence "
            "(5 would matter).",
        ),
    ],
)
def test_the_first_sentence_is_the_finding_with_its_interval(rows, sentence):
    assert headline(slopes(*rows)) == sentence


def test_an_interval_without_0_is_no_finding_by_itself() -> None:
    lead = "Cannot tell with 40 people whether a infers the self-reported gender more or less often where the context "
    lead += (
        "fits it: a lies in [+1.0, +15.0] points per unit of congruence (q 0.08 is not below 0.05)."
    )
    alone, strong = (slopes(("a", 8.0, 1.0, 15.0), q=q)["congruence"] for q in (0.08, 0.01))
    assert headline({"congruence": alone}) == lead
    both = pd.concat(
        [alone, strong.assign(classifier="b", slope=4.0, ci_high=7.0)], ignore_index=True
    )
    assert headline({"congruence": both}).startswith("b infers")
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
    assert headline(often).endswith(
        "a may lie anywhere in [−0.5, +1.9] points per unit of congruence (0.39 would matter)."
    )


def test_eight_people_tell_nothing_however_narrow_the_interval() -> None:
    few = {"congruence": slopes(("a", 0.7, -0.5, 1.9))["congruence"].assign(n=8)}
    assert headline(few).startswith(
        "Cannot tell with 8 people whether a infers the self-reported gender"
    )


def test_fewer_than_ten_people_are_not_judged_and_not_counted() -> None:
    row = {"n": 2, "q": np.nan, "ci_low": np.nan, "ci_high": np.nan, "note": TOO_FEW}
    two = slopes(("a", 30.0, 1.0, 59.0))["congruence"].assign(**row)
    assert headline({"congruence": two}) == (
        "Too few people to say whether a infers the self-reported gender more or less often where the context fits "
        "it: fewer than 10 people."
    )
    others = slopes(("b", 0.7, -0.5, 1.9))["congruence"]
    text = headline({"congruence": pd.concat([two, others], ignore_index=True)})
    assert text.startswith(
        "No association between how well a context fits a person's gender and how often b infers"
    )
    assert text.endswith(" a cannot be judged: fewer than 10 people.")


def test_no_more_of_100_people_than_the_share_of_right_answers_leaves_room_for() -> None:
    counted = {"classifier": "a", "tags": "gross", "gender": "woman", "inferred": ["woman", "man"]}
    often = pd.DataFrame({**counted, "n": 100, "count": [75, 25]})
    for slope, people in ((20, 40), (31, 56), (90, 100)):
        text = headline(slopes(("a", slope, slope - 5, slope + 5)) | {"inferred": often})
        assert f" of {people} more of 100 people " in text


@pytest.mark.row("contexts-6-google")
def test_a_tagger_that_infers_the_same_everywhere_has_no_slope_of_0_with_certainty():
    sentence = "infers the same of every person before every context: nothing varies, so there is no slope to judge."
    assert headline(slopes(("a", 0.0, 0.0, 0.0))) == f"a {sentence}"
    assert (
        headline(slopes(("a", 0.0, 0.0, 0.0), ("b", 0.0, 0.0, 0.0)))
        == f"Each of 2 taggers {sentence}"
    )
    assert headline(slopes(("a", 0.0, 0.0, 0.0), ("b", 9.0, 8.0, 10.0))).startswith(
        "b infers the self-reported gender"
    )


def test_a_slope_that_is_the_same_for_everybody_has_no_interval():
    text = headline(slopes(("a", 50.0, np.nan, np.nan)))
    assert text.endswith(
        "not at all: +50.0 points per unit of congruence, for every person alike: no interval."
    )
    text = headline(slopes(("a", 50.0, np.nan, np.nan), ("b", 1.0, -1.0, 3.0)))
    assert text.startswith("No association")
    assert text.endswith(f" a cannot be judged: {ALIKE}.")


def test_without_a_slope_it_says_what_is_missing():
    assert "two contexts of different rating" in headline({})
    assert "two contexts of different rating" in headline(slopes(("a", np.nan, np.nan, np.nan)))
