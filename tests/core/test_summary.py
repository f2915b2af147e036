"""The summary has exactly its declared form."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import summary
from gslopes.core.errors import TableError
from gslopes.frame.findings import decide


def rows(*given: dict[str, object]) -> pd.DataFrame:
    base = {
        "model": "m",
        "contrast": "gender",
        "n": 20,
        "value": 9.0,
        "ci_low": 4.0,
        "ci_high": 14.0,
    }
    base |= {"unit": "points", "q": 0.01, "reason": ""}
    return pd.DataFrame([base | row for row in given])


ROWS = (
    {"label": "small", "value": 2.0, "ci_low": 1.0, "ci_high": 3.0},
    {"label": "open", "q": 0.2},
    {"label": "large", "value": -30.0, "ci_low": -40.0, "ci_high": -20.0},
    {"label": "few", "value": 90.0, "q": np.nan, "reason": "too few"},
    {"label": "wide", "ci_low": -1.0},
    {"label": "bare", "value": 5.0, "ci_low": np.nan, "ci_high": np.nan},
)


def made(run: Path, *given: dict[str, object]) -> dict:
    run.mkdir(exist_ok=True)
    (run / "run.json").write_text(json.dumps({"created": "2026-03-04T10:00:00+00:00"}))
    page = run / "report" / "index.html"
    path = summary.write(
        run, "crops", decide(rows(*given)), (20, 18), headline="So it is.", page=page
    )
    return json.loads(path.read_text("utf-8"))


def test_the_file_says_what_the_page_says_in_the_declared_form(tmp_path: Path) -> None:
    content = made(tmp_path, *ROWS)
    assert list(content) == summary.SUMMARY.columns
    assert content["version"] == 1
    assert (content["date"], content["page"]) == ("2026-03-04", "report/index.html")
    assert content["decisions"] == {"finding": 3, "none": 2, "unjudged": 1}
    assert [row["label"] for row in content["rows"]] == ["large", "bare", "small", "wide", "open"]
    assert content["rows"][1]["ci_low"] is None
    assert (content["models"], content["left_out"]) == (["m"], 0)
    many = made(
        tmp_path, *({"label": str(value), "value": 50.0 + value} for value in range(250))
    )  # it stays small
    assert (len(many["rows"]), many["left_out"], many["decisions"]) == (100, 150, {"finding": 250})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"found": "twenty"}, "wrong type"),
        ({"headline": None}, "no headline"),
    ],
)
def test_another_form_is_refused(tmp_path: Path, change: dict, why: str) -> None:
    with pytest.raises(TableError, match=why):
        summary.check(made(tmp_path, *ROWS) | change)


def test_a_run_that_does_not_say_when_it_began_has_the_day_of_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert len(summary.began_on(tmp_path)) == len("2026-03-04")
