"""Groups of the people depicted, from tables of a user and of Zhao et al."""

from pathlib import Path

import pytest

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.stimuli.groups import groups_of, read_groups
from gslopes.core.errors import DataMissing, UsageError


def test_a_column_of_identifiers_is_left_out_with_a_sentence_and_an_error_where_it_is_chosen(
    tmp_path: Path,
):
    rows = "".join(f"{image},{image},{image % 2}\n" for image in range(50))
    (tmp_path / "groups.csv").write_text(f"image,number,gender\n{rows}")
    groups, notes = groups_of(CaptionsConfig(groups=tmp_path / "groups.csv"))
    assert list(groups) == ["gender"]
    assert notes == ["The column number is not compared: it has 50 values, and at most 40 are."]
    with pytest.raises(UsageError, match=r"number of .* has 50 values"):
        groups_of(CaptionsConfig(groups=tmp_path / "groups.csv", columns=("number",)))


@pytest.fixture
def zhao(tmp_path: Path) -> Path:
    file = tmp_path / "instances_2014all.csv"
    file.write_text(
        "id,bb_gender,bb_skin,split\n1,Female,Dark,val\n2,Male,Light,val\n3,Unsure,Light,val\n"
    )
    return file


@pytest.mark.row("captions-3.4-groups")
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
