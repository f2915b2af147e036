"""Shares over pairs of people: the published counts, the intervals, the properties; and of photos by themselves."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from gslopes.crops.measures.panel import Panel
from gslopes.crops.measures.parity import (
    average,
    compared,
    disparate_impact,
    draw_weights,
    draws_half,
    half_width,
    interval,
    kept_impact,
    logit_interval,
    parity,
    resampled,
)
from gslopes.crops.measures.rows import average_rows, gaze_rows, parity_rows
from gslopes.stats.intervals import newcombe, normal_quantile, wilson
from tests.published import COUNTS, PERSONS

# --- the published counts, through our code ---


DERIVED = {
    # pair: share, half-width over people in points, interval, DI, its interval, verdict
    ("BF", "BM"): (0.5695, 2.76, (0.5417, 0.5968), 0.7559, (0.675, 0.846), "open"),
    ("BF", "WF"): (0.4336, 4.54, (0.3889, 0.4795), 0.7655, (0.636, 0.921), "open"),
    ("BF", "WM"): (0.5547, 3.21, (0.5224, 0.5865), 0.8028, (0.705, 0.914), "open"),
    ("BM", "WF"): (0.3648, 4.24, (0.3235, 0.4082), 0.5743, (0.478, 0.690), "shown"),
    ("BM", "WM"): (0.4767, 2.78, (0.4490, 0.5045), 0.9109, (0.815, 1.018), "ruled out"),
    ("WF", "WM"): (0.6171, 4.52, (0.5710, 0.6612), 0.6205, (0.512, 0.751), "shown"),
}


@pytest.mark.parametrize("pair", DERIVED, ids="-".join)
@pytest.mark.row("crops-fig-2", "crops-3-impact", "crops-3-slack", "crops-3.3-significant")
def test_published_counts_give_the_published_shares_and_what_follows_from_them(pair):
    share, half, interval, ratio, ends, verdict = DERIVED[pair]
    won, lost = COUNTS["native-10000"][pair]
    p = won / (won + lost)
    m, n = (PERSONS[name] for name in pair)
    assert p == pytest.approx(share, abs=1e-9)
    assert 100 * half_width(p, m, n) == pytest.approx(half, abs=0.006)
    low, high = logit_interval(p, half_width(p, m, n) / normal_quantile(), math.inf, min(m, n))
    assert (low, high) == pytest.approx(interval, abs=6e-5)
    found = disparate_impact(p, low, high)
    assert found.ratio == pytest.approx(ratio, abs=6e-5)
    assert (found.low, found.high) == pytest.approx(ends, abs=6e-4)
    assert found.verdict == verdict


@pytest.mark.row("crops-3.3-interval", "crops-fig-3", "crops-3.6-asian")
def test_the_error_that_was_printed_is_of_the_draws_alone():
    """No 2: plus or minus 1.0 % is the error of drawing from a fixed set; over people it is 2.8 to 4.5 %."""
    assert 100 * draws_half(0.5, 10_000) == pytest.approx(1.0)
    assert 100 * draws_half(0.5, 5_000) == pytest.approx(1.414, abs=1e-3)
    assert 100 * draws_half(0.62, 500) == pytest.approx(4.34, abs=0.01)
    widths = [100 * half_width(0.5, PERSONS[a], PERSONS[b]) for a, b in DERIVED]
    assert 2.7 < min(widths) < max(widths) < 4.6
    low, high = DERIVED["BM", "WM"][2]
    assert low < 0.5 < high


# --- draws with replacement, and averages over pairs of groups ---

SAID = {"B": "black", "W": "white", "F": "women", "M": "men"}


def figure_2(name="native-10000"):
    """The published counts as pictures: of each two groups one pair of people that was won, and one that was lost."""
    persons = {group: (f"{group}1", f"{group}2") for group in PERSONS}
    rows = [
        {
            "left": persons[a][lost],
            "right": persons[b][lost],
            "draws": counts[lost],
            "won": 1.0 - lost,
        }
        for (a, b), counts in COUNTS[name].items()
        for lost in (0, 1)
    ]
    everyone = [person for members in persons.values() for person in members]
    groups = {
        column: {SAID[key]: tuple(one for one in everyone if one[place] == key) for key in keys}
        for place, (column, keys) in enumerate({"race": "BW", "gender": "FM"}.items())
    }
    # crossed as the table has them: BM comes before WF, the pair that the paper's average leaves out
    groups["race + gender"] = {
        f"{SAID[name[0]]} + {SAID[name[1]]}": members for name, members in persons.items()
    }
    people = pd.DataFrame({"photo": everyone, "person": everyone, "status": "used"})
    panel, drawn = Panel.of(people, groups), pd.DataFrame(rows)
    return panel, panel.favoured(drawn, drawn["won"].to_numpy(), 1 - drawn["won"].to_numpy())


@pytest.mark.row("crops-3.2-draws", "crops-fig-2", "crops-3.3-interval")
@pytest.mark.parametrize(("name", "printed"), [("native-10000", 1.0), ("height-5000", 1.4)])
def test_each_draw_counts_so_that_the_published_draws_give_the_published_shares(name, printed):
    panel, h = figure_2(name)
    crossed = [row for row in parity_rows(panel, {}, h, 2) if row["column"] == "race + gender"]
    assert len(crossed) == 6
    for row, (won, lost) in zip(crossed, COUNTS[name].values(), strict=True):
        assert (row["pairs"], row["draws"]) == (2, won + lost)
        assert row["p"] == pytest.approx(won / (won + lost), abs=1e-12)
        assert round(100 * row["draws_half"], 1) == pytest.approx(printed, abs=0.051)


@pytest.mark.row("crops-fig-2-coarse")
def test_averages_over_all_four_pairs_of_groups_and_what_the_published_one_leaves_out():
    """No 1: the published average for gender is of three pairs: BM against WF is stored the other way round."""
    panel, h = figure_2()
    found = {(row["group"], row["other"]): row for row in average_rows(panel, {}, h)}
    assert {names: row["cells"] for names, row in found.items()} == {
        ("black", "white"): 4,
        ("women", "men"): 4,
    }
    assert found["black", "white"]["p"] == pytest.approx(0.45745, abs=1e-12)
    assert found["women", "men"]["p"] == pytest.approx(0.594125, abs=1e-12)
    published = [
        COUNTS["native-10000"][pair][0] for pair in (("BF", "BM"), ("BF", "WM"), ("WF", "WM"))
    ]
    assert np.mean(published) / 10_000 == pytest.approx(0.5804, abs=5e-5)
    assert 100 * found["women", "men"]["draws_half"] == pytest.approx(0.49, abs=5e-4)


def test_a_pair_that_was_drawn_three_times_counts_three_times():
    h, counts = (
        np.array([[1.0, 0.0], [0.5, np.nan], [1.0, 0.0]]),
        np.array([[3.0, 1.0], [2.0, 0.0], [1.0, 1.0]]),
    )
    found = parity(h, counts)
    assert (found.pairs, found.draws, found.p) == (5, 8, pytest.approx(5 / 8))
    often = parity(h, 10 * counts)  # more draws of the same people tell nothing more about people
    assert (often.p, often.se) == pytest.approx((found.p, found.se))
    weights = np.ones((1, 3)), np.ones((1, 2))
    assert resampled(h, *weights, counts)[0] == pytest.approx(found.p)
    same = parity(h, np.ones_like(h))
    assert same == parity(h)


def test_a_planted_average_is_found_and_its_interval_holds_it():
    """Four groups of 12: the mean of four shares, of which the people are the same."""
    generator, held, found = np.random.default_rng(5), 0, []
    means, cells = (0.6, 0.0, 0.9, 0.3), [(0, 1), (0, 3), (2, 1), (2, 3)]
    truth = np.mean([stats.norm.cdf((means[a] - means[b]) / math.sqrt(2)) for a, b in cells])
    groups = [np.arange(12) + 12 * number for number in range(4)]
    for _ in range(300):
        scores = np.concatenate([generator.normal(mean, 1, 12) for mean in means])
        estimate = average(compared(scores, scores), np.ones((48, 48)), groups, cells)
        found.append(estimate.p)
        held += estimate.ci_low <= truth <= estimate.ci_high
    assert np.mean(found) == pytest.approx(truth, abs=0.01)
    assert 0.91 <= held / 300 <= 0.99  # 300 audits know 0.95 to 0.013


# --- estimator and test ---


def test_complete_pairs_of_scores_are_brunner_and_munzels_test():
    generator = np.random.default_rng(1)
    first, second = generator.normal(0.4, 1, 17).round(1), generator.normal(0, 2, 23).round(1)
    estimate = parity(compared(first, second))
    reference = stats.brunnermunzel(first, second)
    assert (estimate.p - 0.5) / estimate.se == pytest.approx(-reference.statistic)
    assert estimate.p_value == pytest.approx(reference.pvalue)


def test_a_group_that_always_wins_has_a_one_sided_interval_and_the_test_that_goes_with_it():
    estimate = parity(np.ones((8, 30)))
    assert (estimate.p, estimate.ci_high) == (1.0, 1.0)
    assert estimate.ci_low == pytest.approx(0.631, abs=5e-4)
    assert estimate.p_value == 2 * 0.5**8
    six, five = parity(np.ones((6, 9))), parity(np.ones((5, 9)))
    assert (six.p_value < 0.05, six.ci_low > 0.5) == (True, True)
    assert (five.p_value < 0.05, five.ci_low > 0.5) == (False, False)
    assert parity(np.zeros((5, 9))).ci_high == pytest.approx(1 - 0.478, abs=5e-4)
    assert logit_interval(1.0, 0.0, 4, 20)[0] == pytest.approx(0.832, abs=5e-4)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(2, 9))
def test_swapping_groups_turns_the_share_and_the_interval(seed, m, n):
    h = np.random.default_rng(seed).choice([0.0, 0.5, 1.0], size=(m, n))
    one, other = parity(h), parity(1 - h.T)
    assert one.p + other.p == pytest.approx(1)
    assert one.se == pytest.approx(other.se)
    if one.se > 0 and 0 < one.p < 1:
        assert (one.ci_low, one.ci_high) == pytest.approx((1 - other.ci_high, 1 - other.ci_low))
        assert parity(h[::-1, ::-1]).ci_low == pytest.approx(
            one.ci_low
        )  # whatever the order of people


def test_intervals_shrink_with_people_not_with_pairs():
    generator = np.random.default_rng(3)
    few = compared(generator.normal(0.2, 1, 40), generator.normal(0, 1, 40))
    many = compared(generator.normal(0.2, 1, 640), generator.normal(0, 1, 640))
    assert parity(few).se / parity(many).se == pytest.approx(4, rel=0.2)
    half = np.where(generator.random(few.shape) < 0.5, few, np.nan)
    assert parity(half).se == pytest.approx(parity(few).se, rel=0.35)


@pytest.mark.parametrize(
    ("shift", "truth"), [(0.0, 0.5), (0.25, 0.5702), (0.5, 0.6382), (1.0, 0.7602)]
)
def test_a_planted_effect_is_found_and_its_interval_holds_it(shift, truth):
    generator = np.random.default_rng(7)
    found, held = [], 0
    for _ in range(200):
        estimate = parity(compared(generator.normal(shift, 1, 50), generator.normal(0, 1, 50)))
        found.append(estimate.p)
        held += estimate.ci_low <= truth <= estimate.ci_high
    assert stats.norm.cdf(shift / math.sqrt(2)) == pytest.approx(truth, abs=5e-5)
    assert np.mean(found) == pytest.approx(truth, abs=0.01)
    assert 0.90 <= held / 200 <= 0.99  # 200 audits know 0.95 to 0.015


@pytest.mark.row("crops-3.3-significant")
def test_nothing_planted_is_rejected_as_often_as_promised_and_draws_alone_promise_too_much():
    generator = np.random.default_rng(11)
    rejected = narrow = 0
    for _ in range(1000):
        estimate = parity(compared(generator.normal(0, 1, 30), generator.normal(0, 1, 40)))
        rejected += estimate.p_value < 0.05
        narrow += abs(estimate.p - 0.5) <= draws_half(estimate.p, 10_000)
    assert 0.035 <= rejected / 1000 <= 0.065
    assert 0.08 <= narrow / 1000 <= 0.16


def audit(seed=1, m=40, n=50):
    generator = np.random.default_rng(seed)
    first, second = generator.normal(0.4, 1, m), generator.normal(0, 1, n)
    return (first[:, None] > second[None, :]).astype(float)


def test_the_bootstrap_over_people_agrees_with_delong():
    h = audit()
    weights = draw_weights({"a": 40, "b": 50}, 2000, seed=5)
    draws = resampled(h, weights["a"], weights["b"])
    assert draws.std() == pytest.approx(parity(h).se, rel=0.1)
    assert draws.mean() == pytest.approx(parity(h).p, abs=0.01)


def test_pairs_that_were_not_asked_do_not_count():
    h = audit()
    h[:20, :] = np.nan
    draws = resampled(h, np.ones((1, 40)), np.ones((1, 50)))
    assert draws[0] == pytest.approx(np.nanmean(h))
    assert np.isnan(resampled(np.full((2, 2), np.nan), np.ones((1, 2)), np.ones((1, 2)))).all()
    nothing = parity(np.full((3, 4), np.nan))
    assert nothing.pairs == 0
    assert math.isnan(nothing.p)


def test_people_who_do_not_differ_have_no_interval():
    h = np.full((12, 12), 0.5)
    weights = draw_weights({"a": 12, "b": 12}, 100)
    pair = weights["a"], weights["b"]
    assert np.isnan(interval(resampled(h, *pair))).all()
    found = parity(h)
    assert found.p == 0.5
    assert np.isnan([found.ci_low, found.ci_high, found.p_value]).all()


def test_kept_by_the_bootstrap_of_the_log_ratio():
    draws, others = np.full(100, 0.4), np.linspace(0.7, 0.9, 100)
    found = kept_impact(0.4, 0.8, draws, others)
    assert found.ratio == pytest.approx(0.5)
    assert found.low < 0.5 < found.high
    assert found.verdict == "shown"
    assert kept_impact(0.8, 0.4, others, draws).ratio == pytest.approx(0.5)


# --- photos by themselves ---


def test_ties_of_photos_alone_count_for_neither_group():
    """No 12: the published comparison prints P(a >= b) as 1 - P(a < b), so that a tie is a win of the first group."""
    ties = np.array([1.0, 1.0, 2.0])
    published = 1 - np.less.outer(ties, ties).mean()
    assert published == pytest.approx(7 / 9)
    assert compared(ties, ties).mean() == 0.5


@pytest.mark.row("crops-fig-4")
def test_photos_alone_that_tie_are_even_whichever_group_stands_first():
    """Every maximum of the blue is a maximum of the green, too."""
    photos = ["b1", "b2", "g1", "g2"]
    people = pd.DataFrame({"photo": photos, "person": photos, "status": "used"})
    panel = Panel.of(people, {"team": {"blue": photos[:2], "green": photos[2:]}})
    h = panel.alone(pd.DataFrame({"photo": photos, "max": [90.0, 130.0, 90.0, 130.0]}))
    ((names, place, _),) = panel.couples("team", h.mean)
    assert names == {"column": "team", "group": "blue", "other": "green"}
    assert h.mean[place].mean() == 0.5


@pytest.mark.row("crops-3.4-tall", "crops-3.4-hundred", "crops-3.4-head")
def test_shares_and_differences_by_group():
    photos = [f"p{index}" for index in range(200)]
    people = pd.DataFrame(
        {"photo": photos, "person": photos, "width": 80, "height": 100, "status": "used"}
    )
    on_head = [index >= 3 for index in range(200)]
    known = {
        "cropper": "x",
        "photo": photos,
        "scale": "own",
        "on_head": on_head,
        "kept": 1.0,
        "regions": 2,
    }
    saliency = pd.DataFrame({**known, "regions_off": 0})
    groups = {"g": {"a": tuple(photos[:100]), "b": tuple(photos[100:])}}
    built = gaze_rows(saliency, people, groups)
    point = pd.DataFrame(built["gaze"]).set_index(["what", "group"]).loc[("point", "a")]
    assert point[["share", "ci_low", "ci_high"]].tolist() == pytest.approx(
        [0.03, *wilson(0.03, 100)]
    )
    gaps = pd.DataFrame(built["gaze_gaps"]).set_index("what")
    assert gaps.loc["point", ["ci_low", "ci_high"]].tolist() == pytest.approx(
        [*newcombe(3, 100, 0, 100)]
    )
    assert (
        gaps.loc["point", "ci_low"] < 0 < gaps.loc["point", "ci_high"]
    )  # three of a hundred against none: nothing
    assert gaps.loc["crop", "difference"] == 0
    assert gaze_rows(saliency.assign(on_head=None), people, groups) == {"gaze": [], "gaze_gaps": []}
    for wide, least, counted in ((80, 2, 100), (81, 2, 0), (80, 1, 0)):
        few = saliency.assign(regions=least)
        published = gaze_rows(few, people.assign(width=wide), groups, as_published=True)["gaze"]
        assert (
            max((one["photos"] for one in published if one["what"] == "tall point"), default=0)
            == counted
        )
        assert max(one["photos"] for one in published if one["what"] == "point") == 100
