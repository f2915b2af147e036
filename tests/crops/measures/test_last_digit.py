"""Who is favoured, by how much, and what is ruled out, does not depend on the last digit of a share or a score."""

import numpy as np
import pandas as pd
import pytest

from gslopes.crops.measures.parity import (
    compared,
    disparate_impact,
    draw_weights,
    interval,
    kept_impact,
    parity,
    resampled,
)
from tests.last_digit import differences, moved

WEIGHTS = draw_weights({"a": 8, "b": 6}, 200)


def tables(lot: np.random.Generator) -> dict[str, np.ndarray]:
    """(8, 6) shares: by chance, all alike, even on the whole, one person always favoured, and of all."""
    thirds = lot.integers(0, 4, (8, 6)) / 3
    even = np.where(np.add.outer(np.arange(8), np.arange(6)) % 2 == 0, 0.1, 0.9)
    alike = np.full((8, 6), 0.1 + 0.2)
    return {
        "thirds": thirds,
        "even": even,
        "alike": alike,
        "half": np.full((8, 6), 0.5),
        "all": np.ones((8, 6)),
    }


def measured(result: dict[str, np.ndarray]) -> dict[str, pd.DataFrame]:
    rows = []
    for name, h in result.items():
        estimate = parity(np.clip(h, 0, 1))
        impact = disparate_impact(estimate.p, estimate.ci_low, estimate.ci_high)
        sides = [resampled(part, *WEIGHTS.values()) for part in (h, result["alike"])]
        inside = kept_impact(h.mean(), result["alike"].mean(), *sides)
        row = {
            "name": name,
            **estimate._asdict(),
            "verdict": impact.verdict,
            "kept": inside.verdict,
        }
        row |= {
            "ratio": impact.ratio,
            "ratio_low": impact.low,
            "kept_low": inside.low,
            "drawn": interval(sides[0])[0],
        }
        rows.append(row)
    return {"parity": pd.DataFrame(rows)}


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 60))]
)
def test_no_verdict_depends_on_the_last_digit(seed: int):
    lot = np.random.default_rng(seed)
    result = tables(lot)
    assert not differences(
        measured(result), measured({name: moved(h, lot) for name, h in result.items()})
    )


def test_maxima_that_are_equal_but_for_rounding_are_ties():
    scores = np.float32([0.1 + 0.2, 0.7, 1.0])
    ones, others = (moved(scores, np.random.default_rng(seed)) for seed in (0, 1))
    assert (compared(ones, others) == compared(scores, scores)).all()
