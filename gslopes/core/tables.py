"""Every Parquet table of a run folder: its columns, their types and units; checked on every read and write.

A table is a pandas data frame with exactly the columns of its schema, in that order. Identifiers are strings
(``photo`` is the sha256 of the photo's bytes, 64 hex digits), ``step`` runs from 0 to K-1, ``value`` is in units of
the attribute (0 is neutral), shares and scores are in [0, 1]. They are declared in
``tables.toml``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core import Facts, Names, Row, TableError, frozen, parquet_table, read_toml
from gslopes.core.reasons import split_prose
from gslopes.core.storage import raise_if_refused

# --- What a table is, and the TOML in which tables are declared -------------------------------------------------------


@frozen
class Table:
    """One table: name, pyarrow schema (non-nullable columns must hold no null), key that names and sorts its rows."""

    name: str
    schema: pa.Schema
    key: Names

    @property
    def columns(self) -> list[str]:
        """Their names, in order."""
        return list(self.schema.names)

    @property
    def blank(self) -> dict[str, Any]:
        """A row that tells nothing: empty texts, False, 0; None in a column that may have no value."""
        nothing = {pa.string(): "", pa.bool_(): False}
        return {
            field.name: None if field.nullable else nothing.get(field.type, 0)
            for field in self.schema
        }

    def empty(self) -> DataFrame:
        """A frame with this table's columns and no row."""
        return self.schema.empty_table().to_pandas()


_LINE = re.compile(r"(\S+)\s+([^\s?]+)(\??)\s+(\S.*)")
# Types next to those that pyarrow has a name for.
_KINDS = {"text": pa.string(), "texts": pa.list_(pa.string())}
_KINDS |= {"floats": pa.list_(pa.float32()), "counts": pa.map_(pa.string(), pa.int64())}


def read_tables(file: Path) -> dict[str, Table]:
    """Name to table of a TOML file: a section a table, with its ``key`` and its ``columns``, one a line.

    A line has the column's name, its type (``?``: it may be null) and the meaning and unit of its values.  The name of
    a table above with ``[]`` is the type of a list of its rows.
    """
    declared_tables = {}
    kinds = dict(_KINDS)
    for name, declared in read_toml(file).items():
        lines = _LINE.findall(declared["columns"])
        fields = [
            pa.field(name, kinds.get(kind, kind), bool(nullable), {"unit": unit})
            for name, kind, nullable, unit in lines
        ]
        declared_tables[name] = Table(name, pa.schema(fields), tuple(declared["key"].split()))
        kinds[f"{name}[]"] = pa.list_(pa.struct(fields))
    return declared_tables


TABLES = read_tables(Path(__file__).with_name("tables.toml"))

(
    PHOTOS,
    EDITS,
    VERDICTS,
    READINGS,
    ASKED,
    SCORES,
    SLOPES,
    GROUPS,
    DIFFERENCES,
    BALANCE,
    PLACEBOS,
    REACH,
    GATING,
    ERROR_RATES,
    ERROR_SLOPES,
    OBSERVED,
    DRAWING,
    EXPLAINED,
    MANIFEST,
    SOURCES,
    CENSUS,
    COMPOSITION,
    SOUNDNESS,
    AGREEMENT,
    EDITING,
) = TABLES.values()

EVERY = "every label that was returned"  # in the column cut of SLOPES: nothing is cut
READING = "photo-rate"
MEASURED = "photo-measure"
"""Estimators to read: of labels judged by presence, and of those judged by their number; see ``fit.measures``."""


def reading(slopes: DataFrame) -> DataFrame:
    """The row of each label that is to be read: by its measure, or, of tables without one, by photo-rate.

    slopes: with the columns of ``SLOPES``.
    """
    if "measure" in slopes and slopes["measure"].notna().any():
        return slopes[slopes["measure"].notna()]
    return slopes[slopes["estimator"] == READING]


# --- Tables as files --------------------------------------------------------------------------------------------------


def frame_of(
    table: Table, rows: DataFrame | Sequence[Facts] | Sequence[tuple[Any, ...]]
) -> DataFrame:
    """Rows, as dictionaries or in the order of the columns, as a frame; the table's empty frame for no rows."""
    if isinstance(rows, DataFrame):
        return rows
    if rows:
        return DataFrame(rows, columns=pd.Index(table.columns))
    return table.empty()


def records(frame: DataFrame) -> list[Row]:
    """The rows of a frame, column to value each."""
    return cast("list[Row]", frame.to_dict("records"))


def ends(interval: Iterable[float], name: str = "ci") -> Row:
    """Both ends of an interval as columns, such as ci_low and ci_high."""
    low, high = interval
    return {f"{name}_low": low, f"{name}_high": high}


def lookup(frame: DataFrame, key: str, column: str) -> dict[str, Any]:
    """The values of one column by the values of another; of several the last."""
    return dict(zip(frame[key], frame[column], strict=True))


def check(table: Table, frame: DataFrame) -> pa.Table:
    """The frame as an Arrow table of exactly this schema; a reason that holds its detail in itself is split.

    Raises: TableError if a column is missing, unknown, null against its schema, or cannot be cast safely to its type.
    """
    if "detail" in table.columns and "detail" not in frame.columns and "reason" in frame.columns:
        statuses = frame.get("status", [""] * len(frame))
        pairs = map(split_prose, frame["reason"], statuses)
        frame = frame.assign(**DataFrame(pairs, frame.index, ["reason", "detail"]))
    wrong = {
        "lacks": [name for name in table.columns if name not in frame.columns],
        "has unknown": [name for name in frame.columns if name not in table.columns],
    }
    if any(wrong.values()):
        parts = " and ".join(
            f"{verb} {', '.join(map(str, names))}" for verb, names in wrong.items() if names
        )
        raise TableError(
            f"The {table.name} table {parts}.", f"Its columns are {', '.join(table.columns)}."
        )
    for field in table.schema:
        if not field.nullable and frame[field.name].isna().any():
            raise TableError(
                f"The {table.name} table has no value in some rows of its column {field.name}."
            )
    try:
        result = pa.Table.from_pandas(
            frame[table.columns], schema=table.schema, preserve_index=False
        )
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise TableError(
            f"The {table.name} table has a value of the wrong type: {error}."
        ) from error
    return result.replace_schema_metadata(None)


def typed(table: Table, frame: DataFrame) -> DataFrame:
    """The columns of a table, and no others, each of its type, whatever the rows.  Raises: TableError as ``check``."""
    return check(table, frame[table.columns]).to_pandas()


def write(table: Table, frame: DataFrame, path: Path) -> None:
    """Write the frame, sorted by the table's key; ``runfolder.write_table`` does it atomically and durably.

    Raises: TableError as ``check`` and ``check_key``; OSError if the disk refuses.
    """
    rows = check(table, frame.sort_values(list(table.key), kind="stable"))
    check_key(table, rows)
    pq.write_table(rows, path, compression="zstd")


def check_key(table: Table, rows: pa.Table) -> None:
    """Raises: TableError, with the first of them, if rows that are sorted by the table's key have one twice."""
    same = pa.repeat(True, max(0, len(rows) - 1))
    for name in reversed(table.key):  # the last column differs most, and often settles it
        later = rows.column(name).slice(1)
        earlier = rows.column(name).slice(0, len(same))
        both_null = pc.and_(later.is_null(), earlier.is_null())
        same = pc.and_(same, pc.or_(pc.equal(later, earlier).fill_null(False), both_null))
        if not pc.any(same).as_py():
            return
    first = rows.slice(pc.index(same, True).as_py(), 1).to_pylist()[0]
    key = ", ".join(f"{name} {first[name]}" for name in table.key)
    raise TableError(
        f"The {table.name} table has two rows with the key {key}.",
        "Its key names one row: the stage that makes it is to write each once, or its key lacks a column.",
    )


def read(table: Table, path: Path) -> DataFrame:
    """Read and check a table.  Raises: TableError if it is missing, no Parquet, or of another schema; StorageError."""
    return read_columns(table, path, table.columns)


def read_columns(
    table: Table, path: Path, columns: list[str], where: pc.Expression | None = None
) -> DataFrame:
    """Some columns and rows of a table, without reading the others.  Raises: TableError as ``read``."""
    return _read(table, path, columns, where).to_pandas()


def read_rows(
    table: Table, run: Path, columns: list[str] | None = None, where: pc.Expression | None = None
) -> DataFrame:
    """Some columns and rows of a table of the run folder, all if not named; no row if it has no such table.

    Raises: TableError if the file is damaged or of another schema.
    """
    path = run / f"{table.name}.parquet"
    columns = columns or table.columns
    if path.exists():
        return read_columns(table, path, columns, where)
    return table.empty()[columns]


def read_arrow(table: Table, path: Path, where: pc.Expression | None = None) -> pa.Table:
    """Rows as an Arrow table whose texts are dictionary-encoded: a long table of few names takes little memory.

    Raises: TableError as ``read``.
    """
    return _read(table, path, None, where).unify_dictionaries()


def _read(
    table: Table,
    path: Path,
    columns: Sequence[str] | None = None,
    where: pc.Expression | None = None,
) -> pa.Table:
    """Columns and rows; of None all, with texts that are dictionaries."""
    again = "Run the stage that writes it again."
    try:
        with parquet_table.opened(path) as parquet:
            schema = parquet.schema_arrow
        if schema.equals(table.schema, check_metadata=False):
            limit = parquet_table.most_of(path)
            arrow = parquet_table.rows_of(path, columns, where, limit)
            if columns:
                parquet_table.check_texts(arrow, limit)
                arrow = arrow.cast(pa.schema(map(schema.field, columns)))
            arrow.validate(full=True)  # damaged texts are not UTF-8
            return arrow
    except FileNotFoundError as error:
        raise TableError(
            f"There is no {table.name} table at {path}.", "Run the stage that makes it first."
        ) from error
    except (pa.ArrowException, OSError, ValueError) as error:  # damaged names are not UTF-8
        raise_if_refused(error, path)
        raise TableError(f"{path} is not a readable Parquet file: {error}.", again) from error
    lacks = ", ".join(name for name in table.columns if name not in schema.names)
    raise TableError(
        f"{path} is not a {table.name} table{': it lacks ' + lacks if lacks else ''}.", again
    )


class Tables(Mapping[str, DataFrame]):
    """The tables of a run folder by name, each read when it is first asked for.

    forms: the tables that count, by name, each of which is checked when it is read; all files, unchecked, if None.

    Raises: KeyError for a table that the folder does not have; TableError for one that cannot be read.
    """

    def __init__(self, folder: Path, forms: Mapping[str, Table] | None = None) -> None:
        self.folder = folder
        self.forms = forms
        self._read: dict[str, DataFrame] = {}

    def __getitem__(self, name: str) -> DataFrame:
        if name not in self._read:
            if name not in self:
                raise KeyError(
                    f"{name!r}: {self.folder} has the tables {', '.join(self) or 'none'}"
                )
            self._read[name] = self._opened(name, self.folder / f"{name}.parquet")
        return self._read[name]

    def _opened(self, name: str, path: Path) -> DataFrame:
        if self.forms is not None:
            return read(self.forms[name], path)
        try:
            return parquet_table.frame_of(path)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise TableError(f"{path} cannot be read: {error}.") from error

    def __contains__(self, name: object) -> bool:
        is_counted = self.forms is None or name in self.forms
        return is_counted and (self.folder / f"{name}.parquet").is_file()

    def __iter__(self) -> Iterator[str]:
        names = sorted(path.stem for path in self.folder.glob("*.parquet"))
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return len([*self])
