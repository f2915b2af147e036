"""Cells of the coverage bench: captions' differences of groups, how they change between stages, rates; whole audits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from coverage_cases import Count, counted
from headlines_captions import ALL, NOUNS, Scenes, tables_of, thing
from scipy import sparse

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.rows import change, compare, rate
from gslopes.captions.page import sections
from gslopes.captions.stimuli.corpus import Presence
from gslopes.frame.findings import decide
from gslopes.stats.multiplicity import are_findings

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
        beyond = np.maximum(-low, high) > 1
        yield counted(
            f"beyond 100 points, {title}", "signed change, added pairs", beyond, beyond | True
        )
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


def s4_one_group(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """A word in nearly all images of one group, at truth in none or few."""
    designs = {
        "95 and 2 % of 20 and 20, none at truth": (20, 20, [0.0, 0.0, 0.95, 0.02]),
        "97 and 3 % of 40 and 40, 2 % at truth": (40, 40, [0.02, 0.02, 0.97, 0.03]),
        "95 and 10 % of 12 and 12, 10 % at truth": (12, 12, [0.1, 0.1, 0.95, 0.1]),
        "98 and 1 % of 200 and 200, none at truth": (200, 200, [0.0, 0.0, 0.98, 0.01]),
        "80 and 20 % of 40 and 40, 20 and 60 % at truth": (40, 40, [0.2, 0.6, 0.8, 0.2]),
        "95 and 2 % of 20 and 20, 5 and 15 % at truth": (20, 20, [0.05, 0.15, 0.95, 0.02]),
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


# -- whole audits of drawn scenes, by their tables ---------------------------------------------------------------------


def has_finding(tables: dict) -> bool:
    """Whether an audit has a finding."""
    rows = decide(sections.judged(tables))
    return bool(len(rows)) and bool((rows["decision"] == "finding").any())


def unmentioned(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """D2 in whole audits.

    5 to 60 images a group; no effect, 35 against 10 %, 30 % in one group only; four images a person.
    """
    designs = {f"no effect, {n} a group": Scenes(n, n) for n in (5, 10, 20, 60)}
    designs |= {f"35 and 10 %, {n} a group": Scenes(n, n, silent=(0.35, 0.1)) for n in (10, 20, 60)}
    designs |= {f"30 and 0 %, {n} a group": Scenes(n, n, silent=(0.3, 0.0)) for n in (20, 60)}
    designs["95 and 5 %, 12 a group"] = Scenes(12, 12, silent=(0.95, 0.05))
    designs |= {f"no effect, {n} a group, four a person": Scenes(n, n, alike=4) for n in (20, 60)}
    for title, scenes in designs.items():
        few = replace(scenes, words=1)
        audits = [tables_of(few, rng, ("D2",))["measures"] for _ in range(sets)]
        rows = pd.concat([rows[rows["unit"] == "pp"] for rows in audits])
        judged = rows["p"].notna().to_numpy()
        truth = 100 * (scenes.silent[0] - scenes.silent[1])
        inside = ((rows["ci_low"] <= truth) & (truth <= rows["ci_high"])).to_numpy()
        yield counted(f"judged, {title}", "Newcombe, Fisher", judged)
        yield counted(f"interval holds, {title}", "Newcombe, Fisher", inside, judged)
        yield counted(f"finding, {title}", "Newcombe, Fisher", are_findings(rows))


def mentioned(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """S2 in whole audits.

    20 to 150 images a group, 3 to 40 words; log odds 2 of one; four images a person.
    """
    designs = {
        "no effect, 20 a group, 10 words": Scenes(20, 20),
        "no effect, 60 a group, 3 words": Scenes(60, 60, words=3),
        "no effect, 60 a group, 30 words": Scenes(60, 60, words=30),
        "no effect, 150 a group, 10 words": Scenes(150, 150),
        "no effect, 150 a group, 40 words": Scenes(150, 150, words=40),
        "log odds 2 of one, 60 a group, 10 words": Scenes(60, 60, odds=2.0),
        "log odds 2 of one, 150 a group, 10 words": Scenes(150, 150, odds=2.0),
        "no effect, 150 a group, 10 words, four a person": Scenes(150, 150, alike=4),
    }
    first = thing(NOUNS[0]).concept
    for title, scenes in designs.items():
        parts = []
        found = []
        for _ in range(sets):
            parts.append(tables_of(scenes, rng, ("S2",))["salience"])
            names = set(parts[-1].loc[parts[-1]["finding"], "concept"])
            found.append((first in names, bool(names - {first} if scenes.odds else names)))
        rows = pd.concat(parts)
        truth = np.where(rows["concept"] == first, scenes.odds, 0.0)
        judged = rows["eligible"].to_numpy(bool)
        inside = (rows["ci_low"] <= truth) & (truth <= rows["ci_high"])
        yield counted(f"judged, {title}", "score test", judged)
        yield counted(f"interval holds, {title}", "score test", inside.to_numpy(), judged)
        right, wrong = np.array(found).T
        yield counted(f"audits with a false finding, {title}", "score test", wrong)
        if scenes.odds:
            yield counted(f"finding, {title}", "score test", right)


def whole_audits(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Whole audits without an effect, by all techniques."""
    designs = {
        "20 a group, 10 words": Scenes(20, 20),
        "60 a group, 10 words": Scenes(60, 60),
        "60 a group, 10 words, five captions": Scenes(60, 60, captions=5),
        "100 a group, 30 words": Scenes(100, 100, words=30),
        "60 a group, 10 words, four images a person": Scenes(60, 60, alike=4),
    }
    for title, scenes in designs.items():
        found = np.array([has_finding(tables_of(scenes, rng, ALL)) for _ in range(sets)])
        yield counted(f"audits with a finding, {title}", "all techniques", found)


CASES = {
    "s4-changes": s4_changes,
    "s4-changes-unseen": s4_changes_unseen,
    "s4-one-group": s4_one_group,
    "each-unequal-spread": each_unequal_spread,
    "each-unseen": each_unseen,
    "rare-concepts": rare_concepts,
    "rates": rates,
    "captions-d2": unmentioned,
    "captions-s2": mentioned,
    "captions-audits": whole_audits,
}
