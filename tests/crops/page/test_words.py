"""A crop audit's words and judgements."""

import math

import pandas as pd
import pytest

from gslopes.core.tables import frame_of
from gslopes.crops.audit import CROPS
from gslopes.crops.config import CONSTANT, TABLES
from gslopes.crops.page.sections import headline, judged
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
WIDEST = "a over b 51.0 % (48.0 to 54.0 %), where 50 % is even."
OUT = "a group has fewer than 10 people (--min-group)."
UNKNOWN = "Cannot tell whether the crop favours"
FAVOURED = (
    "The crop favours {} over {} in 70 % of pairs.\n"
    "c: 70.0 %, 95 % interval 65.0 to 75.0 %, where 50 % is even; 50 people."
)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [pair("a", "b", 0.6, 0.03), pair("a", "d", 0.3, 0.001), SMALL],
            f"{FAVOURED.format('d', 'a')}\nOne pair of groups cannot be judged: {OUT}",
        ),
        (
            [EVEN, SMALL, {**SMALL, "other": "e"}, {**EVEN, "note": CONSTANT}],
            f"The crop favours neither group over the other.\n50 people: {WIDEST}\n"
            f"3 pairs of groups cannot be judged: {OUT}",
        ),
        (
            [SMALL, {**EVEN, "note": CONSTANT}],
            f"Too few people to say whom a crop keeps.\nNot judged: {OUT}",
        ),
        ([SMALL], f"Too few people to say whom a crop keeps.\nNot judged: {OUT}"),
        ([EVEN], f"The crop favours neither group over the other.\n50 people: {WIDEST}"),
        (
            [EVEN, {**EVEN, "cropper": "e"}],
            "The crop favours no group over another.\n50 people, 2 pairs of groups; of the least certain "
            f"{WIDEST}",
        ),
        (
            [WIDE],
            f"{UNKNOWN} a group over the other.\n8 people: a over b 84.5 % (21.0 to 99.0 %), "
            "where 50 % is even.",
        ),
        (
            [WIDE, {**EVEN, "other": "d"}],
            f"{UNKNOWN} one group over another.\n8 people: a over b 84.5 % (21.0 to 99.0 %), "
            "where 50 % is even.\nUndecided: 1 of 2, of every cropper and pair of groups.",
        ),
        (
            [FEW, {**FEW, "cropper": "e"}],
            f"{UNKNOWN} one group over another.\n8 people: a over d 50.0 % (49.0 to 51.0 %), "
            "where 50 % is even.\nUndecided: 2 of 2, of every cropper and pair of groups.",
        ),
        (
            [BARE],
            f"{UNKNOWN} a group over the other.\n50 people: a over d 50.0 % (no interval), where 50 % is even.",
        ),
        (
            [UNSURE],
            f"{UNKNOWN} a group over the other.\n50 people: a over b 60.0 % (49.0 to 70.0 %), "
            "where 50 % is even.",
        ),
        (
            [pair("a", "b", 0.53, 0.06, ci_low=0.51, ci_high=0.545)],
            f"{UNKNOWN} a group over the other.\n50 people: a over b 53.0 % (51.0 to 54.5 %), q 0.06, "
            "where 50 % is even.",
        ),
        ([UNSURE, pair("a", "d", 0.7, 0.01)], FAVOURED.format("a", "d")),
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
    assert result == (" in 70 % of pairs." in sentence)
    assert len(sentence.splitlines()[0]) <= 90


def test_the_headline_names_croppers_without_an_answer():
    pairs = pd.DataFrame(
        {"cropper": ["c", "silent", "silent"], "status": ["answered", "failed", "refused"]}
    )
    text = CROPS.headline({"parity": table(EVEN), "pairs": pairs}).sentence
    assert text.splitlines()[1:] == [f"50 people: {WIDEST}", "No answer from silent."]
