"""Files of strangers: nothing hangs, nothing fills the memory, no cell is a formula."""

import ast
import csv
import io
import os
import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from gslopes.core.errors import DataMissing, UsageError
from gslopes.core.files import (
    NotRegular,
    TooLarge,
    csv_bytes,
    is_file,
    parse_json,
    read_json,
    read_named,
    read_regular,
    read_text,
    sha256_of,
    without_guard,
)


def test_a_file_of_many_gigabytes_is_refused_unread(tmp_path: Path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(40 << 30)
    with pytest.raises(TooLarge, match="42,949,672,960 bytes, limit 1,000,000"):
        read_regular(tmp_path / "huge", 10**6)
    assert read_regular(tmp_path / "huge", 10**6, lambda head: b"RIFF" in head) == bytes(
        32
    )  # unknown: not read


def test_a_pipe_a_device_and_a_folder_are_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(NotRegular):
            read_regular(path, 10**6)
    with pytest.raises(OSError, match=r"not a regular file|directory"):
        read_regular(tmp_path, 10)


def test_what_a_user_names_is_refused_by_name_and_reason(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(40 << 30)
    reasons = {
        "pipe": "it is a folder, a pipe or a device, not a file",
        "huge": "it has 42,949,672,960 bytes, and at most 1,073,741,824 are read",
        "": "it is a folder, a pipe or a device, not a file",
        "a" * 300: "file name too long",
        "a\0b": "embedded null byte",
    }
    for name, why in reasons.items():
        with pytest.raises(DataMissing, match=f"{name[-9:]}.* cannot be read: {why}") as error:
            read_named(f"{tmp_path}/{name}", raises=DataMissing, hint="Name another.")
        assert error.value.hint == "Name another."
    with pytest.raises(UsageError, match=f"There is no file {tmp_path}/none"):
        read_named(tmp_path / "none")
    with pytest.raises(NotRegular):
        sha256_of(tmp_path / "pipe")
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfa\n\xe9")
    with pytest.raises(UsageError, match="line 2: it is not UTF-8"):
        read_text(tmp_path / "text")


@pytest.mark.parametrize(
    "file",
    ["../secret", "/etc/hostname", "edits/../../secret", "out/secret", "link", "loop", "a\0b"],
)
def test_a_table_of_a_folder_opens_nothing_outside_of_it(tmp_path: Path, file: str):
    run = tmp_path / "run"
    (run / "edits").mkdir(parents=True)
    (run / "edits/a.jpg").write_bytes(b"a")
    (tmp_path / "secret").write_text("key")
    (run / "out").symlink_to(tmp_path)
    (run / "link").symlink_to("../secret")
    (run / "within").symlink_to("edits/a.jpg")
    (run / "loop").symlink_to("loop")
    assert read_named("edits/a.jpg", folder=run) == read_named("within", folder=run) == b"a"
    with pytest.raises(UsageError, match="cannot be read"):
        read_named(file, folder=run)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 0.9, "b": {"a": 1, "c": 2, "a": 3}}', "the key 'a' twice"),
        ('{"width": Infinity}', "Infinity is not a number"),
        ("[NaN]", "NaN is not a number"),
        ("[1e400]", "1e400 is not a number"),
        (f"[1{'0' * 400}]", "is not a number"),
        (f"[1{'0' * 5000}]", "is not a number"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "Expecting"),
    ],
)
def test_json_that_can_be_read_in_two_ways_is_none(text: str, why: str):
    with pytest.raises(ValueError, match=why):
        parse_json(text)
    assert parse_json('{"a": [{"b": 1.5}, {"b": 2}], "c": null}') == {
        "a": [{"b": 1.5}, {"b": 2}],
        "c": None,
    }


# --- CSV ---

CELLS = ["=1+1", "+1", "-1+x", "@sum", "\tx", "\nx", "  =x", "\uff1dx", "\u00a0=x"]


@pytest.mark.parametrize("cell", [*CELLS, "'tis", "", "chef", "'"])
def test_a_cell_that_would_run_gets_an_apostrophe_which_reading_takes_away(cell):
    text = csv_bytes(pd.DataFrame({"label": [cell, "cook"], cell: [-1, 2]})).decode()
    head, first, second = csv.reader(io.StringIO(text, newline=""))
    assert first == [f"'{cell}" if cell in CELLS else cell, "-1"]
    assert second == ["cook", "2"]
    assert head[1].startswith("'") == (cell in CELLS or cell.startswith("'"))
    assert without_guard(first[0]) == cell


def test_a_carriage_return_begins_no_line_of_its_own():
    text = csv_bytes(pd.DataFrame({"label": ["chef\r=cmd", "a\r\n=b"], "n": 1})).decode()
    assert list(csv.reader(io.StringIO(text))) == [
        ["label", "n"],
        ["chef\n=cmd", "1"],
        ["a\n=b", "1"],
    ]


def test_numbers_and_what_is_missing_stay_as_they_are():
    frame = pd.DataFrame(
        {"n": [-1.5, None], "text": ["-", None], "flag": [True, False], "q": [0.12345678, -2.0]}
    )
    assert (
        csv_bytes(frame, digits=3).decode()
        == "n,text,flag,q\n-1.500,'-,True,0.123\n,,False,-2.000\n"
    )
    frame = pd.DataFrame({"label": ["=x", "b"], "reason": pd.Series([None, None], dtype="str")})
    assert csv_bytes(frame) == b"label,reason\n'=x,\nb,\n"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r'"\ud800a"', "\ufffda"),
        (r'"\uDC00\ud800x"', "\ufffd\ufffdx"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\\\ud83d"', "\\\ufffd"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'{"\ud800": ["\udfff", {"a": "\ud83d"}]}', {"\ufffd": ["\ufffd", {"a": "\ufffd"}]}),
    ],
)
def test_half_of_a_surrogate_pair_is_the_replacement_character(text: str, read: object) -> None:
    assert parse_json(text) == parse_json(text.encode()) == read


def test_bytes_of_half_a_surrogate_and_other_encodings_are_no_json() -> None:
    for data in (b'"\xed\xa0\x80"', '"a"'.encode("utf-16"), b'"\xff"'):
        with pytest.raises(ValueError, match=r"codec can't decode|Expecting value"):
            parse_json(data)


def test_a_file_with_holes_is_refused_where_they_begin(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\nb\n")
    os.truncate(tmp_path / "a.txt", 1 << 29)
    with pytest.raises(UsageError, match="line 3: it has a zero byte"):
        read_text(tmp_path / "a.txt")


def test_json_is_read_from_files_alone(tmp_path):
    (tmp_path / "a.json").write_text('{"a": ["\u00fc", 1]}', "utf-8")
    assert read_json(tmp_path / "a.json") == {"a": ["\u00fc", 1]}
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), tmp_path / "none"):
        with pytest.raises(OSError, match=r"\w"):
            read_json(path)


def test_a_name_that_no_file_can_have_names_none(tmp_path):
    (tmp_path / "a").touch()
    assert is_file(tmp_path / "a")
    assert not any(is_file(tmp_path / name) for name in ("b", "c" * 5000, "a\0b", "a/b", ""))


@given(st.lists(st.text(max_size=20), min_size=1, max_size=8))
def test_no_text_becomes_a_formula_or_breaks_the_table(cells):
    rows = list(
        csv.reader(
            io.StringIO(
                csv_bytes(pd.DataFrame({"label": cells, "n": 1})).decode("utf-8"), newline=""
            )
        )
    )
    assert len(rows) == len(cells) + 1
    assert not any(row[0].lstrip(" \u00a0").startswith(tuple("=+-@\t\r\n")) for row in rows[1:])


# --- Who opens files without them ---

ROOM = Path(__file__).resolve().parents[2]
READERS = {
    *(
        "open",
        "read_bytes",
        "read_text",
        "read_csv",
        "read_parquet",
        "read_table",
        "DictReader",
        "reader",
        "imread",
    ),
    *("load_file", "safe_open", "fromfile", "loadtxt", "genfromtxt", "from_file", "hub", "jit"),
}


def opens(module: Path) -> set[str]:
    """Calls of a module that read a file whose name they are given; reading of bytes in memory, or writing, is none."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        if name not in READERS | {"load"}:
            continue
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if name == "load" and owner not in {"json", "np", "torch"}:
            continue
        text = ast.unparse(node)
        writes = re.search(r"""open\((.*, )?['"](w|a|x|wb|ab)['"]|O_CREAT""", text)
        in_memory = re.search(r"BytesIO\(|StringIO\(|data_files|files\(", text) or owner in {
            "self",
            "parsers",
        }
        shipped = re.search(
            r"__file__|os\.devnull|\b(DATA|HERE|TEMPLATES|_VENDOR|_SPECIAL)\b", text
        )
        by_door = owner in {"csv_table", "files"} or (
            name in {"read_csv", "read_text", "read_table", "reader"} and not owner
        )
        if not (writes or in_memory or shipped or by_door):
            found.add(f"{owner}.{name}".lstrip("."))
    return found


def test_every_file_that_is_named_to_us_is_opened_by_core_files():
    excused = set(tomllib.loads((ROOM / "tests/doors.toml").read_text("utf-8"))["own"])
    found = {
        path.relative_to(ROOM / "gslopes").as_posix(): opens(path)
        for path in (ROOM / "gslopes").rglob("*.py")
    }
    found = {name: calls for name, calls in found.items() if calls}
    unlisted = {name: calls for name, calls in found.items() if name not in excused}
    assert not unlisted, (
        "read them by read_named, read_text, read_json, csv_table.read_csv or read_frame"
    )
    assert excused <= set(found), (
        f"take them out of tests/doors.toml: {sorted(excused - set(found))}"
    )
