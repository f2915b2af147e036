"""Error rates on the page and the terminal: the table's numbers, cautious where nothing is shown."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.report import numbers
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.slopes.report import errors, write_report

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def run(one: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose label nurse is wrong more often at one end: the truth is its answer at the other."""
    run = tmp_path_factory.mktemp("truth") / "run"
    shutil.copytree(one, run)
    scores, asked = (tables.read(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED))
    photos = asked["photo"].unique()
    labels = scores["label"].value_counts().index.tolist()
    about = {SCRIPT: ["yes" if place % 2 else "no" for place in range(len(photos))]}
    for label in labels:
        yes = set(scores.loc[(scores["label"] == label) & (scores["step"] == 0), "photo"])
        about[label] = ["yes" if photo in yes else "no" for photo in photos]
    frame = pd.DataFrame(about, index=photos)
    options = FitOptions(bootstrap=0, permutations=100)
    truth = [*(f"{label}={label}" for label in labels), f"{labels[0]}={SCRIPT}"]
    found = analyse(scores, asked, options=options, about=frame, truth=truth)
    for table, rows in found.tables():
        tables.write(table, rows, run / f"{table.name}.parquet")
    return run


def test_the_page_has_every_rate_and_the_terminal_the_slopes(run: Path) -> None:
    slopes = tables.read(tables.ERROR_SLOPES, run / "error_slopes.parquet")
    rates = tables.read(tables.ERROR_RATES, run / "error_rates.parquet")
    (panel,) = errors.panels(run)
    assert len(panel.heads) == 7
    steepest = slopes[slopes["measure"] == "error"].sort_values("q", kind="stable").iloc[0]
    assert steepest["q"] < 0.05
    assert steepest["slope"] > 0
    assert numbers.points(steepest["slope"]) in panel.sentence
    assert "cannot be said" not in panel.sentence
    html = write_report(run, embed="none").read_text("utf-8")
    assert 'id="errors"' in html
    assert SCRIPT not in html
    for rate in rates[rates["label"] == steepest["label"]]["rate"]:
        assert numbers.share(rate) in html
    text = errors.print_errors(run)
    assert numbers.interval(steepest["ci_low"], steepest["ci_high"]) in text
    assert {"open", "not judged"} <= {word for word in ("open", "not judged", "finding") if word in text}
    assert max(map(len, text.splitlines())) <= 100


def test_a_classifier_that_is_as_wrong_at_every_value_gets_a_cautious_sentence(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    copy.mkdir()
    slopes = tables.read(tables.ERROR_SLOPES, run / "error_slopes.parquet")
    rates = tables.read(tables.ERROR_RATES, run / "error_rates.parquet")
    for code, words in (("none", "It cannot be said"), ("placebo", "A placebo"), ("open", "Not settled")):
        rows = slopes.assign(q=np.where(slopes["q"].notna(), 0.6, np.nan), note="", decision=code)
        tables.write(tables.ERROR_SLOPES, rows, copy / "error_slopes.parquet")
        tables.write(tables.ERROR_RATES, rates, copy / "error_rates.parquet")
        assert all(words in one.sentence for one in errors.panels(copy))


def test_without_a_truth_there_is_no_section(one: Path) -> None:
    assert errors.panels(one) == []
    assert errors.print_errors(one) == ""
