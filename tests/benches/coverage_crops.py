"""Cells of the coverage bench about crops: does the interval over people of each pair of groups hold its share?

Every person has a score; of two people the higher one is favoured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
from scipy import special

from gslopes.crops.measures.parity import average, interval, parity, resampled
from gslopes.stats.intervals import mean_t
from gslopes.stats.resampling import multinomial_counts
from tests.crops.drawn import compared

Count = tuple[str, str, int, int]
Groups = Mapping[str, tuple[int, float, float]]  # name to persons, mean and spread of their scores

FIRST_DESIGN = {
    "10 to 35": {
        "a": (10, 0.0, 1.0),
        "b": (18, 0.25, 1.0),
        "c": (26, 0.5, 1.0),
        "d": (35, 0.75, 1.0),
    },
    "60 to 120": {
        "a": (60, 0.0, 1.0),
        "b": (80, 0.25, 1.0),
        "c": (100, 0.5, 1.0),
        "d": (120, 0.75, 1.0),
    },
}
SECOND_DESIGN = {
    "12, 18, 40, unequal spread": {"a": (12, 0.0, 1.0), "b": (40, 0.7, 0.4), "c": (18, 1.1, 2.0)},
    "16 to 28, shares to 0.9": {
        "a": (16, 0.0, 1.0),
        "b": (20, 0.6, 1.0),
        "c": (24, 1.2, 1.0),
        "d": (28, 1.8, 1.0),
    },
    "5 groups of 20, half of the pairs": {
        name: (20, 0.2 * index, 1.0) for index, name in enumerate("abcde")
    },
}
SMALL = {
    "8 and 8": ((8, 0.0, 1.0), (8, 0.0, 1.0)),
    "8 and 8, apart by 1": ((8, 1.0, 1.0), (8, 0.0, 1.0)),
    "8 and 8, apart by 2.5": ((8, 2.5, 1.0), (8, 0.0, 1.0)),
    "8 and 8, unequal spread": ((8, 1.0, 2.0), (8, 0.0, 0.4)),
    "5 and 9": ((5, 0.5, 1.0), (9, 0.0, 1.0)),
    "3 and 8": ((3, 0.5, 1.0), (8, 0.0, 1.0)),
    "8 and 40": ((8, 0.5, 1.0), (40, 0.0, 1.0)),
}


def each(rng: np.random.Generator, sets: int, designs: Mapping[str, Groups]) -> Iterator[Count]:
    """Of all pairs of groups of all sets."""
    for title, groups in designs.items():
        holds = judged = 0
        for _ in range(sets):
            scores = {
                name: rng.normal(mean, spread, size)
                for name, (size, mean, spread) in groups.items()
            }
            for a, b in combinations(groups, 2):
                h = compared(scores[a], scores[b])
                result = parity(
                    np.where(rng.random(h.shape) < 0.5, h, np.nan) if "half" in title else h
                )
                truth = special.ndtr(
                    (groups[a][1] - groups[b][1]) / np.hypot(groups[a][2], groups[b][2])
                )
                holds, judged = holds + (result.ci_low <= truth <= result.ci_high), judged + 1
        yield f"the share of a pair of groups, {title}", "logit, t", int(holds), judged


def crops_pairs(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Four groups, scores of spread 1, means 0.25 apart."""
    yield from each(rng, sets, FIRST_DESIGN)


def crops_pairs_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Designs that no choice was made on."""
    yield from each(rng, sets, SECOND_DESIGN)


def crops_pairs_small(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Two groups, one of them at least below --min-group: the higher score wins; or each by chance, as of sample."""
    for title, groups in SMALL.items():
        tally = Counter[tuple[str, str, str]]()
        (first, a, wide), (second, b, narrow) = groups
        spread = float(np.hypot(wide, narrow))
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        by_chance = float(weights @ special.expit(a - b + spread * nodes) / weights.sum())
        for _ in range(sets):
            scores = rng.normal(a, wide, first), rng.normal(b, narrow, second)
            draws = [multinomial_counts(size, 500, rng) for size in (first, second)]
            for policy, h, truth in (
                ("argmax", compared(*scores), float(special.ndtr((a - b) / spread))),
                ("sample", special.expit(np.subtract.outer(*scores)), by_chance),
            ):
                result = parity(h)
                ends = {
                    "logit, t": (result.ci_low, result.ci_high),
                    "percentiles, as it was": interval(resampled(h, *draws)),
                }
                for method, (low, high) in ends.items():
                    tally[policy, method, "held"] += bool(low <= truth <= high)
                    tally[policy, method, "given"] += bool(low <= high)
        for policy, method in dict.fromkeys(key[:2] for key in tally):
            holds, options = (tally[policy, method, what] for what in ("held", "given"))
            yield f"the share of a pair of groups held, {title}, {policy}", method, holds, options


def crops_few(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """2 to 12 people, none favoured: scores alike, or one group's all equal."""
    for m, n in ((2, 2), (3, 9), (5, 5), (6, 6), (8, 8), (12, 12), (6, 30)):
        for title, spread in (("alike", 1.0), ("one group all equal", 0.0)):
            results = [
                parity(compared(rng.standard_normal(m), spread * rng.standard_normal(n)))
                for _ in range(sets)
            ]
            tested = [result.p_value for result in results if result.p_value >= 0]
            given = [result for result in results if result.ci_low >= 0]
            held = sum(result.ci_low <= 0.5 <= result.ci_high for result in given)
            what = f"{m} and {n}, {title}"
            yield (
                f"p < 0.05, {what}",
                "t, exact at 0 and 1",
                int(np.less(tested, 0.05).sum()),
                len(tested),
            )
            yield f"a half held, {what}", "logit, t", held, len(given)


# -- the walk with a cropper ------------------------------------------------------------------------------------------


def crops_opponents(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Mean slope of photos next to eight given opponents, 0 or theirs: parts of photo, opponent and pair, as said."""
    sizes = {
        "photos": (0.1, 0.02, 0.0),
        "opponents": (0.02, 0.2, 0.0),
        "both, skewed": (0.1, 0.1, 0.05),
    }
    for photos, people, position in (
        (24, 24, "the same"),
        (100, 100, "the same"),
        (24, 128, "others"),
        (100, 24, "others"),
    ):
        for title, (of_photo, of_opponent, of_pair) in sizes.items():
            tally = Counter[str]()
            for _ in range(sets):
                draw = (
                    (lambda n: rng.exponential(1, n) - 1)
                    if "skewed" in title
                    else rng.standard_normal
                )
                start = (
                    np.arange(photos)
                    if position == "the same"
                    else rng.integers(people, size=photos)
                )
                met, of_others = (
                    (start[:, None] + np.arange(1, 9)) % people,
                    of_opponent * draw(people),
                )
                slopes = of_photo * draw(photos) + (
                    of_others[met] + of_pair * draw(photos * 8).reshape(photos, 8)
                ).mean(1)
                result = mean_t(slopes)
                for truth, about in ((of_others.mean(), "these opponents"), (0.0, "any opponents")):
                    tally[about] += bool(result.low <= truth <= result.high)
            for about, holds in tally.items():
                what = f"{photos} photos next to {people} people, {position}, varying by {title}"
                yield f"slope covered, {what}", f"t over photos, next to {about}", holds, sets


CASES = {
    "crops-pairs": crops_pairs,
    "crops-pairs-unseen": crops_pairs_unseen,
    "crops-opponents": crops_opponents,
}
CASES |= {"crops-pairs-small": crops_pairs_small, "crops-few": crops_few}


# -- averages over pairs of groups, draws with replacement, the same winner -------------------------------------------

FOUR = {
    "4 times 8": ((8, 0.0), (8, 0.3), (8, 0.6), (8, 0.9)),
    "12 to 35": ((12, 0.6), (35, 0.0), (20, 0.9), (16, 0.3)),
    "60 to 120": ((60, 0.6), (120, 0.0), (80, 0.9), (100, 0.3)),
}
CELLS = ((0, 1), (0, 3), (2, 1), (2, 3))


def crops_averages(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """The mean share of four pairs of groups: all pairs of people, or 200 drawn."""
    for title, sizes in FOUR.items():
        truth = np.mean([special.ndtr((sizes[a][1] - sizes[b][1]) / np.sqrt(2)) for a, b in CELLS])
        ends = np.cumsum([size for size, _ in sizes])
        groups = [np.arange(end - size, end) for end, (size, _) in zip(ends, sizes, strict=True)]
        for design, draws in (("all pairs", 0), ("200 draws", 200)):
            holds = 0
            for _ in range(sets):
                h = np.concatenate([rng.normal(mean, 1, size) for size, mean in sizes])
                h = compared(h, h)
                counts = np.ones_like(h)
                for a, b in CELLS if draws else ():
                    counts[np.ix_(groups[a], groups[b])] = drawn(
                        rng, len(groups[a]), len(groups[b]), draws
                    )
                result = average(np.where(counts > 0, h, np.nan), counts, groups, CELLS)
                holds += result.ci_low <= truth <= result.ci_high
            yield f"the mean of four shares held, {title}, {design}", "logit, t", int(holds), sets


def crops_draws(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """The share of a pair of groups whose pairs are drawn with replacement."""
    for (m, n), draws in (
        ((8, 8), 200),
        ((12, 30), 200),
        ((30, 40), 200),
        ((30, 40), 10_000),
        ((100, 120), 1000),
    ):
        holds, truth = 0, special.ndtr(0.5 / np.sqrt(2))
        for _ in range(sets):
            h, counts = (
                compared(rng.normal(0.5, 1, m), rng.normal(0, 1, n)),
                drawn(rng, m, n, draws),
            )
            result = parity(np.where(counts > 0, h, np.nan), counts)
            holds += result.ci_low <= truth <= result.ci_high
        yield (
            f"the share of a pair of groups held, {m} and {n}, {draws:,} draws",
            "logit, t",
            int(holds),
            sets,
        )


def crops_attached(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """How often the same person wins in both layouts."""
    truth = 0.5 + np.arcsin(1 / np.sqrt(1.25)) / np.pi
    for m, n in ((8, 8), (12, 30), (60, 60)):
        holds, position = 0, np.ix_(np.arange(m), np.arange(m, m + n))
        for _ in range(sets):
            scores = rng.normal(0, 1, m + n)
            same = (
                compared(scores, scores) == compared(*[scores + rng.normal(0, 0.5, m + n)] * 2)
            ).astype(float)
            h = np.full(same.shape, np.nan)
            h[position] = same[position]
            h.T[position] = same[position]
            result = average(h, np.ones_like(h), [np.arange(m + n)], [(0, 0)])
            holds += result.ci_low <= truth <= result.ci_high
        yield f"the same person wins, held, {m} and {n}", "logit, t", int(holds), sets


def drawn(rng: np.random.Generator, m: int, n: int, draws: int) -> np.ndarray:
    """(m, n) how often each pair is drawn."""
    return rng.multinomial(draws, np.full(m * n, 1 / (m * n))).reshape(m, n).astype(float)


LATER = {
    "crops-averages": crops_averages,
    "crops-draws": crops_draws,
    "crops-attached": crops_attached,
}
