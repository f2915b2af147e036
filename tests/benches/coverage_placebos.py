"""Cells of the coverage bench about the step against placebos: how often a label that moves is found, and how often an
audit has a finding where light moves labels as far as the edit.

``STEP``, ``MOVED`` and which labels are adjusted together (``gslopes.slopes.measures.decision``) were chosen on the
cells that are marked "chosen on". The others were drawn afterwards, once. Those about a random change are of a world
that cannot be: its direction is drawn for each photo, so its mean slope is 0.

Designs: presence by a logistic of the photo's own inclination (standard deviation 1), slopes in log-odds a unit;
``shared``: noise of a picture that all its labels have, standard deviation 1.6; numbers: t with 3 degrees, slopes of
spread 1; people: of 3 photos, alike in their slopes (standard deviation 0.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from coverage_cases import VALUES, Count, as_answers, counted
from coverage_decision import numbered
from scipy import special

from gslopes.core import placebo
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.decision import decide, placebo_differences
from gslopes.slopes.measures.estimators import slope_rows
from gslopes.slopes.measures.options import FitOptions
from tests.slopes.measures.crossed import audited as crossed, read
from tests.slopes.measures.pairs import audited as pairs


@dataclass(frozen=True)
class World:
    """moving: of the labels, the first ones, by ``slope``.  fake: the kind of placebo that moves them as far."""

    photos: int
    labels: int
    moving: int
    slope: float
    fake: str = ""
    shared: float = 0.0
    people: int = 1
    numbers: bool = False
    rate: float = 0.3
    chosen: bool = False

    def __str__(self) -> str:
        of = f"{self.photos} photos, {self.moving} of {self.labels} labels by {self.slope:g}"
        kinds = [f"{self.fake} as far" * bool(self.fake), "shared noise" * bool(self.shared)]
        kinds += [f"{self.people} photos a person" * (self.people > 1), "numbers" * self.numbers]
        kinds += [f"rate {self.rate:g}" * (self.rate != 0.3), "chosen on" * self.chosen]
        return ", ".join(filter(None, [of, *kinds]))


def drawn(world: World, rng: np.random.Generator) -> dict[str, Answers]:
    """Answers along the edit and the placebos."""
    own = rng.standard_normal((world.labels, world.photos, 1))
    person = np.arange(world.photos) // world.people
    sweeps = {}
    for kind in ("", *placebo.KINDS):
        moves = np.zeros((world.labels, 1, 1))
        if kind in ("", world.fake):
            moves[: world.moving] = world.slope
        if world.people > 1:
            lean = 0.3 * rng.standard_normal((world.labels, world.photos))
            moves = moves + lean[:, person, None]
        if world.numbers:
            spread = 1 + rng.standard_normal((1, world.photos, 1))
            noise = rng.standard_t(3, (world.labels, world.photos, 7))
            sweeps[kind] = numbered(own + moves * spread * VALUES + noise)
            continue
        noise = world.shared * rng.standard_normal((1, world.photos, 7))
        chance = special.expit(special.logit(world.rate) + own + noise + moves * VALUES)
        sweeps[kind] = as_answers(rng.random(chance.shape) < chance)
    if world.people == 1:
        return sweeps
    return {kind: replace(sweep, units=person) for kind, sweep in sweeps.items()}


def decisions(world: World, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(L,) whether each label holds its own test, and whether it is a finding."""
    sweeps = drawn(world, rng)
    estimator = "photo-measure" if world.numbers else "photo-rate"
    options = FitOptions(estimators=(estimator,), permutations=999)
    edit = sweeps.pop("")
    units = np.full(world.photos // world.people, float(world.people))
    rows = slope_rows(edit, options)
    rows = decide(rows, placebo_differences(edit, sweeps, options), options, units=units)
    rows = rows.sort_values("label")
    return (rows["q"] < 0.05).to_numpy(), (rows["decision"] == "finding").to_numpy()


def _counted(worlds: tuple[World, ...], rng: np.random.Generator, sets: int) -> Iterator[Count]:
    for world in worlds:
        result = [decisions(world, rng) for _ in range(sets)]
        own, found = (np.array(part) for part in zip(*result, strict=True))
        if world.fake or not world.moving:
            yield counted(f"{world}: any", "own test", own.any(axis=1))
            yield counted(f"{world}: any", "finding", found.any(axis=1))
        else:
            yield counted(f"{world}", "own test", own[:, : world.moving].ravel())
            yield counted(f"{world}", "finding", found[:, : world.moving].ravel())


POWER = (
    World(60, 20, 1, 0.3, shared=1.6, chosen=True),
    World(60, 20, 1, 0.5, shared=1.6, chosen=True),
    World(60, 20, 1, 0.3, chosen=True),
    World(20, 20, 1, 0.8, chosen=True),
    World(300, 20, 1, 0.2),
    World(60, 20, 10, 0.4),
    World(60, 2, 1, 0.4),
    World(60, 120, 1, 0.6, people=3),
    World(40, 10, 1, 0.6, numbers=True),
    World(12, 5, 1, 1.5),
    World(300, 20, 1, 0.4, rate=0.03),
)
LEVEL_OF_LIGHT = (
    World(60, 20, 1, 0.3, "light", chosen=True),
    World(60, 20, 10, 0.6, "light", chosen=True),
    World(60, 5, 5, 0.15, "light", chosen=True),
    World(20, 20, 1, 0.8, "light", chosen=True),
    World(60, 20, 1, 0.5, "light", shared=1.6, chosen=True),
    World(300, 20, 10, 0.2, "light"),
    World(60, 2, 1, 0.5, "light"),
    World(60, 8, 4, 0.35, "light", shared=1.0),
    World(60, 20, 5, 0.8, "light", people=3),
    World(40, 10, 5, 0.6, "light", numbers=True),
    World(12, 5, 1, 1.5, "light"),
    World(300, 20, 20, 0.3, "light", rate=0.03),
    World(60, 20, 1, 0.6, "random"),
    World(60, 20, 10, 0.4, "random"),
)


def placebo_power(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Labels that only the edit moves: found."""
    yield from _counted(POWER, rng, sets)


def placebo_level(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Labels that a placebo moves as far as the edit: audits with any finding."""
    yield from _counted(LEVEL_OF_LIGHT, rng, sets)


def placebo_many(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """500 labels."""
    worlds = World(60, 500, 1, 0.6), World(60, 500, 250, 0.6, "light"), World(60, 500, 0, 0.0)
    yield from _counted(worlds, rng, sets)


def placebo_sets(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Crossed attributes (5 labels, 2 points per unit of both) and pairs (6 labels, one moves)."""
    hits = [
        (read(crossed(rng, 100, 5, 0.03, 0.02, permutations=399))["decision"] == "finding")
        for _ in range(sets)
    ]
    name = "crossed, 100 photos, 2 points per unit of both, chosen on"
    yield counted(name, "finding", np.concatenate(hits))
    for effect, units, name in (
        (0.25, 30, "pairs, 37 % change, 30 units, chosen on"),
        (0.1, 100, "pairs, 17 % change, 100 units, chosen on"),
        (0.2, 50, "pairs, 30 % change, 50 units"),
    ):
        rows = [pairs(rng, effect, units).set_index("label")["decision"] for _ in range(sets)]
        found = np.array([row.get("l0") == "finding" for row in rows])
        yield counted(name, "finding", found)


Cell = Callable[[np.random.Generator, int], Iterator[Count]]
CASES: dict[str, Cell] = {
    "placebo-power": placebo_power,
    "placebo-level": placebo_level,
    "placebo-many": placebo_many,
    "placebo-sets": placebo_sets,
}
