"""S2: goldens 36 to 40 and the fast path as published; what is held fixed and refused otherwise."""

import math
from collections import Counter

import numpy as np
import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures import salience
from gslopes.captions.measures.rows import Recorder
from gslopes.captions.measures.salience import (
    SHOWN,
    VALID,
    _rotate,
    _splits,
    fit,
    fit_published,
    layout,
)
from gslopes.captions.measures.techniques import run_technique
from gslopes.captions.stimuli.corpus import Instance, Pair
from gslopes.stats.logistic import Coefficient, fit_ridge
from gslopes.stats.resampling import percentile
from gslopes.words.graph import Mentions
from tests.captions.conftest import corpus, things


@pytest.mark.row("captions-s2-splits")
def test_golden_36_without_a_penalty_it_is_the_log_odds_ratio():
    group = np.repeat([0.5, -0.5], [40, 50])
    mentioned = np.r_[np.arange(40) < 30, np.arange(50) < 20]
    result = fit_published(np.empty((90, 0)), group, mentioned, AuditOptions(splits=5), ridge=0)
    assert result.coefficient == pytest.approx(1.5041, abs=5e-5)
    alone = fit(np.zeros((90, 2)), 0, group, mentioned)
    assert alone.coefficient == pytest.approx(math.log(4.5))
    assert 0 < alone.ci_low < alone.coefficient < alone.ci_high
    assert alone.p < 0.002


def test_golden_37_the_penalty_keeps_a_separated_fit_finite():
    group = np.repeat([0.5, -0.5], 10)
    result = fit_published(np.empty((20, 0)), group, group > 0, AuditOptions(splits=5), ridge=1)
    assert result.coefficient == pytest.approx(2.3550, abs=5e-5)


@pytest.mark.row("captions-s2-valid")
def test_golden_38_more_than_nine_tenths():
    assert [valid > VALID * 1000 for valid in (900, 901)] == [False, True]


@pytest.mark.row("captions-s2-interval")
def test_golden_39_percentiles():
    assert percentile(np.arange(1.0, 1001.0)) == (pytest.approx(25.975), pytest.approx(975.025))


@pytest.mark.row("captions-s2-valid", "captions-s2-mentioned")
def test_golden_40_what_is_always_mentioned_is_not_eligible():
    group = np.repeat([0.5, -0.5], 20)
    result = fit_published(np.empty((40, 0)), group, np.ones(40, bool), AuditOptions(splits=10))
    assert (result.valid, result.eligible, result.mentioned) == (0, False, result.n)


@pytest.fixture(scope="module")
def drawn():
    chance = np.random.default_rng(0)
    features = chance.normal(size=(150, 30)) * chance.uniform(0.1, 5, 30)
    group = np.where(chance.random(150) < 0.5, 0.5, -0.5)
    logit = 1.2 * group + features[:, 0] / features[:, 0].std()
    return features, group, chance.random(150) < 1 / (1 + np.exp(-logit))


@pytest.mark.row("captions-s2-splits", "captions-s2-interval")
def test_the_fast_path_is_within_two_hundredths_of_the_exact_one(drawn):
    """Exact: features are standardised on the training part of every split, and the fit goes to its optimum."""
    features, group, mentioned = drawn
    fast, y = fit_published(*drawn, AuditOptions(splits=40)), mentioned.astype(np.float64)
    exact = []
    for mask in _splits(len(y), 40, np.random.default_rng([0, 6])).T:
        part = features[mask > 0]
        keep = part.std(axis=0) > 1e-12
        columns = (features[:, keep] - part[:, keep].mean(axis=0)) / part[:, keep].std(axis=0)
        rotated, back = _rotate(columns, group)
        exact.append(float(back @ fit_ridge(rotated, y, mask[:, None], 1.0)[1:, 0]))
    assert np.mean(fast.splits) == pytest.approx(np.mean(exact), abs=0.02)
    assert percentile(fast.splits) == pytest.approx(percentile(np.array(exact)), abs=0.06)


@pytest.mark.row("captions-s2-features")
def test_layout_is_size_and_distance_from_the_centre():
    outcome = layout(
        [[Instance("a.n.01", 0, 0, 0.2, 0.2), Instance("a.n.01", 0, 0, 1, 1)], []],
        ["a.n.01", "b.n.01"],
    )
    assert outcome.tolist() == [[1, 0, 0, 1], [0, 0, 1, 1]]


KINDS = ("necktie.n.01", "dog.n.01", "cup.n.01")


@pytest.fixture(scope="module")
def ties(mentions: Mentions) -> tuple[Recorder, dict[str, np.ndarray], np.ndarray]:
    """S2 as published, which images mention each type, and which show men.

    A tie is mentioned of men, a dog of most people; a cup by chance; of four types the rarest is not taken.
    """
    chance = np.random.default_rng(2)
    says = {name: chance.random(400) < 0.5 for name in KINDS}
    men = np.arange(400) % 2 == 0
    says["necktie.n.01"], says["dog.n.01"] = (
        men ^ (chance.random(400) < 0.05),
        men ^ (chance.random(400) < 0.25),
    )
    boxes = {str(i): [Instance(name, 0.1, 0.1, 0.5, 0.5) for name in KINDS] for i in range(400)}
    boxes["0"].append(Instance("kite.n.03", 0.1, 0.1, 0.5, 0.5))
    stages = {
        "human-labels": {image: [things(*KINDS)] for image in boxes},
        "system-captions": {
            str(i): [things(*(name for name in KINDS if says[name][i]))] for i in range(400)
        },
    }
    groups = {"gender": {str(i): "male" if man else "female" for i, man in enumerate(men)}}
    built = corpus(mentions, stages, groups, [Pair("gender", "female", "male")], boxes=boxes)
    options = AuditOptions(as_published=True, types=3, splits=40)
    return run_technique("S2", built, "system-captions", "human-labels", options), says, men


@pytest.mark.row(
    "captions-s2-types", "captions-s2-rank", "captions-s2-mentioned", "captions-s2-interval"
)
def test_as_published_the_commonest_types_are_ranked_by_accuracy_where_the_interval_leaves_out_zero(
    ties,
):
    recorder, says, _ = ties
    outcome = {row["concept"]: row for row in recorder.salience}
    assert set(outcome) == set(KINDS)
    assert [outcome[name]["finding_paper"] for name in KINDS] == [True, True, False]
    assert [outcome[name]["rank"] for name in KINDS] == [1, 2, None]
    assert (
        outcome["necktie.n.01"]["split_high"]
        < 0
        < outcome["necktie.n.01"]["accuracy"] - outcome["dog.n.01"]["accuracy"]
    )
    assert (outcome["dog.n.01"]["n"], outcome["dog.n.01"]["mentioned"]) == (
        400,
        int(says["dog.n.01"].sum()),
    )


@pytest.mark.row("captions-fig-5")
def test_a_finding_comes_with_images_of_both_groups_with_and_without_the_mention(ties):
    recorder, says, men = ties
    assert {row["concept"] for row in recorder.examples} == {"necktie.n.01", "dog.n.01"}
    for row in recorder.examples:
        image = int(row["image"])
        assert row["of"] == ("male" if men[image] else "female")
        assert row["mentioned"] == says[row["concept"]][image]
    of_ties = [row for row in recorder.examples if row["concept"] == "necktie.n.01"]
    cells = Counter((row["of"], bool(row["mentioned"])) for row in of_ties)
    assert cells == dict.fromkeys(
        [("male", True), ("male", False), ("female", True), ("female", False)], SHOWN
    )
    assert [row["image"] for row in of_ties] != sorted(
        (row["image"] for row in of_ties), key=int
    ), "drawn by their ids"


def labelled(
    n: int, types: int = 20, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Features of types in 30 % of the images, the first in all of them, and groups."""
    chance = np.random.default_rng(seed)
    there = chance.random((n, types)) < 0.3
    there[:, 0] = True
    sizes = there * chance.beta(1, 6, there.shape)
    return (
        np.column_stack([sizes, np.where(there, chance.random(there.shape), 1)]),
        np.where(chance.random(n) < 0.5, 0.5, -0.5),
        chance,
    )


def test_own_size_is_held_fixed_where_one_group_is_shown_larger():
    features, group, chance = labelled(2000)
    features[:, 0] *= np.where(group > 0, 2, 1)
    y = chance.random(2000) < 1 / (1 + np.exp(-8 * (features[:, 0] - 0.2)))
    outcome = fit(features, 0, group, y)
    assert outcome.ci_low < 0 < outcome.ci_high
    assert fit_published(features[:, 1:20], group, y, AuditOptions(splits=20)).splits.min() > 0.3, (
        "without its size"
    )


def test_a_type_that_goes_with_the_group_and_the_mention_is_held_fixed():
    features, _, chance = labelled(1000)
    with_it = features[:, 7] > 0
    group = np.where(chance.random(1000) < np.where(with_it, 0.7, 0.4), 0.5, -0.5)
    y = chance.random(1000) < np.where(with_it, 0.75, 0.3)
    outcome = fit(features, 0, group, y)
    assert outcome.held >= 1
    assert outcome.ci_low < 0 < outcome.ci_high
    assert fit(features[:, [0, 20]], 0, group, y).ci_low > 0, "without it"


def test_what_n_does_not_allow_is_refused_with_how_many_images_would_do():
    features, group, _ = labelled(60)
    outcome = fit(features, 0, group, np.arange(60) < 6)
    assert (outcome.eligible, math.isnan(outcome.p), math.isnan(outcome.ci_low)) == (
        False,
        True,
        True,
    )
    assert outcome.note == "too few images to tell: of 60, 6 mention it; about 112 would do"
    assert (
        fit(features, 0, np.full(60, 0.5), np.arange(60) < 30).note
        == "shown with one of the groups only"
    )
    assert fit(features, 0, group, np.zeros(60, bool)).note == "never mentioned"
    features[:, 0] = 1 + group
    assert "size and place alone" in fit(features, 0, group, np.arange(60) % 2 > 0).note


@pytest.mark.evidence
@pytest.mark.slow
def test_intervals_of_sixty_images_hold_what_was_planted():
    held = []
    for seed in range(200):
        features, group, chance = labelled(60, seed=seed)
        outcome = fit(features, 0, group, chance.random(60) < 1 / (1 + np.exp(-group)))
        held.append(outcome.ci_low <= 1 <= outcome.ci_high)
    assert 0.9 <= np.mean(held) <= 0.99


def test_a_fit_that_reached_no_maximum_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr(
        salience, "score_interval", lambda *_: Coefficient(1.0, math.nan, math.nan, math.nan)
    )
    features, group, chance = labelled(60, seed=0)
    outcome = fit(features, 0, group, chance.random(60) < 0.5)
    assert (outcome.eligible, outcome.note) == (False, "the fit reached no maximum")
    assert math.isnan(outcome.coefficient)
