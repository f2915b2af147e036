"""Who is on which photo, to which groups people belong, and which pairs of people are asked about."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gslopes.core.csv_table import unmatched
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.files import inside, show
from gslopes.crops.config import MAX_PAIRS, CropsConfig
from gslopes.photos.folder import list_photos
from gslopes.photos.people import CROSS, names_of
from gslopes.photos.people import read_people as read_table

SEVERAL = "/;|"  # a value with one of these between words names several groups
Groups = Mapping[
    str, Mapping[str, tuple[str, ...]]
]  # column (crossed ones too) to group to persons
Pairs = NDArray[
    np.int64
]  # (P, 2) numbers of photos; of pictures (P, 3), with how often each is drawn


class Portrait(NamedTuple):
    """One photo of one person.

    path: how to open it.  relative: its name below the folder.  person: name.  traits: column to value, empty if
    unknown.  repeats: names of other files with the same bytes.
    """

    path: Path
    relative: str
    person: str
    traits: Mapping[str, str]
    repeats: tuple[str, ...] = ()


class People(NamedTuple):
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
        last = [*people.columns][-1]
        raise UsageError(
            "No grouping is given to compare.", f"Name one with --groups, such as {last}."
        )
    traits = {column: people.groups(column) for column in columns}
    rows = people.by_photo(traits)
    photos = list_photos(folder)
    said = {name: [cells[row] for cells in traits.values()] for name, row in rows.items()}
    named = [(rows[found[0]], photo, found) for photo in photos if (found := names_of(said, photo))]
    if not named:
        first = f"The first photo there is {photos[0].relative}."
        raise UsageError(f"{show(table)} names none of the photos in {show(folder)}.", first)
    who = next((name for name in ("person", "id") if name in people.columns), "")
    portraits = []
    for row, photo, found in sorted(named, key=lambda one: (one[0], one[1].relative)):
        person = people.columns[who][row] if who else found[0]
        if not person:
            raise UsageError(
                f"Line {people.lines[row]} of {show(table)} names no {who}.",
                "Name one in each row.",
            )
        if not inside(folder, photo.path):
            raise UsageError(
                f"{photo.relative} leads out of {show(folder)}.", "Put the photo itself there."
            )
        values = {column: cells[row] for column, cells in traits.items()}
        portraits.append(Portrait(photo.path, photo.relative, person, values, photo.repeats))
    if one_photo:
        generator = np.random.default_rng([seed, 13])
        of = defaultdict(list)
        for index, portrait in enumerate(portraits):
            of[portrait.person].append(index)
        portraits = [
            portraits[index]
            for index in sorted(int(generator.choice(photos)) for photos in of.values())
        ]
    by_column = {column: _values(portraits, column) for column in columns}
    groups = crossed({column: values for column, (values, _) in by_column.items()})
    left_out = {column: by_column[column][1] if column in by_column else {} for column in groups}
    for column, members in groups.items():
        if len(members) < 2:
            only = (
                ", ".join(f"{name} {len(persons)}" for name, persons in members.items())
                or "no person"
            )
            raise UsageError(
                f"The column {column!r} has one group only: {only}.", "Compare two or more."
            )
    present = {name for _, _, found in named for name in found}
    absent = unmatched(table, [name for name in rows if name not in present])
    return People(tuple(portraits), tuple(columns), groups, left_out, absent)


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
    values = {
        person: value for person, value in seen.items() if value and not set(SEVERAL) & set(value)
    }
    missing = [
        f"several values: {seen[name]}" if seen[name] else "no value"
        for name in seen
        if name not in values
    ]
    return values, dict(Counter(missing))


def crossed(values: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Column, and all of them crossed, to group to persons.  values: column to person to group."""
    everything = dict(values)
    if len(values) > 1:
        persons = [
            person
            for person in next(iter(values.values()))
            if all(person in of for of in values.values())
        ]
        joined = {person: CROSS.join(of[person] for of in values.values()) for person in persons}
        everything[CROSS.join(values)] = joined
    return {
        column: {
            name: tuple(who for who, value in of.items() if value == name)
            for name in sorted(set(of.values()))
        }
        for column, of in everything.items()
    }


def check_sizes(groups: Groups) -> None:
    """Raises: UsageError if no column has two groups of two persons: no error of a share could be given."""
    if (
        max(sum(len(persons) > 1 for persons in members.values()) for members in groups.values())
        < 2
    ):
        listed = "; ".join(f"{column}: {_sizes(some)}" for column, some in groups.items())
        raise UsageError(f"Fewer than two groups have two persons ({listed}).", "Add photos.")


def _sizes(members: Mapping[str, Sequence[str]]) -> str:
    """How many persons each group has, the eight largest named.

    >>> _sizes({"f": ("a", "b"), "m": ("c",)})
    'f 2, m 1'
    """
    largest = sorted(members, key=lambda name: -len(members[name]))[:8]
    rest = f" and {len(members) - 8:,} smaller ones" if len(members) > 8 else ""
    return ", ".join(f"{name} {len(members[name])}" for name in largest) + rest


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
    groups = {
        name: [number for person in members for number in numbers.get(person, [])]
        for name, members in people.cells.items()
    }
    groups = {name: photos for name, photos in groups.items() if photos}
    if config.as_published:
        drawn = published_draws(groups, config.draws, config.seed)
        return np.column_stack(np.unique(drawn, axis=0, return_counts=True))
    pairs = balanced_pairs(groups, config.pairs or MAX_PAIRS // 2, config.seed)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return np.insert(both, 2, 0, axis=1)


def balanced_pairs(groups: Mapping[str, Sequence[int]], most: int, seed: int = 0) -> Pairs:
    """(P, 2) every pair of different groups, the earlier group first; at most ``most``, spread evenly.

    Then each person of a meets equally many of b, cyclically, and the reverse.

    groups: name to numbers, in the order in which pairs of groups are listed.
    most: pairs in all; each pair of groups gets its part in proportion to its size.

    Raises: ConfigError if that is less than one pair for each pair of groups.
    """
    generator = np.random.default_rng([seed, 4])
    couples = [
        (np.asarray(groups[a], np.int64), np.asarray(groups[b], np.int64))
        for a, b in combinations(groups, 2)
    ]
    total = sum(len(a) * len(b) for a, b in couples)
    if total > most and most < len(couples):
        raise ConfigError(
            f"{most} pairs are fewer than the {len(couples)} pairs of groups.", "Raise --pairs."
        )
    pairs = [np.empty((0, 2), np.int64)]
    for a, b in couples:
        if total <= most:
            pairs.append(np.stack([np.repeat(a, len(b)), np.tile(b, len(a))], axis=1))
            continue
        first = generator.permutation(a)
        second = generator.permutation(b)
        turn = np.arange(max(1, min(len(a) * len(b), round(most * len(a) * len(b) / total))))
        # (t mod m, t mod n) meets every pair once in lcm(m, n) turns of each coset; each lap begins one further on
        lap = turn // np.lcm(len(a), len(b))
        pairs.append(np.stack([first[turn % len(a)], second[(turn + lap) % len(b)]], axis=1))
    return np.concatenate(pairs)


def published_draws(groups: Mapping[str, Sequence[int]], draws: int, seed: int = 42) -> Pairs:
    """(P, 2) drawn with replacement, ``draws`` for each pair of groups, the first group on the left.

    Source: Yee et al. 2021, section 3.2.
    """
    generator = np.random.default_rng([seed, 5])
    pairs = [
        np.stack(
            [generator.choice(np.asarray(groups[name], dtype=np.int64), draws) for name in couple],
            axis=1,
        )
        for couple in combinations(groups, 2)
    ]
    return np.concatenate([np.empty((0, 2), np.int64), *pairs])
