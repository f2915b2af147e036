import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.report import units
from gslopes.slopes.page import answers as matrix, decisions, screen, validity, write_report
from gslopes.slopes.page.loading import load


def test_the_chart_has_what_moves_first_and_furthest_in_the_terms_of_each_label_and_expected_ones_last(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=12)
    found = tables.read(tables.SLOPES, run / "slopes.parquet").dropna(subset="slope")
    row = found.iloc[[0]].assign(estimator="photo-rate", note="", measure="presence", y_first=0.2)
    kinds = [{"q": 0.5, "decision": "none"}, {"q": 0.01, "decision": "finding"}]
    many = [
        row.assign(label=f"l{i:02d}", slope=i + 1.0, y_last=0.2 + i / 100, **kinds[i % 2])
        for i in range(60)
    ]
    rates = pd.concat(many).assign(
        ci_low=lambda t: t["slope"] - 1, ci_high=lambda t: t["slope"] + 1
    )
    tables.write(tables.SLOPES, pd.concat([found, rates]), run / "slopes.parquet")
    (finding,) = load(run).findings
    decided = decisions.decide(finding.of("photo-rate"))
    answers = matrix.read(run, "c", "gender", finding.values)
    rows = screen.chart(finding, decided, answers)
    assert len(rows) == 30, "every finding, and no other label where these are many"
    assert {row["decision"].code for row in rows} == {"finding"}
    first = rows[0]
    assert tuple(first[name] for name in ("label", "first", "last", "levels", "of")) == (
        "l59",
        20,
        79,
        ("2", "9"),
        "of 11 photos",
    )
    assert (first["slope"], first["ci_low"], first["ci_high"]) == (60, 59, 61)
    named = {
        label: replace(one, expected=label in ("l59", "l57")) for label, one in decided.items()
    }
    assert [row["label"] for row in screen.chart(finding, named, answers)][:: len(rows) - 1] == [
        "l55",
        "l57",
    ]
    few = replace(
        finding, rows=finding.rows[finding.rows["label"].isin(["l01", "l02", "l59", "l58"])]
    )
    assert [row["label"] for row in screen.chart(few, named, answers)] == [
        "l01",
        "l59",
        "l58",
        "l02",
    ]
    label = answers.labels[0]
    number = found.iloc[[0]].assign(
        label=label, measure="value", unit="years per unit", decision="finding", q=0.01
    )
    number = number.assign(estimator="photo-rate", slope=-2.0, y_first=-20.0, y_last=30.0)
    other = replace(finding, rows=number)
    (row,) = screen.chart(other, decisions.decide(number), answers)
    assert (row["first"], row["last"], row["levels"], units.short(row)) == (
        0,
        100,
        ("−20", "30"),
        "years",
    )
    assert row["of"] == "years, on a scale of −20.0 to 30.0"


# -- the quote --------------------------------------------------------------------------------------------------------

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
    rate.loc[sure, ["decision", "q", "slope", "ci_low", "ci_high"]] = [
        "finding",
        0.001,
        12.3,
        10.1,
        14.5,
    ]
    both = pd.concat([paper, rate], ignore_index=True).astype(slopes.dtypes)
    tables.write(tables.SLOPES, both, run / "slopes.parquet")
    write_report(run, embed="none")
    return run


def test_the_sentence_has_n_interval_editor_date_and_limits(written: Path) -> None:
    html = (written / "report/index.html").read_text("utf-8")
    box = unescape(html[html.index("<blockquote><p>") : html.index("</blockquote>")])
    for part in (
        "79 photos",
        "feminine to masculine-looking",
        "12.3",
        "10.1",
        "14.5",
        "gslopes 0.1.0",
    ):
        assert part in box
    for part in ("by gender-field abababab", "2026-11-21", "not who anybody is"):
        assert part in box
    headline = unescape(re.sub("<[^>]*>", "", html[html.index("<h1") : html.index("</h1>")]))
    assert headline.strip() in box


def test_the_card_is_on_the_page_and_in_a_file_and_holds_no_html_of_a_label(written: Path) -> None:
    card = (written / "report/model_card.md").read_text("utf-8")
    html = (written / "report/index.html").read_text("utf-8")
    assert card.strip() in unescape(html)
    assert SCRIPT not in html
    assert (
        "celeba-tagger, Necktie | gender | +12.3 | \\[+10.1, +14.5\\] | percentage points per unit | 79 photos |"
        in card
    )
    assert card.count("\n- ") == 2 + 3
    assert "/data/people" not in card


@pytest.mark.slow
def test_the_quote_has_the_number_of_the_classifier_that_leads_and_a_card_of_old_goes(
    written: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(written, run)
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    sure = slopes["decision"] == "finding"
    alike = slopes[
        sure & (slopes["label"] == SCRIPT)
    ]  # a classifier with fewer findings, whose name sorts first
    more = alike.assign(classifier="a", slope=99.0)
    tables.write(
        tables.SLOPES, pd.concat([slopes, more], ignore_index=True), run / "slopes.parquet"
    )
    write_report(run, embed="none")
    html = unescape((run / "report/index.html").read_text("utf-8"))
    assert f"In numbers: celeba-tagger, {SCRIPT}, gender: +12.3" in html
    assert "one of 3 findings" in html
    unjudged = slopes.assign(
        decision=slopes["decision"].where(slopes["decision"].isna(), "unjudged")
    )
    tables.write(tables.SLOPES, unjudged, run / "slopes.parquet")
    write_report(run, embed="none")
    assert not (run / "report/model_card.md").exists()


def test_a_reading_of_one_photo_has_no_interval() -> None:
    readings = pd.DataFrame(
        {"attribute": "gender", "step": [0, 1], "reading": "gender", "score": [0.2, 0.6]}
    )
    (curve,) = validity._curves(readings, "gender", [-1.0, 1.0])
    assert [curve[name] for name in ("mean", "low", "high")] == [
        [0.2, 0.6],
        [None, None],
        [None, None],
    ]
