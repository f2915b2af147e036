"""Answers about grids of two attributes whose main slopes and interaction are known; and whole audits of them."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from gslopes.core import placebo, tables
from gslopes.core.crossed import Grid
from gslopes.slopes.measures.analysis import FitTables, analyse
from gslopes.slopes.measures.crossed import along, views
from gslopes.slopes.measures.estimators import slope_rows
from gslopes.slopes.measures.options import FitOptions, Study
from tests.slopes.measures.conftest import build

GRID = Grid(("gender", "race"), ((-2.0, -1.0, 0.0, 1.0, 2.0), (-2.0, 0.0, 2.0)))
GENDER, RACE = (np.array(values) for values in GRID.axes.values())
STEPS = [float(step) for step in range(15)]
GIVEN = {"gender": GRID.values[0], "race": GRID.values[1], GRID.name: STEPS}
CROSSED = views(GRID)


def drawn(
    rng: np.random.Generator,
    photos: int,
    labels: int,
    main: float,
    interaction: float,
    spread: float = 0.0,
) -> np.ndarray:
    """(photos, labels, 15) presence: each photo's own share, main slopes and interaction; spread is of the latter."""
    own = rng.uniform(0.35, 0.65, (photos, labels, 1))
    each = interaction + spread * rng.standard_normal((photos, labels, 1))
    return rng.random((photos, labels, 15)) < own + main * (GENDER + RACE) + each * GENDER * RACE


def answered(present: np.ndarray, attribute: str = GRID.name) -> tuple[pd.DataFrame, pd.DataFrame]:
    return build(present, STEPS, attribute=attribute)


def interactions(
    rng: np.random.Generator, audits: int, photos: int, *effects: float
) -> Iterator[pd.DataFrame]:
    """The rows of the interaction in many audits of five labels."""
    options = FitOptions(estimators=("photo-rate",), permutations=499)
    for _ in range(audits):
        frames = answered(drawn(rng, photos, 5, *effects))
        given = (
            tables.check(table, frame)
            for table, frame in zip((tables.SCORES, tables.ASKED), frames, strict=True)
        )
        sweeps = along(*given, GIVEN).sweeps()
        (sweep,) = (one for one in sweeps if one.attribute == GRID.name)
        yield slope_rows(replace(sweep, orders=CROSSED[GRID.name].orders), options)


def audited(
    rng: np.random.Generator,
    photos: int,
    labels: int,
    main: float,
    interaction: float,
    permutations: int = 999,
) -> FitTables:
    """A whole audit with the three placebos, along which nothing moves."""
    parts = [answered(drawn(rng, photos, labels, main, interaction))]
    parts += [
        answered(drawn(rng, photos, labels, 0.0, 0.0), name) for name in placebo.names(GRID.name)
    ]
    scores, asked = (pd.concat(frames) for frames in zip(*parts, strict=True))
    return analyse(
        scores, asked, Study(values=GIVEN), options=FitOptions(permutations=permutations)
    )


def read(made: FitTables, view: str = GRID.name) -> pd.DataFrame:
    """The rows of a view that decide."""
    rows = made.slopes
    return rows[(rows["attribute"] == view) & (rows["estimator"] == "photo-rate")]
