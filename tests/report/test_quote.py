"""The sentence to quote holds n, interval, editor, date and limits, and is the page's own; so does the card."""

from __future__ import annotations

import json
import shutil
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import summary, tables
from gslopes.report import quote
from gslopes.slopes.report import write_report
from gslopes.slopes.report.screen import quote as quote_run

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
    assert quote_run({}, []) is None


# -- the sibling audits -----------------------------------------------------------------------------------------------

ABOUT = quote.About("Crops", ("pair", "pairs"), "compared: two people", ("A limit.", "Another."), "A paper")


def findings(*rows: dict[str, object]) -> pd.DataFrame:
    row = {"model": "m", "contrast": "gender: woman over man", "label": "other", "n": 40, "value": 9.25, "reason": ""}
    row |= {"ci_low": 2.0, "ci_high": 16.0, "unit": "percentage points", "q": 0.01}
    return summary.decided(pd.DataFrame([{**row, **one} for one in rows]))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run.json").write_text(json.dumps({"gslopes": "0.2.0", "created": "2026-11-21T10:00:00+00:00"}))
    return tmp_path


def test_a_siblings_sentence_has_number_interval_n_what_was_compared_version_day_and_limit(run: Path) -> None:
    found = findings({}, {"label": "first", "value": 4.0, "n": 1}, {"label": "none", "q": 0.5})
    said = quote.of_findings(run, found, "It favours women.", ABOUT, ("fir", "gender: woman over man"))
    assert said is not None
    assert said.sentence == (
        "It favours women. In numbers: m, first, gender: woman over man: +4.0 percentage points, "
        "95 % interval [+2.0, +16.0], 1 pair; one of 2 findings "
        "(compared: two people; gslopes 0.2.0, on 2026-11-21. A limit.)"
    )
    assert "| m, other | gender: woman over man | +9.3 |" in said.card
    assert "none" not in said.card
    assert said.card.count("\n- ") == 2 + len(ABOUT.limits)


def test_a_siblings_sentence_says_that_nothing_is_a_finding(run: Path) -> None:
    said = quote.of_findings(run, findings({"q": 0.5, "ci_low": -3.0}), "None is shown.", ABOUT)
    assert said is not None
    assert "Nothing is a finding; the largest difference: m, other" in said.sentence
    assert "|" not in said.card


def test_where_nothing_could_be_judged_there_is_nothing_to_quote(run: Path) -> None:
    assert quote.of_findings(run, findings({"q": float("nan"), "reason": "too few"}), "None.", ABOUT) is None
    assert quote.of_findings(run, summary.FINDINGS.empty(), "None.", ABOUT) is None
