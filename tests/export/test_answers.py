"""The answers of a run as one table."""

from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import UsageError
from tests.export.conftest import row


@pytest.fixture
def answered(run: Path) -> Path:
    """The run with the answers of one classifier about one sweep: a label at two of its values."""
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    first = edits[
        (edits["photo"] == edits["photo"].min()) & (edits["attribute"] == "gender")
    ].to_dict("records")
    questions = [row(tables.ASKED, **item, classifier="c", status="answered") for item in first]
    scores = [
        row(tables.SCORES, **item, classifier="c", label="=Cap", score=0.5) for item in first[1:]
    ]
    for table, rows in ((tables.ASKED, questions), (tables.SCORES, scores)):
        tables.write(table, pd.DataFrame(rows), run / f"{table.name}.parquet")
    return run


@pytest.mark.row("slopes-4.2-confidence")
def test_every_answer_is_a_row_with_its_picture_and_no_label_runs_in_a_spreadsheet(
    answered: Path,
) -> None:
    result = gslopes.export(answered, "answers")
    rows = pd.read_csv(result.path)
    assert (
        (result.path, result.rows)
        == (answered / "answers.csv", len(rows))
        == (answered / "answers.csv", 3)
    )
    assert [Path(file).name[-6:] for file in rows["file"]] == ["-0.jpg", "-1.jpg", "-2.jpg"]
    assert rows["label"].fillna("").tolist() == ["", "'=Cap", "'=Cap"]
    assert rows["path"].nunique() == 1
    import_module(
        "gslopes.export.pictures"
    )  # the function keeps its name after its room was imported
    again = pd.read_parquet(gslopes.export(answered, "answers", answered / "x.parquet").path)
    assert again["label"].fillna("").tolist() == ["", "=Cap", "=Cap"]


def test_what_cannot_be_exported_is_said(answered: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        gslopes.export(tmp_path / "nowhere", "answers")
    with pytest.raises(UsageError, match="neither"):
        gslopes.export(answered, "answers", tmp_path / "answers.xlsx")
    (answered / "asked.parquet").unlink()
    with pytest.raises(UsageError, match="no answers"):
        gslopes.export(answered, "answers")
