"""Who is on which photo, and to which groups people belong: ``people.csv``, or the tone of the skin in the photos.

The individual typology angle is that of the cheeks, see ``crops.covariates``: light and make-up change it as much as
skin does. What it describes are pictures, not people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gslopes.core.csv_table import unmatched
from gslopes.core.errors import UsageError
from gslopes.core.files import is_file, read_json, resolved, show
from gslopes.photos.folder import list_photos
from gslopes.photos.people import CROSS
from gslopes.photos.people import People as Table
from gslopes.photos.people import read_people as read_table

if TYPE_CHECKING:
    from gslopes.frame.run import Run

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
    one_photo: bool = False,
    seed: int = 0,
    later: bool = False,
) -> People:
    """Read the table and find the photos.

    folder: what file names are relative to, and may not lead out of.  columns: groupings; several are also crossed.
    files: a pattern such as ``neutral/{id}.jpg``, of the table's columns; without it a column of files, else ``id``
        with any picture suffix.
    min_group: two groups need this many persons; smaller ones are listed and not judged.
    one_photo: of each person, drawn at random with the seed, as published; else answers are averaged over all.
    later: more columns follow, which are known when photos were looked at; groups may be small.

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
    if one_photo:
        portraits = _one_each(portraits, seed)
    known = {column: _values(portraits, column) for column in columns}
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


def _values(portraits: Sequence[Portrait], column: str) -> tuple[dict[str, str], dict[str, int]]:
    """Person to group, and how many people have none; who has several values is left out."""
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
        if not value:
            missing["no value"] += 1
        elif set(SEVERAL) & set(value):
            missing[f"several values: {value}"] += 1
        else:
            values[person] = value
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


# -- the tone of the skin ---------------------------------------------------------------------------------------------

COLUMN, SOURCE = "skin-tone", "measured in the photos"
# Angles in degrees above which skin is said to be so.
TONES = {"very light": 55.0, "light": 41.0, "intermediate": 28.0, "tan": 10.0, "brown": -30.0, "dark": float("-inf")}


def tone(angle: float) -> str:
    """The group of an angle, degrees.

    Source: Chardon, Cretois & Hourseau 1991, doi 10.1111/j.1467-2494.1991.tb00561.x; Del Bino & Bernerd 2013, doi
    10.1111/bjd.12529.

    >>> tone(50), tone(-31)
    ('light', 'dark')
    """
    return next(name for name, above in TONES.items() if angle > above)


def with_skin_tone(
    people: People, columns: Sequence[str], seen: pd.DataFrame, covariates: pd.DataFrame, least: int
) -> People:
    """People with the groups of their skin's tone, the mean angle over a person's photos, among their columns.

    columns: all groupings, in order.  seen: PEOPLE.  covariates: COVARIATES.  least: as ``read_people``'s min_group.

    Raises: UsageError if there are too few groups.
    """
    used = seen[seen["status"] == "used"].drop_duplicates("photo").set_index("photo")["person"]
    angles = covariates[covariates["name"] == "ita"].dropna(subset=["value"])
    mean = angles.groupby(angles["photo"].map(used))["value"].mean()
    values = {
        column: {person: name for name, persons in people.groups[column].items() for person in persons}
        for column in people.columns
    }
    values[COLUMN] = {str(person): tone(angle) for person, angle in mean.items()}
    groups = crossed({column: values[column] for column in columns})
    check_sizes(groups, least)
    lost = used.nunique() - len(mean)
    left_out = {column: dict(people.left_out.get(column, {})) for column in groups}
    left_out[COLUMN] = {"no cheeks in sight": lost} if lost else {}
    return replace(people, columns=tuple(columns), groups=groups, left_out=left_out)


# -- the groups of a run ----------------------------------------------------------------------------------------------


def people_of(photos: Path, config: Any, *, min_group: int, one_photo: bool = False, tone: bool = False) -> People:
    """Who is on the photos of a folder.

    config: of a crop audit.  tone: whether groups by the tone of the skin follow when photos were looked at.

    Raises: as ``read_people``; ConfigError if no table is named.
    """
    table = config.table
    tone = tone and COLUMN in config.groups and COLUMN not in read_table(table).columns
    groups = [name for name in config.groups if not tone or name != COLUMN]
    return read_people(
        photos, table, groups, files=config.files, min_group=min_group, one_photo=one_photo, seed=config.seed,
        later=tone,
    )  # fmt: skip


def groups_of_run(run: Run) -> People:
    """The people of a run that was looked at, in all its groups."""
    people: People = run.inputs
    if people.columns == tuple(run.config.groups):
        return people
    return with_skin_tone(people, run.config.groups, run.table("people"), run.table("covariates"), run.config.min_group)


def stored_groups(folder: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """Column to group to persons, of a run folder."""
    groups = read_json(folder / "groups.json")["groups"]
    return {column: {name: tuple(persons) for name, persons in found.items()} for column, found in groups.items()}
