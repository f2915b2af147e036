"""Who is on which photo, to which groups people belong, and which pairs of people are asked about."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame, Series

from gslopes.core import ConfigError, Names, Texts, UsageError, inside, show
from gslopes.core.records import Integers
from gslopes.crops.config import MAX_PAIRS, CropsConfig
from gslopes.photos.folder import list_photos
from gslopes.photos.people import CROSS, matched, read_people as read_table

SEVERAL = "/;|"  # a value with one of these between words names several groups
Members = Mapping[str, Sequence[str]]  # group to persons
Groups = Mapping[str, Members]  # by column, crossed ones too
Pairs = Integers  # (P, 2) numbers of photos; of pictures (P, 3), with how often each is drawn


class Portrait(NamedTuple):
    """One photo of one person.

    path: how to open it.  relative: its name below the folder.  person: name.  traits: column to value, empty if
    unknown.  repeats: names of other files with the same bytes.
    """

    path: Path
    relative: str
    person: str
    traits: Texts
    repeats: Names = ()


class People(NamedTuple):
    """All people who are compared.

    portraits: in the table's order.  columns: as given.  left_out: column to why to how many persons.
    absent: a sentence on rows whose photo is missing; often empty.
    """

    portraits: Sequence[Portrait]
    columns: Sequence[str]
    groups: Groups
    left_out: Mapping[str, Mapping[str, int]]
    absent: str = ""

    @property
    def cells(self) -> Members:
        """The groups of all columns crossed."""
        return self.groups[CROSS.join(self.columns)]


def read_people(
    folder: Path,
    table: Path,
    columns: Sequence[str],
    *,
    one_photo: bool = False,
    seed: int = 0,
) -> People:
    """Read the table and find the photos, by their path, file name or its beginning, see ``photos.people.name_in``.

    columns: groupings; several are also crossed.
    one_photo: of each person, drawn at random with the seed, as published; else answers are averaged over all.

    Raises: UsageError for anything that is off, naming line, column or nearest name.
    """
    people = read_table(table)
    if not len(people.lines):
        raise UsageError(f"{show(table)} has no rows.", "Add a row for each person.")
    if not columns:
        raise UsageError(
            "No grouping is given to compare.",
            f"Name one with --groups, such as {[*people.columns][-1]}.",
        )
    traits = {column: people.groups(column) for column in columns}
    rows = people.by_photo(traits)
    values = {
        name: {column: cells[row] for column, cells in traits.items()} for name, row in rows.items()
    }
    photos = list_photos(folder)
    names, absent = matched(table, values, photos)
    named = sorted((rows[name], photo.relative, photo) for photo, name in names.items())
    if not named:
        raise UsageError(
            f"{show(table)} names none of the photos in {show(folder)}.",
            f"The first photo there is {photos[0].relative}.",
        )
    who = next((name for name in ("person", "id") if name in people.columns), "")
    portraits = []
    for row, relative, photo in named:
        name = names[photo]
        person = people.columns[who][row] if who else name
        if not person:
            raise UsageError(
                f"Line {people.lines[row]} of {show(table)} names no {who}.",
                "Name one in each row.",
            )
        if not inside(folder, photo.path):
            raise UsageError(
                f"{relative} leads out of {show(folder)}.", "Put the photo itself there."
            )
        portraits.append(Portrait(photo.path, relative, person, values[name], photo.repeats))
    if one_photo:
        portraits = _one_of_each(portraits, seed)
    return _grouped(portraits, columns, absent)


def _one_of_each(portraits: Sequence[Portrait], seed: int) -> list[Portrait]:
    """One photo of each person, by lot."""
    generator = np.random.default_rng([seed, 13])
    numbers = defaultdict(list)
    for number, portrait in enumerate(portraits):
        numbers[portrait.person].append(number)
    return [portraits[number] for number in sorted(map(generator.choice, numbers.values()))]


def _grouped(portraits: Sequence[Portrait], columns: Sequence[str], absent: str) -> People:
    """The people of these photos.

    Raises: UsageError if they are all of one group, or two photos of a person have different values.
    """
    persons = [portrait.person for portrait in portraits]
    table = DataFrame([portrait.traits for portrait in portraits], persons, dtype=object)
    first = table[~table.index.duplicated()]
    known = DataFrame(index=first.index)
    left_out = {}
    for column in columns:
        for person, value in zip(persons, table[column], strict=True):
            if value != first[column][person]:
                raise UsageError(
                    f"The person {person!r} is both {first[column][person]!r} and {value!r} in the column {column!r}.",
                    "Give every photo of a person the same value.",
                )
        why = first[column].map(_why_left_out)
        left_out[column] = Counter(why[why != ""])
        known[column] = first[column].where(why == "")
    if len(columns) > 1:
        rows = known.dropna().itertuples()
        crossed = {person: CROSS.join(values) for person, *values in rows}
        known[CROSS.join(columns)] = Series(crossed, dtype=object)
    groups = {
        str(column): {str(name): part.index.tolist() for name, part in known.groupby(values)}
        for column, values in known.items()
    }
    for name, members in groups.items():
        if len(members) < 2:
            only = _sizes(members) or "no person"
            raise UsageError(
                f"The column {name!r} has one group only: {only}.", "Compare two or more."
            )
    return People(portraits, columns, groups, left_out, absent)


def _why_left_out(value: str) -> str:
    """Why a person is in no group; empty if the value names one."""
    if not value:
        return "no value"
    return f"several values: {value}" * bool(set(SEVERAL) & set(value))


def check_sizes(groups: Groups) -> None:
    """Raises: UsageError if no column has two groups of two persons: no error of a share could be given."""
    if not any(
        sum(len(persons) > 1 for persons in members.values()) > 1 for members in groups.values()
    ):
        listed = "; ".join(f"{column}: {_sizes(members)}" for column, members in groups.items())
        raise UsageError(f"Fewer than two groups have two persons ({listed}).", "Add photos.")


def _sizes(members: Members) -> str:
    """How many persons each group has, the eight largest named.

    >>> _sizes({"f": ("a", "b"), "m": ("c",)})
    'f 2, m 1'
    """
    largest = sorted(members, key=lambda name: -len(members[name]))
    rest = f" and {len(members) - 8:,} smaller ones" if len(members) > 8 else ""
    return ", ".join(f"{name} {len(members[name])}" for name in largest[:8]) + rest


# -- who meets whom ---------------------------------------------------------------------------------------------------


def pictures_of(people: People, persons: Sequence[str], config: CropsConfig) -> Pairs:
    """(P, 3) numbers of the photos of each joined picture, left and right, and how often it is drawn; 0 if not by lot.

    Both orders of each pair of different groups; as published, the first group on the left, and what is drawn twice is
    asked once and counts twice.

    persons: of each photo.
    """
    numbers = defaultdict(list)
    for number, person in enumerate(persons):
        numbers[person].append(number)
    groups = {}
    for name, members in people.cells.items():
        photos = [number for person in members for number in numbers[person]]
        if photos:
            groups[name] = photos
    if config.as_published:
        drawn = published_draws(groups, config.draws, config.seed)
        return np.column_stack(np.unique(drawn, axis=0, return_counts=True))
    pairs = balanced_pairs(groups, config.pairs or MAX_PAIRS // 2, config.seed)
    return np.insert(np.concatenate([pairs, pairs[:, ::-1]]), 2, 0, 1)


def balanced_pairs(groups: Mapping[str, Sequence[int]], most: int, seed: int = 0) -> Pairs:
    """(P, 2) every pair of different groups, the earlier group first; at most ``most``, spread evenly.

    Then each person of a meets equally many of b, cyclically, and the reverse.

    groups: name to numbers, in the order in which pairs of groups are listed.
    most: pairs in all; each pair of groups gets its part in proportion to its size.

    Raises: ConfigError if that is less than one pair for each pair of groups.
    """
    generator = np.random.default_rng([seed, 4])
    couples = _couples(groups)
    total = sum(len(a) * len(b) for a, b in couples)
    if len(couples) > most and total > most:
        raise ConfigError(
            f"{most} pairs are fewer than the {len(couples)} pairs of groups.", "Raise --pairs."
        )
    pairs = [np.empty((0, 2), np.int64)]
    for a, b in couples:
        size = len(a) * len(b)
        if total <= most:
            pairs.append(np.column_stack([np.repeat(a, len(b)), np.tile(b, len(a))]))
            continue
        first = generator.permutation(a)
        second = generator.permutation(b)
        turn = np.arange(max(1, min(size, round(most * size / total))))
        # (t mod m, t mod n) meets every pair once in lcm(m, n) turns of each coset; each lap begins one further on
        lap = turn // np.lcm(len(a), len(b))
        pairs.append(np.column_stack([first[turn % len(a)], second[(turn + lap) % len(b)]]))
    return np.concatenate(pairs)


def _couples(groups: Mapping[str, Sequence[int]]) -> list[tuple[Integers, Integers]]:
    """The numbers of each two groups, the earlier one first."""
    return [*combinations([np.asarray(numbers, np.int64) for numbers in groups.values()], 2)]


def published_draws(groups: Mapping[str, Sequence[int]], draws: int, seed: int = 42) -> Pairs:
    """(P, 2) drawn with replacement, ``draws`` for each pair of groups, the first group on the left.

    Source: Yee et al. 2021, section 3.2.
    """
    generator = np.random.default_rng([seed, 5])
    pairs = [
        np.column_stack([generator.choice(numbers, draws) for numbers in couple])
        for couple in _couples(groups)
    ]
    return np.concatenate([np.empty((0, 2), np.int64), *pairs])
