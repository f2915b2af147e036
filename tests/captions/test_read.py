from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.captions.read import find_stages
from gslopes.core.errors import UnknownName, UsageError


def test_files_and_folders_are_stages_by_their_names(tmp_path: Path):
    (tmp_path / "system-captions.csv").write_text("image,caption\n")
    (tmp_path / "human-captions").mkdir()
    for name in ("b.csv", "a.csv"):
        (tmp_path / "human-captions" / name).write_text("image,caption\n")
    (tmp_path / ".hidden.csv").touch()
    (tmp_path / "notes.md").touch()
    found = find_stages(tmp_path)
    assert list(found) == ["human-captions", "system-captions"]
    assert [file.name for file in found["human-captions"].files] == ["a.csv", "b.csv"]


def test_a_table_that_is_called_after_no_stage_is_named(tmp_path: Path):
    (tmp_path / "captoins.csv").touch()
    with pytest.raises(UnknownName, match="captoins"):
        find_stages(tmp_path)


def test_an_empty_folder_and_none_at_all_are_usage_errors(tmp_path: Path):
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError):
            find_stages(place)
