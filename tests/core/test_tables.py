"""Tables keep what they claim: the same rows come back, and nothing else gets in."""

import contextlib
import re
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pandas.testing import assert_frame_equal

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.core.tables import EDITS, PHOTOS, SCORES, SLOPES, TABLES, Table
from gslopes.frame.result import AUDITS, find_audit

# They have every type, lists, nulls and a reason with its detail among them.
SOME = pytest.mark.parametrize("table", [PHOTOS, SLOPES], ids=lambda table: table.name)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def values(field: pa.Field) -> st.SearchStrategy:
    """Values of one column, drawn from its whole range, null where it may be."""
    kind = field.type
    if pa.types.is_string(kind):
        drawn = TEXT
    elif pa.types.is_boolean(kind):
        drawn = st.booleans()
    elif pa.types.is_integer(kind):
        bits = (
            min(kind.bit_width - 1, 53) if field.nullable else kind.bit_width - 1
        )  # pandas holds nulls as floats
        drawn = st.integers(-(2**bits), 2**bits - 1)
    elif pa.types.is_list(kind):
        drawn = st.lists(st.floats(width=32, allow_nan=False), max_size=10)
    else:
        drawn = st.floats(width=kind.bit_width, allow_nan=False)
    return st.none() | drawn if field.nullable else drawn


@st.composite
def frames(draw: st.DrawFn, table: Table) -> pd.DataFrame:
    key = itemgetter(*map(table.columns.index, table.key))
    rows = draw(st.lists(st.tuples(*map(values, table.schema)), max_size=6, unique_by=key))
    arrow = pa.Table.from_pylist(
        [dict(zip(table.columns, row, strict=True)) for row in rows], schema=table.schema
    )
    return arrow.to_pandas()


def rows_of(table: Table, n: int = 3) -> pd.DataFrame:
    """n plain rows, distinct in every column that has so many values."""
    plain = {"string": "x{}".format, "list": lambda i: [float(i)] * 4, "bool": lambda i: i > 0}
    columns = {}
    for field in table.schema:
        kind = next((name for name in plain if str(field.type).startswith(name)), "")
        columns[field.name] = pa.array(
            [plain[kind](i) if kind else i for i in range(n)], field.type
        )
    return pa.table(columns, schema=table.schema).to_pandas()


# --- What goes in comes out ---


@SOME
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_rows_come_back_in_the_order_of_the_key_and_in_any_order_make_the_same_bytes(
    table, data, tmp_path
):
    frame = data.draw(frames(table))
    path = tmp_path / "table.parquet"
    tables.write(table, frame, path)
    expected = frame.sort_values(list(table.key), kind="stable").reset_index(drop=True)
    assert_frame_equal(tables.read(table, path), expected)
    tables.write(
        table, frame.iloc[data.draw(st.permutations(range(len(frame))))], tmp_path / "b.parquet"
    )
    assert path.read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_every_column_states_its_unit_and_keys_are_columns_that_may_not_be_null():
    for table in TABLES.values():
        assert all(field.metadata[b"unit"] for field in table.schema)
        assert not any(table.schema.field(name).nullable for name in table.key)


# --- What does not belong is refused ---


@SOME
def test_missing_and_unknown_columns_are_named(table: Table):
    for name in set(table.columns) - {"detail"}:  # which a reason may hold in itself
        with pytest.raises(TableError, match=f"The {table.name} table lacks {name}") as caught:
            tables.check(table, rows_of(table).drop(columns=name))
        assert all(column in caught.value.hint for column in table.columns)
    with pytest.raises(TableError, match="has unknown colour"):
        tables.check(table, rows_of(table).assign(colour="red"))


EVERY = {
    f"{name} {table.name}": table for name in AUDITS for table in find_audit(name).tables.values()
}


@pytest.mark.parametrize("table", EVERY.values(), ids=EVERY)
def test_a_key_that_occurs_twice_is_refused_with_the_table_and_the_key(table: Table, tmp_path):
    rows = rows_of(table, 4)
    tables.write(table, rows, tmp_path / "once.parquet")
    twice = rows.assign(
        **{name: [*cells[:3], cells[1]] for name, cells in rows[list(table.key)].items()}
    )
    said = ", ".join(f"{name} {twice[name][1]}" for name in table.key)
    with pytest.raises(
        TableError, match=re.escape(f"The {table.name} table has two rows with the key {said}.")
    ):
        tables.write(table, twice, tmp_path / "twice.parquet")


def test_where_a_key_may_be_null_nulls_are_equal(tmp_path):
    table = replace(SLOPES, key=("label", "slope"))
    tables.write(table, rows_of(SLOPES).assign(slope=np.nan), tmp_path / "once.parquet")
    with pytest.raises(TableError, match="label x, slope None"):
        tables.write(
            table, rows_of(SLOPES).assign(label="x", slope=np.nan), tmp_path / "twice.parquet"
        )


@SOME
def test_null_is_refused_exactly_where_the_schema_says_so(table: Table):
    for field in table.schema:
        frame = rows_of(table).astype({field.name: object})
        frame.loc[1, field.name] = None
        if field.nullable:
            assert tables.check(table, frame).column(field.name).null_count == 1
        else:
            with pytest.raises(TableError, match=field.name):
                tables.check(table, frame)


def test_not_a_number_counts_as_no_value():
    with pytest.raises(TableError, match="score"):
        tables.check(SCORES, rows_of(SCORES).assign(score=np.float32("nan")))
    undefined = tables.check(SLOPES, rows_of(SLOPES).assign(slope=np.nan))
    assert undefined.column("slope").null_count == 3


@pytest.mark.parametrize(
    ("column", "value"),
    [("step", "first"), ("step", 1.5), ("step", 40_000), ("value", "high"), ("photo", 7)],
)
def test_a_value_of_the_wrong_type_is_refused(column, value):
    with pytest.raises(TableError, match="wrong type"):
        tables.check(SCORES, rows_of(SCORES).assign(**{column: value}))


# --- Files ---


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("gone", "no scores table at"),
        ("folder", "not a readable Parquet file"),
        (b"photo,step\n", "not a readable Parquet file"),
        ("half", "not a readable Parquet file"),
        ("another table", "is not a scores table: it lacks classifier, label, score"),
    ],
)
def test_what_is_not_the_table_is_an_error_with_the_stage_to_run(tmp_path, damage, said):
    path = tmp_path / "t.parquet"
    table = EDITS if damage == "another table" else SCORES
    tables.write(table, rows_of(table, 100), path)
    if damage == "half" or isinstance(damage, bytes):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if damage == "half" else damage)
    elif damage != "another table":
        path.unlink()
    if damage == "folder":
        path.mkdir()
    with pytest.raises(TableError, match=said) as caught:
        tables.read(SCORES, path)
    assert caught.value.hint


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_a_flipped_byte_never_escapes_as_another_error(tmp_path, position, flip):
    path, sound = tmp_path / "t.parquet", tmp_path / "sound.parquet"
    if not sound.exists():
        tables.write(SCORES, rows_of(SCORES, 20), sound)
    data = bytearray(sound.read_bytes())
    data[position % len(data)] ^= flip
    path.write_bytes(data)
    with contextlib.suppress(TableError):
        tables.read(SCORES, path)


def test_a_text_that_is_no_utf8_is_a_damaged_file(tmp_path):
    path = tmp_path / "scores.parquet"
    tables.write(SCORES, rows_of(SCORES, 1), path)
    whole = pq.read_table(path)
    bad = pa.StringArray.from_buffers(
        1, pa.py_buffer(np.int32([0, 2]).tobytes()), pa.py_buffer(b"\xa6\x39")
    )
    position = whole.schema.get_field_index("label")
    pq.write_table(whole.set_column(position, whole.schema.field(position), bad), path)
    for read in (
        tables.read,
        tables.read_arrow,
        lambda *which: tables.read_columns(*which, ["label"]),
    ):
        with pytest.raises(TableError, match="not a readable Parquet file"):
            read(SCORES, path)
