"""Cells of the coverage bench: captions' differences of groups, how they change between stages, and rates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from coverage_cases import Count, counted
from scipy import sparse

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.rows import change, compare, rate
from gslopes.captions.stimuli.corpus import Presence

OPTIONS = AuditOptions(min_active=1)


def held(low: np.ndarray, high: np.ndarray, truth: float) -> tuple[np.ndarray, np.ndarray]:
    """Whether ends hold a truth, and whether there are any."""
    return (low <= truth) & (truth <= high), ~np.isnan(low)


def changed(
    rng: np.random.Generator, sets: int, designs: dict[str, tuple[int, int, list[float]]]
) -> Iterator[Count]:
    """Designs: images of each group; shares at truth (group, other) and at the target, independent of each other."""
    for title, (n, m, shares) in designs.items():
        sides = np.repeat([1, -1], [n, m]).astype(np.int8)
        chances = [np.where(sides == 1, shares[start], shares[start + 1]) for start in (0, 2)]
        before, after = (
            sparse.csr_array((rng.random((sets, n + m)) < chance).astype(float))
            for chance in chances
        )
        truth = shares[2] - shares[3] - shares[0] + shares[1]
        _, low, high, p = change(before, after, sides)
        yield counted(
            f"interval holds, {title}", "signed change, added pairs", *held(low, high, truth)
        )
        if not truth:
            yield counted(
                f"p < 0.05, {title}", "signed change, added pairs", p < 0.05, ~np.isnan(p)
            )


def s4_changes(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """100 images a group: difference at truth 2 points, at the target 10 (change 8); none anywhere; 25 and 33."""
    designs = {
        "+8 of 2": (100, 100, [0.12, 0.10, 0.20, 0.10]),
        "no difference": (100, 100, [0.10, 0.10, 0.10, 0.10]),
        "+8 of 25": (100, 100, [0.40, 0.15, 0.48, 0.15]),
    }
    yield from changed(rng, sets, designs)


def s4_changes_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Other designs: 40 images against 300, rare; 25 a group, in nearly all images; rare and none anywhere."""
    designs = {
        "40 and 300, rare": (40, 300, [0.05, 0.03, 0.10, 0.03]),
        "25 and 25, common": (25, 25, [0.9, 0.8, 0.95, 0.95]),
        "no difference, 3 % of 60 and 400": (60, 400, [0.03, 0.03, 0.03, 0.03]),
    }
    yield from changed(rng, sets, designs)


def shares_of_captions(
    rng: np.random.Generator,
    sets: int,
    sizes: tuple[int, int],
    spread: tuple[float, float],
    title: str,
) -> Iterator[Count]:
    """Shares of an image's five captions: beta of mean 0.5 by group, ``spread`` its precision."""
    sides = np.repeat([1, -1], sizes).astype(np.int8)
    precision = np.where(sides == 1, *spread) / 2
    matrix = rng.binomial(5, rng.beta(precision, precision, (sets, len(sides)))) / 5
    result = compare(Presence((), (), sparse.csr_array(matrix), False), sides, OPTIONS)
    yield counted(f"p < 0.05, {title}", "Welch", result.p < 0.05, ~np.isnan(result.p))
    yield counted(f"interval holds, {title}", "Welch", *held(result.ci_low, result.ci_high, 0))


def each_unequal_spread(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Equal means, 25 images of great spread against 200 of little."""
    yield from shares_of_captions(rng, sets, (25, 200), (0.2, 50.0), "25 and 200 images")


def each_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Other designs: less unequal sizes and spreads; the greater group varies more; equal spread."""
    yield from shares_of_captions(rng, sets, (40, 120), (0.5, 8.0), "40 and 120 images")
    yield from shares_of_captions(rng, sets, (30, 150), (50.0, 0.2), "30 alike and 150 images")
    yield from shares_of_captions(rng, sets, (20, 60), (2.0, 2.0), "20 and 60 images, equal spread")


def rates(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Five captions an image, of one image more alike: 1, 5 and 30 % of the captions of 100 and 1,000 images."""
    for images, share in ((100, 0.05), (100, 0.3), (1000, 0.01), (1000, 0.05)):
        counts = rng.binomial(5, rng.beta(share * 2, (1 - share) * 2, (sets, images)))
        ends = np.array([rate(row.astype(float), np.full(images, 5.0))[1:] for row in counts])
        title = f"{share:.0%} of {images:,} images' captions"
        yield counted(f"interval holds, {title}", "Wilson over images", *held(*ends.T, share))


def rare_concepts(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """5 % of 30 images against 5 % of 250; 20 % of 60 against 8 % of 100; 97 % of 50 against 90 % of 400."""
    designs = [((30, 250), (0.05, 0.05)), ((60, 100), (0.20, 0.08)), ((50, 400), (0.97, 0.90))]
    for (n, m), shares in designs:
        sides = np.repeat([1, -1], (n, m)).astype(np.int8)
        matrix = (rng.random((sets, n + m)) < np.where(sides == 1, *shares)).astype(float)
        result = compare(Presence((), (), sparse.csr_array(matrix), True), sides, OPTIONS)
        truth, title = (
            100 * (shares[0] - shares[1]),
            f"{shares[0]:.0%} of {n}, {shares[1]:.0%} of {m}",
        )
        yield counted(
            f"interval holds, {title}", "Newcombe", *held(result.ci_low, result.ci_high, truth)
        )


CASES = {
    "s4-changes": s4_changes,
    "s4-changes-unseen": s4_changes_unseen,
    "each-unequal-spread": each_unequal_spread,
    "each-unseen": each_unseen,
    "rare-concepts": rare_concepts,
    "rates": rates,
}
