"""Counterfactuals that others made, as tables of edits: from a CSV, a folder as ``datasets`` reads it, or Parquet.

One row a picture: ``picture``, ``unit`` (what stays the same), ``attribute``, ``value``; maybe ``placebo`` (same,
light, random: of such a sweep) and ``group``. A row without a value is the unit before any change. Values are numbers
or names: each of these is a sweep from 0, a baseline, to 1. Columns of other names, as of exports: ``data/pairs.toml``.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame, Series

from gslopes.core import frozen, placebo
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.files import parse_json, read_text, show
from gslopes.core.runfolder import FARTHEST
from gslopes.core.text import many
from gslopes.photos.folder import photo_bytes, size_of

TEXTS: Mapping[str, Any] = tomllib.loads(
    (Path(__file__).parent / "data" / "pairs.toml").read_text("utf-8")
)
LARGEST = 1 << 30  # bytes of a table of pictures
_ROUNDED = 6e-5  # values that somebody wrote with four digits
_WITHIN = ("image", "picture")  # columns of Parquet that may hold the pictures themselves


@frozen
class Picture:
    """A file; or in a Parquet file a cell: its row group, and the row there."""

    path: Path
    group: int = -1
    row: int = -1

    def __str__(self) -> str:
        return f"{self.path.name} {self.group} {self.row}"

    def read(self) -> bytes:
        """Its bytes.  Raises: PhotoError."""
        if self.group < 0:
            return photo_bytes(self.path)
        cell = _row_group(self.path, self.group)[self.row]
        data = cell.get("bytes") if isinstance(cell, dict) else cell
        if isinstance(data, bytes):
            return data
        return b""


@frozen
class PairSet:
    """A checked set.  values: sweep to its K values.  facts: a digest of what is read.

    units: by name: photo (its id: the name if that is a sha256, as in exports of ours, else the name's), shown,
        group, picture (before any change, or its first one), lacks (values, in words).
    edits: sorted by unit, a row a picture of a sweep that it has whole, placebo sweeps among them: attribute (the
        sweep), step, picture.
    """

    units: DataFrame
    edits: DataFrame
    values: Mapping[str, list[float]]
    facts: Mapping[str, Any]


def refused(what: str, *about: object) -> UsageError:
    """One of the sentences of ``data/pairs.toml``."""
    return UsageError(
        *(text.format(*(str(one)[:200] for one in about)) for text in TEXTS["refused"][what])
    )


def read_pairs(
    path: Path, baseline: str = "", limit: int | None = None, placebos: bool = True
) -> PairSet:
    """Read and check a set; no picture is opened.

    baseline: of named values, with commas between several attributes; the commonest value by default.
    limit: only the first units.  placebos: whether there are placebo sweeps.

    Raises: UsageError; UnknownName for a baseline.
    """
    rows = _checked(pd.concat(_tables(path), ignore_index=True))
    units = rows.drop_duplicates("unit").set_index("unit")[["shown", "group"]][:limit]
    units = units.assign(lacks="")
    edits, values = _edits(path, rows, units, baseline, placebos)
    originals = pd.concat([rows[rows["value"] == ""].set_index("unit"), edits])["picture"]
    original = originals.groupby(level=0).first()
    units["picture"] = [original.get(unit, Picture(path)) for unit in units.index]
    units["photo"] = units.index.map(_id)
    units["lacks"] = units["lacks"].str.removesuffix("; ")
    used = units["picture"][units.index.isin(edits.index)]
    _check_files(path, {picture.path for picture in [*edits["picture"], *used]})
    sizes = rows["picture"].map(lambda picture: size_of(picture.path))
    text = rows.drop(columns=["where", "picture"]).assign(size=sizes).to_csv()
    facts = {"photos": len(units), "digest": sha256(text.encode()).hexdigest()}
    return PairSet(units, edits, values, facts)


def _edits(
    path: Path,
    rows: DataFrame,
    units: DataFrame,
    baseline: str,
    placebos: bool,
) -> tuple[DataFrame, dict[str, list[float]]]:
    """The pictures of complete sweeps by unit, and each sweep's values; notes what units lack."""
    cells = rows[rows["value"] != ""].pivot(
        index="unit", columns=["attribute", "placebo", "value"], values="picture"
    )
    cells = cells.sort_index(axis=1)
    if cells.empty:
        raise refused("empty", show(path))
    baselines = [name.strip() for name in baseline.split(",") if name.strip()]
    for name in baselines:
        if name not in (baseline_names := cells.columns.unique("value")):
            raise UnknownName("baseline", name, baseline_names)
    values: dict[str, list[float]] = {}
    parts = []
    for attribute in cells.columns.unique("attribute"):
        attributes, kinds = (
            cells.columns.get_level_values(name) for name in ("attribute", "placebo")
        )
        edited = (attributes == attribute) & (kinds == "")
        pictures = cells.loc[:, edited].droplevel([0, 1], axis=1)
        for sweep, levels, numbers in _sweeps((show(path), attribute), pictures, baselines):
            for kind in ("", *(placebo.KINDS if placebos else ())):
                columns = pd.MultiIndex.from_product([[attribute], [kind], levels])
                part = cells.reindex(units.index, columns=columns)
                part = part.set_axis(range(len(levels)), axis=1)
                have = part.notna().sum(axis=1)
                if not kind:
                    lacking = have.map(f"{{}} of {len(levels)} values of {sweep}; ".format)
                    units["lacks"] += lacking.where(have.between(1, len(levels) - 1), "")
                name = placebo.name(sweep, kind) if kind else sweep
                values[name] = numbers
                complete = part[have == len(levels)].melt(
                    var_name="step", value_name="picture", ignore_index=False
                )
                parts.append(complete.assign(attribute=name))
    edits = pd.concat(parts).reset_index()
    return edits.sort_values(["unit", "attribute", "step"]).set_index("unit"), values


def _check_files(path: Path, files: set[Path]) -> None:
    """Raises: UsageError if pictures are missing."""
    if lost := [show(file) for file in sorted(files) if not file.is_file()]:
        more = f" and {len(lost) - 3:,} more" * (len(lost) > 3)
        pictures = many(len(files), "picture")
        raise refused("gone", show(path), f"{len(lost):,}", pictures, ", ".join(lost[:3]) + more)


def _checked(rows: DataFrame) -> DataFrame:
    """The rows; equal numbers are one value.  Raises: UsageError about the first row that is wrong."""

    def refuse(what: str, wrong: Series, *columns: str) -> None:
        if wrong.any():
            raise refused(what, *rows[wrong].iloc[0][["where", *columns]])

    refuse("nameless", (rows[["name", "unit", "attribute"]] == "").any(axis=1))
    refuse("kind", ~rows["placebo"].isin(["", *placebo.KINDS]), "placebo")
    refuse("groups", rows["group"] != rows.groupby("unit")["group"].transform("first"), "unit")
    numbers = _numbers(rows["value"])
    rows["value"] = rows["value"].mask(numbers.notna(), numbers.map(str))
    places = rows.groupby(["unit", "attribute", "placebo", "value"])["where"]
    rows["first"] = places.transform("first")
    refuse("twice", places.cumcount() > 0, "unit", "attribute", "value", "first")
    return rows.drop(columns="first")


def _sweeps(
    about: tuple[str, str], pictures: DataFrame, baselines: Sequence[str]
) -> Iterator[tuple[str, list[str], list[float]]]:
    """(sweep, values as the set has them, as numbers) of an attribute: one, or one for each name but the baseline.

    about: the set and the attribute.  pictures: its pictures, units by values, without placebos.
    """
    has_picture = pictures.notna()
    numbers = _numbers(Series(pictures.columns, pictures.columns)).dropna().sort_values()
    levels = numbers.index.tolist()
    names = [str(name) for name in pictures if name not in numbers]
    if levels and names:
        raise refused("mixed", *about, levels[0], names[0])
    if (most := has_picture.sum(axis=1).max() if len(pictures.columns) else 0) < 2:
        raise refused("one", *about)
    if levels:
        if most < len(levels):
            raise refused("full", *about, len(levels), most)
        yield placebo.plain(about[1]), levels, _even(numbers.tolist())
        return
    base = next((name for name in baselines if name in names), str(has_picture.sum().idxmax()))
    others = [
        name for name in names if name != base and has_picture[[base, name]].all(axis=1).any()
    ]
    if not others:
        raise refused("baseline", *about, base, ", ".join(names))
    for level in others:
        yield (
            placebo.contrast(*map(placebo.plain, (about[1], level, base))),
            [base, level],
            [0.0, 1.0],
        )


def _numbers(texts: Series) -> Series:
    """As numbers; NaN for names."""
    numbers = pd.to_numeric(texts, errors="coerce")
    return numbers.where(numbers.abs() <= FARTHEST)


def _even(values: list[float]) -> list[float]:
    """The values; if they are evenly spaced but for rounding, exactly evenly, like an editor's."""
    line = np.linspace(values[0], values[-1], len(values), dtype=np.float32)
    near = np.abs(line - values).max() <= _ROUNDED * max(1.0, *map(abs, values))
    if near:
        return [float(str(value)) for value in line]
    return values


def _id(unit: str) -> str:
    if re.fullmatch("[0-9a-f]{64}", unit):
        return unit
    return sha256(unit.encode("utf-8", "replace")).hexdigest()


def file_name(text: str) -> str:
    """A unit's name as a file's name; two units never share one."""
    plain = re.sub(r"[^\w .()+-]|^\.", "_", text)[:120]
    if plain == text:
        return plain
    return f"{plain}-{_id(text)[:8]}"


# -- tables -----------------------------------------------------------------------------------------------------------


def _tables(path: Path) -> Iterator[DataFrame]:
    """The rows of each table of a set: texts by our names of columns, ``where`` each is found, and its ``Picture``."""
    kinds = ("metadata.jsonl", "metadata.csv", "*.parquet")
    files = (
        next(filter(None, (sorted(path.rglob(kind)) for kind in kinds)), [])
        if path.is_dir()
        else [path]
    )
    if not files:
        raise refused("folder", show(path))
    for file in files:
        table = _table(file)
        columns = {}
        for name, usual in TEXTS["columns"].items():
            columns[name] = next((one for one in usual if one in table), "")
            if not columns[name] and name in TEXTS["needed"]:
                raise refused("column", show(file), name, ", ".join(map(str, table)))
        texts = {
            name: table[column].map(_text) if column else "" for name, column in columns.items()
        }
        rows = DataFrame(texts, table.index, dtype=object).assign(name=texts["picture"])
        cells = zip(table[columns["picture"]], rows["name"], strict=True)
        pictures = [
            cell if isinstance(cell, Picture) else Picture(file.parent / name)
            for cell, name in cells
        ]
        rows["picture"] = Series(pictures, rows.index)
        rows["where"] = [f"{show(file)}, {line}" for line in table.index]
        yield rows.assign(shown=rows["shown"].where(rows["shown"] != "", rows["unit"]))


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    return str(cell).strip()


def _table(file: Path) -> DataFrame:
    """The cells, for pictures inside the table their positions; the index names each row."""
    if file.suffix not in (".jsonl", ".parquet"):
        csv = read_csv(file, strip=True, hint=TEXTS["refused"]["column"][1])
        return csv.frame().set_axis([f"line {line}" for line in csv.lines])
    try:
        if file.suffix == ".jsonl":
            lines = read_text(file, LARGEST, raises=UsageError).splitlines()
            table = DataFrame([dict(parse_json(line)) for line in lines], dtype=object)
        else:
            table = _parquet(file)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise refused("table", show(file), (str(error).splitlines() or [""])[0]) from error
    return table.set_axis([f"row {n + 1}" for n in range(len(table))])


def _parquet(file: Path) -> DataFrame:
    with pq.ParquetFile(file) as parquet:
        kinds = parquet.schema_arrow
        usual = {name for names in TEXTS["columns"].values() for name in names}
        within = {
            name
            for name in _WITHIN
            if name in kinds.names and not pa.types.is_string(kinds.field(name).type)
        }
        table = parquet.read(
            columns=[name for name in kinds.names if name in usual - within]
        ).to_pandas()
        groups = [
            parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)
        ]
    cells = [Picture(file, group, row) for group, size in enumerate(groups) for row in range(size)]
    if within:
        return table.assign(picture=cells)
    return table


@lru_cache(maxsize=2)
def _row_group(path: Path, group: int) -> list[Any]:
    with pq.ParquetFile(path) as parquet:
        (name,) = (name for name in _WITHIN if name in parquet.schema_arrow.names)
        return list(parquet.read_row_group(group, columns=[name]).column(name).to_pylist())
