from __future__ import annotations

import math

import pandas as pd
import pytest

from gslopes.captions import tables as schemas
from gslopes.captions.report.lead import SENTENCES, findings, headline

NOBODY = schemas.SALIENCE.empty()


def measured(*rows: dict[str, object]) -> pd.DataFrame:
    plain = dict.fromkeys(schemas.MEASURES.columns, "")
    plain |= dict.fromkeys(("value", "ci_low", "ci_high", "boot_low", "boot_high", "p", "q"), math.nan)
    given = {"unit": "pp", "stage": "system-captions", "column": "skin", "group": "darker", "other": "lighter"}
    return pd.DataFrame([{**plain, **given, "reading": "face", **row} for row in rows])


def row(technique: str, value: float, q: float, **more: object) -> dict[str, object]:
    return {"technique": technique, "value": value, "q": q, "p": q, "ci_low": value - 2, "ci_high": value + 2} | more


def test_descriptions_of_people_lead_and_each_technique_is_named_once():
    rows = measured(
        row("S3", 30, 0.0001, concept="tie.n.01"),
        row("S3", 10, 0.01, concept="dog.n.01"),
        row("D2", 4.5, 0.02, concept="unmentioned"),
        row("E1", 9, 0.2, concept="people unmentioned"),
    )
    found = findings(rows, NOBODY)
    assert [one["technique"] for one in found] == ["D2", "S3"]
    text = (
        "People annotated darker go unmentioned in system captions 4.5 points more often than people annotated lighter."
    )
    assert headline(found, rows, 3) == text
    assert (found[0]["interval"], found[0]["q"]) == ("[+2.5, +6.5]", "q = 0.020")
    assert "“tie” 30.0 points more" in found[1]["text"]


def test_the_system_comes_before_human_captions():
    rows = measured(
        row("S3", -30, 0.0001, concept="tie.n.01", stage="human-captions"), row("S3", 8, 0.04, concept="dog.n.01")
    )
    (one,) = findings(rows, NOBODY)
    assert one["text"].startswith("System captions say “dog”")


def test_gender_words_are_no_finding_between_genders():
    rows = measured(
        row("S3", 90, 0.0, concept="woman.n.01", column="gender"),
        row("S1", 80, 0.0, concept="too-specific:man.n.01", column="gender"),
    )
    assert findings(rows, NOBODY) == []
    assert len(findings(measured(row("S3", 90, 0.0, concept="woman.n.01")), NOBODY)) == 1


@pytest.mark.parametrize(
    ("technique", "concept", "said"),
    [
        ("S1", "too-specific:man.n.01", "System captions go beyond the labels with “man” 5.0 points more often"),
        ("S1", "hallucination:tie.n.01", "System captions wrongly include “tie” 5.0 points more often"),
        ("I2", "none", "System captions mention no person 5.0 points more often for people annotated darker"),
        ("I2", "mismatch", "System captions use words of the other gender 5.0 points more often"),
    ],
)
def test_a_rule_is_stated_in_words(technique: str, concept: str, said: str):
    (one,) = findings(measured(row(technique, 5, 0.001, concept=concept)), NOBODY)
    assert one["text"].startswith(said)


def test_nothing_found_is_said():
    assert headline([], measured(row("D2", 1, 0.5)), 4) == "No difference between groups has q below 0.05."
    bare = measured(row("D4", 1, math.nan, p=math.nan))
    assert headline([], bare, 4) == "No groups were compared; 4 cases wait to be read."
    assert findings(bare, NOBODY) == []
    assert headline([], bare, 0) == "No groups were compared, and no case was found."


def test_a_strangers_words_are_printable_and_s2_is_in_log_odds():
    hostile = {"group": "<b>\u202edark", "other": "light"}
    (one,) = findings(measured(row("D2", 5, 0.01, concept="unmentioned", **hostile)), NOBODY)
    assert "\u202e" not in one["text"]
    salience = {**dict.fromkeys(schemas.SALIENCE.columns, ""), **row("S2", 0, 0.01, concept="dress.n.01")}
    salience |= {
        "coefficient": -1.25,
        "eligible": True,
        "stage": "system-captions",
        "ci_low": -2.0,
        "ci_high": -0.5,
    }
    salience |= {"group": "male", "other": "female"}
    (two,) = findings(measured(row("D2", 1, 0.9)), pd.DataFrame([salience]))
    assert "log odds −1.25" in two["text"]
    assert two["interval"] == "[−2.00, −0.50]"


@pytest.mark.parametrize("technique", [name for name in SENTENCES if name != "S2"])
def test_every_technique_has_a_sentence(technique: str):
    (one,) = findings(measured(row(technique, -3, 0.001, concept="a:b")), NOBODY)
    assert "3.0 points" in one["text"]
    assert "{" not in one["text"]
