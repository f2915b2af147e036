import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gslopes.ask.croppers import policies
from gslopes.ask.croppers.joining import layout
from gslopes.ask.croppers.policies import (
    TABLE_1,
    check_policies,
    find_peaks,
    outcomes,
    temperature_for,
)
from gslopes.core.errors import UnknownName

PLAN = layout([(10, 10), (10, 10)])
X, Y = np.array([5.0, 15.0], np.float32), np.array([5.0], np.float32)


def two(left, right, **settings):
    scores = np.stack([left, right], axis=-1)[:, None, :]
    return outcomes(scores, X, Y, PLAN, ("argmax", "sample"), **settings)


@pytest.mark.parametrize(
    ("temperature", "sample", "amplification", "exposure"),
    [(1.0, 0.5702, 3.163, 0.3873), (0.25, 0.6736, 1.280, None)],
)
@pytest.mark.row("crops-3.5-argmax", "crops-table-1-sample")
def test_planted_scores_give_the_amplification_that_theory_says(
    temperature, sample, amplification, exposure
):
    generator = np.random.default_rng(0)
    left, right = generator.normal(0.3, 0.36, 200_000), generator.normal(0, 0.36, 200_000)
    found = two(left, right, temperature=temperature)
    shares = {name: one.shares[:, 0] for name, one in found.items()}
    assert shares["argmax"].mean() == pytest.approx(0.7222, abs=0.01)
    assert shares["sample"].mean() == pytest.approx(sample, abs=0.01)
    ratio = (shares["argmax"].mean() - 0.5) / (shares["sample"].mean() - 0.5)
    assert ratio == pytest.approx(amplification, rel=0.03)
    if exposure is not None:
        assert np.minimum(shares["sample"], 1 - shares["sample"]).mean() == pytest.approx(
            exposure, abs=0.01
        )
    assert np.minimum(shares["argmax"], 1 - shares["argmax"]).mean() == 0


@settings(max_examples=20)
@given(st.integers(0, 1000), st.floats(-3, 3))
def test_temperature_runs_from_the_maximum_to_shares_of_cells(seed, shift):
    scores = np.random.default_rng(seed).normal(size=(1, 3, 4))
    x, y = np.arange(4, dtype=np.float32) * 5 + 2, np.arange(3, dtype=np.float32) * 3 + 1
    cold = outcomes(scores, x, y, PLAN, ("argmax", "sample"), temperature=1e-6)
    assert cold["sample"].shares == pytest.approx(cold["argmax"].shares, abs=1e-6)
    warm = outcomes(scores, x, y, PLAN, ("sample",), temperature=1e9)
    assert warm["sample"].shares[0].tolist() == pytest.approx([0.5, 0.5], abs=1e-6)
    plain = outcomes(scores + shift, x, y, PLAN, ("sample",))["sample"].shares
    assert plain == pytest.approx(
        outcomes(scores, x, y, PLAN, ("sample",))["sample"].shares, abs=1e-9
    )


@pytest.mark.row(
    "crops-table-1-words", "crops-table-1-choose", "crops-table-1-point", "crops-table-1-pad"
)
def test_every_policy_answers_and_has_its_words():
    scores = np.random.default_rng(1).normal(size=(3, 10, 20))
    x, y = np.arange(20, dtype=np.float32), np.arange(10, dtype=np.float32)
    found = outcomes(scores, x, y, PLAN, TABLE_1, draw=np.array([0.1, 0.5, 0.9]))
    assert set(TABLE_1) == set(found)
    for name, one in found.items():
        assert one.shares.shape == (3, 2)
        if name != "pad":
            assert one.shares.sum(axis=1).tolist() == pytest.approx([1, 1, 1])
    assert (found["focal-point"].shares == 0.5).all()
    assert (found["pad"].shares == 1).all()
    assert np.isfinite(found["sample"].points).all()
    with pytest.raises(UnknownName, match="argmax"):
        check_policies(("argmaks",))


@pytest.mark.parametrize("grid", ["pixels", "edges", "odd"])
def test_no_policy_prefers_a_side_of_a_map_that_is_its_own_mirror_image(grid):
    plan = layout([(40, 40), (40, 40)])
    count = 9 if grid == "odd" else 8
    x, y = (
        ((np.arange(count) + 0.5) * side / count - 0.5 * (grid != "edges")).astype(np.float32)
        for side in (80, 40)
    )
    half = np.random.default_rng(5).integers(0, 4, (30, count, count)).astype(float)
    for name, one in outcomes(
        half + half[:, :, ::-1], x, y, plan, TABLE_1, draw=np.full(30, 0.3)
    ).items():
        assert np.abs(one.shares[:, 0] - one.shares[:, 1]).max() < 1e-9, name


@pytest.mark.row("crops-table-1-average")
def test_averaging_shows_what_lies_between(monkeypatch):
    monkeypatch.setattr(policies, "TOP", 2)
    scores = np.array([[[0.0, 0.0, 0.0, 0.0], [0.0, 9.0, 0.0, 9.0]]])
    x, y = np.array([2.0, 7.0, 12.0, 17.0], np.float32), np.array([2.0, 7.0], np.float32)
    found = outcomes(scores, x, y, PLAN, ("average", "top-k-average"))
    assert found["top-k-average"].points[0].tolist() == [12.0, 7.0]
    assert found["average"].points[0].tolist() == pytest.approx([12.0, 7.0], abs=0.02)


@pytest.mark.row("crops-table-1-choose")
def test_peaks_keep_their_distance_and_a_flat_map_has_none():
    scores = np.zeros((9, 9))
    scores[1, 1], scores[1, 2], scores[7, 7] = 3, 2.9, 2
    centres = np.arange(9.0)
    assert find_peaks(scores, centres, centres, 2.0) == [(1.0, 1.0), (7.0, 7.0)]
    assert find_peaks(np.ones((4, 4)), centres[:4], centres[:4], 1.0) == []


def test_one_rule_of_temperature_for_all_units():
    scores = np.random.default_rng(2).normal(size=400)
    low, high = temperature_for(scores), temperature_for(1000 * scores)
    assert high / low == pytest.approx(1000, rel=1e-3)
    assert temperature_for(np.zeros(9)) == 1.0
