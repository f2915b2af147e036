"""Groups of the depicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.stimuli import groups_of, read_groups
from gslopes.core.errors import DataMissing, UsageError


def written(folder: Path, *columns: str) -> Path:
    lines = [f"{image},{image},{image % 2}" for image in range(5000)]
    (folder / "groups.csv").write_text("\n".join([",".join(("image", *columns)), *lines]) + "\n")
    return folder / "groups.csv"


def test_a_column_of_identifiers_is_left_out_with_a_sentence(tmp_path: Path):
    config = CaptionsConfig(groups=written(tmp_path, "number", "gender"))
    groups, notes = groups_of(config)
    assert list(groups) == ["gender"]
    assert notes == ["The column number is not compared: it has 5,000 values, and at most 40 are."]


def test_a_chosen_column_of_identifiers_is_an_error(tmp_path: Path):
    with pytest.raises(UsageError, match=r"number of .* has 5,000 values"):
        groups_of(CaptionsConfig(groups=written(tmp_path, "number", "gender"), columns=("number",)))


@pytest.fixture
def zhao(tmp_path: Path) -> Path:
    file = tmp_path / "instances_2014all.csv"
    file.write_text("id,bb_gender,bb_skin,split\n1,Female,Dark,val\n2,Male,Light,val\n3,Unsure,Light,val\n")
    return file


def test_zhao_et_al(zhao: Path):
    assert read_groups(zhao) == {
        "gender": {"1": "female", "2": "male", "3": ""},
        "skin": {"1": "darker", "2": "lighter", "3": "lighter"},
    }


def test_two_columns_are_crossed(zhao: Path):
    assert read_groups(zhao, ["gender + skin"])["gender + skin"] == {
        "1": "female + darker",
        "2": "male + lighter",
        "3": "",
    }


def test_unknown_columns_and_contradictions(tmp_path: Path, zhao: Path):
    with pytest.raises(UsageError, match="Did you mean 'skin'"):
        read_groups(zhao, ["skins"])
    twice = tmp_path / "g.csv"
    twice.write_text("image,g\na,x\nb,x\na,y\n")
    with pytest.raises(DataMissing, match="lines 2 and 4 with different g"):
        read_groups(twice)
