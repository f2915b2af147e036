"""Who stands on which photo, and to which groups people belong: ``people.csv``."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from gslopes.core.errors import UsageError
from gslopes.core.files import is_file
from gslopes.core.runfolder import show
from gslopes.datasets.folder import list_photos

FILE_COLUMNS = ("file", "path", "photo", "filename", "image")
SEVERAL = "/;|"  # a value with one of these between words names several groups
CROSS = " + "
_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")


@dataclass(frozen=True, slots=True)
class Portrait:
    """One photo of one person.

    path: how to open it.  relative: as people.csv names it.  person: name.  traits: column to value, empty if unknown.
    """

    path: Path
    relative: str
    person: str
    traits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class People:
    """Everybody who is compared.

    portraits: in the table's order.  columns: as asked for.  groups: column (crossed ones too) to group to persons.
    left_out: column to why to how many persons.  own_person: whether each photo is taken for a person of its own.
    """

    portraits: tuple[Portrait, ...]
    columns: tuple[str, ...]
    groups: Mapping[str, Mapping[str, tuple[str, ...]]]
    left_out: Mapping[str, Mapping[str, int]]
    own_person: bool

    @property
    def cells(self) -> Mapping[str, tuple[str, ...]]:
        """The groups of all columns crossed."""
        return self.groups[CROSS.join(self.columns)]

    @property
    def group_of(self) -> dict[str, str]:
        """Person to the group of all columns crossed."""
        return {person: name for name, persons in self.cells.items() for person in persons}


def read_people(
    folder: Path,
    table: Path,
    columns: Sequence[str],
    *,
    files: str = "",
    min_group: int = 10,
    ambiguous: str = "drop",
    photos_per_person: str = "all",
    seed: int = 0,
) -> People:
    """Read the table and find the photos.

    folder: what file names are relative to.  columns: groupings; several are also crossed.
    files: a pattern such as ``neutral/{id}.jpg``, of the table's columns; without it a column of files, else ``id``
        with any picture suffix.
    min_group: two groups of so many persons must be there; smaller ones are listed and not judged.
    ambiguous: ``drop`` persons with several values, take the ``first``, or ``sample`` one (the paper's choice).
    photos_per_person: ``all`` (answers are averaged over a person's photos), or ``one`` by lot, as published.
    seed: of both lots.

    Raises: UsageError for anything that is off, naming line, column or nearest name.
    """
    names, rows = _table(table)
    for column in columns:
        if column not in names:
            close = get_close_matches(column, names, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"It has {', '.join(names)}."
            raise UsageError(f"{show(table)} has no column {column!r}.", hint)
    if not columns:
        raise UsageError("There is no grouping to compare.", f"Name one with --groups, such as {names[-1]}.")
    portraits = _portraits(folder, table, names, rows, columns, files)
    if photos_per_person == "one":
        portraits = _one_each(portraits, seed)
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    left_out: dict[str, dict[str, int]] = {}
    known = {column: _values(portraits, column, ambiguous, seed) for column in columns}
    for column in columns:
        values, missing = known[column]
        groups[column], left_out[column] = _grouped(values), missing
    if len(columns) > 1:
        crossed = CROSS.join(columns)
        cells: dict[str, str] = {}
        for person in known[columns[0]][0]:
            parts = [known[column][0].get(person) for column in columns]
            if all(parts):
                cells[person] = CROSS.join(str(part) for part in parts)
        groups[crossed] = _grouped(cells)
        left_out[crossed] = {}
    _check_sizes(groups, min_group)
    one_each = all(portrait.person == portrait.relative for portrait in portraits)
    return People(tuple(portraits), tuple(columns), groups, left_out, one_each)


def _one_each(portraits: Sequence[Portrait], seed: int) -> list[Portrait]:
    """One photo of each person, by lot, in the order of the table."""
    generator = np.random.default_rng([seed, 13])
    of: dict[str, list[int]] = {}
    for index, portrait in enumerate(portraits):
        of.setdefault(portrait.person, []).append(index)
    return [portraits[index] for index in sorted(int(generator.choice(photos)) for photos in of.values())]


def _values(
    portraits: Sequence[Portrait], column: str, ambiguous: str, seed: int
) -> tuple[dict[str, str], dict[str, int]]:
    generator = np.random.default_rng([seed, 14])
    values: dict[str, str] = {}
    missing: Counter[str] = Counter()
    seen: dict[str, str] = {}
    for portrait in portraits:
        value = portrait.traits.get(column, "")
        before = seen.setdefault(portrait.person, value)
        if before != value:
            raise UsageError(
                f"The person {portrait.person!r} is both {before!r} and {value!r} in the column {column!r}.",
                "Give every photo of a person the same value.",
            )
    for person, value in seen.items():
        several = next((sign for sign in SEVERAL if sign in value), "")
        if not value:
            missing["no value"] += 1
        elif several and ambiguous == "drop":
            missing[f"several values: {value}"] += 1
        else:
            parts = [part.strip() for part in value.split(several)] if several else [value]
            values[person] = str(generator.choice(parts)) if several and ambiguous == "sample" else parts[0]
    return values, dict(missing)


def _grouped(values: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(p for p, value in values.items() if value == name) for name in sorted(set(values.values()))}


def _check_sizes(groups: Mapping[str, Mapping[str, tuple[str, ...]]], least: int) -> None:
    for column, persons_of in groups.items():
        counts = ", ".join(f"{name} {len(persons)}" for name, persons in persons_of.items())
        if len(persons_of) < 2:
            raise UsageError(f"The column {column!r} has one group only: {counts or 'nobody'}.", "Compare two or more.")
    best = max(sum(len(persons) >= least for persons in persons_of.values()) for persons_of in groups.values())
    if best < 2:
        sizes = "; ".join(
            f"{column}: {', '.join(f'{name} {len(persons)}' for name, persons in persons_of.items())}"
            for column, persons_of in groups.items()
        )
        raise UsageError(f"Fewer than two groups have {least} persons ({sizes}).", "Lower --min-group, or add photos.")


def _portraits(
    folder: Path, table: Path, names: list[str], rows: list[dict[str, str]], columns: Sequence[str], files: str
) -> list[Portrait]:
    column = next((name for name in FILE_COLUMNS if name in names), "")
    if not files and not column and "id" not in names:
        raise UsageError(
            f"{show(table)} has no column of files: {', '.join(names)}.", "Give --files, such as 'neutral/{id}.jpg'."
        )
    person_column = next((name for name in ("person", "id") if name in names), "")
    found: list[Portrait] = []
    seen: dict[str, tuple[int, Mapping[str, str]]] = {}
    stems = _stems(folder) if not files and not column else {}
    for line, row in enumerate(rows, start=2):
        if files:
            try:
                relative = files.format(**row)
            except (KeyError, IndexError, ValueError) as error:
                raise UsageError(f"--files names {error}, which is no column.", f"It has {', '.join(names)}.") from None
        else:
            relative = row[column] if column else stems.get(row["id"], row["id"])
        path = folder / relative
        if not relative or not is_file(path):
            raise UsageError(
                f"Line {line} of {show(table)} names {relative!r}, which is not in {show(folder)}.", _near(folder)
            )
        traits = {name: row[name].strip() for name in columns}
        if relative in seen:
            first, before = seen[relative]
            differ = [name for name in columns if before[name] != traits[name]]
            if differ:
                raise UsageError(
                    f"{show(table)} names {relative!r} in lines {first} and {line} with different {differ[0]}: "
                    f"{before[differ[0]]!r} and {traits[differ[0]]!r}.",
                    "Keep one of them.",
                )
            continue
        seen[relative] = line, traits
        found.append(Portrait(path, relative, row[person_column].strip() if person_column else relative, traits))
    return found


def _stems(folder: Path) -> dict[str, str]:
    return {Path(file.relative).stem: file.relative for file in list_photos(folder)}


def _near(folder: Path) -> str:
    there = list_photos(folder, 1)
    return f"The first photo there is {there[0].relative}." if there else "No photo is there at all."


def _table(table: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with table.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = [str(name) for name in reader.fieldnames or ()]
            rows = []
            for line, row in enumerate(reader, start=2):
                if None in row or None in row.values():
                    raise UsageError(
                        f"Line {line} of {show(table)} has another number of cells than the first.",
                        "Quote cells that hold commas.",
                    )
                rows.append({str(key): str(value) for key, value in row.items()})
    except OSError as error:
        raise UsageError(
            f"{show(table)} cannot be read: {error.strerror}.", "Name the table of people with --people people.csv."
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{show(table)} is not a CSV in UTF-8: {error}.", "Save it as CSV in UTF-8.") from None
    if not rows:
        raise UsageError(f"{show(table)} has no rows.", "Add a row for each person.")
    return names, rows
