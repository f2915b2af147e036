"""Context by perceived gender: planted differences of slopes."""

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.measures.interaction import compare, interaction_table
from gslopes.contexts.measures.paired import ALIKE

VALUES = np.array([-1.0, 0.0, 1.0])


def _planted(slope: float, people: int = 400, level: float = 0.5) -> np.ndarray:
    """(people, 3) presence whose shares are exact, in another order for each step."""
    generator = np.random.default_rng(int(100 * abs(slope)))
    columns = []
    for value in VALUES:
        column = np.arange(people) < round(people * (level + slope / 100 * value))
        columns.append(generator.permutation(column))
    return np.stack(columns, 1).astype(float)


@pytest.mark.parametrize(("slope", "difference"), [(-5, 5), (-15, -5), (-10, 0)])
def test_a_context_that_changes_the_slope_is_found(slope, difference):
    effect = compare(_planted(-10), _planted(slope), VALUES, np.arange(400))
    assert effect["baseline"] == pytest.approx(-10, abs=1e-9)
    assert effect["slope"] == pytest.approx(slope, abs=1e-9)
    assert effect["difference"] == pytest.approx(difference, abs=1)
    assert effect["baseline_low"] < -10 < effect["baseline_high"]
    assert effect["slope_low"] < slope < effect["slope_high"]
    if difference:
        assert effect["ci_low"] <= difference <= effect["ci_high"]
    else:  # the same people before both: nothing varies
        assert np.isnan(effect["ci_low"])
        assert effect["note"] == ALIKE


def test_paired_noise_is_taken_off_and_the_contexts_own_effect_stands_beside_that_of_the_face():
    base = np.stack([np.arange(400) < count for count in (240, 200, 160)], 1).astype(float)
    steeper = np.stack([np.arange(400) < count for count in (260, 200, 140)], 1).astype(float)
    effect = compare(base, steeper, VALUES, np.arange(400))
    assert effect["difference"] == pytest.approx(-5)
    assert effect["p"] < 0.001
    assert compare(base, base, VALUES, np.arange(400))["difference"] == 0
    raised = np.stack([np.arange(400) < count for count in (320, 280, 240)], 1).astype(float)
    effect = compare(base, raised, VALUES, np.arange(400))
    assert effect["face"] == pytest.approx(-20)
    assert effect["effect"] == pytest.approx(20)
    assert effect["effect_low"] < 20 < effect["effect_high"]


def test_a_label_of_few_people_is_too_rare():
    base = np.zeros((50, 3))
    effect = compare(base, base, VALUES, np.arange(50))
    assert effect["note"] == f"too few people change their answer; {ALIKE}"
    assert np.isnan(effect["p"])
    twice, rare = (
        np.arange(50) // 2,
        np.stack([np.arange(50) < 18, np.arange(50) < 4, np.zeros(50)], 1),
    )
    effect = compare(base, rare.astype(float), VALUES, twice)  # 18 photos, but of 9 people
    assert effect["slope"] < 0
    assert np.isnan(
        [value for name, value in effect.items() if name.endswith(("p", "low", "high"))]
    ).all()


def test_the_table_has_a_row_for_each_background_and_indicator():
    rows = [
        {
            "classifier": "c",
            "photo": f"p{person}",
            "attribute": f"{condition}~gender",
            "step": step,
            "tags": "gross",
            "inferred": "woman" if step == 0 else "man",
            "recognised": condition != "canvas",
        }
        for person in range(12)
        for condition in ("canvas", "nursery.1")
        for step in range(3)
    ]
    people = pd.DataFrame(
        {"photo": [f"p{n}" for n in range(12)], "person": [f"p{n}" for n in range(12)]}
    )
    table = interaction_table(pd.DataFrame(rows), VALUES, people).set_index("label")
    assert table.loc["inferred woman", "slope"] == pytest.approx(-50)
    assert table.loc["recognised", "effect"] == pytest.approx(100)
    assert set(table["background"]) == {"nursery.1"}
