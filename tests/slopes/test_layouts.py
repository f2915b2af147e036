"""Sets as they are published, and tables of one's own: which columns say what, what is refused, and the audits."""

import contextlib
import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import gslopes
from gslopes.core import parquet_table, runfolder, tables
from gslopes.core.crossed import grid_of
from gslopes.core.errors import PhotoError, UsageError
from gslopes.slopes import layouts
from gslopes.slopes.config import configure
from gslopes.slopes.layouts import shipped
from gslopes.slopes.pairs import PairSet, read_pairs
from tests.slopes import published_sets as published
from tests.slopes.published_sets import SETS, cell, shards, social_rows


def draw(unit: int, gender: int, race: int) -> bytes:
    """A picture that no other unit, gender or race has."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (unit, 100 * gender, 100 * race)).save(file, "PNG")
    return file.getvalue()


def colours(pairs: PairSet, unit: str) -> list[tuple[int, ...]]:
    """Of a unit's pictures, in their order."""
    opened = (Image.open(io.BytesIO(one.read())) for one in pairs.edits.loc[unit, "picture"])
    return [one.convert("RGB").getpixel((0, 0)) for one in opened]


# --- published ones ---


FOUND = {
    "social-counterfactuals": [
        "gender: male − female",
        "race: Latino − Black",
        "race: White − Black",
    ],
    "cultural-counterfactuals": [
        "context: Mosque − Buddhist temple",
        "context: Synagogue − Buddhist temple",
    ],
    "coco-counterfactuals": ["subject: counterfactual − before"],
    "parallel-images": ["gender: woman − man", "race: White − Black"],
    "visual-counterfact": ["picture: counterfactual − before"],
}


@pytest.mark.parametrize("name", FOUND)
def test_a_published_layout_is_recognised_by_its_columns(tmp_path: Path, name: str) -> None:
    pairs = read_pairs(SETS[name](tmp_path / "set", draw, 3), placebos=False)
    assert [sweep for sweep in pairs.values if "-x-" not in sweep] == FOUND[name]
    assert len(pairs.units) == 3
    assert (pairs.units["lacks"] == "").all()
    assert pairs.edits.index.nunique() == 3
    assert all(picture.read().startswith(b"\x89PNG") for picture in pairs.edits["picture"])


def test_each_layout_that_ships_says_where_it_is_documented_and_is_run_here() -> None:
    names = {*shipped()} - {"attribute-value", "two-attributes"}  # our own
    assert names == {*SETS} == {*FOUND}
    folder = Path(gslopes.__file__).parent / "slopes" / "data" / "layouts"
    for name in names:
        assert "# Documented: " in (folder / f"{name}.toml").read_text("utf-8")


def test_two_attributes_of_names_are_a_grid_and_each_picture_is_where_it_belongs(
    tmp_path: Path,
) -> None:
    pairs = read_pairs(published.social(tmp_path / "set", draw, 3))
    grid = grid_of(pairs.values)
    assert grid is not None
    assert grid.names == ("gender: male − female", "race")
    assert grid.levels == ("Black", "Latino", "White")
    assert pairs.values[grid.name] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert {f"{grid.name}-{kind}" for kind in ("same", "light", "random")} <= set(pairs.values)
    assert pairs.edits["attribute"].unique().tolist() == [grid.name]
    wanted = [(1, 100 * gender, 100 * race) for race in range(3) for gender in range(2)]
    assert colours(pairs, "doctor_1") == wanted


def test_another_baseline_is_the_first_of_the_grid(tmp_path: Path) -> None:
    pairs = read_pairs(published.social(tmp_path / "set", draw, 2), "White,male")
    grid = grid_of(pairs.values)
    assert grid is not None
    assert grid.names[0] == "gender: female − male"
    assert grid.levels == ("White", "Black", "Latino")
    assert colours(pairs, "doctor_0")[:2] == [(0, 100, 200), (0, 0, 200)]


def test_a_unit_with_holes_is_left_out_of_the_grid_and_says_which(tmp_path: Path) -> None:
    rows = social_rows(draw, 3)
    gone = [row for row in rows if row["counterfactual_set"] == "doctor_1"][3]
    rows.remove(gone)
    pairs = read_pairs(shards(tmp_path / "set", rows), placebos=False)
    assert grid_of(pairs.values) is not None
    (lacks,) = pairs.units["lacks"][pairs.units["lacks"] != ""]
    assert lacks == "5 of 6 values of gender: male − female-x-race, without male Latino"
    assert set(pairs.edits.index) == {"doctor_0", "doctor_2"}


def test_where_most_units_have_holes_each_attribute_has_its_contrasts_with_the_other_held_fixed(
    tmp_path: Path,
) -> None:
    rows = [row for row in social_rows(draw, 3) if (row["a1"], row["a2"]) != ("Latino", "male")]
    pairs = read_pairs(shards(tmp_path / "set", rows), placebos=False)
    assert grid_of(pairs.values) is None
    assert list(pairs.values) == FOUND["social-counterfactuals"]
    assert pairs.units.loc["doctor_0 · White", "cluster"] == "doctor_0"
    assert colours(pairs, "doctor_0 · White") == [(0, 0, 200), (0, 100, 200)]
    assert colours(pairs, "doctor_2 · female") == [(2, 0, 0), (2, 0, 100), (2, 0, 0), (2, 0, 200)]
    assert pairs.units.loc["doctor_0 · male", "lacks"] == "1 of 2 values of race: Latino − Black"


def test_three_attributes_are_held_fixed_in_turn_and_one_that_never_changes_is_left_out(
    tmp_path: Path,
) -> None:
    rows = [
        {**row, "age": age, "eyes": "brown"}
        for row in social_rows(draw, 2)
        for age in ("old", "young")
    ]
    option = f"{shards(tmp_path / 'set', rows)},unit=counterfactual_set,attribute=a1+a2+age+eyes"
    pairs = read_pairs(option, placebos=False)
    assert [name.partition(":")[0] for name in pairs.values] == ["a1", "a1", "a2", "age"]
    assert pairs.units.index[0] == "doctor_0 · female · old · brown"
    assert set(pairs.units["cluster"]) == {"doctor_0", "doctor_1"}


def test_without_its_columns_of_types_the_attributes_are_named_by_theirs_or_by_the_option(
    tmp_path: Path,
) -> None:
    path = shards(tmp_path / "set", social_rows(draw, 2, types=False))
    assert "a2: male − female" in read_pairs(path).values
    pairs = read_pairs(f"{path},attribute=race+gender")
    assert "gender: male − female" in pairs.values
    one = read_pairs(f"{path},unit=counterfactual_set,attribute=gender,value=a2", placebos=False)
    assert list(one.values) == ["gender: male − female"]
    assert len(one.units) == 6, "the other attribute is held fixed"


# --- tables of one's own ---


def table(folder: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    """A CSV, with a picture for each first cell that names one."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, row in enumerate(rows):
        name = str(row[0]).strip().replace("\\", "/")
        if name.endswith(".png") and ".." not in name and not name.startswith("/"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(draw(number, 0, 0))
    with (folder / "set.csv").open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return folder / "set.csv"


OWN = ("file", "who", "skin", "tone")
ROWS = [(f"{who}{level}.png", f"p{who}", level, "x") for who in range(3) for level in ("A", "B")]


@pytest.mark.parametrize(
    "more",
    ["unit=who,attribute=skin,picture=file", "picture=file,attribute=race,value=skin,unit=who"],
)
def test_columns_of_ones_own_are_named_in_the_option(tmp_path: Path, more: str) -> None:
    path = table(tmp_path / "s", OWN, ROWS)
    pairs = read_pairs(f"{path},{more}", placebos=False)
    name = "race" if "race" in more else "skin"
    assert list(pairs.values) == [f"{name}: B − A"]
    assert pairs.units.index.tolist() == ["p0", "p1", "p2"]
    assert len(pairs.edits) == 6


def test_a_unit_of_two_columns_and_a_group(tmp_path: Path) -> None:
    path = table(tmp_path / "s", OWN, ROWS)
    pairs = read_pairs(f"{path},unit=who+tone,attribute=skin,picture=file,group=tone")
    assert pairs.units.index[0] == "p0 · x"
    assert set(pairs.units["group"]) == {"x"}


@pytest.mark.parametrize("name", ["a,b", "a=b", "unit=who", "c:d", "é ü"])
def test_a_path_may_have_commas_equal_signs_and_colons(tmp_path: Path, name: str) -> None:
    path = table(
        tmp_path / name,
        ("picture", "unit", "attribute", "value"),
        [(f"{u}{v}.png", u, "race", v) for u in "xy" for v in "AB"],
    )
    assert len(read_pairs(path).units) == 2
    escaped = str(path).replace(",", r"\,")
    assert len(read_pairs(f"{escaped},unit=unit").units) == 2


def test_a_layout_is_one_file_beside_the_set_or_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
picture = "file"
unit = "who"
attribute = "race"
value = "skin"
[names]
a = "Asian"
B = "Black"
"""
    path = table(tmp_path / "s", OWN, ROWS)
    (tmp_path / "s" / "ours.toml").write_text(text)
    (tmp_path / "mine.toml").write_text(text.replace('"race"', '"origin"'))
    pairs = read_pairs(f"{tmp_path / 's'},layout=ours.toml", placebos=False)
    assert list(pairs.values) == ["race: Black − Asian"]
    monkeypatch.chdir(tmp_path)
    config = configure(None, {"pairs": "s/set.csv,layout=mine.toml"}, tmp_path / "run")
    monkeypatch.chdir("/")
    assert str(config.pairs) == f"{path},layout={tmp_path / 'mine.toml'}"
    assert "origin: Black − Asian" in read_pairs(str(config.pairs)).values


def test_a_folder_without_a_table_is_read_by_a_pattern_of_names(tmp_path: Path) -> None:
    for person in "xy":
        for age in ("20", "40", "60"):
            (tmp_path / f"{person}-{age}.png").write_bytes(draw(ord(person), 0, 0))
    (tmp_path / "names.toml").write_text(
        "picture = 'picture'\nunit = 'who'\nattribute = 'age'\nfiles = '(?P<who>.)-(?P<age>.+)[.]png'\n"
    )
    assert read_pairs(f"{tmp_path},layout=names.toml").values["age"] == [20, 40, 60]


def test_spellings_blanks_zeros_and_backslashes_are_one_value_and_one_path(tmp_path: Path) -> None:
    head = ("picture", "unit", "attribute", "value", "group")
    rows = [
        (r"a\0.png", "u", "race ", "White", "x"),
        ("a/1.png", "u", "Race", " black", "X"),
        ("b0.png", "v", "race", "white ", "x"),
        ("b1.png", "v", "race", "Black", ""),
    ]
    with pytest.raises(UsageError, match="two groups"):
        read_pairs(table(tmp_path / "s", head, rows))
    rows[3] = (*rows[3][:4], "x")
    rows += [(f"n{v}.png", "u", "dose", v, "x") for v in ("-0.0", "1")]
    rows += [("m0.png", "v", "dose", "0", "x"), ("m1.png", "v", "dose", "1.0", "x")]
    pairs = read_pairs(table(tmp_path / "t", head, rows), placebos=False)
    assert pairs.values == {"dose": [0, 1], "race: white − black": [0, 1]} or pairs.values == {
        "dose": [0, 1],
        "race: White − Black": [0, 1],
    }
    assert len(pairs.edits) == 8
    assert pairs.units["group"].nunique() == 1


# --- what is refused ---

PLAIN = ("picture", "unit", "attribute", "value")
TWO = [("a.png", "u", "race", "A"), ("b.png", "u", "race", "B")]
WRONG: dict[str, tuple[Sequence[str], list[tuple[object, ...]], str, str]] = {
    "no column unit, but image, caption, who_id, gender.": (
        ("image", "caption", "who_id", "gender"),
        [("a.png", "x", "u", "A")],
        "",
        "set.csv,unit=who_id,attribute=gender'",
    ),
    "no column counterfactual_se, but": (
        ("image", "counterfactual_set", "gender"),
        [("a.png", "u", "A")],
        ",unit=counterfactual_se,attribute=gender",
        "Did you mean 'counterfactual_set'?",
    ),
    "no column valeu, but": (PLAIN, TWO, ",value=valeu", "Did you mean 'value'?"),
    "The option '--pairs' has no parameter 'unite'": (
        PLAIN,
        TWO,
        ",unite=x",
        "Did you mean 'unit'?",
    ),
    "There is no layout named 'social'": (PLAIN, TWO, ",layout=social", "social-counterfactuals"),
    "may be read as cultural-counterfactuals and social-counterfactuals": (
        ("image", "counterfactual_set", "a1", "a2", "ctf_set", "context"),
        [("a.png", "u", "A", "B", "u", "C")],
        "",
        "layout=cultural-counterfactuals",
    ),
    "no column counterfactual_set, but picture, unit, attribute, value.": (
        ("picture", "unit", "attribute", "value"),
        [("a.png", "u", "race", "A")],
        ",layout=social-counterfactuals,picture=picture",
        "Say which column is which",
    ),
    "no column attribute, but": (
        ("image", "who"),
        [("a.png", "u")],
        ",unit=who",
        "Say which column is which",
    ),
    "are not as many": (
        (*PLAIN, "v2"),
        [(*row, "x") for row in TWO],
        ",attribute=race,value=value+v2",
        "attribute=race+gender,value=a1+a2",
    ),
    "is 'NA', which may be a name or nothing": (
        PLAIN,
        [("a.png", "u", "race", "NA")],
        "",
        "Leave it empty",
    ),
    "every unit has one value of race": (
        PLAIN,
        [("a.png", "u", "race", "A"), ("b.png", "v", "race", "B")],
        "",
        "share a unit",
    ),
    "has two pictures of race 'A'; the other is in": (
        PLAIN,
        [("a.png", "u", "race", "A"), ("b.png", "u", "race", "a ")],
        "",
        "tell the units apart",
    ),
    "1 of 2 pictures of": (PLAIN, [TWO[0], ("gone.jpg", "u", "race", "B")], "", "Paths start in"),
    "../a.png lies outside of": (PLAIN, [TWO[0], ("../a.png", "u", "race", "B")], "", "folder=DIR"),
    "/etc/passwd lies outside of": (
        PLAIN,
        [TWO[0], ("/etc/passwd", "u", "race", "B")],
        "",
        "folder=DIR",
    ),
}


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_set_is_one_sentence_with_the_next_step(tmp_path: Path, said: str) -> None:
    head, rows, more, step = WRONG[said]
    path = table(tmp_path / "s", head, rows)
    with pytest.raises(UsageError) as refused:
        read_pairs(f"{path}{more}")
    assert said in refused.value.message
    assert step in refused.value.hint


def test_a_link_out_of_the_set_and_a_list_as_a_value_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "s", PLAIN, [TWO[0]])
    (tmp_path / "secret.png").write_bytes(draw(0, 0, 0))
    (tmp_path / "s" / "b.png").symlink_to(tmp_path / "secret.png")
    with path.open("a") as file:
        file.write("b.png,u,race,B\n")
    with pytest.raises(UsageError, match="outside"):
        read_pairs(path)
    row = {"picture": "a.png", "unit": "u", "attribute": "race", "value": ["A"]}
    (tmp_path / "s" / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UsageError, match=r"row 1: value is a list"):
        read_pairs(tmp_path / "s")


OUTSIDE = (
    "../secret.png",
    "x/../../secret.png",
    "{0}/secret.png",
    "..\\secret.png",
    "linked/secret.png",
    "b.png",
    "\u2024\u2024/secret.png",
    "file://{0}/secret.png",
    "~/secret.png",
    "s/../../secret.png\0.png",
    "/dev/fd/0",
    "/proc/self/environ",
)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "option"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_no_table_of_files_reads_outside_of_its_folder(
    tmp_path: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / "s"
    file = table(home, PLAIN, [TWO[0]])
    (tmp_path / "secret.png").write_bytes(draw(0, 0, 0))
    (home / "linked").symlink_to(tmp_path)
    (home / "b.png").symlink_to(tmp_path / "secret.png")
    rows = [dict(zip(PLAIN, TWO[0], strict=True))]
    rows.append(rows[0] | {"picture": name.format(tmp_path), "value": "B"})
    more = ""
    if kind == "jsonl":
        file = home / "metadata.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "parquet":
        file = home / "a.parquet"
        pq.write_table(pa.Table.from_pylist(rows), file)
    else:
        pd.DataFrame(rows).to_csv(file, index=False)
        more = ",picture=picture" * (kind == "option")
    with pytest.raises(UsageError):
        read_pairs(f"{file}{more}")


def test_a_picture_within_parquet_is_its_bytes_and_never_its_path(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(secret := draw(0, 0, 0))
    held = {"bytes": None, "path": str(tmp_path / "secret.png")}
    rows = [
        {"picture": held, "unit": "u", "attribute": "race", "value": value} for value in ("A", "B")
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for picture in read_pairs(tmp_path / "a.parquet").edits["picture"]:
        assert picture.read() == b"" != secret


def test_a_set_that_is_all_pictures_and_one_whose_pictures_are_a_bomb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"before": cell(draw(0, 0, 0)), "after": cell(draw(9, 9, 9))} for _ in range(3)]
    columns = {name: pa.array([row[name] for row in rows], published.IMAGE) for name in rows[0]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    (tmp_path / "mine.toml").write_text('picture = "before+after"\nattribute = "look"\n')
    option = f"{tmp_path / 'a.parquet'},layout=mine.toml"
    pairs = read_pairs(option)
    assert len(pairs.units) == 3
    assert all(picture.read() for picture in pairs.edits["picture"])
    monkeypatch.setattr(layouts, "LARGEST_GROUP", 100)
    with pytest.raises(UsageError, match="bytes of pictures in a group of rows"):
        read_pairs(option)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(PhotoError, match="cannot be read"):
        pairs.edits["picture"].iloc[0].read()


def test_a_footer_is_read_as_often_for_many_groups_of_rows_as_for_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    whole = pq.ParquetFile

    def counted(*given: Any, metadata: Any = None, **options: Any) -> Any:
        parsed.append(metadata is None)
        return whole(*given, metadata=metadata, **options)

    monkeypatch.setattr(parquet_table.pq, "ParquetFile", counted)
    footers = []
    for groups in (3, 30):
        path = tmp_path / f"{groups}.parquet"
        held = [cell(draw(number, 0, 0)) for number in range(2 * groups)]
        pq.write_table(pa.table({"image": pa.array(held, published.IMAGE)}), path, row_group_size=2)
        parsed.clear()
        found = [one.read() for one in layouts.cells_of(path, ["image"])["image"]]
        assert found == [one["bytes"] for one in held]
        footers.append(sum(parsed))
    assert footers[0] == footers[1]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_two_attributes_of_names_in_one_column_are_two_contrasts(tmp_path: Path, kind: str) -> None:
    rows = [
        {"picture": f"{unit}.png", "unit": unit, "attribute": attribute, "value": value}
        for attribute, values in {"gender": ("f", "m"), "hair": ("dark", "fair")}.items()
        for unit, value in (
            (f"{attribute}{number}", value) for number in range(3) for value in values
        )
    ]
    for row in rows:
        (tmp_path / row["picture"]).write_bytes(draw(0, 0, 0))
    frame = pd.DataFrame(rows)
    file = tmp_path / f"a.{kind}"
    if kind == "csv":
        frame.to_csv(file, index=False)
    elif kind == "jsonl":
        frame.to_json(file, orient="records", lines=True)
    else:
        frame.to_parquet(file)
    assert list(read_pairs(file, placebos=False).values) == ["gender: m − f", "hair: fair − dark"]


@pytest.mark.parametrize(
    "cell",
    [["a"], {"a": 1}, [], [[]], {}],
    ids=str,
)
@pytest.mark.parametrize("column", PLAIN)
def test_what_is_no_single_value_is_refused_with_its_column_and_row(
    tmp_path: Path, column: str, cell: object
) -> None:
    rows = [dict(zip(PLAIN, row, strict=True)) for row in TWO]
    table(tmp_path / "s", PLAIN, TWO)
    rows[1][column] = cell
    (tmp_path / "s" / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(UsageError, match=f"row 2: {column} is a list"):
        read_pairs(tmp_path / "s")


@pytest.mark.parametrize(
    "values",
    [
        (-0.0, 1.0),
        ("-0", "1"),
        (0, 1),
        (False, True),
        ("½", "1,5"),
        ("1e400", "NaN?"),
        (10**400, "x"),
        ("\ud800a", "b"),
        ("2026-01-01", "2026-01-02"),
        (float("nan"), 1.0),
        (None, "x"),
    ],
    ids=ascii,
)
def test_odd_values_are_two_values_or_one_sentence(tmp_path: Path, values: tuple[Any, Any]) -> None:
    rows = [dict(zip(PLAIN, row, strict=True)) for row in TWO]
    table(tmp_path / "s", PLAIN, TWO)
    for row, value in zip(rows, values, strict=True):
        row["value"] = value
    (tmp_path / "s" / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with contextlib.suppress(UsageError):
        pairs = read_pairs(tmp_path / "s", placebos=False)
        (numbers,) = pairs.values.values()
        assert len(numbers) == 2


def test_both_zeros_are_one_value(tmp_path: Path) -> None:
    rows = [dict(zip(PLAIN, row, strict=True)) for row in (*TWO, TWO[0])]
    table(tmp_path / "s", PLAIN, TWO)
    for row, value in zip(rows, (0.0, 1.0, -0.0), strict=True):
        row["value"] = value
    (tmp_path / "s" / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(UsageError, match=r"two pictures of race '0\.0'"):
        read_pairs(tmp_path / "s")


def test_half_a_surrogate_in_a_text_is_read(tmp_path: Path) -> None:
    table(tmp_path / "s", PLAIN, TWO)
    lines = [
        '{"picture": "a.png", "unit": "\\ud800", "attribute": "race", "value": "A"}',
        '{"picture": "b.png", "unit": "\\ud800", "attribute": "race", "value": "B"}',
    ]
    (tmp_path / "s" / "metadata.jsonl").write_text("\n".join(lines))
    assert len(read_pairs(tmp_path / "s").units) == 1


def test_a_pipe_in_the_place_of_parquet_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "x.parquet")
    with pytest.raises(UsageError, match="not a readable table"):
        read_pairs(tmp_path)


def test_parquet_is_read_in_bounds_and_only_the_columns_that_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = social_rows(draw, 2)
    for row in rows:
        row["caption"] = "word " * 50_000
    path = shards(tmp_path / "set", rows)
    monkeypatch.setattr(layouts, "LARGEST_TEXTS", 300_000)
    assert len(read_pairs(path).units) == 2
    with pytest.raises(UsageError, match="bytes, and at most 300,000 are read"):
        read_pairs(f"{path},unit=caption")
    monkeypatch.setattr(layouts, "MOST_ROWS", 5)
    with pytest.raises(UsageError, match="6 rows, and at most 5 are read"):
        read_pairs(path)


def test_pictures_and_names_of_them_in_one_table(tmp_path: Path) -> None:
    rows = [
        {
            "picture": f"{v}.png",
            "image": cell(draw(0, 0, v)),
            "unit": "u",
            "attribute": "race",
            "value": n,
        }
        for v, n in enumerate("AB")
    ]
    for row in rows:
        (tmp_path / str(row["picture"])).write_bytes(draw(9, 0, 0))
    shards(tmp_path, rows, 1)
    assert colours(read_pairs(tmp_path), "u") == [(9, 0, 0)] * 2
    assert colours(read_pairs(f"{tmp_path},picture=image"), "u") == [(0, 0, 0), (0, 0, 100)]


def test_the_option_reaches_the_plan(tmp_path: Path, gslopes: Callable[..., Any]) -> None:
    path = table(tmp_path / "s", OWN, ROWS)
    option = f"{path},unit=who,attribute=skin,picture=file"
    done = gslopes("audit", "--pairs", option, "--out", tmp_path / "run", "--dry-run")
    assert done.code == 0, done.err
    assert "3 units" in done.out
    assert "skin: B − A" in done.out
    done = gslopes("audit", "--pairs", path, "--out", tmp_path / "run", "--dry-run")
    assert done.code == 2
    assert "but file, who, skin, tone" in done.err


# --- audits ---


@pytest.fixture(scope="session")
def edited(unpacked: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable:
    """Pictures of eight real portraits, edited by our own editors along both attributes."""
    folder = tmp_path_factory.mktemp("edited")
    (folder / "photos").mkdir()
    for file in sorted((unpacked("london") / "neutral").glob("*.jpg"))[::13][:8]:
        with Image.open(file) as photo:
            photo.convert("RGB").resize((300, 300)).save(folder / "photos" / file.name)
    options = {"attribute": ["gender", "race"], "cross": True, "grid": (3, 3), "placebo": False}
    run = gslopes.synthesise(folder / "photos", folder / "run", **options).folder
    edits = tables.read(tables.EDITS, run / "edits.parquet").set_index(["photo", "step"])["file"]
    photos = sorted(edits.index.unique("photo"))

    def picture(unit: int, gender: int, race: int) -> bytes:
        return (run / edits[photos[unit], 3 * race + 2 * gender]).read_bytes()

    return picture


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize("name", SETS)
def test_a_published_set_of_real_portraits_is_audited(
    name: str, edited: Callable, tmp_path: Path
) -> None:
    path = SETS[name](tmp_path / "set", edited, 8)
    audit = gslopes.audit(
        None,
        tmp_path / "run",
        pairs=str(path),
        classifier="celeba-tagger",
        **{
            "fit.min_varying": 2,
            "fit.permutations": 100,
            "placebo": name == "social-counterfactuals",
        },
    )
    slopes = audit.tables["slopes"]
    assert set(FOUND[name]) <= set(slopes["attribute"])
    assert audit.used == 8
    assert audit.page.is_file()
    if name == "social-counterfactuals":
        male = slopes.query("label == 'Male' and attribute == 'gender: male − female'")
        assert (male["slope"] > 0).all()
        assert "-x-race" in " ".join(slopes["attribute"])


@pytest.mark.slow
def test_units_that_share_a_set_are_one_cluster(edited: Callable, tmp_path: Path) -> None:
    rows = [row for row in social_rows(edited, 8) if (row["a1"], row["a2"]) != ("Latino", "male")]
    audit = gslopes.audit(
        None,
        tmp_path / "run",
        pairs=str(shards(tmp_path / "set", rows)),
        classifier="celeba-tagger",
        **{"fit.min_varying": 2, "fit.permutations": 100, "placebo": False, "gate": False},
    )
    slopes = audit.tables["slopes"].query("attribute == 'gender: male − female'")
    assert slopes["n"].max() == 16
    given = pd.read_csv(tmp_path / "run" / runfolder.GIVEN_TABLE)
    assert given["cluster"].nunique() == 8
    assert "clusters" in audit.page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.evidence
def test_memory_does_not_grow_with_the_pictures(tmp_path: Path) -> None:
    lot = np.random.default_rng(0)
    rows = [
        {"image": cell(lot.bytes(400_000)), "ctf_set": f"s{row // 3}", "context": "ABC"[row % 3]}
        for row in range(200)
    ]
    program = (
        "import resource, sys; from gslopes.slopes.pairs import read_pairs\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "pairs = read_pairs(sys.argv[1])\n"
        "size = sum(len(one.read()) for one in pairs.edits['picture'])\n"
        "print(size, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))\n"
    )
    peaks = []
    for shards_of in (1, 5):
        folder = tmp_path / str(shards_of) / "data"
        for shard in range(shards_of):
            again = [{**row, "ctf_set": f"{shard}{row['ctf_set']}"} for row in rows]
            folder.mkdir(parents=True, exist_ok=True)
            columns = {
                "image": pa.array([row["image"] for row in again], published.IMAGE),
                "ctf_set": [row["ctf_set"] for row in again],
                "context": [row["context"] for row in again],
            }
            name = f"train-{shard:05}-of-{shards_of:05}.parquet"
            pq.write_table(pa.table(columns), folder / name, row_group_size=20)
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder.parent)],
            capture_output=True,
            text=True,
            check=True,
        )
        read, peak = map(int, done.stdout.split())
        assert read > shards_of * 79e6
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 40e6, peaks
