"""Two audits of real photos give the numbers and the pictures that they gave: see tests/golden/audits.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden import audits

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", audits.SETS)
def test_tables_and_pictures_of_real_photos_are_as_they_were(
    name: str, unpacked: Callable[[str], Path], tmp_path: Path
):
    archive, *_ = audits.SETS[name]
    photos = unpacked(archive)
    golden = audits.path()
    assert golden.is_file(), f"Of these weights there is no {golden}: make it with python -m tests.golden.audits."
    known = json.loads(golden.read_text("utf-8"))
    if (here := audits.arithmetic()) != known["arithmetic"]:
        pytest.skip(f"{golden.name} was made with {known['arithmetic']}, here is {here}: both round differently.")
    found = audits.audited(name, photos, tmp_path)
    for table, columns in known["sets"][name].items():
        differing = {column for column in columns if found[table].get(column) != columns[column]}
        assert not differing, f"{table}: {sorted(differing)[:5]}, {len(differing)} of {len(columns)}"
        assert table == "slopes" or len(found[table]) == len(columns)
