"""A crop audit's words and judgements."""

import math

import pandas as pd
import pytest

from gslopes.core.tables import frame_of
from gslopes.crops.audit import CROPS
from gslopes.crops.config import CONSTANT, TABLES
from gslopes.crops.page.words import headline, judged
from gslopes.frame.findings import decide


@pytest.mark.row("crops-4-limits")
def test_the_limits_say_what_the_authors_conclude():
    assert any(
        "let them set the crop, or do not crop" in line for line in CROPS.sentences["limits"]
    )


def pair(group, other, p, q, **more):
    """A row of PARITY, its interval 5 points to both sides."""
    row = {
        "cropper": "c",
        "variant": "native",
        "policy": "argmax",
        "outcome": "favoured",
        "column": "team",
    }
    row |= {
        "group": group,
        "other": other,
        "p": p,
        "ci_low": p - 0.05,
        "ci_high": p + 0.05,
        "q": q,
        "pairs": 90,
    }
    return {**row, "note": "", "verdict": "", "persons": 20, "other_persons": 30, **more}


def table(*rows):
    return frame_of(TABLES["parity"], rows)


def test_parity_is_zero_and_only_the_rows_that_head_the_page_count():
    rows = table(
        pair("a", "b", 0.5, 1.0, cropper="even"),
        pair("a", "b", 0.7, 0.01),
        pair("a", "b", 0.9, 0.001, outcome="kept@1"),
        pair("a", "b", 0.9, 0.001, policy="average"),
        pair("a", "b", 1.0, math.nan, note="too few to judge", cropper="few"),
    )
    findings = decide(judged({"parity": rows}))
    assert findings["model"].tolist() == ["c", "even", "few"]
    assert findings["value"].tolist() == pytest.approx([20, 0, 50])
    assert findings.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx([15, 25])
    assert findings["decision"].tolist() == ["finding", "none", "unjudged"]
    assert findings["contrast"][0] == "team: a over b"


EVEN = pair("a", "b", 0.51, 0.8, ci_low=0.48, ci_high=0.54)
WIDE = pair("a", "b", 0.845, 0.2, ci_low=0.21, ci_high=0.99, persons=4, other_persons=4)
FEW = pair("a", "d", 0.5, 0.8, ci_low=0.49, ci_high=0.51, persons=4, other_persons=4)
BARE = pair("a", "d", 0.5, 0.8, ci_low=math.nan, ci_high=math.nan)
UNSURE = pair("a", "b", 0.6, 1e-9, ci_low=0.49, ci_high=0.7)
SMALL = pair("b", "d", 0.9, math.nan, note="a group has fewer than 10 people (--min-group)")
WIDEST = "one group over another (50 people; widest: a over b 51.0 % (48.0 to 54.0 %))."


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [pair("a", "b", 0.6, 0.03), pair("a", "d", 0.3, 0.001), SMALL],
            "c favours d over a, in 70 % of pairs (65.0 to 75.0 %; 50 people). One pair of groups cannot be judged: "
            "a group has fewer than 10 people (--min-group).",
        ),
        (
            [EVEN, SMALL, {**SMALL, "other": "e"}, {**EVEN, "note": CONSTANT}],
            f"c does not favour {WIDEST} 3 pairs of groups cannot be judged: "
            "a group has fewer than 10 people (--min-group).",
        ),
        (
            [SMALL, {**EVEN, "note": CONSTANT}],
            "Too few people to say whom a crop keeps: a group has fewer than 10 people (--min-group).",
        ),
        (
            [SMALL],
            "Too few people to say whom a crop keeps: a group has fewer than 10 people (--min-group).",
        ),
        ([EVEN], f"c does not favour {WIDEST}"),
        ([EVEN, {**EVEN, "cropper": "e"}], f"None of the croppers favours {WIDEST}"),
        (
            [WIDE],
            "Cannot tell with 8 people whether c favours one group over another: a over b 84.5 % (21.0 to 99.0 %).",
        ),
        (
            [WIDE, {**EVEN, "other": "d"}],
            "Cannot tell with 8 people whether c favours one group over another, in 1 of 2 pairs: "
            "a over b 84.5 % (21.0 to 99.0 %).",
        ),
        (
            [FEW, {**FEW, "cropper": "e"}],
            "Cannot tell with 8 people whether any of the croppers favours one group over another, in 2 of 2 pairs: "
            "a over d 50.0 % (49.0 to 51.0 %).",
        ),
        (
            [BARE],
            "Cannot tell with 50 people whether c favours one group over another: a over d 50.0 % (no interval).",
        ),
        (
            [UNSURE],
            "Cannot tell with 50 people whether c favours one group over another: a over b 60.0 % (49.0 to 70.0 %).",
        ),
        (
            [pair("a", "b", 0.53, 0.06, ci_low=0.51, ci_high=0.545)],
            "Cannot tell with 50 people whether c favours one group over another: "
            "a over b 53.0 % (51.0 to 54.5 %), q 0.06.",
        ),
        (
            [UNSURE, pair("a", "d", 0.7, 0.01)],
            "c favours a over d, in 70 % of pairs (65.0 to 75.0 %; 50 people).",
        ),
        (
            [{**EVEN, "note": CONSTANT}],
            "People do not differ: a crop treats all of them alike.",
        ),
        ([], "No picture has an answer: nothing is known of any cropper."),
    ],
)
def test_the_finding_in_one_sentence_as_the_table_of_findings_has_it(rows, sentence):
    assert headline(table(*rows)) == sentence
    result = (decide(judged({"parity": table(*rows)}))["decision"] == "finding").any()
    assert result == (" favours " in sentence and not sentence.startswith(("Cannot", "None")))


def test_the_headline_names_croppers_without_an_answer():
    pairs = pd.DataFrame(
        {"cropper": ["c", "silent", "silent"], "status": ["answered", "failed", "refused"]}
    )
    text = CROPS.headline({"parity": table(EVEN), "pairs": pairs}).sentence
    assert text == f"c does not favour {WIDEST} No answer from silent."
