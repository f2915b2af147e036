"""S3 and S4: distributions of tuples between groups, and the same between stages; descriptive, ours.

Source of the log odds: Monroe, Colaresi & Quinn 2008, Fightin' Words, Political Analysis 16:372.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from gslopes.captions.material import Coverage, Material, Pair, Presence, presence
from gslopes.captions.measures.estimates import change, shuffle
from gslopes.captions.measures.rows import Row, RowHeader, TechniqueResult, measure, shares
from gslopes.captions.options import AuditOptions
from gslopes.language.graph import KINDS, Fact
from gslopes.stats.multiplicity import adjust

Array = NDArray[np.float64]


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


def between_groups(material: Material, stage: str, options: AuditOptions) -> TechniqueResult:
    """S3 at one stage: shares and differences of every concept, log odds, and the divergence of the groups."""
    found = TechniqueResult()
    images = material.images(stage)
    for kind in KINDS:
        how = options.captions_per_image
        header = RowHeader("stereotyping", "S3", stage, captions=how, kind=kind)
        table = presence(material.stages[stage], images, _concepts(kind), how)
        found.measures += shares(header, material, table, options)
        for pair in material.pairs:
            member = material.members(pair, images)
            found.measures += _tokens(header, table, member, pair, options, material.cluster_of(images))
    return found


def between_stages(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """S4: how much wider the difference of the groups is at the target, paired over images."""
    found = TechniqueResult()
    images = material.images(target, truth)
    how = "each" if material.several(target) != material.several(truth) else options.captions_per_image
    for kind in KINDS:
        header = RowHeader("stereotyping", "S4", target, truth, captions=how, kind=kind)
        after = presence(material.stages[target], images, _concepts(kind), how)
        before = presence(material.stages[truth], images, _concepts(kind), how)
        either = sorted({*after.concepts, *before.concepts})
        names = tuple(name for name in either if _comparable(name, kind, material, target, truth))
        matrices = [_aligned(table, names) for table in (before, after)]
        for pair in material.pairs:
            member = material.members(pair, images)
            found.measures += _amplified(header, names, matrices, member, pair, options, material.cluster_of(images))
    return found


def amplification(before: float, after: float) -> float:
    """sign(difference at truth) × change: positive if the difference gets wider in the same direction.

    >>> amplification(20, 60), amplification(20, -20)
    (40, -40)
    """
    return int(np.sign(before)) * (after - before)


def _amplified(
    header: RowHeader,
    names: tuple[str, ...],
    matrices: list[sparse.csr_array],
    member: NDArray[np.int8],
    pair: Pair,
    options: AuditOptions,
    clusters: NDArray[np.int64] | None,
) -> list[Row]:
    used = np.flatnonzero(member)
    side = member[used]
    n, m = int((side == 1).sum()), int((side == -1).sum())
    if not n or not m or not names:
        return []
    weight = np.where(side == 1, 1 / n, -1 / m)
    before, after = (matrix[:, used] for matrix in matrices)
    active = np.diff((before + after).tocsr().indptr)
    chosen = np.flatnonzero((active >= options.min_active) & (min(n, m) >= 10))
    difference = before @ weight
    rows = []
    if not len(chosen):
        return []
    changes, low, high, p = change(
        before[chosen], after[chosen], weight, options, None if clusters is None else clusters[used]
    )
    q = adjust(p, options.correction)
    for place, row in enumerate(chosen):
        sign = np.sign(difference[row]) or np.sign(changes[place])  # from none, any difference is a wider one
        ends = sorted((100 * sign * low[place], 100 * sign * high[place]))
        rows.append(
            measure(
                header,
                concept=names[row],
                column=pair.column,
                group=pair.group,
                other=pair.other,
                n=n + m,
                active=int(active[row]),
                value=100 * sign * changes[place],
                unit="pp",
                boot_low=ends[0],
                boot_high=ends[1],
                p=p[place],
                q=q[place],
                estimator="amplification: sign of the difference at truth × its change",
                null_hypothesis="the two stages are exchangeable for each image",
            )
        )
    return rows


def _tokens(
    header: RowHeader,
    table: Presence,
    member: NDArray[np.int8],
    pair: Pair,
    options: AuditOptions,
    clusters: NDArray[np.int64] | None,
) -> list[Row]:
    counts = [np.asarray(table.matrix[:, member == side].sum(axis=1)).ravel() for side in (1, -1)]
    if not counts[0].sum() or not counts[1].sum():
        return []
    whole = np.asarray(table.matrix.sum(axis=1)).ravel()
    total = max(min(counts[0].sum(), counts[1].sum()) / 10, 0.01)
    prior = np.maximum(whole / whole.sum() * total, 0.01)
    value, z = log_odds(counts[0], counts[0].sum(), counts[1], counts[1].sum(), prior, float(prior.sum()))
    facts = {"column": pair.column, "group": pair.group, "other": pair.other}
    active = np.diff(table.matrix.indptr)
    rows = [
        measure(
            header,
            concept=concept,
            **facts,
            n=len(table.images),
            active=int(active[place]),
            value=value[place],
            unit="log odds",
            estimator="log odds ratio with a Dirichlet prior",
            note=f"z = {z[place]:.2f}",
        )
        for place, concept in enumerate(table.concepts)
        if active[place] >= options.min_active
    ]
    observed = divergence(*counts)
    p = _shuffled(table, member, observed, options, clusters)
    return [
        *rows,
        measure(
            header,
            **facts,
            n=int((member != 0).sum()),
            value=observed,
            unit="bits",
            p=p,
            q=p,
            estimator="Jensen-Shannon divergence of the groups' tokens",
            null_hypothesis="the groups' tokens come from one distribution",
        ),
    ]


def _shuffled(
    table: Presence,
    member: NDArray[np.int8],
    observed: float,
    options: AuditOptions,
    clusters: NDArray[np.int64] | None,
) -> float:
    """Permutation of group labels over images or clusters, at most 1,000 times."""
    count = min(options.permutations, 1000)
    if not count:
        return math.nan
    used = np.flatnonzero(member)
    matrix, within = table.matrix[:, used], None if clusters is None else clusters[used]
    generator = np.random.default_rng([options.seed, 7])
    whole = np.asarray(matrix.sum(axis=1)).ravel()
    orders = [shuffle(member[used], generator, within) for _ in range(count)]
    shuffled = np.stack(orders, axis=1) == 1
    ours = matrix @ shuffled.astype(np.float64)
    values = [divergence(ours[:, column], whole - ours[:, column]) for column in range(count)]
    return float((np.sum(np.array(values) >= observed - 1e-12) + 1) / (count + 1))


def _comparable(name: str, kind: str, material: Material, target: str, truth: str) -> bool:
    """Whether both stages can hold a concept: of a closed vocabulary its types alone."""
    for stage in (target, truth):
        coverage = material.coverage.get(stage, Coverage())
        if coverage.of(kind) == "none" or (coverage.of(kind) == "closed" and name not in coverage.types):
            return False
    return True


def _aligned(table: Presence, names: tuple[str, ...]) -> sparse.csr_array:
    place = {name: row for row, name in enumerate(names)}
    kept = [row for row, name in enumerate(table.concepts) if name in place]
    coo = table.matrix[kept].tocoo()
    rows = np.array([place[table.concepts[row]] for row in kept], dtype=np.int64)
    shape = len(names), len(table.images)
    return sparse.coo_array((coo.data, (rows[coo.row] if len(rows) else coo.row, coo.col)), shape).tocsr()


def _concepts(kind: str) -> Callable[[Iterable[Fact]], list[str]]:
    def concepts(facts: Iterable[Fact]) -> list[str]:
        return [fact.concept for fact in facts if fact.kind == kind]

    return concepts
