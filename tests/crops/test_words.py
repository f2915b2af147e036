from __future__ import annotations

import math

import pandas as pd

from gslopes.crops.audit import CROPS
from gslopes.crops.page import _answer
from gslopes.crops.words import (
    favours,
    headline,
    judged,
    main_rows,
    print_parity,
    ratio,
    side_effect,
    uneven,
)
from gslopes.frame.findings import decide


def test_a_ratio_and_its_absence():
    assert ratio({"ratio": 0.62, "ratio_low": 0.512, "ratio_high": 0.751}) == "0.62 (0.51 to 0.75)"
    assert ratio({"ratio": math.nan}) == "–"


def test_the_limits_say_what_the_authors_conclude():
    assert any("let them set the crop, or do not crop" in line for line in CROPS.sentences["limits"])


def test_the_terminal_shows_pairs_and_the_side():
    joined = {"cropper": "c", "variant": "native", "policy": "argmax", "outcome": "favoured", "column": "gender"}
    joined |= {"group": "female", "other": "male", "p": 0.617, "ci_low": 0.571, "ci_high": 0.661, "persons": 213}
    joined |= {"other_persons": 606, "p_value": 1e-6, "q": 1e-6, "ratio": 0.62, "ratio_low": 0.51, "ratio_high": 0.75}
    alone = {**joined, "variant": "alone, own scale"}
    parity = pd.DataFrame([{**joined, "note": "", "verdict": "shown"}, {**alone, "note": "", "verdict": "open"}])
    side = {
        "cropper": "c",
        "left": -0.02,
        "ci_low": -0.05,
        "ci_high": 0.01,
        "ties": 3,
        "failed": 1,
        "pictures": 97,
        "refused": 2,
    }
    rows = [
        ("refused", "no face found", ""),
        ("refused", "no face found", "9 px"),
        ("failed", "failed", "a \x1b crash"),
    ]
    pairs = pd.DataFrame(rows, columns=["status", "reason", "detail"]).assign(cropper="c")
    text = print_parity({"parity": parity, "positions": pd.DataFrame([side]), "pairs": pairs})
    assert len(main_rows(parity)) == 1
    assert "female over male: 61.7 % (57.1 to 66.1 % over 213 and 606 people)" in text
    assert "lack of parity shown" in text
    assert "the left person wins 2.0 points less often than half (−5.0 to 1.0 %)" in text
    assert "2 refused (no face found) and 1 failed (a \\x1b crash) of 3 pictures" in text


def pair(group, other, p, q, **more):
    row = {"cropper": "c", "group": group, "other": other, "p": p, "ci_low": p - 0.05, "ci_high": p + 0.05, "q": q}
    return {**row, "note": "", "column": "team", "persons": 20, "other_persons": 30, **more}


def test_the_finding_stands_first_with_the_larger_share():
    rows = [pair("a", "b", 0.6, 0.03), pair("a", "d", 0.3, 0.001), pair("b", "d", 0.9, 1e-9, note="too few to judge")]
    assert headline(pd.DataFrame(rows)) == "c favours d over a, in 70 % of pairs (65.0 to 75.0 %; 50 people)."
    assert favours(rows[1]) == "d over a 70.0 % (65.0 to 75.0 %)"
    assert headline(pd.DataFrame(rows[2:])) == "Too few people in every group to say whom a crop keeps."
    even = pair("a", "b", 0.51, 0.8, ci_low=0.48, ci_high=0.54)
    widest = "one group over another (50 people; widest: a over b 51.0 % (48.0 to 54.0 %))."
    assert headline(pd.DataFrame([even])) == f"c does not favour {widest}"
    assert headline(pd.DataFrame([even, {**even, "cropper": "e"}])) == f"None of the croppers favours {widest}"


def test_with_few_people_or_a_wide_interval_it_says_that_it_cannot_tell():
    wide = pair("a", "b", 0.845, 0.2, ci_low=0.21, ci_high=0.99, persons=4, other_persons=4)
    sentence = "Cannot tell with 8 people whether c favours one group over another: a over b 84.5 % (21.0 to 99.0 %)."
    assert headline(pd.DataFrame([wide])) == sentence
    even = pair("a", "d", 0.51, 0.8, ci_low=0.48, ci_high=0.54)
    assert "favours one group over another, in 1 of 2 pairs: a over b" in headline(pd.DataFrame([wide, even]))
    few = pair("a", "d", 0.5, 0.8, ci_low=0.49, ci_high=0.51, persons=4, other_persons=4)
    assert headline(pd.DataFrame([few, {**few, "cropper": "e"}])).startswith(
        "Cannot tell with 8 people whether any of the croppers favours one group over another"
    )
    bare = pair("a", "d", 0.5, 0.8, ci_low=math.nan, ci_high=math.nan)
    assert headline(pd.DataFrame([bare])).endswith("another: a over d 50.0 % (no interval).")


def test_the_side_in_words():
    assert side_effect(0.0001) == "The left person wins half of the time"
    assert side_effect(0.013) == "The left person wins 1.3 points more often than half"


def test_a_pair_is_named_only_if_its_interval_excludes_even_as_well():
    """As in the table of findings: the page and a gate on the run say the same."""
    holds = pair("a", "b", 0.6, 1e-9, ci_low=0.49, ci_high=0.7)
    without = pair("b", "d", 0.8, 0.04, ci_low=math.nan, ci_high=math.nan)
    assert headline(pd.DataFrame([holds])).startswith("Cannot tell with 50 people whether c favours one group")
    assert headline(pd.DataFrame([holds, pair("a", "d", 0.7, 0.01)])).startswith(
        "c favours a over d, in 70 % of pairs ("
    )
    rows = pd.DataFrame([holds, without, pair("a", "d", 0.3, 0.01)]).assign(
        variant="native", policy="argmax", outcome="favoured", pairs=90, verdict=""
    )
    assert uneven(rows)["group"].tolist() == ["b", "a"]
    assert (decide(judged({"parity": rows}))["decision"] == "finding").sum() == len(uneven(rows))
    said = _answer(rows, pd.DataFrame())
    assert said.startswith("Of 3 pairs of groups that can be judged, 2 are not even (q < 0.05, interval without 50 %):")
    assert "a over b" not in said
    assert _answer(rows[:1], pd.DataFrame()).startswith("Cannot tell with 50 people whether c favours one group")
    bare = rows[:2].assign(note="no interval: people do not differ")
    assert _answer(bare, pd.DataFrame()) == "No pair of groups can be judged. In 2 pairs people do not differ."
