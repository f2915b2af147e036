"""Tags to counts, proportions and vectors: descriptions of person and place.

Source: Barlas et al. 2020, section 5; the equations are numbered as in its specification here: (1) counts, (2) inferred
gender, (3) recognised, (4) proportions, (5) vectors, (6) distance, (10) net of what the empty background got.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.tables import filled
from gslopes.contexts.typology import SUPERS, Typology, normalise
from gslopes.core.arrays import Array, Flags, Integers, Objects
from gslopes.core.tables import Row, lookup
from gslopes.stats.rounding import settled

VECTOR = SUPERS[:3]  # the paper's
GROSS = "gross"
NET = "net"
EMPTY = "empty"  # the attribute of backgrounds without a person
Key = tuple[str, str, int]
"""Photo, attribute and step of a picture."""


def cosine_distances(first: Array, second: Array) -> Array:
    """(N,) 1 minus the cosine of each pair of vectors, equation (6); NaN where one has length 0.

    first, second: (N, 3) vectors of descriptions, equation (5).

    >>> cosine_distances(np.array([[0.25, 0.5, 0.125]]), np.array([[0, 12 / 13, 0]])).round(6).tolist()
    [0.127128]
    """
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines = np.divide(
        (first * second).sum(axis=1), lengths, out=np.full(len(lengths), np.nan), where=lengths > 0
    )
    return np.maximum(0.0, settled(1 - cosines, 1))


def describe(tags: Collection[str], typology: Typology, context: Collection[str] = ()) -> Row:
    """One answer's counts and proportions, equations (1) to (4), under the names of the ``described`` table.

    tags: normalised, complements added.  context: the tags that name the background, empty if there is none.
    Proportions of an answer without tags are not numbers.

    >>> from gslopes.contexts.typology import read_typology
    >>> describe({"young_man", "stubble"}, read_typology("starter"))["inferred"]
    'man'
    """
    answer = frozenset(tags)
    n = len(frozenset(tags))
    masculine, feminine = (
        len(answer & typology.clusters[name]) for name in ("masculine", "feminine")
    )
    named = len(answer & frozenset(context))
    return {
        "n_tags": n,
        "masculine": masculine,
        "feminine": feminine,
        "context_tags": named,
        "inferred": "woman"
        if feminine > masculine
        else "man"
        if masculine > feminine
        else "neutral",
        "recognised": named > 0,
        **{name: len(answer & typology.super_tags(name)) / n if n else math.nan for name in VECTOR},
    }


def answered_tags(scores: pd.DataFrame, asked: pd.DataFrame) -> dict[Key, frozenset[str]]:
    """Every answered picture to its tags, normalised; none for some.  scores, asked: of one classifier."""
    tags: dict[Key, set[str]] = {}
    plain = {label: normalise(str(label)) for label in scores["label"].unique()}
    for key, label in zip(_keys(scores), scores["label"], strict=True):
        tags.setdefault(key, set()).add(plain[label])
    return {
        key: frozenset(tags.get(key, ())) for key in _keys(asked[asked["status"] == "answered"])
    }


def _keys(rows: pd.DataFrame) -> Iterator[Key]:
    steps = rows["step"].astype(int).tolist()
    return zip(rows["photo"].astype(str), rows["attribute"].astype(str), steps, strict=True)


def describe_all(
    classifier: str,
    answers: Mapping[Key, frozenset[str]],
    backgrounds: pd.DataFrame,
    typology: Typology,
    options: ContextOptions,
) -> pd.DataFrame:
    """The rows of the ``described`` table of one classifier: each answered picture, gross and net.

    answers: as from ``answered_tags``.  backgrounds: the table of that name.

    Distances are from the same photo's baseline; sweeps and empty backgrounds have none.
    """
    key_of = lookup(backgrounds, "photo", "key")
    context_of = lookup(backgrounds, "key", "context")
    # without complements: a label that the empty picture did not get is no word for it
    empty = {
        key_of[key[0]]: tags
        for key, tags in answers.items()
        if key[1] == EMPTY and key[0] in key_of
    }
    rows: list[Row] = []
    for photo, attribute, step in sorted(answers):
        tags = typology.complete(answers[photo, attribute, step])
        condition = key_of.get(photo, "") if attribute == EMPTY else attribute.partition("~")[0]
        named = typology.contexts.get(context_of.get(condition, ""), frozenset())
        head = {"classifier": classifier, "photo": photo, "attribute": attribute, "step": step}
        for kind, counted in ((GROSS, tags), (NET, tags - empty.get(condition, frozenset()))):
            rows.append({**head, "tags": kind, **describe(counted, typology, named)})
    table = filled("described", rows)
    plain = table[~table["attribute"].str.contains("~") & (table["attribute"] != EMPTY)]
    vectors = plain.set_index(["photo", "tags"])[list(VECTOR)].astype(float)
    start = vectors[(plain["attribute"] == options.baseline).to_numpy()].reindex(vectors.index)
    table.loc[plain.index, "distance"] = cosine_distances(start.to_numpy(), vectors.to_numpy())
    return table


# -- arrays -----------------------------------------------------------------------------------------------------------

INFERRED = ("neutral", "woman", "man")  # the codes 0, 1 and 2
GENDERS = ("woman", "man")
ALL = "all"
MEASURES = ("distance", "n_tags", "demographics", "concrete", "abstract")


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """One classifier's answers about P photos under A conditions, for one kind of tags.

    photos: (P,) ids.  person: (P,) codes from 0.  gender: (P,) self-reported: woman, man or another word.
    group: (P,).  conditions: (A,) ``original``, ``canvas`` or background keys.  contexts: (A,) empty for baselines.
    answered: (P, A).  inferred: (P, A) codes of ``INFERRED``.  recognised: (P, A).
    measures: name to (P, A), NaN where unknown.  tagged: contexts that have tags by which they are recognised.
    """

    classifier: str
    tags: str
    photos: Objects
    person: Integers
    gender: Objects
    group: Objects
    conditions: tuple[str, ...]
    contexts: tuple[str, ...]
    answered: Flags
    inferred: NDArray[np.int8]
    recognised: Flags
    measures: Mapping[str, Array]
    tagged: frozenset[str]

    @property
    def head(self) -> dict[str, str]:
        """The columns by which rows of this grid differ from those of other grids."""
        return {"classifier": self.classifier, "tags": self.tags}

    @property
    def names(self) -> list[str]:
        """The contexts, in order, each once."""
        return [name for name in dict.fromkeys(self.contexts) if name]

    @property
    def baselines(self) -> list[str]:
        """Which baselines there are."""
        return [
            condition
            for condition, context in zip(self.conditions, self.contexts, strict=True)
            if not context
        ]

    def of(self, context: str) -> list[int]:
        """Columns of a context's backgrounds, or of a baseline by its name."""
        columns = [at for at, name in enumerate(self.contexts) if name == context and name]
        return columns or [at for at, name in enumerate(self.conditions) if name == context]

    @property
    def people(self) -> int:
        """How many people there are."""
        if len(self.person):
            return int(self.person.max()) + 1
        return 0

    def genders(self) -> list[str]:
        """The self-reported genders that occur, women and men first."""
        words = set(self.gender.tolist())
        return [name for name in GENDERS if name in words] + sorted(words - set(GENDERS))

    def of_gender(self, gender: str) -> Flags:
        """(P,) photos of people of this gender, or of ``all``."""
        if gender == ALL:
            return np.ones(len(self.photos), bool)
        return self.gender == gender


def make_grid(
    described: pd.DataFrame,
    people: pd.DataFrame,
    backgrounds: pd.DataFrame,
    tagged: frozenset[str] = frozenset(),
) -> Grid:
    """The grid of one classifier and one kind of tags; sweeps and empty backgrounds are not in it.

    described: rows of the ``described`` table.  people, backgrounds: those tables; people who were not described are
        left out.
    """
    rows = described[
        described["photo"].isin(set(people["photo"])) & ~described["attribute"].str.contains("~")
    ]
    context_of = lookup(backgrounds, "key", "context")
    conditions = [
        name for name in ("original", "canvas", *context_of) if name in set(rows["attribute"])
    ]
    reports = people[people["photo"].isin(set(rows["photo"]))].sort_values("photo")
    photos = reports["photo"].to_numpy(object)
    rows = rows[rows["attribute"].isin(conditions)]
    at = (
        pd.Index(photos).get_indexer(pd.Index(rows["photo"])),
        pd.Index(conditions).get_indexer(pd.Index(rows["attribute"])),
    )

    def array(empty: float, values: Any, kind: type = float) -> Any:
        cells: NDArray[Any] = np.full((len(photos), len(conditions)), empty, kind)
        cells[at] = values
        return cells

    return Grid(
        classifier=str(described["classifier"].iloc[0]) if len(described) else "",
        tags=str(described["tags"].iloc[0]) if len(described) else "",
        photos=photos,
        person=np.unique(reports["person"].to_numpy(str), return_inverse=True)[1].astype(np.int64),
        gender=reports["gender"].to_numpy(object),
        group=reports["group"].to_numpy(object),
        conditions=tuple(conditions),
        contexts=tuple(context_of.get(condition, "") for condition in conditions),
        answered=array(False, True, bool),
        inferred=array(0, pd.Index(INFERRED).get_indexer(pd.Index(rows["inferred"])), np.int8),
        recognised=array(False, rows["recognised"], bool),
        measures={name: array(np.nan, rows[name]) for name in MEASURES},
        tagged=tagged,
    )


def by_person(values: Array, grid: Grid, columns: list[int]) -> Array:
    """(people,) means over a person's photos and these columns; NaN where there is none.

    values: (P, A).
    """
    return means_of(np.where(grid.answered, values, np.nan)[:, columns], grid.person, grid.people)


def means_of(values: Array, person: Integers, people: int) -> Array:
    """(people,) means of each person's values that are known; NaN where there is none.

    values: (P, A), NaN where unknown.  person: (P,) codes.
    """
    counted = np.isfinite(values)
    known = np.where(counted, values, 0)
    sums, sizes = (np.bincount(person, of.sum(axis=1), people) for of in (known, np.abs(known)))
    counts = np.bincount(person, counted.sum(axis=1), minlength=people)
    return np.divide(settled(sums, sizes), counts, out=np.full(people, np.nan), where=counts > 0)


def person_words(grid: Grid, words: Objects) -> Objects:
    """(people,) each person's word, that of the first photo.  words: (P,)."""
    return words[np.unique(grid.person, return_index=True)[1]]
