"""Headlines of simulated audits of contexts and crops whose truth is known, to be read beside ``headlines.py``.

    python -m tests.benches.headlines_siblings

A simulated audit is whole but for its pictures: tags of every picture, or who of two is favoured, through the measures
to the headline, the findings and Table 14.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from gslopes.contexts import TABLES as OF_CONTEXTS
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.analysis import analyse
from gslopes.contexts.measures.describe import VECTOR, cosine_distances
from gslopes.contexts.page import sections, tables
from gslopes.core.tables import frame_of
from gslopes.crops.config import TABLES as OF_CROPS
from gslopes.crops.measures.panel import Panel
from gslopes.crops.measures.rows import parity_rows
from gslopes.crops.page import sections as of_crops
from gslopes.frame.findings import decide
from gslopes.frame.shown import count_decisions

Tables = dict[str, pd.DataFrame]
RENDERED = (0.0, 4.0, 4.0, 5.0, 9.0, 7.0, 7.0, 5.0)  # ratings of the rooms that come along
OPTIONS = ContextOptions(permutations=999)


# -- contexts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contexts:
    """What is simulated.

    women, men: how many.  slope: logits of the right answer per unit of congruence.  right: its share at congruence 0.
    people: standard deviation of what people's logits have in common.  photos: of each person.
    ratings: of the contexts.  rooms: of each.  taggers: how many, of which only the first has the slope.
    refused: share of the pictures.  groups: each person is of one of so many, by turns; 0: none.
    named: share of the pictures whose context is recognised.
    """

    women: int
    men: int
    slope: float = 0.0
    right: float = 0.75
    people: float = 1.0
    photos: int = 1
    ratings: tuple[float, ...] = RENDERED
    rooms: int = 1
    taggers: int = 1
    refused: float = 0.0
    groups: int = 0
    named: float = 0.8


def described(audit: Contexts, rng: np.random.Generator) -> tuple[pd.DataFrame, ...]:
    """The tables described, people and backgrounds."""
    gender = np.repeat(["woman", "man"], [audit.women, audit.men])
    person = np.repeat(np.arange(len(gender)), audit.photos)
    group = [f"group {number % audit.groups + 1}" if audit.groups else "" for number in person]
    photos = [f"{number:05d}" for number in range(len(person))]
    people = {"photo": photos, "person": person.astype(str), "gender": gender[person]}
    people = pd.DataFrame({**people, "group": group})
    rows = [
        {
            "key": f"room{number}-{room}",
            "context": f"room{number}",
            "rating": rating,
            "status": "used",
        }
        for number, rating in enumerate(audit.ratings)
        for room in range(audit.rooms)
    ]
    backgrounds = frame_of(OF_CONTEXTS["backgrounds"], rows)
    places = ["canvas", *backgrounds["key"]]
    side = np.where(gender[person] == "man", 1, -1)[:, None]
    congruence = side * np.r_[0, backgrounds["rating"].to_numpy(float) / 5 - 1]
    level = special.logit(audit.right) + audit.people * rng.standard_normal(len(gender))[person]
    parts = []
    for number in range(audit.taggers):
        logits = level[:, None] + audit.slope * (number == 0) * congruence
        right = rng.random(logits.shape) < special.expit(logits)
        neutral = rng.random(logits.shape) < 0.1
        word = np.where(right == (side > 0), "man", "woman")
        counts = rng.multinomial(8, (0.3, 0.5, 0.2), logits.shape)
        size = counts.sum(axis=2) + rng.integers(0, 3, logits.shape)
        vectors = counts / size[..., None]
        start = np.broadcast_to(vectors[:, :1], vectors.shape).reshape(-1, 3)
        columns = {
            "photo": np.repeat(photos, len(places)),
            "attribute": np.tile(places, len(photos)),
            "n_tags": size.ravel(),
            "inferred": np.where(neutral, "neutral", word).ravel(),
            "recognised": (rng.random(logits.shape) < audit.named).ravel(),
            "distance": cosine_distances(start, vectors.reshape(-1, 3)),
            **dict(zip(VECTOR, vectors.reshape(-1, 3).T, strict=True)),
        }
        frame = pd.DataFrame(columns).assign(classifier=f"tagger {number + 1}", tags="gross")
        parts.append(frame[rng.random(len(frame)) >= audit.refused])
    table = pd.concat(parts, ignore_index=True)
    return table.assign(step=0, masculine=0, feminine=0, context_tags=0), people, backgrounds


def audited(audit: Contexts, rng: np.random.Generator, options: ContextOptions = OPTIONS) -> Tables:
    """The tables of results."""
    table, people, backgrounds = described(audit, rng)
    named = dict.fromkeys(table["classifier"], frozenset(backgrounds["context"]))
    made = analyse(table, people, backgrounds, named, options)
    return {"described": table, "people": people, "backgrounds": backgrounds, **made}


CONTEXTS = (
    Contexts(30, 30),
    Contexts(30, 30, 0.8),
    Contexts(2, 2),
    Contexts(4, 5, 1.0),
    Contexts(6, 6, 1.5, ratings=(1.0, 9.0), right=0.5),
    Contexts(1, 1, 1.0),
    Contexts(40, 2, 0.8, groups=2),
    Contexts(20, 20, 0.8, refused=0.4, taggers=3),
    Contexts(8, 8, 0.0, photos=4, rooms=2, taggers=2),
    Contexts(300, 300, 0.05),
)


# -- crops ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crops:
    """What is simulated.

    groups: how many of each.  apart: how far the mean score of the next group lies below, in standard deviations.
    chance: shares by the difference of scores; else the higher one is favoured.  constant: all scores are equal.
    croppers: how many, of which only the first has groups apart.  silent: the last one never answers.
    """

    groups: tuple[int, ...]
    apart: float = 0.0
    chance: bool = False
    constant: bool = False
    croppers: int = 1
    silent: bool = False
    min_group: int = 10


def cropped(audit: Crops, rng: np.random.Generator) -> Tables:
    """The tables parity and pairs."""
    group = np.repeat(np.arange(len(audit.groups)), audit.groups)
    names = [f"{number:03d}" for number in range(len(group))]
    people = pd.DataFrame({"photo": names, "person": names, "status": "used"})
    members = {
        f"group {number + 1}": [names[one] for one in np.flatnonzero(group == number)]
        for number in range(len(audit.groups))
    }
    panel = Panel.of(people, {"team": members})
    left, right = np.nonzero(np.subtract.outer(group, group))
    rows, pairs = [], []
    for number in range(audit.croppers):
        score = rng.standard_normal(len(group)) - audit.apart * (number == 0) * group
        score = score * (not audit.constant)
        gap = score[left] - score[right]
        won = special.expit(gap) if audit.chance else (np.sign(gap) + 1) / 2
        key = {"cropper": f"cropper {number + 1}", "variant": "native", "policy": "argmax"}
        silent = audit.silent and number == audit.croppers - 1
        pairs.append({**key, "status": "refused" if silent else "answered"})
        if silent:
            continue
        frame = pd.DataFrame(
            {"left": [names[one] for one in left], "right": [names[one] for one in right]}
        ).assign(draws=0)
        h = panel.favoured(frame, won, 1 - won)
        rows += parity_rows(panel, {**key, "outcome": "favoured"}, h, audit.min_group)
    return {"parity": frame_of(OF_CROPS["parity"], rows), "pairs": pd.DataFrame(pairs)}


CROPS = (
    Crops((40, 40)),
    Crops((40, 40), 1.0),
    Crops((2, 2), 1.0),
    Crops((9, 9), 2.0),
    Crops((1, 20), 1.0),
    Crops((60, 11, 4), 0.8),
    Crops((12, 12), 4.0, min_group=2),
    Crops((20, 20), constant=True),
    Crops((30, 30, 30), 0.5, chance=True, croppers=3, silent=True),
    Crops((5, 5), 3.0, min_group=2),
)


# -- what they say ----------------------------------------------------------------------------------------------------


def contexts_and_crops() -> Iterator[tuple[str, str]]:
    """What is simulated, and what is said of it."""
    for number, contexts in enumerate(CONTEXTS):
        made = audited(contexts, np.random.default_rng([85, number]))
        said = sections.headline(sections.results_of(made | _pictures(made)))
        cells = tables.table14(sections.results_of(made | _pictures(made)))
        answers = "; ".join(f"{name}: {cells[name].iloc[0]}" for name in cells)
        decided = count_decisions(decide(sections.judged(made)))
        yield _plain(contexts), f"{said}\n{decided}\n{answers}"
    for number, crops in enumerate(CROPS):
        made = cropped(crops, np.random.default_rng([86, number]))
        decided = count_decisions(decide(of_crops.judged(made)))
        yield _plain(crops), f"{of_crops.headline_of(made).sentence}\n{decided}"


def _pictures(made: Tables) -> Tables:
    return {"cutouts": pd.DataFrame(), "composites": pd.DataFrame()}


def _plain(audit: Contexts | Crops) -> str:
    facts = vars(audit).items()
    parts = [
        f"{name} {value}" for name, value in facts if value != getattr(type(audit), name, None)
    ]
    return f"{type(audit).__name__}: {', '.join(parts)}"


if __name__ == "__main__":
    for number, (facts, text) in enumerate(contexts_and_crops()):
        lines = [
            textwrap.fill(line, 116, initial_indent="    ", subsequent_indent="    ")
            for line in text.splitlines()
        ]
        sys.stdout.write(f"{number + 1}. {facts}\n" + "\n".join(lines) + "\n")
        sys.stdout.flush()
