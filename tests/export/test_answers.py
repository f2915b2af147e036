import json
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import UsageError

PHOTO = "a" * 64


def one_row(table: tables.Table, **values: object) -> pd.DataFrame:
    empty = table.empty()
    texts = [name for name in table.columns if table.schema.field(name).type == "string"]
    row = {name: values.get(name, "" if name in texts else None) for name in table.columns}
    return pd.DataFrame([row])[list(empty.columns)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """One photo at three values; a label at two of them, a refusal at none."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"seed": 0, "values": {"gender": [-1, 0, 1]}}))
    size = {"width": 8, "height": 8, "status": "used", "faces": 1}
    photos = one_row(tables.PHOTOS, photo=PHOTO, path="a.jpg", **size)
    step = {"photo": PHOTO, "attribute": "gender"}
    edits = [one_row(tables.EDITS, **step, step=k, value=k - 1.0, file=f"e{k}.jpg", mask_area=0.1) for k in range(3)]
    asked = [one_row(tables.ASKED, **step, step=k, classifier="c", status="answered") for k in range(3)]
    label = {"classifier": "c", "label": "Cap", "score": 0.5}
    scores = [one_row(tables.SCORES, **step, step=k, value=k - 1.0, **label) for k in (1, 2)]
    for table, frames in (
        (tables.PHOTOS, [photos]),
        (tables.EDITS, edits),
        (tables.ASKED, asked),
        (tables.SCORES, scores),
    ):
        tables.write(table, pd.concat(frames, ignore_index=True), folder / f"{table.name}.parquet")
    return folder


def test_every_answer_is_a_row_with_the_picture_that_it_is_about(run: Path) -> None:
    found = gslopes.export(run, "answers")
    rows = pd.read_csv(found.path)
    assert (found.path, found.rows) == (run / "answers.csv", len(rows))
    assert rows["file"].tolist() == ["e0.jpg", "e1.jpg", "e2.jpg"]
    assert rows["label"].fillna("").tolist() == ["", "Cap", "Cap"]
    assert set(rows["path"]) == {"a.jpg"}
    again = pd.read_parquet(gslopes.export(run, "answers", run / "x.parquet").path)
    assert len(again) == len(rows)


def test_no_label_runs_in_a_spreadsheet(run: Path) -> None:
    scores = tables.read(tables.SCORES, run / "scores.parquet").assign(label="=1+1")
    tables.write(tables.SCORES, scores, run / "scores.parquet")
    assert set(pd.read_csv(gslopes.export(run, "answers").path)["label"].dropna()) == {"'=1+1"}
    assert set(pd.read_parquet(gslopes.export(run, "answers", run / "x.parquet").path)["label"].dropna()) == {"=1+1"}


def test_what_cannot_be_exported_is_said(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        gslopes.export(tmp_path / "nowhere", "answers")
    with pytest.raises(UsageError, match="neither"):
        gslopes.export(run, "answers", tmp_path / "answers.xlsx")
    (run / "asked.parquet").unlink()
    with pytest.raises(UsageError, match="no answers"):
        gslopes.export(run, "answers")


def test_the_function_has_its_name_after_its_room_was_imported(run, tmp_path):
    import_module("gslopes.export.pictures")
    assert gslopes.export(run, "answers", tmp_path / "a.csv").rows
    assert gslopes.export(run, "answers", tmp_path / "b.csv").rows
