"""The sentence to quote holds n, interval, editor, date and limits, and is the page's own; so does the card."""

from __future__ import annotations

import json
import shutil
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.report import quote, write_report

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def written(one: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which necktie is a finding, on the interval that its row holds."""
    run = tmp_path_factory.mktemp("quote") / "run"
    shutil.copytree(one, run)
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    paper = slopes[slopes["estimator"] == "paper"]
    facts = {"estimator": "photo-rate", "unit": "percentage points per unit", "measure": "presence"}
    rate = paper.assign(**facts, decision="none", q=0.5)
    sure = rate["label"].isin(["Necktie", SCRIPT])
    rate.loc[sure, ["decision", "q", "slope", "ci_low", "ci_high"]] = ["finding", 0.001, 12.3, 10.1, 14.5]
    both = pd.concat([paper, rate], ignore_index=True).astype(slopes.dtypes)
    tables.write(tables.SLOPES, both, run / "slopes.parquet")
    write_report(run, embed="none")
    return run


def test_the_sentence_has_n_interval_editor_date_and_limits(written: Path) -> None:
    html = (written / "report/index.html").read_text("utf-8")
    box = unescape(html[html.index("<blockquote><p>") : html.index("</blockquote>")])
    for part in ("79 photos", "feminine to masculine-looking", "12.3", "10.1", "14.5", "gslopes 0.1.0"):
        assert part in box
    for part in ("editor gender-field abababab", "2026-11-21", "not who anybody is"):
        assert part in box
    headline = unescape(html[html.index("<h1") : html.index("</h1>")].partition(">")[2])
    assert headline.strip() in box


def test_the_card_is_on_the_page_and_in_a_file_and_holds_no_html_of_a_label(written: Path) -> None:
    card = (written / "report/model_card.md").read_text("utf-8")
    html = (written / "report/index.html").read_text("utf-8")
    assert card.strip() in unescape(html)
    assert SCRIPT not in html
    assert "| Necktie | +12.3 | \\[+10.1, +14.5\\] | percentage points per unit | 79 |" in card
    assert card.count("\n- ") == 1 + len(quote.LIMITS)
    assert "/data/people" not in card


def test_a_run_that_does_not_say_who_edited_says_so(one: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(one, run)
    manifest = json.loads((run / "run.json").read_text())
    for name in ("models", "created", "gslopes"):
        del manifest[name]
    (run / "run.json").write_text(json.dumps(manifest))
    html = write_report(run, embed="none").read_text("utf-8")
    assert "an editor that run.json does not name, on an unknown day" in html


def test_without_labels_there_is_nothing_to_quote() -> None:
    assert quote.quote({}, []) is None
