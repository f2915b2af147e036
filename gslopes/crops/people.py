"""Who is on which photo, and to which groups people belong: ``people.csv``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gslopes.core.csv_table import unmatched
from gslopes.core.errors import UsageError
from gslopes.core.files import is_file, resolved, show
from gslopes.photos.folder import list_photos
from gslopes.photos.people import CROSS
from gslopes.photos.people import People as Table
from gslopes.photos.people import read_people as read_table

SEVERAL = "/;|"  # a value with one of these between words names several groups


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
    """All people who are compared.

    portraits: in the table's order.  columns: as given.  groups: column (crossed ones too) to group to persons.
    left_out: column to why to how many persons.  absent: a sentence on rows whose photo is not there; often empty.
    """

    portraits: tuple[Portrait, ...]
    columns: tuple[str, ...]
    groups: Mapping[str, Mapping[str, tuple[str, ...]]]
    left_out: Mapping[str, Mapping[str, int]]
    absent: str = ""

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
    later: bool = False,
) -> People:
    """Read the table and find the photos.

    folder: what file names are relative to, and may not lead out of.  columns: groupings; several are also crossed.
    files: a pattern such as ``neutral/{id}.jpg``, of the table's columns; without it a column of files, else ``id``
        with any picture suffix.
    min_group: two groups need this many persons; smaller ones are listed and not judged.
    ambiguous: ``drop`` persons with several values, take the ``first``, or ``sample`` one (the paper's choice).
    photos_per_person: ``all`` (answers are averaged over a person's photos), or ``one`` drawn at random, as published.
    seed: of both draws.  later: more columns follow, which are known when photos were looked at; groups may be small.

    Raises: UsageError for anything that is off, naming line, column or nearest name.
    """
    people = read_table(table)
    if not len(people.lines):
        raise UsageError(f"{show(table)} has no rows.", "Add a row for each person.")
    if not columns and not later:
        last = [*people.columns][-1]
        raise UsageError("There is no grouping to compare.", f"Name one with --groups, such as {last}.")
    traits = {column: people.groups(column) for column in columns}
    portraits, absent = _portraits(folder, people, traits, files)
    if photos_per_person == "one":
        portraits = _one_each(portraits, seed)
    known = {column: _values(portraits, column, ambiguous, seed) for column in columns}
    groups = crossed({column: values for column, (values, _) in known.items()})
    left_out = {column: known[column][1] if column in known else {} for column in groups}
    if not later:
        check_sizes(groups, min_group)
    return People(tuple(portraits), tuple(columns), groups, left_out, unmatched(table, absent))


def crossed(values: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Column, and all of them crossed, to group to persons.  values: column to person to group."""
    groups = {column: _grouped(of) for column, of in values.items()}
    if len(values) > 1:
        persons = [person for person in next(iter(values.values())) if all(of.get(person) for of in values.values())]
        cells = {person: CROSS.join(of[person] for of in values.values()) for person in persons}
        groups[CROSS.join(values)] = _grouped(cells)
    return groups


def _one_each(portraits: Sequence[Portrait], seed: int) -> list[Portrait]:
    """One random photo of each person, in the order of the table."""
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


def check_sizes(groups: Mapping[str, Mapping[str, tuple[str, ...]]], least: int) -> None:
    """Raises: UsageError if a column has one group, or no column two of ``least`` persons."""
    sizes = {column: {name: len(persons) for name, persons in found.items()} for column, found in groups.items()}
    counts = {column: ", ".join(f"{name} {size}" for name, size in found.items()) for column, found in sizes.items()}
    for column, found in sizes.items():
        if len(found) < 2:
            one = counts[column] or "no person"
            raise UsageError(f"The column {column!r} has one group only: {one}.", "Compare two or more.")
    if max(sum(size >= least for size in found.values()) for found in sizes.values()) < 2:
        listed = "; ".join(f"{column}: {text}" for column, text in counts.items())
        raise UsageError(f"Fewer than two groups have {least} persons ({listed}).", "Lower --min-group, or add photos.")


def _portraits(
    folder: Path, people: Table, traits: Mapping[str, Sequence[str]], files: str
) -> tuple[list[Portrait], list[str]]:
    """The portraits, and what rows name that is not there."""
    names = _file_names(folder, people, files)
    persons_in = next((name for name in ("person", "id") if name in people.columns), "")
    portraits: list[Portrait] = []
    absent: list[str] = []
    for relative, row in people.by_photo(traits, names).items():
        line = f"Line {people.lines[row]} of {show(people.path)}"
        try:
            path = resolved(folder, relative)
        except (OSError, ValueError):
            raise UsageError(f"{line} names {relative!r}, which is not in {show(folder)}.", _near(folder)) from None
        if not is_file(path):
            absent.append(relative)
            continue
        person = people.columns[persons_in][row] if persons_in else relative
        if not person:
            raise UsageError(f"{line} names no {persons_in}.", "Name one in each row.")
        portraits.append(Portrait(path, relative, person, {name: cells[row] for name, cells in traits.items()}))
    if not portraits:
        raise UsageError(f"{show(people.path)} names none of the photos in {show(folder)}.", _near(folder))
    return portraits, absent


def _file_names(folder: Path, people: Table, files: str) -> list[str]:
    """The file that each row names, relative to the folder.  Raises: UsageError if no column does."""
    if files:
        rows = (dict(zip(people.columns, cells, strict=True)) for cells in zip(*people.columns.values(), strict=True))
        try:
            return [files.format(**row) for row in rows]
        except (KeyError, IndexError, ValueError) as error:
            hint = f"It has {', '.join(people.columns)}."
            raise UsageError(f"--files names {error}, which is no column.", hint) from None
    column = people.photo_column()
    if column not in ("id", "name"):
        return list(people.columns[column])
    stems = {Path(photo.relative).stem: photo.relative for photo in list_photos(folder)}
    return [stems.get(name, name) for name in people.columns[column]]


def _near(folder: Path) -> str:
    present = list_photos(folder, 1)
    return f"The first photo there is {present[0].relative}." if present else "The folder has no photo."
