"""Descriptions as arrays: a row a photo, a column a baseline or background.  All tables are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
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
    photos: NDArray[np.object_]
    person: NDArray[np.int64]
    gender: NDArray[np.object_]
    group: NDArray[np.object_]
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
        return [condition for condition, context in zip(self.conditions, self.contexts, strict=True) if not context]

    def of(self, context: str) -> list[int]:
        """Columns of a context's backgrounds, or of a baseline by its name."""
        columns = [at for at, name in enumerate(self.contexts) if name == context and name]
        return columns or [at for at, name in enumerate(self.conditions) if name == context]

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.person.max()) + 1 if len(self.person) else 0

    def genders(self) -> list[str]:
        """The self-reported genders that occur, women and men first."""
        known = set(self.gender.tolist())
        return [name for name in GENDERS if name in known] + sorted(known - set(GENDERS))

    def of_gender(self, gender: str) -> Flags:
        """(P,) photos of people of this gender, or of ``all``."""
        return np.ones(len(self.photos), bool) if gender == ALL else self.gender == gender


def make_grid(
    described: pd.DataFrame, people: pd.DataFrame, backgrounds: pd.DataFrame, tagged: frozenset[str] = frozenset()
) -> Grid:
    """The grid of one classifier and one kind of tags; sweeps, empty backgrounds and silhouettes are not in it.

    described: rows of the ``described`` table.  people, backgrounds: those tables; people who were not described are
        left out.
    """
    rows = described[described["photo"].isin(set(people["photo"])) & ~described["attribute"].str.contains("~")]
    context_of = dict(zip(backgrounds["key"], backgrounds["context"], strict=True))
    shown = set(rows["attribute"])
    conditions = [name for name in ("original", "canvas", *context_of) if name in shown]
    known = people[people["photo"].isin(set(rows["photo"]))].drop_duplicates("photo").sort_values("photo")
    photos = known["photo"].to_numpy(object)
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
        person=np.unique(known["person"].to_numpy(str), return_inverse=True)[1].astype(np.int64),
        gender=known["gender"].to_numpy(object),
        group=known["group"].to_numpy(object),
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
    selected = values[:, columns]
    known = np.isfinite(selected) & grid.answered[:, columns]
    totals = np.bincount(grid.person, np.where(known, selected, 0).sum(axis=1), minlength=grid.people)
    counts = np.bincount(grid.person, known.sum(axis=1), minlength=grid.people)
    return np.divide(totals, counts, out=np.full(grid.people, np.nan), where=counts > 0)


def person_words(grid: Grid, words: NDArray[np.object_]) -> NDArray[np.object_]:
    """(people,) each person's word, that of the first photo.  words: (P,)."""
    return words[np.unique(grid.person, return_index=True)[1]]
