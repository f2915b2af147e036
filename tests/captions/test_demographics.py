from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.captions.demographics import read_groups
from gslopes.core.errors import DataMissing, UsageError


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
