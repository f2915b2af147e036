"""Tests and intervals by person hold where nothing was planted, and cover what was."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.accuracy import f1
from gslopes.contexts.measures.paired import exchanged, interval, mcnemar, resampled, share_change, sign_flips

PEOPLE = 100


def _change(before, after, person=None, **more):
    before, after = before.astype(float)[:, None], after.astype(float)[:, None]
    person = np.arange(len(before)) if person is None else person
    keep = np.ones_like(before, bool)
    options = ContextOptions(**{"bootstrap": 400, "permutations": 499, "seed": 1, **more})
    return share_change(before, after, keep, person, options)


def test_mcnemar_of_twelve_against_three():
    assert mcnemar(12, 3) == pytest.approx(0.03515625)
    assert mcnemar(0, 0) == 1


def test_a_change_comes_with_its_interval():
    before, after = np.arange(100) < 30, np.arange(100) < 50
    found = _change(before, after)
    assert found["change"] == pytest.approx(0.2)
    assert found["change_low"] < 0.2 < found["change_high"]
    assert found["change_low"] > 0.1
    assert found["discordant"] == 20
    assert found["p"] == pytest.approx(2 * 0.5**20)


def test_two_backgrounds_widen_the_interval_by_what_they_differ():
    person = np.arange(60)
    before = np.zeros((60, 2))
    after = np.stack([np.ones(60), np.zeros(60)], 1)  # one room does everything, the other nothing
    keep = np.ones_like(before, bool)
    found = share_change(before, after, keep, person, ContextOptions(bootstrap=800, permutations=199))
    assert found["change"] == 0.5
    assert (found["change_low"], found["change_high"]) == (0, 1)


def _coverage(sets: int) -> float:
    generator = np.random.default_rng(8)
    hits = 0
    for seed in range(sets):
        before = generator.random(PEOPLE) < 0.4
        after = np.where(generator.random(PEOPLE) < 0.3, generator.random(PEOPLE) < 0.8, before)
        found = _change(before, after, seed=seed)
        hits += found["change_low"] <= 0.3 * (0.8 - 0.4) <= found["change_high"]
    return hits / sets


def test_the_interval_covers_a_planted_change():
    assert 0.90 <= _coverage(200) <= 0.985


@pytest.mark.slow
def test_the_interval_covers_a_planted_change_in_500_sets():
    assert 0.93 <= _coverage(500) <= 0.97


def test_where_nothing_was_planted_few_are_found():
    generator = np.random.default_rng(3)
    found = []
    for _ in range(400):
        before = generator.random(PEOPLE) < 0.5
        swap = generator.random(PEOPLE) < 0.4
        other = generator.random(PEOPLE) < 0.5
        after = np.where(swap, other, before)
        found.append(mcnemar(int((after & ~before).sum()), int((before & ~after).sum())) < 0.05)
    assert np.mean(found) <= 0.064


def test_two_photos_of_one_person_count_once():
    generator = np.random.default_rng(5)
    by_person, naive = 0, 0
    sets = 300
    for seed in range(sets):
        person = generator.standard_normal(40)
        first = person + 0.5 * generator.standard_normal(40)  # correlation 0.8
        second = person + 0.5 * generator.standard_normal(40)
        by_person += sign_flips(first + second, 199, seed) <= 0.05
        naive += sign_flips(np.concatenate([first, second]), 199, seed) <= 0.05
    assert by_person / sets <= 0.085
    assert naive / sets > 0.10


def test_exchanging_answers_finds_a_planted_gain_and_no_other():
    right, wrong = np.ones(40), np.zeros(40)
    gain = exchanged(f1, (wrong, wrong, right), (right, wrong, wrong), 999, 0)
    none = exchanged(f1, (right, wrong, wrong), (right, wrong, wrong), 999, 0)
    assert gain == pytest.approx(0.001)
    assert none == 1


def test_resamples_without_a_number_give_no_interval():
    parts = [np.zeros((5, 1)), np.zeros((5, 1))]
    assert np.isnan(interval(resampled(lambda up, n: up / n, parts, 50, 0))).all()
