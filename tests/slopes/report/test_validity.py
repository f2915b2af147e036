"""Planted slopes on the page."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gslopes.slopes.report import validity

FOUND = pd.DataFrame(
    {
        "label": ["nurse", "manager", "portrait"],
        "slope": [-13.4, 8.6, 0.2],
        "ci_low": [-15.1, 9.0, np.nan],
        "ci_high": [-11.7, 10.2, np.nan],
        "measure": "presence",
    }
)
FINDINGS = [SimpleNamespace(read=FOUND)]


@pytest.fixture
def run(tmp_path):
    faces = np.stack([np.full((8, 8, 3), 30 * step, np.uint8) for step in range(3)])
    validity.write_truth(
        tmp_path, [("nurse", -13.88), ("manager", 8.6), ("portrait", 0.0), ("gone", 1.0)], 0.9686, "a.png", faces
    )
    return tmp_path


def test_each_planted_slope_stands_next_to_what_was_recovered_and_whether_the_interval_holds_it(run):
    found = validity.read_truth(run, FINDINGS)
    assert found.rows == (
        ("nurse", "−13.9", "−13.4", "[−15.1, −11.7]", "yes"),
        ("manager", "+8.6", "+8.6", "[+9.0, +10.2]", "no"),
        ("portrait", "0.0", "+0.2", "–", "–"),
    )
    assert (found.reach, found.name) == ("0.97", "a.png")
    assert found.strip.startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize(
    "content", [None, "{", "[]", {"labels": [{"label": "nurse"}]}, {"labels": [], "reach": 1, "name": ""}]
)
def test_a_run_without_a_truth_or_with_a_broken_one_has_none(tmp_path, content):
    if content is not None:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / validity.TRUTH).write_text(text, encoding="utf-8")
    assert validity.read_truth(tmp_path, FINDINGS) is None
