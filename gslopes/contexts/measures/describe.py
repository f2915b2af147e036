"""Tags to counts, proportions and vectors: descriptions of person and place.

Source: Barlas et al. 2020, section 5; the equations are numbered as in its specification here: (1) counts, (2) inferred
gender, (3) recognised, (4) proportions, (5) vectors, (6) distance, (10) net of what the empty background got.
"""

from collections.abc import Collection, Iterable, Mapping
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.contexts import filled
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.typology import SUPERS, Typology, normalise
from gslopes.core import Names, Row, Texts, frozen_identity
from gslopes.core.records import (
    AnyArray,
    Array,
    Flags,
    Int8Array,
    Integers,
    Objects,
    doubles,
    quotients,
)
from gslopes.core.tables import lookup
from gslopes.stats.rounding import settled

VECTOR = SUPERS[:3]  # the paper's
GROSS = "gross"
NET = "net"
EMPTY = "empty"  # the attribute of backgrounds without a person
KEY = ["photo", "attribute", "step"]  # of a picture
Key = tuple[str, str, int]


def cosine_distances(first: Array, second: Array) -> Array:
    """(N,) 1 minus the cosine of each pair of vectors, equation (6); NaN if one has length 0.

    first, second: (N, 3) vectors of descriptions, equation (5).

    >>> cosine_distances(np.array([[0.25, 0.5, 0.125]]), np.array([[0, 12 / 13, 0]])).round(6).tolist()
    [0.127128]
    """
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines = quotients((first * second).sum(1), lengths)
    return np.maximum(0.0, settled(1 - cosines, 1))


def describe(tags: Collection[str], typology: Typology, context: Collection[str] = ()) -> Row:
    """One answer's counts and proportions, equations (1) to (4), under the names of the ``described`` table.

    tags: normalised, complements added.  context: the tags that name the background, empty if none do.
    Proportions of an answer without tags are NaN.

    >>> from gslopes.contexts.measures.typology import read_typology
    >>> describe({"young_man", "stubble"}, read_typology("starter"))["inferred"]
    'man'
    """
    answer = frozenset(tags)
    masculine = len(answer & typology.clusters["masculine"])
    feminine = len(answer & typology.clusters["feminine"])
    inferred = "neutral"
    if masculine != feminine:
        inferred = "man" if masculine > feminine else "woman"
    named = len(answer & frozenset(context))
    size = len(answer) or nan
    return {
        "n_tags": len(answer),
        "masculine": masculine,
        "feminine": feminine,
        "context_tags": named,
        "inferred": inferred,
        "recognised": named > 0,
        **{name: len(answer & typology.super_tags(name)) / size for name in VECTOR},
    }


def answered_tags(scores: DataFrame, questions: DataFrame) -> dict[Key, frozenset[str]]:
    """Every answered picture to its tags, normalised; some have none.  Both are of one classifier."""
    plain = {label: normalise(label) for label in scores["label"].unique()}
    tags = scores["label"].map(plain).groupby([scores[name] for name in KEY]).agg(frozenset)
    by_picture = tags.to_dict()
    answered = questions.query("status == 'answered'")[KEY]
    keys = answered.itertuples(index=False, name=None)
    return {key: by_picture.get(key, frozenset()) for key in keys}


def describe_all(
    classifier: str,
    answers: Mapping[Key, frozenset[str]],
    backgrounds: DataFrame,
    typology: Typology,
    options: ContextOptions,
) -> DataFrame:
    """The rows of the ``described`` table of one classifier: each answered picture, gross and net.

    answers: as from ``answered_tags``.  backgrounds: the table of that name.

    Distances are from the same photo's baseline; sweeps and empty backgrounds have none.
    """
    key_of = lookup(backgrounds, "photo", "key")
    context_of = lookup(backgrounds, "key", "context")
    # without complements: a label that the empty picture did not get does not describe it
    empty = {
        key_of[photo]: tags
        for (photo, attribute, _), tags in answers.items()
        if attribute == EMPTY and photo in key_of
    }
    rows = []
    for (photo, attribute, step), answer in sorted(answers.items()):
        tags = typology.complete(answer)
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


def stacked(frames: Iterable[DataFrame]) -> DataFrame:
    """The frames that have rows in one; an empty frame if none has."""
    filled_frames = [frame for frame in frames if len(frame)]
    if filled_frames:
        return pd.concat(filled_frames, ignore_index=True)
    return DataFrame()


# -- arrays -----------------------------------------------------------------------------------------------------------

INFERRED = ("neutral", "woman", "man")  # the codes 0, 1 and 2
GENDERS = ("woman", "man")
ALL = "all"
MEASURES = ("distance", "n_tags", "demographics", "concrete", "abstract")


@frozen_identity
class Grid:
    """One classifier's answers about P photos under A conditions, for one kind of tags.

    head: the columns classifier and tags of its rows.
    photos: (P,) ids.  person: (P,) codes from 0.  gender: (P,) self-reported: woman, man or another word.
    group: (P,).  conditions: (A,) ``original``, ``canvas`` or background keys.  contexts: (A,) empty for baselines.
    answered: (P, A).  inferred: (P, A) codes of ``INFERRED``.  recognised: (P, A).
    measures: name to (P, A), NaN if unknown.  tagged: contexts that have tags by which they are recognised.
    """

    head: Texts
    photos: Objects
    person: Integers
    gender: Objects
    group: Objects
    conditions: Names
    contexts: Names
    answered: Flags
    inferred: Int8Array
    recognised: Flags
    measures: Mapping[str, Array]
    tagged: frozenset[str]

    @property
    def names(self) -> list[str]:
        """The contexts, in order, each once."""
        return list(dict.fromkeys(filter(None, self.contexts)))

    @property
    def baselines(self) -> list[str]:
        """The baselines among the conditions."""
        pairs = zip(self.conditions, self.contexts, strict=True)
        return [condition for condition, context in pairs if not context]

    def of(self, name: str) -> list[int]:
        """Columns of a context's backgrounds, or of a baseline."""
        columns = [column for column, context in enumerate(self.contexts) if context == name]
        return columns or [self.conditions.index(name)]

    @property
    def people(self) -> tuple[Objects, Objects]:
        """(people,) each: the gender and the group of every person, by the first photo."""
        first = np.unique(self.person, return_index=True)[1]
        return self.gender[first], self.group[first]

    def genders(self) -> list[str]:
        """The self-reported genders that occur, women and men first."""
        words = set(self.gender.tolist())
        return [name for name in GENDERS if name in words] + sorted(words - set(GENDERS))

    def of_gender(self, gender: str) -> Flags:
        """(P, 1) photos of people of this gender, or of ``all``."""
        return (self.gender == gender)[:, None] | (gender == ALL)

    def by_person(self, values: Array, columns: list[int]) -> Array:
        """(people,) means over a person's photos and these columns; NaN without any.  values: (P, A)."""
        return means_of(np.where(self.answered, values, nan)[:, columns], self.person)


def make_grid(
    described: DataFrame,
    people: DataFrame,
    backgrounds: DataFrame,
    tagged: frozenset[str],
) -> Grid:
    """The grid of one classifier and one kind of tags, without sweeps and empty backgrounds.

    described: rows of the ``described`` table.  people, backgrounds: those tables; people who were not described are
        left out.
    """
    rows = described[
        described["photo"].isin(people["photo"]) & ~described["attribute"].str.contains("~")
    ]
    context_of = lookup(backgrounds, "key", "context")
    attributes = set(rows["attribute"])
    conditions = [name for name in ("original", "canvas", *context_of) if name in attributes]
    reports = people.query("photo in @rows.photo").sort_values("photo")
    photos = reports["photo"].to_numpy(object)
    cells = rows.set_index(["photo", "attribute"]).assign(answered=True)
    cells["inferred"] = cells["inferred"].map(INFERRED.index)

    def array(name: str, absent: Any = nan, kind: type = float) -> AnyArray:
        wide = cells[name].unstack(fill_value=absent)
        return wide.reindex(index=photos, columns=conditions, fill_value=absent).to_numpy(kind)

    return Grid(
        head={name: str(described[name].iloc[0]) for name in ("classifier", "tags")},
        photos=photos,
        person=np.unique(reports["person"].to_numpy(str), return_inverse=True)[1].astype(np.int64),
        gender=reports["gender"].to_numpy(object),
        group=reports["group"].to_numpy(object),
        conditions=tuple(conditions),
        contexts=tuple(context_of.get(condition, "") for condition in conditions),
        answered=array("answered", False, bool),
        inferred=array("inferred", 0, np.int8),
        recognised=array("recognised", False, bool),
        measures={name: array(name) for name in MEASURES},
        tagged=tagged,
    )


def means_of(values: Array, person: Integers) -> Array:
    """(people,) means of each person's known values; NaN without any.

    values: (P, A), NaN if unknown.  person: (P,) codes.
    """
    finite = np.isfinite(values)
    numbers = np.where(finite, values, 0)
    total = np.bincount(person, numbers.sum(1))
    size = np.bincount(person, abs(numbers).sum(1))
    counts = doubles(np.bincount(person, finite.sum(1)))
    return quotients(settled(total, size), counts)


def sums(values: Array | Flags, person: Integers) -> Array:
    """(people, B) sums over each person's photos.  values: (P, B).  person: (P,) codes."""
    total = np.zeros((person.max(initial=-1) + 1, values.shape[1]))
    np.add.at(total, person, values)
    return total
