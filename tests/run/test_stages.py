from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import RunFolderMismatch, UsageError
from gslopes.run import stages

TABLES = ("photos", "edits", "asked", "scores", "slopes")


def read(run: Path) -> dict[str, pd.DataFrame]:
    return {name: tables.read(tables.TABLES[name], run / f"{name}.parquet") for name in TABLES}


@pytest.fixture
def faces(draw, home):
    return draw(6)


def test_an_audit_writes_every_table_and_the_page(faces, tmp_path):
    audit = gslopes.audit(faces.photos, tmp_path / "run", attribute=("gender", "race"), **faces.known)
    found = read(tmp_path / "run")
    assert (audit.photos, audit.used, audit.errors) == (6, 6, 0)
    assert len(found["edits"]) == len(found["asked"]) == 6 * (7 + 5)
    assert audit.page is not None
    assert audit.page.is_file()
    pd.testing.assert_frame_equal(audit.slopes, found["slopes"])
