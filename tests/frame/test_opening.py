"""A run folder opens again as what its audit returned; anything else is refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gslopes
from gslopes.core.errors import GslopesError, UsageError
from gslopes.frame.result import AUDITS


@pytest.mark.parametrize("kind", ["", *AUDITS])
def test_a_run_that_was_stopped_early_says_how_to_finish_it(tmp_path: Path, kind: str) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"kind": kind} if kind else {}))
    with pytest.raises(GslopesError) as refused:
        gslopes.load(tmp_path)
    assert refused.value.hint


def test_a_folder_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"kind": "census"}')
    with pytest.raises(UsageError, match="census") as refused:
        gslopes.load(tmp_path)
    assert "contexts" in refused.value.hint


def test_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no run\.json"):
        gslopes.load(tmp_path)
