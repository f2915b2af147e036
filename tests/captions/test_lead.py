from __future__ import annotations

import math

import pandas as pd
import pytest

from gslopes.captions.lead import SENTENCES, findings, headline
from gslopes.captions.tables import TABLES

NOBODY = TABLES["salience"].empty()


def measured(*rows: dict[str, object]) -> pd.DataFrame:
    plain = dict.fromkeys(TABLES["measures"].columns, "")
    plain |= dict.fromkeys(("value", "ci_low", "ci_high", "boot_low", "boot_high", "p", "q"), math.nan)
    given = {"unit": "pp", "stage": "system-captions", "column": "skin", "group": "darker", "other": "lighter"}
    given |= {"n": 400}
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
        "People annotated darker go unmentioned in system captions 4.5 points more often than people annotated lighter "
        "([+2.5, +6.5], q = 0.020, 400 images)."
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
    said = "No difference between groups has q below 0.05 (400 images; widest: [−1.0, +3.0] points)."
    assert headline([], measured(row("D2", 1, 0.5)), 4) == said
    bare = measured(row("D4", 1, math.nan, p=math.nan))
    assert headline([], bare, 4) == "No groups were compared; 4 cases wait to be read."
    assert findings(bare, NOBODY) == []
    assert headline([], bare, 0) == "No groups were compared, and no case was found."


def test_with_few_images_or_a_wide_interval_it_says_that_it_cannot_tell():
    wide = row("D2", 1, 0.5, ci_low=-20, ci_high=22, concept="unmentioned")
    assert headline([], measured(wide), 0) == (
        "Cannot tell with 400 images whether captions differ between groups: "
        "D2 unmentioned may lie anywhere in [−20.0, +22.0] points."
    )
    assert headline([], measured(row("D2", 1, 0.5, n=8)), 0).startswith("Cannot tell with 8 images")
    both = headline([], measured(wide, row("S3", 1, 0.5, concept="tie.n.01")), 0)
    assert both.startswith(
        "None of 2 differences between groups has q below 0.05; of 1 it cannot be said with 400 images"
    )
    bare = {"ci_low": math.nan, "ci_high": math.nan}
    boot = headline([], measured(row("D2", 1, 0.5, **bare, boot_low=-1.0, boot_high=3.0)), 0)
    assert boot.endswith("(400 images; widest: [−1.0, +3.0] points).")
    assert headline([], measured(row("D2", 1, 0.5, **bare)), 0).endswith("D2 has no interval.")


def test_a_strangers_words_are_printable_and_s2_is_in_log_odds():
    hostile = {"group": "<b>\u202edark", "other": "light"}
    (one,) = findings(measured(row("D2", 5, 0.01, concept="unmentioned", **hostile)), NOBODY)
    assert "\u202e" not in one["text"]
    salience = {**dict.fromkeys(TABLES["salience"].columns, ""), **row("S2", 0, 0.01, concept="dress.n.01")}
    salience |= {
        "coefficient": -1.25,
        "eligible": True,
        "stage": "system-captions",
        "ci_low": -2.0,
        "ci_high": -0.5,
    }
    salience |= {"group": "male", "other": "female", "n": 90}
    (two,) = findings(measured(row("D2", 1, 0.9)), pd.DataFrame([salience]))
    assert "log odds −1.25" in two["text"]
    assert two["interval"] == "[−2.00, −0.50]"


@pytest.mark.parametrize("technique", [name for name in SENTENCES["findings"] if name != "S2"])
def test_every_technique_has_a_sentence(technique: str):
    (one,) = findings(measured(row(technique, -3, 0.001, concept="a:b")), NOBODY)
    assert "3.0 points" in one["text"]
    assert "{" not in one["text"]
