"""Cells of the coverage bench: captions' differences of groups, and how they change between stages.

``as it was`` is what the audit showed before: amplification with the sign of the same images, a permutation of plain
differences, percentiles of resamples however rare a concept is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from coverage_cases import Count, counted
from scipy import sparse

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Presence
from gslopes.captions.measures.estimates import change, compare
from gslopes.stats.intervals import percentiles
from gslopes.stats.permutation import count_extreme, permutation_p
from gslopes.stats.resampling import bootstrap_counts

OPTIONS = AuditOptions(bootstrap=500, permutations=0, min_active=1)


def plain_bootstrap(matrix: np.ndarray, sides: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(2, C) percentiles of the difference of means, whatever there is of it."""
    groups = [np.flatnonzero(sides == side) for side in (1, -1)]
    first, second = (matrix[:, g] @ bootstrap_counts(len(g), OPTIONS.bootstrap, rng) / len(g) for g in groups)
    return 100 * percentiles(first - second)


def held(low: np.ndarray, high: np.ndarray, truth: float) -> tuple[np.ndarray, np.ndarray]:
    """Whether ends hold a truth, and where there are any."""
    return (low <= truth) & (truth <= high), ~np.isnan(low)


def amplified(rng: np.random.Generator, sets: int, designs: dict[str, tuple[int, int, list[float]]]) -> Iterator[Count]:
    """Designs: images of each group; shares at truth (group, other) and at the target, independent of each other."""
    for title, (n, m, shares) in designs.items():
        sides = np.repeat([1, -1], [n, m]).astype(np.int8)
        chances = [np.where(sides == 1, shares[at], shares[at + 1]) for at in (0, 2)]
        before, after = ((rng.random((sets, n + m)) < chance).astype(float) for chance in chances)
        truth = 100 * (shares[2] - shares[3] - shares[0] + shares[1])
        found = change(*map(sparse.csr_array, (before, after)), np.where(sides == 1, 1 / n, -1 / m), OPTIONS)
        low, high, boot_low, boot_high = (100 * part for part in found[1:5])
        at_truth = compare(Presence((), (), sparse.csr_array(before), True), sides, OPTIONS)
        sign = np.sign(at_truth.difference)
        plain = np.sort(sign * plain_bootstrap(after - before, sides, rng), axis=0)
        meant = truth * np.sign(shares[0] - shares[1] or 1)
        yield counted(f"interval holds, {title}", "amplification, as it was", *held(*plain, meant))
        yield counted(f"interval holds, {title}", "signed change, added pairs", *held(low, high, truth))
        yield counted(f"interval holds, {title}", "signed change, bootstrap", *held(boot_low, boot_high, truth))
        known = (at_truth.low > 0) | (at_truth.high < 0)
        yield counted(f"amplification is given, {title}", "truth excludes 0", known)
        ends = np.sort(sign * np.stack([low, high]), axis=0)
        yield counted(f"interval holds, {title}", "amplification where given", held(*ends, meant)[0], known)


def s4_changes(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """100 images a group: difference at truth 2 points, at the target 10 (change 8); none anywhere; 25 and 33."""
    designs = {
        "+8 of 2": (100, 100, [0.12, 0.10, 0.20, 0.10]),
        "no difference": (100, 100, [0.10, 0.10, 0.10, 0.10]),
        "+8 of 25": (100, 100, [0.40, 0.15, 0.48, 0.15]),
    }
    yield from amplified(rng, sets, designs)


def s4_changes_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Another design: 40 images against 300, and 25 a group; rare, and in nearly all images."""
    designs = {
        "40 and 300, rare": (40, 300, [0.05, 0.03, 0.10, 0.03]),
        "25 and 25, common": (25, 25, [0.9, 0.8, 0.95, 0.95]),
    }
    yield from amplified(rng, sets, designs)


def shares_of_captions(
    rng: np.random.Generator, sets: int, sizes: tuple[int, int], spread: tuple[float, float], title: str
) -> Iterator[Count]:
    """Shares of an image's five captions: beta of mean 0.5 by group, ``spread`` its precision."""
    sides = np.repeat([1, -1], sizes).astype(np.int8)
    precision = np.where(sides == 1, *spread) / 2
    matrix = rng.binomial(5, rng.beta(precision, precision, (sets, len(sides)))) / 5
    options = AuditOptions(bootstrap=0, permutations=499, min_active=1)
    found = compare(Presence((), (), sparse.csr_array(matrix), False), sides, options)
    contrast = np.where(sides == 1, 1 / sizes[0], -1 / sizes[1])
    drawn = (rng.permuted(np.tile(contrast, (64, 1)), axis=1).T for _ in range(8))
    plain = permutation_p(count_extreme(matrix, drawn, np.abs(matrix @ contrast) - 1e-12), 512)
    yield counted(f"p < 0.05, {title}", "plain, as it was", plain < 0.05)
    yield counted(f"p < 0.05, {title}", "studentised", found.p < 0.05)


def each_unequal_spread(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Equal means, 25 images of great spread against 200 of little."""
    yield from shares_of_captions(rng, sets, (25, 200), (0.2, 50.0), "25 and 200 images")


def each_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Other designs: less unequal sizes and spreads; the greater group varies more; equal spread."""
    yield from shares_of_captions(rng, sets, (40, 120), (0.5, 8.0), "40 and 120 images")
    yield from shares_of_captions(rng, sets, (30, 150), (50.0, 0.2), "30 alike and 150 images")
    yield from shares_of_captions(rng, sets, (20, 60), (2.0, 2.0), "20 and 60 images, equal spread")


def rare_shares(
    rng: np.random.Generator, sets: int, sizes: tuple[int, int], shares: tuple[float, float], title: str
) -> Iterator[Count]:
    """One concept, its share in each group."""
    sides = np.repeat([1, -1], sizes).astype(np.int8)
    matrix = (rng.random((sets, len(sides))) < np.where(sides == 1, *shares)).astype(float)
    found = compare(Presence((), (), sparse.csr_array(matrix), True), sides, OPTIONS)
    truth = 100 * (shares[0] - shares[1])
    plain = plain_bootstrap(matrix, sides, rng)
    yield counted(f"interval holds, {title}", "bootstrap, as it was", *held(*plain, truth))
    yield counted(f"interval holds, {title}", "bootstrap where shown", *held(found.boot_low, found.boot_high, truth))
    yield counted(f"bootstrap is shown, {title}", "10 with and without it", ~np.isnan(found.boot_low))
    yield counted(f"interval holds, {title}", "Newcombe", *held(found.low, found.high, truth))


def rare_concepts(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """5 % of 30 images against 5 % of 250."""
    yield from rare_shares(rng, sets, (30, 250), (0.05, 0.05), "5 % of 30 and 250")


def rare_concepts_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Other designs: 20 % of 60 against 8 % of 100; 97 % of 50 against 90 % of 400."""
    yield from rare_shares(rng, sets, (60, 100), (0.20, 0.08), "20 % of 60, 8 % of 100")
    yield from rare_shares(rng, sets, (50, 400), (0.97, 0.90), "97 % of 50, 90 % of 400")


CASES = {
    "s4-changes": s4_changes,
    "s4-changes-unseen": s4_changes_unseen,
    "each-unequal-spread": each_unequal_spread,
    "each-unseen": each_unseen,
    "rare-concepts": rare_concepts,
    "rare-concepts-unseen": rare_concepts_unseen,
}
