"""A calibration as the page shows it, from either form of its file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.report import planted, write_report

SCRIPT = "<script>alert(1)</script>"
LABELS = [
    {
        "label": "cue +0.30",
        "confounder": "",
        "truth": 10.0,
        "recovered": 4.0,
        "recovered_low": 3.0,
        "recovered_high": 5.0,
    }
    | {"covered": 0.1, "flagged": 1.0, "naive": 9.0, "naive_flagged": 0.2},
    {"label": SCRIPT, "confounder": "hair", "truth": -5.0, "recovered": -2.0, "covered": 0.0, "flagged": 0.9}
    | {"naive": -15.0, "naive_flagged": 1.0},
]
SUMMARY = {"error": 5.97, "error_per_reach": 4.71, "error_naive": 11.1, "covered": 0.125, "covered_per_reach": 0.584}
CONTENT: dict[str, Any] = {"labels": LABELS, "summary": SUMMARY, "reach": 0.4}


def test_dots_lie_where_truth_and_recovered_say() -> None:
    found = planted.planted(CONTENT)
    assert found is not None
    walk, naive = found.panels
    first, second = walk["dots"]
    assert (first["kind"], second["kind"]) == ("none", "hair")
    assert (first["truth"], first["found"], first["low"], first["high"]) == (10.0, 4.0, 3.0, 5.0)
    assert (second["low"], second["high"]) == (None, None)
    assert (walk["reach"], naive["reach"]) == (0.4, None)
    assert walk["most"] == naive["most"] > 15
    assert dict(found.facts)["95 % intervals that hold what was planted"] == "13 %"
    assert found.rows[0][1:4] == ("+10.0", "+4.0", "[+3.0, +5.0]")


@pytest.mark.parametrize(
    "content", [{}, {"reach": SCRIPT, "error": 1}, {"reach": 1e400, "error": 1}, {"labels": 5}, {"summary": []}]
)
def test_what_is_no_calibration_is_none(content: dict) -> None:
    assert planted.planted(content) is None


def test_numbers_of_strangers_that_are_none_are_left_out() -> None:
    odd = [{"label": "a", "truth": "x", "recovered": 1}, 5, {"label": "b", "truth": "1e999", "recovered": 1}]
    found = planted.planted({**CONTENT, "labels": odd})
    assert found is not None
    assert (found.rows, found.panels) == ((), ())


def test_json_alone_or_with_the_csv_beside_it_give_the_same_section(one: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(one, run, ignore=shutil.ignore_patterns("report", "edits"))
    photos = tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique()[:1]
    plain = {"attribute": "gender", "kept": True, "reason": "", "looked": 2, "found": 2, "tau": 0.9, "shift": 0.5}
    rest = {"off_target": None, "off_target_reading": "", "mask_area": 0.1, "mask_share": None, "change": None}
    tables.write(tables.VERDICTS, pd.DataFrame({"photo": photos, **plain, **rest}), run / "verdicts.parquet")
    assert "gslopes calibrate --json" in section(run)
    (run / "calibration.json").write_text(json.dumps(CONTENT))
    whole = section(run)
    (run / "calibration.json").write_text(json.dumps({"reach": 0.4, **SUMMARY}))
    pd.DataFrame(LABELS).to_csv(run / "calibration.csv", index=False)
    assert section(run) == whole
    assert whole.count("planted-hair") == 1  # the key; the dots are drawn by the page's scripts
    assert "&lt;script&gt;" in whole
    assert SCRIPT not in whole
    (run / "calibration.json").write_text(json.dumps({"other": SCRIPT}))
    assert "&lt;script&gt;" in section(run)


def section(run: Path) -> str:
    html = write_report(run, embed="none").read_text(encoding="utf-8")
    return html[html.index('id="validity"') : html.index('id="provenance"')]
