"""A row is a test; it fails where the condition holds, and is skipped where nothing was judged."""

from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from gslopes.frame import junit


def test_red_green_and_not_judged_rows_are_told_apart_whatever_their_names(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "classifier": "a<b>&\x1b[2J",
            "attribute": "gender",
            "label": ["Lips", "Hat", "\x00Nurse"],
            "slope": [-9.123456789, 1.0, float("nan")],
            "decision": ["finding", "none", "unjudged"],
            "reason": ["", "own-test", "rare"],
        }
    )
    path = tmp_path / "junit.xml"
    junit.write(path, frame, frame[:1], "abs(slope) > 5")
    suite = ElementTree.parse(path).getroot()
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }
    lips, hat, nurse = suite.findall("testcase")
    assert (lips.get("name"), lips.find("failure").get("message")) == (
        "Lips",
        "abs(slope) > 5 holds",
    )
    assert "slope: -9.12346" in lips.find("failure").text
    assert list(hat) == []
    assert nurse.find("skipped").get("message") == "rare"
    assert suite.find("properties/property").get("value") == "abs(slope) > 5"


def suite_of(frame: pd.DataFrame, path: Path) -> ElementTree.Element:
    junit.write(path, frame, frame[:0], "finding")
    return ElementTree.parse(path).getroot()


def test_a_file_without_a_judged_row_says_so_and_is_not_an_empty_green(tmp_path: Path) -> None:
    columns = ["classifier", "attribute", "label", "q", "decision", "reason"]
    row = ("a", "gender", "Lips", float("nan"), "unjudged", "rare")
    none = suite_of(pd.DataFrame([], columns=columns), tmp_path / "none.xml")
    assert (none.get("tests"), none.get("skipped")) == ("1", "1")
    assert "nothing was judged" in none.find("testcase/skipped").get("message")
    rare = suite_of(pd.DataFrame([row], columns=columns), tmp_path / "rare.xml")
    assert (rare.get("tests"), rare.get("skipped")) == ("1", "1")
    assert rare.find("testcase/skipped").get("message") == "rare"
    whole = suite_of(
        pd.DataFrame([row, (*row[:3], 0.5, "none", "own-test")], columns=columns),
        tmp_path / "whole.xml",
    )
    said = {suite: suite.find("system-out") is not None for suite in (none, rare, whole)}
    counts = {
        suite: suite.find("properties/property[@name='judged']").get("value") for suite in said
    }
    assert [*said.values()] == [True, True, False]
    assert [*counts.values()] == ["0", "0", "1"]
