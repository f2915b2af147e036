"""Sets of pairs whose truth is known: numbers that rise with the value, with light, or with both; and whole audits."""

import numpy as np
import pandas as pd
from scipy import special

from gslopes.core import placebo, tables
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.options import FitOptions

NAMES = ("background", "luminance", "smiling", "young")


def drawn(
    lot: np.random.Generator,
    units: int,
    count: int,
    direct: float,
    through: float,
    moves: float = 1.0,
) -> tuple[Answers, pd.DataFrame]:
    """A number that rises by ``direct`` a unit, and by ``through`` for each of light, which moves with the value."""
    values = np.linspace(0, 1, count)
    readings = lot.normal(size=(4, units, 1)) + 0.5 * lot.normal(size=(4, units, count))
    readings[1] += (moves + 0.5 * lot.normal(size=(units, 1))) * values
    numbers = (
        40
        + direct * values
        + through * readings[1]
        + lot.normal(size=(units, 1))
        + lot.normal(size=(units, count))
    )
    photos = np.array([f"{unit:04}" for unit in range(units)], dtype=object)
    pairs = (
        np.arange(units, dtype=np.int32),
        np.zeros(units, np.int32),
        np.ones((units, count), bool),
    )
    label = np.array(["score"], dtype=object)
    answers = Answers(
        *("c", "race", values, label, photos, *pairs, numbers.astype(np.float32), 0.0),
        measures={"score": "value"},
    )
    index = pd.MultiIndex.from_product(
        [NAMES, photos, range(count)], names=["reading", "photo", "step"]
    )
    readings[2:] = special.expit(readings[2:])  # probabilities
    return answers, pd.Series(readings.ravel(), index, name="score").reset_index().assign(
        attribute="race"
    )


def audited(lot: np.random.Generator, effect: float, units: int = 30) -> pd.DataFrame:
    """The findings about six labels on a set of two values with our placebos; the first label's share rises."""
    scores, asked = [], []
    own = lot.random((6, units))
    for sweep in ("race", *placebo.names("race")):
        for unit in range(units):
            for step in (0, 1):
                key = f"{unit:064x}", sweep, step
                asked.append((*key, "c", "answered", "", ""))
                luck = 0.6 * own[:, unit] + 0.4 * lot.random(6)
                luck[0] -= effect * step * (sweep == "race")
                scores += [
                    (*key, float(step), "c", f"l{label}", 0.9)
                    for label in np.flatnonzero(luck < 0.5)
                ]
    given = (
        pd.DataFrame(scores, columns=tables.SCORES.columns),
        pd.DataFrame(asked, columns=tables.ASKED.columns),
    )
    slopes = analyse(*given, options=FitOptions(permutations=400, min_varying=5)).slopes
    return slopes[slopes["measure"].notna() & (slopes["attribute"] == "race")]
