from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.groups import groups_of, left_out
from gslopes.core.errors import UsageError


def written(folder: Path, *columns: str) -> Path:
    lines = [f"{image},{image},{image % 2}" for image in range(5000)]
    (folder / "groups.csv").write_text("\n".join([",".join(("image", *columns)), *lines]) + "\n")
    return folder / "groups.csv"


def test_a_column_of_identifiers_is_left_out_with_a_sentence(tmp_path: Path):
    config = CaptionsConfig(groups=written(tmp_path, "number", "gender"))
    assert list(groups_of(config)) == ["gender"]
    assert left_out(config) == ["The column number is not compared: it has 5,000 values, and at most 40 are."]
    assert left_out(CaptionsConfig(groups=config.groups, cluster="number")) == []


def test_a_chosen_column_of_identifiers_is_an_error(tmp_path: Path):
    with pytest.raises(UsageError, match=r"number of .* has 5,000 values"):
        groups_of(CaptionsConfig(groups=written(tmp_path, "number", "gender"), columns=("number",)))
