from __future__ import annotations

import pickle
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gslopes.captions.tables import TABLES as CAPTIONS
from gslopes.contexts.tables import TABLES as CONTEXTS
from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.core.reasons import Reason, SkipReason, explained, split_prose
from gslopes.core.tables import CENSUS, MANIFEST
from gslopes.crops import tables as crops

PROSE = {
    "": ("", ""),
    "no face found": ("no face found", ""),
    "face too small (25 px, at least 32 wanted)": ("face too small", "25 px, at least 32 wanted"),
    "same bytes as a (1).jpg": ("same bytes as another photo", "a (1).jpg"),
    "unreadable: truncated": ("unreadable: truncated", ""),
    "unreadable: too large (9×9 pixels, limit 1 million)": ("unreadable: too large", "9×9 pixels, limit 1 million"),
    "unreadable: the disk says: Input/output error": ("unreadable: disk error", "Input/output error"),
    "unreadable: struck by lightning": ("unreadable", "struck by lightning"),
    "the reading of young moves too (-0.20 per unit)": ("the reading of young moves too", "-0.20 per unit"),
    "too dark (by far)": ("too dark (by far)", ""),
    "HTTP 404": ("HTTP error", "404"),
    "more than 5 redirects": ("too many redirects", "5 redirects"),
    "looks the same (3 of 64 bits differ)": ("looks the same", "3 of 64 bits differ"),
    "its robots.txt cannot be had: no connection": ("its robots.txt cannot be fetched", "no connection"),
    "an address with a password": ("not a valid address", "it holds a password"),
    "shorter side of 150 px, at least 200": ("shorter side too small", "150 px, at least 200"),
    "no face found: out of what is kept": ("no face found", "out of what is kept"),
    "not a text but float": ("not a text", "float"),
    "cut at 2,000 characters for parsing": ("cut for parsing", "at 2,000 characters"),
    "the edited photo lies outside the run folder": ("the edited photo cannot be read", "lies outside the run folder"),
}

OLD = {
    ("kept", ""): ("", ""),
    ("refused", "HTTP 410"): ("HTTP error", "410"),
    ("failed", "not finished after 60 seconds"): ("not finished in time", "60 seconds"),
    ("refused", "struck by lightning"): ("refused", "struck by lightning"),
    ("skipped", "no face found"): ("no face found", ""),
    ("flagged", "holes of 2.0%; solidity 0.61"): ("cut-out flagged", "holes of 2.0%; solidity 0.61"),
}
# The key of each table whose reasons had their details in themselves, as far as the rows below differ in it.
OLD_TABLES = {
    MANIFEST: "path", CENSUS: "path", CONTEXTS["backgrounds"]: "key", CONTEXTS["cutouts"]: "photo",
    crops.PEOPLE: "path", crops.PAIRS: "left", crops.TOGETHER: "cropper", crops.GLANCES: "photo",
    CAPTIONS["images"]: "image", CAPTIONS["sentences"]: "image",
}  # fmt: skip


@pytest.mark.parametrize("prose", PROSE)
def test_a_reason_of_version_0_1_is_split_into_its_word_and_its_detail(prose: str):
    assert split_prose(prose) == PROSE[prose]


def test_what_is_split_already_stays():
    assert [split_prose(reason) for reason in Reason] == [(reason.value, "") for reason in Reason]


def test_a_why_reads_as_one_text_and_is_two_columns():
    why = SkipReason(Reason.FACE_TOO_SMALL, "25 px")
    assert why == "face too small (25 px)" == explained(**why.columns)
    assert not SkipReason()
    assert SkipReason().columns == {"reason": "", "detail": ""}


def test_a_why_comes_home_from_a_worker():
    sent = pickle.loads(pickle.dumps(SkipReason(Reason.TOO_LARGE, "9 million")))
    assert (sent, sent.reason, sent.detail) == ("unreadable: too large (9 million)", Reason.TOO_LARGE, "9 million")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A photos table as version 0.1 wrote it."""
    rows = pd.DataFrame({"photo": "", "path": [f"{i}.jpg" for i in range(len(PROSE))], "reason": list(PROSE)})
    rows = rows.assign(width=0, height=0, status="skipped", faces=0, box=None, points=None, detection=None)
    schema = pa.schema([field for field in tables.PHOTOS.schema if field.name != "detail"])
    pq.write_table(pa.Table.from_pandas(rows[schema.names], schema=schema), tmp_path / "photos.parquet")
    return tmp_path / "photos.parquet"


def test_an_old_run_folder_is_still_read(old: Path):
    found = tables.read(tables.PHOTOS, old)
    assert list(zip(found["reason"], found["detail"], strict=True)) == list(PROSE.values())
    some = tables.read_columns(tables.PHOTOS, old, ["path", "detail"], pa.compute.field("path") == "2.jpg")
    assert some.to_dict("records") == [{"path": "2.jpg", "detail": "25 px, at least 32 wanted"}]
    arrow = tables.read_arrow(tables.PHOTOS, old)
    assert arrow.column("detail").to_pylist() == found["detail"].tolist()


def test_a_table_that_lacks_more_is_still_refused(old: Path):
    pq.write_table(pq.read_table(old).drop_columns(["path"]), old)
    with pytest.raises(TableError, match="lacks path"):
        tables.read(tables.PHOTOS, old)
    with pytest.raises(TableError, match="lacks path"):
        tables.read_columns(tables.PHOTOS, old, ["photo"])


def test_a_status_tells_what_an_unknown_text_is_about():
    assert split_prose("content policy", "refused") == ("refused", "content policy")
    assert split_prose("RuntimeError: no", "failed") == ("failed", "RuntimeError: no")
    assert split_prose("no face found", "refused") == ("no face found", "")
    assert SkipReason.of("content policy", "refused").columns == {"reason": "refused", "detail": "content policy"}
    assert SkipReason.of(SkipReason(Reason.TOO_SMALL, "9 px"), "failed").detail == "9 px"


def test_every_row_of_an_old_asked_table_has_a_reason_of_the_list(tmp_path: Path):
    texts = {"answered": "", "refused": "too dark", "failed": "the edited photo is missing"}
    rows = [("p", "gender", step, "c", status, text) for step, (status, text) in enumerate(texts.items())]
    schema = pa.schema([field for field in tables.ASKED.schema if field.name != "detail"])
    frame = pd.DataFrame(rows, columns=schema.names)
    pq.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False), tmp_path / "asked.parquet")
    found = tables.read(tables.ASKED, tmp_path / "asked.parquet")
    assert found["reason"].tolist() == ["", "refused", "the edited photo cannot be read"]
    assert found["detail"].tolist() == ["", "too dark", "is missing"]
    assert {*found["reason"]} <= {*Reason}


@pytest.mark.parametrize("table", OLD_TABLES, ids=lambda table: table.name)
def test_old_tables_of_collections_and_audits_are_still_read(tmp_path: Path, table: tables.Table):
    empty = {"string": "", "bool": False}
    row = {field.name: empty.get(str(field.type), 0) for field in table.schema if not field.nullable}
    key = OLD_TABLES[table]
    given = [{key: str(place), "status": one, "reason": prose} for place, (one, prose) in enumerate(OLD)]
    rows = [row | one for one in given]
    schema = pa.schema([field for field in table.schema if field.name != "detail"])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), tmp_path / "old.parquet")
    found = tables.read(table, tmp_path / "old.parquet")
    assert list(zip(found["reason"], found["detail"], strict=True)) == list(OLD.values())
