"""Tests and intervals by person hold if nothing was planted, and cover what was."""

import numpy as np
import pytest
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.inference import f1
from gslopes.contexts.measures.paired import (
    ALIKE,
    TOO_FEW,
    exchanged,
    share_change,
    share_of,
    welch,
)

PEOPLE = 100


def _change(before, after, person=None, **more):
    before, after = before.astype(float)[:, None], after.astype(float)[:, None]
    person = np.arange(len(before)) if person is None else person
    keep = np.ones_like(before, bool)
    options = ContextOptions(**{"permutations": 499, "seed": 1, **more})
    return share_change(before, after, keep, person, options)


@pytest.mark.row("contexts-table-11")
def test_welch_is_the_textbooks_formula():
    first, second = np.arange(12.0) % 7, np.array([1.0, 1, 2, 8, 3, 3, 2, 1, 0, 4, 2, np.nan])
    row = welch(first, second)
    test = stats.ttest_ind(first, second[:-1], equal_var=False)
    ends = test.confidence_interval(0.95)
    names = ("difference", "t", "df", "p", "ci_low", "ci_high")
    assert [row[name] for name in names] == pytest.approx(
        [first.mean() - second[:-1].mean(), test.statistic, test.df, test.pvalue, *ends]
    )


def test_groups_of_fewer_than_ten_are_compared_and_not_judged():
    numbers = np.arange(10.0)
    for few in (numbers[:9], numbers[:2]):
        row = welch(numbers + 8, few)
        assert row["difference"] == numbers.mean() + 8 - few.mean()
        assert np.isnan([row["p"], row["ci_low"], row["ci_high"]]).all()
        assert row["note"] == TOO_FEW == "fewer than 10 people"
    assert welch(numbers + 8, numbers)["note"] == ""


def test_no_interval_of_a_difference_goes_beyond_what_can_be():
    first, second = np.r_[np.ones(9), 0.2], np.r_[np.zeros(9), 0.8]
    row = welch(first, second, 1.0)
    assert (
        0.5
        < row["ci_low"]
        < row["difference"]
        < row["ci_high"]
        < 1
        < welch(first, second)["ci_high"]
    )


@pytest.mark.parametrize(
    ("first", "second"), [([1.0], [1.0, 2.0]), ([2.0, 2.0], [3.0, 3.0]), ([np.nan] * 3, [1.0, 2.0])]
)
def test_too_few_or_no_variation_gives_no_number(first, second):
    row = welch(np.array(first), np.array(second))
    assert np.isnan([row[name] for name in ("se", "t", "ci_low", "ci_high", "p")]).all()


def test_shares_that_differ_by_rounding_alone_do_not_vary():
    shares = np.tile([1 / 3, 1 - 2 / 3, 0.1 + 0.2 + 1 / 3 - 0.3], 4)
    assert np.ptp(shares) > 0
    assert np.isnan(welch(shares, shares[::-1])["p"])
    assert welch(shares, np.tile([0.5, 0.6, 0.7], 4))["p"] < 0.1


def test_a_change_comes_with_its_interval():
    before, after = np.arange(100) < 30, np.arange(100) < 50
    change = _change(before, after)
    assert change["change"] == pytest.approx(0.2)
    assert change["change_low"] < 0.2 < change["change_high"]
    assert change["change_low"] > 0.1
    assert change["discordant"] == 20
    assert change["p"] == pytest.approx(1 / 500)


def test_rooms_that_differ_widen_the_interval_of_rooms_alone():
    after = np.stack([np.arange(60) < 50, np.arange(60) < 10], 1).astype(
        float
    )  # one room does much, the other little
    keep, person = np.ones_like(after, bool), np.arange(60)
    change = share_change(np.zeros((60, 2)), after, keep, person, ContextOptions(permutations=199))
    assert change["change"] == 0.5
    assert 0.4 < change["change_low"] < 0.5 < change["change_high"] < 0.6
    ends = change["change_rooms_low"], change["change_rooms_high"]
    assert ends == pytest.approx((-1, 1), abs=0.01)  # two rooms tell little of others
    assert -1 < ends[0] < ends[1] < 1
    assert change["p"] < 0.01
    assert change["p_rooms"] > 0.2
    single = share_change(
        np.zeros((60, 1)), after[:, :1], keep[:, :1], person, ContextOptions(permutations=199)
    )
    assert np.isnan(
        [single["change_rooms_low"], single["change_rooms_high"], single["p_rooms"]]
    ).all()


def test_what_is_the_same_for_everybody_has_no_interval():
    after = np.tile(
        [1.0, 0.0], (60, 1)
    )  # one room does everything, the other nothing, to everybody
    keep, person = np.ones_like(after, bool), np.arange(60)
    for before, note in (
        (np.zeros((60, 2)), ALIKE),
        (after, f"too few people change their answer; {ALIKE}"),
    ):
        change = share_change(before, after, keep, person, ContextOptions(permutations=199))
        assert np.isnan([change["change_low"], change["change_high"]]).all()
        assert change["note"] == note


def test_shares_of_several_rooms_stay_between_0_and_1():
    hits = np.stack([np.ones(20), np.arange(20) < 2], 1).astype(float)
    share = share_of(hits, np.ones_like(hits))
    assert (share["n"], share["count"]) == (40, 22)
    ends = share["rooms_low"], share["rooms_high"]
    assert ends == pytest.approx((0, 1), abs=1e-6)
    assert 0 <= ends[0] < ends[1] <= 1
    assert 0.45 < share["ci_low"] < share["ci_high"] < 0.66
    assert np.isnan(
        [share_of(hits[:, :1], np.ones((20, 1)))[name] for name in ("rooms_low", "rooms_high")]
    ).all()


def test_the_interval_covers_a_planted_change():
    generator = np.random.default_rng(8)
    hits = 0
    for seed in range(200):
        before = generator.random(PEOPLE) < 0.4
        after = np.where(generator.random(PEOPLE) < 0.3, generator.random(PEOPLE) < 0.8, before)
        change = _change(before, after, seed=seed)
        hits += change["change_low"] <= 0.3 * (0.8 - 0.4) <= change["change_high"]
    assert 0.90 <= hits / 200 <= 0.985


def test_two_photos_of_one_person_count_once():
    generator = np.random.default_rng(5)
    person, p = np.tile(np.arange(40), 2), []
    for seed in range(200):
        up = generator.random(40)[person] < 0.5  # both photos of a person change alike
        p.append([_change(~up, up, who, seed=seed, permutations=99)["p"] for who in (person, None)])
    by_person, naive = (np.array(p) <= 0.05).mean(axis=0)
    assert by_person <= 0.085
    assert naive > 0.10


def test_exchanging_answers_finds_a_planted_gain_and_no_other():
    right, wrong = np.ones(40), np.zeros(40)
    gain = exchanged(f1, (wrong, wrong, right), (right, wrong, wrong), 999, 0)
    none = exchanged(f1, (right, wrong, wrong), (right, wrong, wrong), 999, 0)
    assert gain == pytest.approx(0.001)
    assert none == 1
