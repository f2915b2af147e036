"""Shares over people: the usual numbers with one photo a person, and wider ones where photos of a person are alike."""

import numpy as np
import pytest
from scipy import stats

from gslopes.stats.intervals import newcombe, wilson
from gslopes.stats.shares import (
    difference_interval,
    effective_photos,
    independence_p,
    share_interval,
)


@pytest.mark.parametrize(("count", "n"), [(0, 9), (3, 10), (9, 9), (329, 597)])
def test_one_photo_a_person_gives_wilson_to_the_last_bit(count: int, n: int) -> None:
    hits = (np.arange(n + 2) < count).astype(float)
    photos = (np.arange(n + 2) < n).astype(float)  # two people without a photo
    assert share_interval(hits, photos) == wilson(count / n, n)


def test_one_photo_a_person_gives_newcombe_and_pearson_to_the_last_bit() -> None:
    hit, first = np.arange(60) % 3 == 0, np.arange(60) < 25
    parts = [((hit & start).astype(float), start.astype(float)) for start in (first, ~first)]
    counts = [number for part in parts for number in map(int, (part[0].sum(), part[1].sum()))]
    assert difference_interval(*parts) == newcombe(*counts)
    table = np.array([[(hit & start).sum(), (~hit & start).sum()] for start in (first, ~first)])
    result = independence_p(hit, first.astype(int), np.arange(60))
    assert result == pytest.approx(
        stats.chi2_contingency(table, correction=False).pvalue, rel=1e-12
    )


def test_three_equal_photos_a_person_tell_what_one_does() -> None:
    item = (np.arange(40) < 16).astype(float)
    low, high = share_interval(3 * item, np.full(40, 3.0))
    under, over = share_interval(item, np.ones(40))
    assert (low, high) == pytest.approx((under, over), abs=0.01)
    assert low < under < over < high  # t for 40 people in place of z
    groups, person = np.repeat(np.arange(40) % 2, 3), np.repeat(np.arange(40), 3)
    alone = independence_p(item > 0, np.arange(40) % 2, np.arange(40))
    assert independence_p(np.repeat(item > 0, 3), groups, person) == pytest.approx(alone, abs=0.02)


def test_photos_that_differ_within_people_count_nearly_each() -> None:
    rng = np.random.default_rng(1)
    hits = rng.binomial(3, 0.4, 400).astype(float)
    assert effective_photos(hits, np.full(400, 3.0)) == pytest.approx(1200, rel=0.15)


def test_one_person_or_people_of_one_share_have_no_interval() -> None:
    assert np.isnan(share_interval(np.array([2.0]), np.array([5.0]))).all()
    assert np.isnan(share_interval(np.ones(9), np.full(9, 2.0))).all()
    assert np.isnan(share_interval(np.zeros(3), np.zeros(3))).all()
    assert np.isnan(
        difference_interval((np.ones(9), np.full(9, 2.0)), (np.ones(9), np.ones(9)))
    ).all()


def test_shares_of_the_same_people_differ_by_less_than_those_of_others() -> None:
    rng = np.random.default_rng(2)
    own = rng.random(80)
    first, second = ((own < share).astype(float) * 2 for share in (0.6, 0.5))
    photos = np.full(80, 2.0)
    low, high = difference_interval((first, photos), (second, photos))
    less, more = difference_interval((first, photos), (rng.permutation(second), photos))
    assert high - low < 0.7 * (more - less)


def test_independence_needs_something_that_varies() -> None:
    person = np.arange(6) // 2
    assert np.isnan(independence_p(np.ones(6, bool), np.arange(6) % 2, person))
    assert np.isnan(independence_p(np.arange(6) < 3, np.zeros(6, int), person))
    assert np.isnan(independence_p(np.arange(6) < 3, np.arange(6) % 2, np.zeros(6, int)))
