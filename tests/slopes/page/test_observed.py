"""Observed differences and error rates on page, terminal and summary: the tables' numbers, and sentences."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import summary, tables
from gslopes.report import numbers
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.page import observed, write_report

SCRIPT = "<script>alert(1)</script>"
BASE = {
    "classifier": "model",
    "attribute": "gender",
    "column": "who",
    "group": "man",
    "other": SCRIPT,
    "note": "",
}
BASE |= {
    "measure": "presence",
    "n": 60,
    "n_other": 50,
    "mean": 40.0,
    "mean_other": 28.0,
    "observed": 12.0,
    "p": 1e-4,
}
BASE |= {
    "ci_low": 5.0,
    "ci_high": 19.0,
    "q": 0.001,
    "slope": 1.0,
    "distance": 4.0,
    "distance_low": 3.5,
}
BASE |= {"distance_high": 4.5}
ODDS = {"observed": 0.18, "ci_low": 0.1, "ci_high": 0.3}
ROWS = (
    {"label": "both", "agreement": "same sign"},
    {"label": "against", "agreement": "opposite signs"},
    {"label": "gap alone", "agreement": "observed only", "slope": 0.01},
    {
        "label": "edit alone",
        "agreement": "edit only",
        "observed": 0.5,
        "ci_low": -6,
        "ci_high": 7,
        "q": 0.9,
    },
    {"label": "odds", "agreement": "observed only", "measure": "log-odds", **ODDS},
    {
        "label": "rare",
        "agreement": "",
        "note": "too few photos with it, or without it",
        "p": np.nan,
        "q": np.nan,
    },
)


@pytest.fixture
def run(one: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "run"
    shutil.copytree(one, copy)
    frame = pd.DataFrame([BASE | row for row in ROWS])
    tables.write(tables.OBSERVED, frame[tables.OBSERVED.columns], copy / "observed.parquet")
    return copy


def test_every_disagreement_has_its_sentence_and_agreement_none(run: Path) -> None:
    frame = tables.read(tables.OBSERVED, run / "observed.parquet")
    said = {}
    for label, row in frame.groupby("label"):
        tables.write(tables.OBSERVED, row, run / "observed.parquet")
        (panel,) = observed.panels(run)
        said[label] = " ".join(panel["sentences"][1:])
    assert (
        "differ by +12.0 [+5.0, +19.0] points, and the edits move it the other way"
        in said["against"]
    )
    assert "no slope is shown" in said["gap alone"]
    assert "no difference is shown (+0.5 [−6.0, +7.0] points)" in said["edit alone"]
    assert "+0.180 [+0.100, +0.300] log-odds" in said["odds"]
    assert said["both"] == said["rare"] == ""


def test_the_page_has_the_numbers(run: Path) -> None:
    html = write_report(run, embed="none").read_text("utf-8")
    assert 'id="observed"' in html
    assert SCRIPT not in html
    assert html.index(">against<") < html.index(">both<")
    for counts in ("+12.0", "[+5.0, +19.0]"):
        assert counts in html


def test_the_summary_has_what_is_shown_and_nothing_that_is_not(run: Path) -> None:
    frame = observed.summary_rows(tables.read(tables.OBSERVED, run / "observed.parquet"))
    assert list(frame.columns) == summary.OBSERVED.columns
    assert frame["label"].tolist() == ["against", "gap alone", "odds", "edit alone", "both"]


# -- test errors ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wrong(one: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose label nurse is wrong more often at one end: the truth is its answer at the other."""
    run = tmp_path_factory.mktemp("truth") / "run"
    shutil.copytree(one, run)
    scores, asked = (
        tables.read(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED)
    )
    photos = asked["photo"].unique()
    labels = scores["label"].value_counts().index.tolist()
    about = {SCRIPT: ["yes" if place % 2 else "no" for place in range(len(photos))]}
    for label in labels:
        yes = set(scores.loc[(scores["label"] == label) & (scores["step"] == 0), "photo"])
        about[label] = ["yes" if photo in yes else "no" for photo in photos]
    frame = pd.DataFrame(about, index=photos)
    options = FitOptions(permutations=100)
    truth = [*(f"{label}={label}" for label in labels), f"{labels[0]}={SCRIPT}"]
    found = analyse(scores, asked, Study(about=frame, truth=truth), options=options)
    for table, rows in found.tables():
        tables.write(table, rows, run / f"{table.name}.parquet")
    return run


@pytest.mark.evidence
@pytest.mark.slow
def test_the_page_has_every_rate_and_slope(wrong: Path) -> None:
    slopes = tables.read(tables.ERROR_SLOPES, wrong / "error_slopes.parquet")
    rates = tables.read(tables.ERROR_RATES, wrong / "error_rates.parquet")
    (panel,) = observed.error_panels(wrong)
    assert len(panel["heads"]) == 7
    steepest = slopes[slopes["measure"] == "error"].sort_values("q", kind="stable").iloc[0]
    assert steepest["q"] < 0.05
    assert steepest["slope"] > 0
    assert numbers.points(steepest["slope"]) in panel["sentence"]
    assert "cannot be said" not in panel["sentence"]
    html = write_report(wrong, embed="none").read_text("utf-8")
    assert 'id="errors"' in html
    assert SCRIPT not in html
    for rate in rates[rates["label"] == steepest["label"]]["rate"]:
        assert numbers.share(rate) in html
    assert numbers.interval(steepest["ci_low"], steepest["ci_high"]) in html
    assert {"open", "not judged"} <= {row["decision"] for row in panel["rows"]}


def test_a_classifier_that_is_as_wrong_at_every_value_gets_a_cautious_sentence(
    wrong: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "run"
    copy.mkdir()
    slopes = tables.read(tables.ERROR_SLOPES, wrong / "error_slopes.parquet")
    rates = tables.read(tables.ERROR_RATES, wrong / "error_rates.parquet")
    for code, words in (
        ("none", "It cannot be said"),
        ("placebo", "A placebo"),
        ("open", "is not settled"),
    ):
        rows = slopes.assign(q=np.where(slopes["q"].notna(), 0.6, np.nan), note="", decision=code)
        tables.write(tables.ERROR_SLOPES, rows, copy / "error_slopes.parquet")
        tables.write(tables.ERROR_RATES, rates, copy / "error_rates.parquet")
        assert all(words in one["sentence"] for one in observed.error_panels(copy))


def test_without_a_truth_or_groups_there_is_no_section(one: Path) -> None:
    assert observed.error_panels(one) == observed.panels(one) == []
