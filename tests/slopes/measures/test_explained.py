"""What goes with what else moved: attributed where it was planted, with intervals that hold; and level and power."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gslopes.core.geometry import TONE
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.explained import (
    ALIKE,
    FEW,
    NOT_APART,
    STILL,
    VAGUE,
    explained_rows,
    mediated_rows,
)
from gslopes.slopes.measures.options import RARE, FitOptions
from tests.slopes.measures.pairs import audited, drawn

OPTIONS = FitOptions(permutations=0)


def explained(*about: float, seed: int = 0, **more: float) -> pd.Series:
    return explained_rows(*drawn(np.random.default_rng(seed), *about, **more), OPTIONS).iloc[0]  # type: ignore[arg-type]


def test_an_effect_through_light_alone_is_attributed_to_light() -> None:
    row = explained(200, 2, 0.0, 2.0)
    assert row["reading"] == "luminance"
    assert row["share_low"] < 1 < row["share_high"]
    assert row["adjusted_low"] < 0 < row["adjusted_high"]
    assert row["most"] == pytest.approx(row["share"], abs=0.1)


def test_memory_grows_with_the_photos_and_not_with_their_square() -> None:
    given = drawn(np.random.default_rng(0), 4000, 2, 0.0, 2.0)
    tracemalloc.start()
    explained_rows(*given, OPTIONS)  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 8 / 2


def test_an_effect_of_the_value_alone_is_not() -> None:
    row = explained(200, 2, 2.0, 0.0)
    assert row["share_low"] < 0 < row["share_high"] < 0.3
    assert row["slope"] == pytest.approx(2, abs=0.4)


def test_without_readings_units_or_a_slope_there_is_a_reason_instead() -> None:
    answers, moved = drawn(np.random.default_rng(0), 40, 2, 2.0, 0.0)
    assert explained_rows(answers, moved[:0], OPTIONS)["note"].item() == STILL
    assert explained(13, 2, 2.0, 0.0)["note"] == FEW
    assert explained(40, 2, 0.0, 0.0)["note"] == NOT_APART
    assert (
        explained_rows(answers, moved, FitOptions(permutations=0, min_varying=41))["note"].item()
        == RARE
    )
    read = moved[moved["photo"] != "0000"]
    assert explained_rows(answers, read, OPTIONS)["n"].item() == 39, (
        "a unit that was not read is left out"
    )


def test_a_reading_that_moves_as_the_value_does_is_named_and_gets_no_share() -> None:
    row = explained(200, 2, 2.0, 1.0, moves=10.0)
    assert (row["note"], row["reading"]) == (ALIKE, "luminance")
    assert row["slope"] == pytest.approx(12, abs=0.5)
    assert row[["share", "adjusted", "adjusted_low"]].isna().all()
    assert explained(200, 2, 2.0, 1.0, moves=2.0)["note"] == "", (
        "an inflation of the variance below 10 is borne"
    )


def test_clusters_are_left_out_as_one() -> None:
    answers, moved = drawn(np.random.default_rng(1), 60, 2, 2.0, 1.0)
    alone = explained_rows(answers, moved, OPTIONS).iloc[0]
    twice = replace(answers, units=np.arange(60) // 2)
    both = explained_rows(twice, moved, OPTIONS).iloc[0]
    assert both["share"] == pytest.approx(alone["share"])
    assert both["share_low"] != alone["share_low"]


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize(("units", "count"), [(24, 2), (24, 7), (100, 2)])
@pytest.mark.parametrize("direct", [0.0, 2.0])
def test_the_intervals_hold_the_planted_share_and_slope(
    units: int, count: int, direct: float
) -> None:
    rows = pd.DataFrame([explained(units, count, direct, 2.0, seed=seed) for seed in range(100)])
    share, known = 2.0 / (direct + 2.0), rows["share"].notna()
    held = (rows["share_low"] <= share) & (share <= rows["share_high"])
    adjusted = (rows["adjusted_low"] <= direct) & (direct <= rows["adjusted_high"])
    assert known.mean() > 0.9
    assert held[known].mean() >= 0.89
    assert adjusted.mean() >= 0.89


@pytest.mark.evidence
@pytest.mark.slow
def test_without_an_effect_there_is_no_finding_and_planted_ones_are_found() -> None:
    """One in twenty may have a finding without an effect, by q over its labels; more sets are in coverage_pairs.py."""
    none = [
        (audited(np.random.default_rng(seed), 0.0)["decision"] == "finding").any()
        for seed in range(60)
    ]
    assert sum(none) <= 5
    found = [
        audited(np.random.default_rng(seed), 0.5).set_index("label")["decision"]
        for seed in range(30)
    ]
    assert np.mean([row["l0"] == "finding" for row in found]) > 0.8
    assert np.mean([(row.drop("l0") == "finding").any() for row in found]) <= 0.1


# -- our own edits: what goes with the tone of skin, by the sweep of the tone alone ------------------------------------


def along_race_and_tone(
    seed: int, direct: float, through: float, units: int = 200
) -> tuple[Answers, Answers, pd.Series]:
    """A number that moves by ``direct`` a unit of race, and by ``through`` a step; a unit of race is -1.5 steps."""
    lot = np.random.default_rng(seed)
    photos = np.array([f"{unit:04}" for unit in range(units)], dtype=object)
    steps = pd.Series(-1.5 + 0.3 * lot.normal(size=units), photos)
    by_race = direct + through * steps.to_numpy()
    sweeps = []
    for name, values, slopes in (
        ("race", np.linspace(-2, 2, 5), by_race + 0.5 * lot.normal(size=units)),
        (TONE, np.arange(2.0, 9.0), through + 0.5 * lot.normal(size=units)),
    ):
        numbers = slopes[:, None] * values + lot.normal(size=(units, len(values)))
        pairs = (
            np.arange(units, dtype=np.int32),
            np.zeros(units, np.int32),
            np.ones(numbers.shape, bool),
        )
        label = np.array(["score"], dtype=object)
        sweeps.append(
            Answers(
                *("c", name, values, label, photos, *pairs, numbers.astype(np.float32), 0.0),
                measures={"score": "value"},
            )
        )
    return sweeps[0], sweeps[1], steps


@pytest.mark.parametrize(("direct", "through", "share"), [(0, -2, 1), (3, 0, 0), (3, -2, 0.5)])
def test_what_race_moves_through_the_tone_of_skin_is_its_share(direct, through, share) -> None:
    row = mediated_rows(*along_race_and_tone(0, direct, through), OPTIONS).iloc[0]
    assert row["share"] == pytest.approx(share, abs=0.08)
    assert row["share_low"] < share < row["share_high"]
    assert row["slope"] == pytest.approx(direct - 1.5 * through, abs=0.3)
    assert row["adjusted"] == pytest.approx(direct, abs=0.3)
    assert (row["reading"], row["attribute"], row["n"]) == (TONE, "race", 200)


@pytest.mark.slow
@pytest.mark.evidence
def test_intervals_of_the_share_with_tone_hold() -> None:
    rows = [
        mediated_rows(*along_race_and_tone(seed, 3, -2, units=40), OPTIONS).iloc[0]
        for seed in range(150)
    ]
    held = np.mean([row["share_low"] <= 0.5 <= row["share_high"] for row in rows])
    assert 0.9 <= held <= 0.99


def test_without_photos_a_slope_or_the_same_photos_there_is_no_share_with_tone() -> None:
    race, tone, steps = along_race_and_tone(0, 3, -2, units=40)
    options = FitOptions(permutations=0, min_varying=0)
    few = mediated_rows(race, tone, steps[:8], options)
    assert few[["note", "n"]].iloc[0].tolist() == [FEW, 8]
    nobody = tone.only(np.zeros(40, bool))
    assert mediated_rows(race, nobody, steps, options)["note"].item() == FEW
    nothing = mediated_rows(*along_race_and_tone(0, 0, 0, units=40), OPTIONS)["note"].item()
    assert nothing in (NOT_APART, VAGUE)
    other = replace(tone, labels=np.array(["other"], dtype=object))
    row = mediated_rows(race, other, steps, OPTIONS)
    assert row["label"].tolist() == ["score"]
    assert row["share"].item() == pytest.approx(0, abs=0.01), "the tone alone never moves it"
