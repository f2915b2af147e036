"""Who is on which photo, and to which groups people belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gslopes.core.csv_table import unmatched
from gslopes.core.errors import UsageError
from gslopes.core.files import inside, show
from gslopes.photos.folder import list_photos
from gslopes.photos.people import CROSS, name_in
from gslopes.photos.people import read_people as read_table

SEVERAL = "/;|"  # a value with one of these between words names several groups
Groups = Mapping[str, Mapping[str, tuple[str, ...]]]  # column (crossed ones too) to group to persons


@dataclass(frozen=True, slots=True)
class Portrait:
    """One photo of one person.

    path: how to open it.  relative: its name below the folder.  person: name.  traits: column to value, empty if
    unknown.
    """

    path: Path
    relative: str
    person: str
    traits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class People:
    """All people who are compared.

    portraits: in the table's order.  columns: as given.  left_out: column to why to how many persons.
    absent: a sentence on rows whose photo is not there; often empty.
    """

    portraits: tuple[Portrait, ...]
    columns: tuple[str, ...]
    groups: Groups
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
    min_group: int = 10,
    one_photo: bool = False,
    seed: int = 0,
) -> People:
    """Read the table and find the photos, by their path, file name or its beginning, see ``photos.people.name_in``.

    columns: groupings; several are also crossed.
    min_group: two groups need this many persons; smaller ones are listed and not judged.
    one_photo: of each person, drawn at random with the seed, as published; else answers are averaged over all.

    Raises: UsageError for anything that is off, naming line, column or nearest name.
    """
    people = read_table(table)
    if not len(people.lines):
        raise UsageError(f"{show(table)} has no rows.", "Add a row for each person.")
    if not columns:
        last = [*people.columns][-1]
        raise UsageError("There is no grouping to compare.", f"Name one with --groups, such as {last}.")
    traits = {column: people.groups(column) for column in columns}
    rows, photos = people.by_photo(traits), list_photos(folder)
    named = [(rows[name], photo, name) for photo in photos if (name := name_in(rows, photo.relative)) is not None]
    if not named:
        first = f"The first photo there is {photos[0].relative}." if photos else "The folder has no photo."
        raise UsageError(f"{show(table)} names none of the photos in {show(folder)}.", first)
    who = next((name for name in ("person", "id") if name in people.columns), "")
    portraits = []
    for row, photo, name in sorted(named, key=lambda one: (one[0], one[1].relative)):
        person = people.columns[who][row] if who else name
        if not person:
            raise UsageError(f"Line {people.lines[row]} of {show(table)} names no {who}.", "Name one in each row.")
        if not inside(folder, photo.path):
            raise UsageError(f"{photo.relative} leads out of {show(folder)}.", "Put the photo itself there.")
        values = {column: cells[row] for column, cells in traits.items()}
        portraits.append(Portrait(photo.path, photo.relative, person, values))
    if one_photo:
        portraits = _one_each(portraits, seed)
    known = {column: _values(portraits, column) for column in columns}
    groups = crossed({column: values for column, (values, _) in known.items()})
    left_out = {column: known[column][1] if column in known else {} for column in groups}
    check_sizes(groups, min_group)
    present = {name for _, _, name in named}
    absent = unmatched(table, [name for name in rows if name not in present])
    return People(tuple(portraits), tuple(columns), groups, left_out, absent)


def crossed(values: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Column, and all of them crossed, to group to persons.  values: column to person to group."""
    everything = dict(values)
    if len(values) > 1:
        persons = [person for person in next(iter(values.values())) if all(of.get(person) for of in values.values())]
        everything[CROSS.join(values)] = {
            person: CROSS.join(of[person] for of in values.values()) for person in persons
        }
    return {
        column: {name: tuple(p for p, value in of.items() if value == name) for name in sorted(set(of.values()))}
        for column, of in everything.items()
    }


def _one_each(portraits: Sequence[Portrait], seed: int) -> list[Portrait]:
    """One random photo of each person, in the order of the table."""
    generator = np.random.default_rng([seed, 13])
    of: dict[str, list[int]] = {}
    for index, portrait in enumerate(portraits):
        of.setdefault(portrait.person, []).append(index)
    return [portraits[index] for index in sorted(int(generator.choice(photos)) for photos in of.values())]


def _values(portraits: Sequence[Portrait], column: str) -> tuple[dict[str, str], dict[str, int]]:
    """Person to group, and how many people have none; who has several values is left out."""
    seen: dict[str, str] = {}
    for portrait in portraits:
        value = portrait.traits[column]
        before = seen.setdefault(portrait.person, value)
        if before != value:
            raise UsageError(
                f"The person {portrait.person!r} is both {before!r} and {value!r} in the column {column!r}.",
                "Give every photo of a person the same value.",
            )
    values = {person: value for person, value in seen.items() if value and not set(SEVERAL) & set(value)}
    missing = Counter(
        f"several values: {value}" if value else "no value" for person, value in seen.items() if person not in values
    )
    return values, dict(missing)


def check_sizes(groups: Groups, least: int) -> None:
    """Raises: UsageError if a column has one group, or no column two of ``least`` persons."""
    counts = {
        column: ", ".join(f"{name} {len(persons)}" for name, persons in members.items())
        for column, members in groups.items()
    }
    for column, members in groups.items():
        if len(members) < 2:
            only = counts[column] or "no person"
            raise UsageError(f"The column {column!r} has one group only: {only}.", "Compare two or more.")
    if max(sum(len(persons) >= least for persons in members.values()) for members in groups.values()) < 2:
        listed = "; ".join(f"{column}: {text}" for column, text in counts.items())
        raise UsageError(f"Fewer than two groups have {least} persons ({listed}).", "Lower --min-group, or add photos.")
