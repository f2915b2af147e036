"""What goes with what else moved: attributed where it was planted, with intervals that hold; and level and power."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

from gslopes.core import placebo, tables
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.explained import FEW, NOT_APART, STILL, explained_rows
from gslopes.slopes.fit.options import RARE, FitOptions

NAMES = ("background", "luminance", "smiling", "young")
OPTIONS = FitOptions(permutations=0)


def drawn(
    lot: np.random.Generator, units: int, count: int, direct: float, through: float, moves: float = 1.0
) -> tuple[Answers, pd.DataFrame]:
    """A number that rises by ``direct`` a unit, and by ``through`` for each of light, which moves with the value."""
    values = np.linspace(0, 1, count)
    readings = lot.normal(size=(4, units, 1)) + 0.5 * lot.normal(size=(4, units, count))
    readings[1] += (moves + 0.5 * lot.normal(size=(units, 1))) * values
    numbers = (
        40 + direct * values + through * readings[1] + lot.normal(size=(units, 1)) + lot.normal(size=(units, count))
    )
    photos = np.array([f"{unit:04}" for unit in range(units)], dtype=object)
    pairs = np.arange(units, dtype=np.int32), np.zeros(units, np.int32), np.ones((units, count), bool)
    label = np.array(["score"], dtype=object)
    answers = Answers(
        *("c", "race", values, label, photos, {}, *pairs, numbers.astype(np.float32), 0.0), measures={"score": "value"}
    )
    index = pd.MultiIndex.from_product([NAMES, photos, range(count)], names=["reading", "photo", "step"])
    readings[2:] = special.expit(readings[2:])  # probabilities
    return answers, pd.Series(readings.ravel(), index, name="score").reset_index().assign(attribute="race")


def explained(*about: float, seed: int = 0, **more: float) -> pd.Series:
    return explained_rows(*drawn(np.random.default_rng(seed), *about, **more), OPTIONS).iloc[0]  # type: ignore[arg-type]


def test_an_effect_through_light_alone_is_attributed_to_light() -> None:
    row = explained(200, 2, 0.0, 2.0)
    assert row["reading"] == "luminance"
    assert row["share_low"] < 1 < row["share_high"]
    assert row["adjusted_low"] < 0 < row["adjusted_high"]
    assert row["most"] == pytest.approx(row["share"], abs=0.1)


def test_an_effect_of_the_value_alone_is_not() -> None:
    row = explained(200, 2, 2.0, 0.0)
    assert row["share_low"] < 0 < row["share_high"] < 0.3
    assert row["slope"] == pytest.approx(2, abs=0.4)


def test_without_readings_units_or_a_slope_there_is_a_reason_instead() -> None:
    answers, moved = drawn(np.random.default_rng(0), 40, 2, 2.0, 0.0)
    assert explained_rows(answers, moved[:0], OPTIONS)["note"].item() == STILL
    assert explained(13, 2, 2.0, 0.0)["note"] == FEW
    assert explained(40, 2, 0.0, 0.0)["note"] == NOT_APART
    assert explained_rows(answers, moved, FitOptions(permutations=0, min_varying=41))["note"].item() == RARE
    read = moved[moved["photo"] != "0000"]
    assert explained_rows(answers, read, OPTIONS)["n"].item() == 39, "a unit that was not read is left out"


def test_clusters_are_left_out_as_one() -> None:
    answers, moved = drawn(np.random.default_rng(1), 60, 2, 2.0, 1.0)
    alone = explained_rows(answers, moved, OPTIONS).iloc[0]
    twice = {photo: place // 2 for place, photo in enumerate(answers.photos.tolist())}
    both = explained_rows(answers, moved, OPTIONS, twice).iloc[0]
    assert both["share"] == pytest.approx(alone["share"])
    assert both["share_low"] != alone["share_low"]


@pytest.mark.slow
@pytest.mark.parametrize(("units", "count"), [(24, 2), (24, 7), (100, 2)])
@pytest.mark.parametrize("direct", [0.0, 2.0])
def test_the_intervals_hold_the_planted_share_and_slope(units: int, count: int, direct: float) -> None:
    rows = pd.DataFrame([explained(units, count, direct, 2.0, seed=seed) for seed in range(300)])
    share, known = 2.0 / (direct + 2.0), rows["share"].notna()
    held = (rows["share_low"] <= share) & (share <= rows["share_high"])
    adjusted = (rows["adjusted_low"] <= direct) & (direct <= rows["adjusted_high"])
    assert known.mean() > 0.9
    assert 0.91 <= held[known].mean() <= 0.995
    assert 0.91 <= adjusted.mean() <= 0.995


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
                scores += [(*key, float(step), "c", f"l{label}", 0.9) for label in np.flatnonzero(luck < 0.5)]
    given = pd.DataFrame(scores, columns=tables.SCORES.columns), pd.DataFrame(asked, columns=tables.ASKED.columns)
    slopes = analyse(*given, values=None, options=FitOptions(permutations=400, min_varying=5)).slopes
    return slopes[slopes["measure"].notna() & (slopes["attribute"] == "race")]


@pytest.mark.slow
def test_without_an_effect_there_is_no_finding_and_planted_ones_are_found() -> None:
    """Of 200 sets without an effect one in twenty may have a finding, by q over its labels; 60 with one."""
    none = [(audited(np.random.default_rng(seed), 0.0)["decision"] == "finding").any() for seed in range(200)]
    assert sum(none) <= 10
    found = [audited(np.random.default_rng(seed), 0.5).set_index("label")["decision"] for seed in range(60)]
    assert np.mean([row["l0"] == "finding" for row in found]) > 0.8
    assert np.mean([(row.drop("l0") == "finding").any() for row in found]) <= 0.08
