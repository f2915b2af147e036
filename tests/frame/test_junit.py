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
