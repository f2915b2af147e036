"""S3 and S4: distributions of tuples between groups, and the same between stages; descriptive, ours.

Source of the log odds: Monroe, Colaresi & Quinn 2008, Fightin' Words, Political Analysis 16:372.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Coverage, Pair, Presence, presence_of_captions
from gslopes.captions.measures.estimates import ROUNDING, Sampler, change, compare, floor_note
from gslopes.captions.measures.rows import Recorder
from gslopes.stats.multiplicity import adjust
from gslopes.stats.permutation import lone_q, permutation_p
from gslopes.words.graph import KINDS, Fact

Array = NDArray[np.float64]
OPEN_SIGN = "the difference at truth does not exclude 0: its sign is not known"


def divergence(one: Array, other: Array) -> float:
    """Jensen-Shannon divergence of two vectors of counts, in bits.

    Source: Lin 1991, IEEE Transactions on Information Theory 37:145.

    >>> round(divergence(np.array([2, 2]), np.array([4, 0])), 4)
    0.3113
    """
    if not one.sum() or not other.sum():
        return math.nan
    p, q = one / one.sum(), other / other.sum()
    return float(special.entr((p + q) / 2).sum() - (special.entr(p) + special.entr(q)).sum() / 2) / math.log(2)


def log_odds(y: Array, n: float, y_other: Array, n_other: float, prior: Array, total: float) -> tuple[Array, Array]:
    """Log odds ratios with an informative Dirichlet prior, and their z.

    y, y_other: (C,) tokens in each group.  n, n_other: all tokens of each.  prior: (C,) pseudo-counts.  total: their
    sum over all concepts.

    >>> value, z = log_odds(np.array([4.0]), 20, np.array([1.0]), 20, np.array([1.0]), 10)
    >>> round(float(value[0]), 4), round(float(z[0]), 4)
    (1.0296, 1.2306)
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # the only concept there is has no odds
        first = np.log((y + prior) / (n + total - y - prior))
        second = np.log((y_other + prior) / (n_other + total - y_other - prior))
        value = first - second
    value = np.where(np.isfinite(value), value, np.nan)
    return value, value / np.sqrt(1 / (y + prior) + 1 / (y_other + prior))


def between_groups(recorder: Recorder) -> None:
    """S3 at one stage: shares and differences of every concept, log odds, and the divergence of the groups."""
    material, how = recorder.material, recorder.options.captions_per_image
    for kind in KINDS:
        recorder.header |= {"captions": how, "kind": kind}
        table = presence_of_captions(material.stages[recorder.stage], recorder.images, _concepts(kind), how)
        recorder.shares(table)
        for pair in material.pairs:
            _add_tokens(recorder, table, pair)


def between_stages(recorder: Recorder) -> None:
    """S4: how the difference of the groups changes from truth to the target, paired over images."""
    material, options, stages = recorder.material, recorder.options, (recorder.truth, recorder.stage)
    unequal = len({material.has_several_captions(stage) for stage in stages}) > 1
    how = "each" if unequal else options.captions_per_image
    for kind in KINDS:
        recorder.header |= {"captions": how, "kind": kind}
        captions = [material.stages[stage] for stage in stages]
        tables = [presence_of_captions(some, recorder.images, _concepts(kind), how) for some in captions]
        either = sorted({name for table in tables for name in table.concepts})
        names = [name for name in either if _comparable(name, kind, recorder)]
        for pair in material.pairs if names else ():
            _add_changes(recorder, names, [_aligned(table, names) for table in tables], pair)


def amplification(before: float, after: float) -> float:
    """sign(difference at truth) × change: positive if the difference gets wider in the same direction.

    >>> amplification(20, 60), amplification(20, -20)
    (40, -40)
    """
    return int(np.sign(before)) * (after - before)


def _add_changes(recorder: Recorder, names: list[str], matrices: list[sparse.csr_array], pair: Pair) -> None:
    """The signed change of every concept; and whether that widens the difference, where truth's sign is known.

    Where it is not, its sign would be taken from the same images as the change, which pulls the product down.
    """
    sides, clusters = recorder.material.sides(pair, recorder.images), recorder.material.cluster_numbers(recorder.images)
    used, binary = np.flatnonzero(sides), recorder.header["captions"] != "each"
    side, within = sides[used], None if clusters is None else clusters[used]
    n, m = int((side == 1).sum()), int((side == -1).sum())
    before, after = (matrix[:, used] for matrix in matrices)
    active = np.diff((before + after).tocsr().indptr)
    chosen = np.flatnonzero((active >= recorder.options.min_active) & (min(n, m) >= 10))
    if not len(chosen):
        return
    weight = np.where(side == 1, 1 / n, -1 / m)
    found = change(before[chosen], after[chosen], weight, recorder.options, within)
    exact = binary and within is None
    options = replace(recorder.options, permutations=0, bootstrap=0 if exact else recorder.options.bootstrap)
    at_truth = compare(Presence((), (), before[chosen], binary), side, options, within)
    starts, stops = (at_truth.low, at_truth.high) if exact else (at_truth.boot_low, at_truth.boot_high)
    q = adjust(found.p, recorder.options.correction)
    note = floor_note(lone_q(recorder.options.permutations, len(chosen), recorder.options.correction))
    for index, row in enumerate(chosen):
        shared = {"concept": names[row], **pair.columns, "n": n + m, "active": int(active[row])}
        value, *ends, p = (100 * number for number in found.at(index))
        numbers = dict(zip(("ci_low", "ci_high", "boot_low", "boot_high"), ends, strict=True))
        recorder.measure(
            **shared,
            value=value,
            unit="pp",
            **numbers,
            p=p / 100,
            q=q[index],
            estimator="difference of the groups less that at truth, paired",
            null_hypothesis="the two stages are exchangeable for each image",
            note=note,
        )
        difference, known = at_truth.difference[index], starts[index] > 0 or stops[index] < 0
        wider = {"value": amplification(difference, difference + value) if known else math.nan}
        if known:
            turned = [-end for end in (ends[1], ends[0], ends[3], ends[2])] if difference < 0 else ends
            wider |= dict(zip(numbers, turned, strict=True))
        facts = {"unit": "pp wider", "estimator": "amplification: sign of the difference at truth × its change"}
        recorder.measure(**shared, **wider, **facts, note="" if known else OPEN_SIGN)


def _add_tokens(recorder: Recorder, table: Presence, pair: Pair) -> None:
    """Log odds of every concept, and the divergence of the groups."""
    sampler = Sampler(recorder.material.sides(pair, table.images), recorder.material.cluster_numbers(table.images))
    matrix, side = table.matrix[:, sampler.used], sampler.sides
    counts = [np.asarray(matrix[:, side == value].sum(axis=1)).ravel() for value in (1, -1)]
    sizes = [count.sum() for count in counts]
    if not all(sizes):
        return
    prior = np.maximum(table.totals / table.totals.sum() * max(min(sizes) / 10, 0.01), 0.01)
    value, z = log_odds(counts[0], sizes[0], counts[1], sizes[1], prior, float(prior.sum()))
    for index in np.flatnonzero(table.active >= recorder.options.min_active):
        numbers = {"n": len(table.images), "active": int(table.active[index]), "value": value[index]}
        texts = {"concept": table.concepts[index], "estimator": "log odds ratio with a Dirichlet prior"}
        recorder.measure(**pair.columns, **numbers, **texts, unit="log odds", note=f"z = {z[index]:.2f}")
    observed = divergence(*counts)
    p = _permuted(matrix, sampler, observed, recorder.options)
    recorder.measure(
        **pair.columns,
        n=len(side),
        value=observed,
        unit="bits",
        p=p,
        q=p,
        estimator="Jensen-Shannon divergence of the groups' tokens",
        null_hypothesis="the groups' tokens come from one distribution",
    )


def _permuted(matrix: sparse.csr_array, sampler: Sampler, observed: float, options: AuditOptions) -> float:
    """P by permutation of group labels over images or clusters, at most 1,000 times."""
    count = min(options.permutations, 1000)
    if not count:
        return math.nan
    generator = np.random.default_rng([options.seed, 7])
    shuffled = np.stack([sampler.shuffle(generator) for _ in range(count)], axis=1) == 1
    ours = matrix @ shuffled.astype(np.float64)
    theirs = np.asarray(matrix.sum(axis=1)).reshape(-1, 1) - ours
    values = np.array([divergence(ours[:, column], theirs[:, column]) for column in range(count)])
    return float(permutation_p(int((values >= observed - ROUNDING).sum()), count))


def _comparable(name: str, kind: str, recorder: Recorder) -> bool:
    """Whether both stages can hold a concept: of a closed vocabulary its types alone."""
    coverages = [recorder.material.coverage.get(stage, Coverage()) for stage in (recorder.stage, recorder.truth)]
    return all(one.of(kind) != "none" and (one.of(kind) != "closed" or name in one.types) for one in coverages)


def _aligned(table: Presence, names: list[str]) -> sparse.csr_array:
    """The matrix with these concepts as its rows."""
    row_of = {name: row for row, name in enumerate(table.concepts)}
    empty = sparse.csr_array((1, len(table.images)))
    return sparse.vstack([table.matrix, empty], format="csr")[[row_of.get(name, len(row_of)) for name in names]]


def _concepts(kind: str) -> Callable[[Iterable[Fact]], list[str]]:
    return lambda facts: [fact.concept for fact in facts if fact.kind == kind]
