"""Tables about people: the photo that a row is about, and one spelling of a group's name in every verb."""

import doctest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.captions.stimuli.groups import read_groups
from gslopes.core import csv_table
from gslopes.core.csv_table import normal_names
from gslopes.core.errors import UsageError
from gslopes.photos import people
from gslopes.photos.people import check_about, name_in, read_people

SPELLED = [
    "male",
    "Male",
    "male ",
    "male",
    "NaN",
    "nan",
    "",
    "female",
    "Female",
    " female",
    "female",
    "N/A",
]
WANTED = ["male"] * 4 + [""] * 3 + ["female"] * 4 + [""]


def test_examples_in_the_docstrings_hold() -> None:
    assert not doctest.testmod(csv_table).failed
    assert not doctest.testmod(people).failed


@pytest.mark.parametrize("name", ["f" * 64, "a/001_x.jpg", "001_x.jpg", "a/001_x", "001_x", "001"])
def test_a_photo_is_known_by_id_path_file_name_stem_or_its_beginning(name: str) -> None:
    assert name_in({name, "99"}, "a/001_x.jpg", "f" * 64) == name
    assert name_in({name, "99"}, "a/002_x.jpg", "0" * 64) is None


def test_rows_of_a_photo_agree_in_what_counts(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,sex,age\n1,m,20\n2,f,30\n1,M ,40\n")
    table = read_people(tmp_path / "people.csv")
    assert table.by_photo({"sex": table.groups("sex")}) == {"1": 0, "2": 1}
    with pytest.raises(
        UsageError, match="names '1' in lines 2 and 4 with different age: '20' and '40'"
    ):
        table.by_photo({"age": table.groups("age")})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_read_by_its_ending(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"image": ["a", "b"], "x": ["1", None], "y": ["p", "q"]})
    path = tmp_path / f"people.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    table = read_people(path)
    assert table.groups("x + y") == ["1 + p", ""]
    assert table.groups("x") == ["1", ""]


def test_whatever_is_missing_is_in_no_group() -> None:
    assert normal_names([None, np.nan, pd.NA, "<NA>", "null", "  ", 1, "1 "]) == [""] * 6 + [
        "1",
        "1",
    ]
    assert normal_names([]) == []


CODES = ["NA", "None", "null", "nan", "N/A", "", "North"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_texts_that_are_read_as_nothing_are_counted_and_told(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame(
        {"image": list("abcdefg"), "region": CODES, "code": ["x", "y"] + ["z"] * 5}
    )
    path = tmp_path / f"people.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    check_about(path, {"region": "--groups", "code": "--cluster"})
    said = capsys.readouterr().err
    assert f"{path}: region is 'N/A', 'NA', 'None' and 2 more in 5 rows" in said
    assert "code" not in said
    check_about(path, {"region": "--groups"})
    assert not capsys.readouterr().err, "once"


def test_a_column_that_is_lacking_names_the_option_that_needs_it(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("image,gender\na,f\n")
    with pytest.raises(UsageError, match="has no column 'job'") as refused:
        check_about(tmp_path / "people.csv", {"gender": "--groups", "job": "--truth"})
    assert "--truth names it" in refused.value.hint
    assert "--groups" not in refused.value.hint


def test_names_that_are_really_others_stay_others() -> None:
    assert normal_names(["East Asian", "east  asian", "Asian", "nana"]) == [
        "East Asian",
        "East Asian",
        "Asian",
        "nana",
    ]


def test_captions(tmp_path: Path) -> None:
    rows = [f"{number},{cell}" for number, cell in enumerate(SPELLED)]
    (tmp_path / "groups.csv").write_text("\n".join(["image,who", *rows]))
    found = read_groups(tmp_path / "groups.csv")["who"]
    assert list(found.values()) == WANTED
