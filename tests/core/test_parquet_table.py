"""Parquet that others made: what it unpacks to is known first, whatever its footer says; cells stay what they are."""

import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gslopes.core import parquet_table, tables
from gslopes.core.csv_table import read_frame
from gslopes.core.errors import TableError, UsageError
from gslopes.photos.people import read_people

MIB = 1 << 20
CORPUS = Path(__file__).parents[1] / "corpus" / "tables"


def same(value: object, rows: int) -> pa.DictionaryArray:
    """One value in all rows, which takes no room in a file."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([value]))


def lists(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


BOMBS: dict[str, tuple[Callable[[], pa.Table], dict[str, Any], str]] = {
    "long texts": (
        lambda: pa.table({"a": ["u" * MIB] * 8}),
        {"use_dictionary": False},
        r"\d bytes, and at most",
    ),
    "one long text in all rows": (
        lambda: pa.table({"a": same("u" * MIB, 1000)}),
        {},
        r"\d bytes",
    ),
    "a text of some length in all rows": (
        lambda: pa.table({"a": same("u" * 100_000, 1000)}),
        {},
        r"\d bytes, and at most",
    ),
    "more rows than bytes": (
        lambda: pa.table({"a": same("u", 10 * MIB)}),
        {},
        r"bytes, and at most",
    ),
    "numbers": (
        lambda: pa.table({"a": same(1.0, 10 * MIB).dictionary_decode()}),
        {},
        r"bytes, and at most",
    ),
    "a list of all": (
        lambda: pa.table({"a": lists(same("y", 10 * MIB))}),
        {},
        r"bytes, and at most",
    ),
    "a list of long texts": (
        lambda: pa.table({"a": lists(same("y" * MIB, 2))}),
        {},
        r"\d bytes",
    ),
    "lists of lists": (
        lambda: pa.table({"a": lists(lists(same("y", 10 * MIB)))}),
        {},
        r"bytes, and at most",
    ),
    "texts that begin like the last": (
        lambda: pa.table({"a": ["u" * 1000] * 20_000}),
        {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
        "deltabytearray",
    ),
    "columns": (
        lambda: pa.table({f"c{number}": [1] for number in range(16_400)}),
        {"write_statistics": False},
        r"16,400 columns, and at most 16,384",
    ),
    "one name twice": (lambda: pa.table([[1], [2]], ["a", "a"]), {}, "two columns of one name"),
    "a long footer": (
        lambda: pa.table({"a": [1]}).replace_schema_metadata({"x": "y" * 5 * MIB}),
        {},
        "bytes of footer",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_takes_more_than_is_read_is_refused_with_what_it_is(tmp_path: Path, name: str) -> None:
    make, options, said = BOMBS[name]
    pq.write_table(make(), tmp_path / "a.parquet", compression="zstd", **options)
    with pytest.raises(UsageError, match=said) as refused:
        read_frame(tmp_path / "a.parquet", limit=4 * MIB)
    assert refused.value.hint == "Save it as CSV in UTF-8 or Parquet."
    with pytest.raises(UsageError, match=said):
        read_people(tmp_path / "a.parquet", limit=4 * MIB)


def test_what_a_footer_understates_ends_with_the_first_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{number:06} " * 100 for number in range(100_000)]
    pq.write_table(pa.table({"a": texts}), tmp_path / "a.parquet", row_group_size=5000)
    facts = pq.read_metadata(tmp_path / "a.parquet")
    lies = parquet_table.Footer(facts, ["a"])
    monkeypatch.setattr(parquet_table, "check", lambda *_: lies)
    begun = pa.total_allocated_bytes()
    with pytest.raises(UsageError, match=r"\d bytes, and at most 4,194,304 are read") as refused:
        read_frame(tmp_path / "a.parquet", limit=4 * MIB)
    held = int(re.sub(r".*it has ([\d,]+) bytes.*", r"\1", refused.value.message).replace(",", ""))
    assert held < 20 * MIB, "of 70"
    del refused
    assert pa.total_allocated_bytes() - begun < 20 * MIB


def test_cells_stay_what_they_are_and_no_column_is_lost(tmp_path: Path) -> None:
    table = pa.table(
        {
            "image": ["NA", "None", "", None],
            "age": [1, None, 3, 4],
            "kind": pa.array(["x", "y", "x", None]).dictionary_encode(),
            "large": pa.array(["w"] * 4, pa.large_string()),
            "texts": [["a", "b"], [], None, ["c"]],
            "photo": [b"\xff\xd8"] * 4,
            "nested": [{"bytes": b"", "path": "p"}] * 4,
        }
    )
    frame = table.to_pandas().set_index("image")
    pq.write_table(table, tmp_path / "a.parquet")
    read = read_frame(tmp_path / "a.parquet")
    assert list(read) == ["image", "age", "kind", "large", "texts"]
    assert read["image"].tolist()[:3] == ["NA", "None", ""]
    assert read["age"].tolist()[0] == 1
    assert isinstance(read["age"].tolist()[0], int)
    assert read["kind"].tolist()[:3] == ["x", "y", "x"]
    assert [*read["texts"][0]] == ["a", "b"]
    frame[["age"]].to_parquet(tmp_path / "b.parquet")
    assert list(read_frame(tmp_path / "b.parquet")) == ["age", "image"], "an index is a column"


def test_views_of_texts_are_read_by_versions_that_cannot_write_them() -> None:
    read = read_frame(CORPUS / "views.parquet")
    assert read["image"].tolist()[0] == "NA"
    assert read["view"].tolist() == ["v", ""]


def test_threads_that_read_at_once_are_not_refused_for_each_other(tmp_path: Path) -> None:
    pictures = [bytes([row]) * MIB for row in range(8)]
    paths = [tmp_path / f"{number}.parquet" for number in range(8)]
    for path in paths:
        pq.write_table(pa.table({"photo": pictures}), path, row_group_size=2)
    with ThreadPoolExecutor(8) as threads:
        reads = [threads.submit(parquet_table.read, path, limit=24 * MIB) for path in paths]
        assert [done.result().column("photo").to_pylist() for done in reads] == [pictures] * 8


def test_a_list_in_place_of_a_group_is_refused_with_its_row(tmp_path: Path) -> None:
    rows = [{"image": "a", "who": ["f"]}, {"image": "a", "who": ["f"]}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    people = read_people(tmp_path / "a.parquet")
    with pytest.raises(UsageError, match=r"a.parquet, row 1: who is a list"):
        people.groups("who")


def test_a_table_of_a_run_may_be_long_in_proportion_to_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {
        "photo": "a" * 64,
        "attribute": "g",
        "step": 0,
        "value": -1.0,
        "classifier": "c",
        "label": "x",
    }
    frame = pd.DataFrame([row | {"step": step, "score": 0.5} for step in range(2000)])
    tables.write(tables.SCORES, frame, path := tmp_path / "scores.parquet")
    assert len(tables.read(tables.SCORES, path)) == 2000
    monkeypatch.setattr(parquet_table, "LARGEST_TABLE", 1000)
    monkeypatch.setattr(parquet_table, "most_of", lambda path: 100_000)
    for read in (tables.read, tables.read_arrow):
        with pytest.raises(TableError, match="bytes, and at most 100,000 are read"):
            read(tables.SCORES, path)
    with pytest.raises(TableError, match="at most 100,000"):
        tables.Tables(tmp_path)["scores"]


PROGRAM = """
import re, sys
from pathlib import Path
from gslopes.core.errors import GslopesError
from gslopes.core.csv_table import read_frame
from gslopes.photos.people import read_people
from gslopes.slopes.pairs import read_pairs
for file in map(Path, sys.argv[1:]):
    for read in (read_pairs, read_people, read_frame):
        try:
            read(file)
            print(file.name, "was read")
        except GslopesError as error:
            pass
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.slow
@pytest.mark.evidence
def test_sixty_kilobytes_never_take_a_gigabyte(tmp_path: Path) -> None:
    rest = {"picture": ["a.jpg"] * 30, "attribute": ["look"] * 30, "value": [*"ab"] * 15}
    many = 2_000_000
    bombs = {
        "plain": (
            pa.table(
                {**rest, "unit": pa.array(["u" * (60 * MIB)] * 18 + ["x"] * 12, pa.large_string())}
            ),
            {"use_dictionary": False},
        ),
        "pictures": (
            pa.table({**rest, "picture": [bytes(60 * MIB)] * 30, "unit": ["u"] * 30}),
            {"use_dictionary": False},
        ),
        "pointed": (
            pa.table(
                {
                    name: same("u" * 120_000, many)
                    for name in ("picture", "unit", "attribute", "value")
                }
            ),
            {},
        ),
        "rows": (pa.table({name: same("u", 60 * many) for name in ("image", "unit")}), {}),
    }
    for name, (table, options) in bombs.items():
        pq.write_table(table, tmp_path / f"{name}.parquet", compression="zstd", **options)
    with (tmp_path / "holes.csv").open("wb") as file:
        file.truncate(1 << 30)
    files = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *files], capture_output=True, text=True, check=True
    )
    *read, peak = done.stdout.splitlines()
    assert read == []
    assert int(peak) < 1e6, "KiB"
