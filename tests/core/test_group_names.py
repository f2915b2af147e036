"""One spelling of a group's name, in every verb that reads a table of people."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.captions.demographics import read_groups
from gslopes.contexts.people import PeopleColumns, read_people
from gslopes.core import group_names
from gslopes.core.group_names import normal_names
from gslopes.crops.people import read_people as read_crops_people
from gslopes.slopes.validation import _groups

SPELLED = ["male", "Male", "male ", "male", "NaN", "nan", "", "female", "Female", " female", "female", "N/A"]
WANTED = ["male"] * 4 + [""] * 3 + ["female"] * 4 + [""]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"{number}.png,{number},x,{cell}" for number, cell in enumerate(SPELLED)]
    for number in range(len(SPELLED)):
        Image.new("RGB", (4, 4), (number, 0, 0)).save(tmp_path / f"{number}.png")
    (tmp_path / "people.csv").write_text("\n".join(["file,person,gender,who", *rows]))
    return tmp_path / "people.csv"


def test_examples_in_the_docstrings_hold() -> None:
    assert not doctest.testmod(group_names).failed


def test_whatever_is_missing_is_in_no_group() -> None:
    assert normal_names([None, np.nan, pd.NA, "<NA>", "null", "  ", 1, "1 "]) == [""] * 6 + ["1", "1"]
    assert normal_names([]) == []


def test_names_that_are_really_others_stay_others() -> None:
    assert normal_names(["East Asian", "east  asian", "Asian", "nana"]) == ["East Asian", "East Asian", "Asian", "nana"]


def test_contexts(table: Path) -> None:
    found = read_people(table, PeopleColumns(group_column="who"))
    assert [one["group"] for one in found.values()] == WANTED


def test_crops(table: Path) -> None:
    found = read_crops_people(table.parent, table, columns=["who"], min_group=2)
    assert {name: len(persons) for name, persons in found.groups["who"].items()} == {"female": 4, "male": 4}
    assert found.left_out["who"] == {"no value": 4}


def test_captions(tmp_path: Path) -> None:
    rows = [f"{number},{cell}" for number, cell in enumerate(SPELLED)]
    (tmp_path / "groups.csv").write_text("\n".join(["image,who", *rows]))
    found = read_groups(tmp_path / "groups.csv")["who"]
    assert list(found.values()) == WANTED
    named = read_groups(tmp_path / "groups.csv", ("who",), identifiers=True)["who"]
    assert {"male", "Male"} <= set(named.values())


def test_validate() -> None:
    about = pd.DataFrame({"who": SPELLED}, index=[f"p{number}" for number in range(len(SPELLED))])
    photos = pd.Index([*about.index, "unknown"])
    assert _groups(photos, {}, about, ["who"])["who"].tolist() == [*WANTED, ""]
