"""R2: where captions change from one gender's words to the other's."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.captions.sweep import judged, switch
from gslopes.core import runfolder, tables
from gslopes.core.errors import UnknownName, UsageError
from gslopes.frame.result import Result
from tests.golden.houses import draw_answers
from tests.sweeps import sweep_captions

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)


def change(run: Path, table: tables.Table, **columns: object) -> None:
    """Write columns of a table of a run anew."""
    file = run / f"{table.name}.parquet"
    runfolder.write_table(table, tables.read(table, file).assign(**columns), file)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve photos that a captioner calls woman below some value of each, and man above it."""
    return draw_answers(tmp_path_factory.mktemp("audit") / "run")


@pytest.fixture(scope="module")
def swept(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return sweep_captions(audited, tmp_path_factory.mktemp("sweep") / "run")


@pytest.mark.row("captions-supplement")
def test_a_captioner_that_switches_near_the_centre(swept: Result):
    words = swept.tables["word_slopes"].set_index("label")
    assert words.loc["mention:man", "slope"] == -words.loc["mention:woman", "slope"] > 20
    rows = swept.tables["contrasts"].set_index("label")
    assert rows.loc["switches", "value"] == 1
    at = rows.loc["value of the switch"]
    assert at["value"] == pytest.approx(1 / 18)
    assert at["ci_low"] < at["value"] < at["ci_high"]
    said = "change from one gender's words to the other's on 12 of 12 photos, at +0.056 on average [−0.189, +0.266]."
    assert swept.summary == f"Along perceived gender, captions by captioner-python:a:b {said}"
    assert "mention:man" in swept.page.read_text("utf-8")
    assert "value of the switch" in swept.page.read_text("utf-8")
    assert swept.summary in " ".join(str(swept).split())


def test_a_slope_is_a_finding_only_where_the_run_calls_it_one():
    row = {"captioner": "c", "attribute": "gender", "label": "mention:man", "n": 9, "slope": 5.0, "unit": "points"}
    rows = pd.DataFrame([{**row, "ci_low": 3.0, "ci_high": 7.0, "q": 0.01, "reason": ""}] * 3)
    found = judged({"word_slopes": rows.assign(decision=["finding", "placebo", "open"]), "contrasts": rows})
    assert found["q"].isna().tolist() == [False, True, True]
    assert "placebo" in found["reason"].iloc[1]


def test_runs_without_a_captioner_or_without_slopes_and_unknown_attributes_are_usage_errors(
    audited: Path, tmp_path: Path
):
    with pytest.raises(UnknownName, match="race"):
        sweep_captions(audited, tmp_path / "out", attribute="race")
    run = draw_answers(tmp_path / "tagger")
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    change(run, tables.SCORES, label=scores["label"].str.replace("mention:", "word:"))
    with pytest.raises(UsageError, match="captioner"):
        sweep_captions(run, tmp_path / "out")
    (run / "slopes.parquet").unlink()
    with pytest.raises(UsageError, match="not a finished run of gslopes audit"):
        sweep_captions(run, tmp_path / "out")


@pytest.mark.parametrize(
    ("genders", "kind", "value"),
    [
        (("woman", "woman", "man", "man", "man"), "switches", -0.5),
        (("woman", "none", "none", "none", "man"), "switches", 0.0),
        (("man", "woman", "woman", "woman", "woman"), "switches", -1.5),
        (("woman", "man", "woman", "man", "man"), "mixed", np.nan),
        (("woman", "both", "man", "man", "man"), "mixed", np.nan),
        (("none", "none", "man", "none", "none"), "man", np.nan),
        (("none",) * 5, "none", np.nan),
    ],
)
def test_a_photo_switches_half_way_between_the_words(genders: tuple[str, ...], kind: str, value: float):
    found = switch(dict(zip(VALUES, genders, strict=True)))
    assert found[0] == kind
    assert found[1] == pytest.approx(value, nan_ok=True)


def test_the_range_of_the_placebos_and_the_unit_of_a_word_in_all_captions(tmp_path: Path):
    run = draw_answers(tmp_path / "run")
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    estimator = tables.reading(slopes).set_index("label").loc["mention:man", "estimator"]
    blank = {"classifier": "captioner-python:a:b", "attribute": "gender", "estimator": estimator, "n": 12, "varying": 9}
    rows = [
        {**blank, "label": "mention:man", "placebo": kind, "placebo_slope": slope, "note": ""}
        for kind, slope in (("same", -1.0), ("light", 2.0))
    ]
    placebos = pd.DataFrame(rows, columns=tables.PLACEBOS.columns)
    runfolder.write_table(tables.PLACEBOS, placebos, run / "placebos.parquet")
    change(run, tables.SLOPES, measure=slopes["measure"].replace("presence", "log-odds"), unit="log-odds per unit")
    words = sweep_captions(run, tmp_path / "out").tables["word_slopes"].set_index("label")
    assert words.loc["mention:man", ["placebo_low", "placebo_high"]].tolist() == [-1, 2]
    assert words["unit"].unique().tolist() == ["log-odds per unit"]
