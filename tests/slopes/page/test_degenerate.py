"""Runs with hardly any answers: none, all refused, a third of every photo refused, one row, one value, one photo."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.page import write_report
from gslopes.slopes.page.lead import print_evidence
from gslopes.slopes.page.loading import funnels, unanswered
from tests.broken import broken, shown
from tests.slopes.page.conftest import VALUES

Frames = tuple[pd.DataFrame, pd.DataFrame]


def refused(scores: pd.DataFrame, asked: pd.DataFrame, lost: pd.Series) -> Frames:
    """The same answers, but for some pictures that were refused.  lost: (rows of asked,) whether."""
    asked = asked.assign(status="answered", reason="", detail="")
    asked.loc[lost, ["status", "reason", "detail"]] = ["refused", "refused", "policy"]
    keys = ["photo", "attribute", "step", "classifier"]
    there = scores.merge(asked.loc[~lost, keys], on=keys)
    return there[scores.columns], asked


def only(scores: pd.DataFrame, asked: pd.DataFrame, photos: int) -> Frames:
    kept = asked["photo"].unique()[:photos]
    return scores[scores["photo"].isin(kept)], asked[asked["photo"].isin(kept)]


CASES: dict[str, Callable[[pd.DataFrame, pd.DataFrame], Frames]] = {
    "no row": lambda scores, asked: (scores[:0], asked[:0]),
    "no label": lambda scores, asked: (scores[:0], asked),
    "all refused": lambda scores, asked: refused(scores, asked, asked["step"] >= 0),
    "a third of every photo refused": lambda scores, asked: refused(
        scores, asked, asked["step"] % 3 == 0
    ),
    "one photo": lambda scores, asked: only(scores, asked, 1),
    "one of two classifiers refuses": lambda scores, asked: refused(
        scores, asked, asked["classifier"] == "second"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=pytest.mark.slow) for name in [*CASES][:-1]), [*CASES][-1]]
)
def test_every_table_and_the_page_are_made(make, tmp_path: Path, name: str):
    run = make(tmp_path / "run", [("first", "gender"), ("second", "gender")], photos=12)
    scores, asked = (
        tables.read(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED)
    )
    scores, asked = (frame.reset_index(drop=True) for frame in CASES[name](scores, asked))
    about = pd.DataFrame(
        {"team": ["red", "blue"] * 6},
        index=sorted(tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique()),
    )
    options = FitOptions(permutations=19)
    found = analyse(
        scores,
        asked,
        Study(values={"gender": VALUES.tolist()}, about=about, groups=["team"]),
        options=options,
    )
    for table, frame in [(tables.SCORES, scores), (tables.ASKED, asked), *found.tables()]:
        tables.write(table, frame, run / f"{table.name}.parquet")
    page = write_report(run).read_text("utf-8")
    audit = gslopes.load(run)
    texts = [
        print_evidence(found.slopes, funnels=funnels(run), unanswered=unanswered(run)),
        str(audit),
        audit._repr_html_(),
        audit.summary,
        audit.findings.to_csv(index=False),
        shown(page),
    ]
    assert sorted({one for text in texts for one in broken(text)}) == []
    shutil.rmtree(run / "report")
    assert gslopes.load(run).findings.equals(audit.findings)


def test_all_refused_says_how_many_and_nothing_of_thresholds(make, tmp_path: Path):
    run = make(tmp_path / "run", [("first", "gender")], photos=12)
    asked = tables.read(tables.ASKED, run / "asked.parquet")
    _, asked = refused(tables.SCORES.empty(), asked, asked["step"] >= 0)
    slopes = analyse(tables.SCORES.empty(), asked, Study(values={"gender": VALUES.tolist()})).slopes
    for table, frame in (
        (tables.SCORES, tables.SCORES.empty()),
        (tables.ASKED, asked),
        (tables.SLOPES, slopes),
    ):
        tables.write(table, frame, run / f"{table.name}.parquet")
    page = write_report(run).read_text("utf-8")
    audit = gslopes.load(run)
    assert (
        audit.summary == "No classifier returned any label. first: 84 of 84 pictures were refused."
    )
    for text in (page, str(audit), audit._repr_html_(), audit.summary):
        assert "first: 84 of 84 pictures were refused" in text
        assert "threshold=0" not in text
