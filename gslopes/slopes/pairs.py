"""Counterfactuals that others made, as sweeps of units: from a table, a folder as ``datasets`` reads it, or Parquet.

One row a picture: ``picture``, ``unit`` (what stays the same), ``attribute``, ``value``; maybe ``placebo`` (same,
light, random: of such a sweep) and ``group``. A row without a value is the unit as it was. Values are numbers, or
names: each of these is a sweep from 0, a baseline, to 1. Columns of other names, as of exports: ``data/pairs.toml``.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gslopes.core import placebo
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.files import parse_json, read_text, show
from gslopes.core.runfolder import FARTHEST
from gslopes.core.text import many
from gslopes.photos.folder import photo_bytes, size_of

TEXTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "data" / "pairs.toml").read_text("utf-8"))
LARGEST = 1 << 30  # bytes of a table of pictures
_ROUNDED = 6e-5  # values that somebody wrote with four digits


class Picture(NamedTuple):
    """A file; or in a Parquet file a cell: its row group, and the row there."""

    path: Path
    group: int = -1
    row: int = -1

    def read(self) -> bytes:
        """Its bytes.  Raises: PhotoError."""
        if self.group < 0:
            return photo_bytes(self.path)
        cell = _row_group(self.path, self.group)[self.row]
        data = cell.get("bytes") if isinstance(cell, dict) else cell
        return data if isinstance(data, bytes) else b""


@dataclass(frozen=True, slots=True)
class Unit:
    """A row of the table photos.

    photo: its id: the name in the set where that is a sha256, as in exports of ours, else the name's.
    shown, group: in the set.  whole: the unit as it was, or the middle of its first sweep, or the baseline.
    sweeps: name to K pictures, the set's placebo sweeps among them.  lacks: values, in words.
    """

    photo: str
    shown: str
    group: str
    whole: Picture
    sweeps: Mapping[str, tuple[Picture, ...]]
    lacks: str


@dataclass(frozen=True, slots=True)
class PairSet:
    """units: by name.  values: sweep to its K values.  facts: a digest of what is read.  size: bytes of all files."""

    units: Mapping[str, Unit]
    values: Mapping[str, list[float]]
    facts: dict[str, Any]
    size: int

    def having(self, sweep: str) -> int:
        """Units with pictures along a sweep; of a placebo sweep, along that of the attribute."""
        return sum(placebo.split(sweep)[0] in unit.sweeps for unit in self.units.values())


def refused(what: str, *about: object) -> UsageError:
    """One of the sentences of ``data/pairs.toml``."""
    return UsageError(*(text.format(*(str(one)[:200] for one in about)) for text in TEXTS["refused"][what]))


def read_pairs(path: Path, baseline: str = "", limit: int | None = None, placebos: bool = True) -> PairSet:
    """Read and check a set; no picture is opened.

    baseline: of named values, with commas between those of several attributes; the commonest value by default.
    limit: only the first units.  placebos: whether there are placebo sweeps.

    Raises: UsageError; UnknownName for a baseline.
    """
    cells: dict[tuple[str, str], dict[str, dict[str, Picture]]] = defaultdict(dict)  # attribute, placebo; unit; value
    lines, about, whole = dict[Any, str](), dict[str, tuple[str, str]](), dict[str, Picture]()
    digest = sha256()
    for where, row, picture in _rows(path):
        unit, attribute, kind, value = (row[name] for name in ("unit", "attribute", "placebo", "value"))
        if not (unit and attribute):
            raise refused("nameless", where)
        if kind not in ("", *placebo.KINDS):
            raise refused("kind", where, repr(kind))
        if about.setdefault(unit, (row["shown"] or unit, row["group"]))[1] != row["group"]:
            raise refused("groups", where, repr(unit))
        number = _number(value)
        value = value if number is None else repr(number)
        if (first := lines.setdefault((unit, attribute, kind, value), where)) != where:
            raise refused("twice", where, repr(unit), attribute, value, first)
        digest.update(repr((*row.values(), size_of(picture.path))).encode())
        if not value:
            whole.setdefault(unit, picture)
        elif placebos or not kind:
            cells[attribute, kind].setdefault(unit, {})[value] = picture
    known = {value for units in cells.values() for values in units.values() for value in values}
    for name in filter(None, map(str.strip, baseline.split(","))):
        if name not in known:
            raise UnknownName("baseline", name, sorted(value for value in known if _number(value) is None))
    values: dict[str, list[float]] = {}
    sweeps: dict[str, dict[str, tuple[Picture, ...]]] = {unit: {} for unit in about}
    lacks = defaultdict[str, list[str]](list)
    for attribute in dict.fromkeys(name for name, kind in cells if not kind):
        for sweep, levels, numbers in _sweeps(path, attribute, cells[attribute, ""], baseline):
            values |= dict.fromkeys((sweep, *(placebo.names(sweep) if placebos else ())), numbers)
            for kind in ("", *placebo.KINDS):
                for unit, pictures in cells.get((attribute, kind), {}).items():
                    have = tuple(pictures[level] for level in levels if level in pictures)
                    if len(have) == len(levels):
                        sweeps[unit][placebo.name(sweep, kind) if kind else sweep] = have
                    elif not kind:
                        lacks[unit].append(f"{len(have)} of {len(levels)} values of {sweep}")
    if not values:
        raise refused("empty", show(path))
    made = {}
    for unit in list(about)[:limit]:
        photo = unit if re.fullmatch("[0-9a-f]{64}", unit) else sha256(unit.encode("utf-8", "replace")).hexdigest()
        middle = next((pictures[(len(pictures) - 1) // 2] for pictures in sweeps[unit].values()), Picture(path))
        made[unit] = Unit(photo, *about[unit], whole.get(unit, middle), sweeps[unit], "; ".join(lacks[unit]))
    used = [unit for unit in made.values() if unit.sweeps]
    files = {picture.path for unit in used for some in ((unit.whole,), *unit.sweeps.values()) for picture in some}
    lost = [show(file) for file in sorted(files) if not file.is_file()]
    if lost:
        more = f" and {len(lost) - 3:,} more" * (len(lost) > 3)
        raise refused("gone", show(path), f"{len(lost):,}", many(len(files), "picture"), ", ".join(lost[:3]) + more)
    facts = {"photos": len(made), "digest": digest.hexdigest()}
    return PairSet(made, values, facts, sum(map(size_of, files)))


def _sweeps(
    path: Path, attribute: str, units: Mapping[str, Mapping[str, Picture]], baseline: str
) -> Iterator[tuple[str, list[str], list[float]]]:
    """(sweep, values as the set has them, as numbers) of an attribute: one, or one for each name but the baseline."""
    times = Counter(value for values in units.values() for value in values)
    about, levels = (show(path), attribute), [value for value in sorted(times) if _number(value) is not None]
    if levels and len(levels) < len(times):
        raise refused("mixed", *about, levels[0], repr(min(set(times) - {*levels})))
    if (most := max(map(len, units.values()))) < 2:
        raise refused("one", *about)
    if levels:
        if len(levels) > 2 and len(levels) % 2 == 0:
            raise refused("even", *about, len(levels))
        if most < len(levels):
            raise refused("full", *about, len(levels), most)
        levels.sort(key=float)
        yield placebo.plain(attribute), levels, _even([float(level) for level in levels])
        return
    named = [name for name in map(str.strip, baseline.split(",")) if name in times]
    base = named[0] if named else min(times, key=lambda value: (-times[value], value))
    others = [value for value in sorted(times) if any({base, value} <= set(of) for of in units.values())]
    if others in ([], [base]):
        raise refused("baseline", *about, repr(base), ", ".join(sorted(times)))
    for level in others:
        if level != base:
            yield placebo.contrast(attribute, level, base), [base, level], [0.0, 1.0]


def file_name(text: str) -> str:
    """A unit's name as that of a file; two units never share one."""
    plain = re.sub(r"[^\w .()+-]|^\.", "_", text)[:120]
    return plain if plain == text else f"{plain}-{sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) <= FARTHEST else None


def _even(values: Sequence[float]) -> list[float]:
    """The values; where they are evenly spaced but for rounding, as an editor's are."""
    line = np.linspace(values[0], values[-1], len(values), dtype=np.float32)
    near = np.abs(line - values).max() <= _ROUNDED * max(1.0, *map(abs, values))
    return [float(str(value)) for value in line] if near else list(values)


# -- tables -----------------------------------------------------------------------------------------------------------


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str], Picture]]:
    """(where it stands, its cells, its picture) of each row of all tables of a set."""
    kinds = ("metadata.jsonl", "metadata.csv", "*.parquet")
    files = next(filter(None, (sorted(path.rglob(kind)) for kind in kinds)), []) if path.is_dir() else [path]
    if not files:
        raise refused("folder", show(path))
    for file in files:
        columns, lines = _table(file)
        known = {name: next((one for one in usual if one in columns), "") for name, usual in TEXTS["columns"].items()}
        for name in ("picture", "unit", "attribute", "value"):
            if not known[name]:
                raise refused("column", show(file), name, ", ".join(columns))
        for index, line in enumerate(lines):
            row = {name: _text(columns[column][index]) if column else "" for name, column in known.items()}
            cell = columns[known["picture"]][index]
            if not row["picture"]:
                raise refused("nameless", f"{show(file)}, {line}")
            yield (
                f"{show(file)}, {line}",
                row,
                cell if isinstance(cell, Picture) else Picture(file.parent / row["picture"]),
            )


def _text(cell: Any) -> str:
    """A cell; of a picture within what says which one it is."""
    if isinstance(cell, Picture):
        return f"{cell.path.name} {cell.group} {cell.row}"
    return "" if cell is None or cell != cell else str(cell).strip()


def _table(file: Path) -> tuple[Mapping[str, Sequence[Any]], Sequence[str]]:
    """Column to cells, of pictures within where they are; and where each row stands."""
    if file.suffix == ".jsonl":
        lines = read_text(file, LARGEST, raises=UsageError, hint=TEXTS["refused"]["json"][1]).splitlines()
        try:
            rows = [dict(parse_json(line)) for line in lines]
        except (ValueError, TypeError) as error:
            raise refused("json", show(file)) from error
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}, [f"line {n + 1}" for n in range(len(rows))]
    if file.suffix != ".parquet":
        table = read_csv(file, strip=True, hint=TEXTS["refused"]["column"][1])
        return table.columns, [f"line {line}" for line in table.lines]
    try:
        with pq.ParquetFile(file) as parquet:
            schema, named = parquet.schema_arrow, {one for usual in TEXTS["columns"].values() for one in usual}
            within = [name for name in _WITHIN if name in schema.names and not _is_text(schema.field(name).type)]
            columns = parquet.read(columns=[one for one in schema.names if one in named - {*within}]).to_pydict()
            sizes = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise refused("table", show(file), str(error).splitlines()[0]) from error
    places = [Picture(file, group, row) for group, size in enumerate(sizes) for row in range(size)]
    return columns | ({"picture": places} if within else {}), [f"row {n + 1}" for n in range(len(places))]


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)


_WITHIN = ("image", "picture")


@lru_cache(maxsize=2)
def _row_group(path: Path, group: int) -> list[Any]:
    with pq.ParquetFile(path) as parquet:
        (name,) = (name for name in _WITHIN if name in parquet.schema_arrow.names)
        return list(parquet.read_row_group(group, columns=[name]).column(name).to_pylist())
