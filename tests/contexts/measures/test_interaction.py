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
    found = compare(_planted(-10), _planted(slope), VALUES, np.arange(400))
    assert found["baseline"] == pytest.approx(-10, abs=1e-9)
    assert found["slope"] == pytest.approx(slope, abs=1e-9)
    assert found["difference"] == pytest.approx(difference, abs=1)
    assert found["baseline_low"] < -10 < found["baseline_high"]
    assert found["slope_low"] < slope < found["slope_high"]
    if difference:
        assert found["ci_low"] <= difference <= found["ci_high"]
    else:  # the same people before both: nothing varies
        assert np.isnan(found["ci_low"])
        assert found["note"] == ALIKE


def test_paired_noise_is_taken_off_and_the_contexts_own_effect_stands_beside_that_of_the_face():
    base = np.stack([np.arange(400) < count for count in (240, 200, 160)], 1).astype(float)
    steeper = np.stack([np.arange(400) < count for count in (260, 200, 140)], 1).astype(float)
    found = compare(base, steeper, VALUES, np.arange(400))
    assert found["difference"] == pytest.approx(-5)
    assert found["p"] < 0.001
    assert compare(base, base, VALUES, np.arange(400))["difference"] == 0
    raised = np.stack([np.arange(400) < count for count in (320, 280, 240)], 1).astype(float)
    found = compare(base, raised, VALUES, np.arange(400))
    assert found["face"] == pytest.approx(-20)
    assert found["effect"] == pytest.approx(20)
    assert found["effect_low"] < 20 < found["effect_high"]


def test_a_label_of_few_people_is_too_rare():
    base = np.zeros((50, 3))
    found = compare(base, base, VALUES, np.arange(50))
    assert found["note"] == f"too few people change their answer; {ALIKE}"
    assert np.isnan(found["p"])
    twice, shown = (
        np.arange(50) // 2,
        np.stack([np.arange(50) < 18, np.arange(50) < 4, np.zeros(50)], 1),
    )
    found = compare(base, shown.astype(float), VALUES, twice)  # 18 photos, but of 9 people
    assert found["slope"] < 0
    assert np.isnan(
        [value for name, value in found.items() if name.endswith(("p", "low", "high"))]
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
    found = interaction_table(pd.DataFrame(rows), VALUES, people).set_index("label")
    assert found.loc["inferred woman", "slope"] == pytest.approx(-50)
    assert found.loc["recognised", "effect"] == pytest.approx(100)
    assert set(found["background"]) == {"nursery.1"}
