"""S3 and S4: distributions of concepts between groups, and the same between stages; descriptive, ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy import sparse

from gslopes.captions.material import Coverage, Presence, presence_of_captions
from gslopes.captions.measures.estimates import LEAST, change
from gslopes.captions.measures.rows import Recorder
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.words.graph import KINDS, Fact


def between_groups(recorder: Recorder) -> None:
    """S3 at one stage: shares and differences of every concept."""
    for kind in KINDS:
        recorder.header |= {"kind": kind}
        captions = recorder.material.stages[recorder.stage]
        recorder.shares(presence_of_captions(captions, recorder.images, _concepts(kind)))


def between_stages(recorder: Recorder) -> None:
    """S4: how the difference of the groups changes from truth to the target, paired over images.

    The signed change; where the stages differ in their number of captions, an image counts by its share of them.
    """
    material, stages = recorder.material, (recorder.truth, recorder.stage)
    each = len({material.has_several_captions(stage) for stage in stages}) > 1
    clusters = material.cluster_numbers(recorder.images)
    for kind in KINDS:
        recorder.header |= {"captions": "each" if each else "union", "kind": kind}
        some = [material.stages[stage] for stage in stages]
        tables = [presence_of_captions(one, recorder.images, _concepts(kind), each=each) for one in some]
        either = sorted({name for table in tables for name in table.concepts})
        names = [name for name in either if _comparable(name, kind, recorder)]
        before, after = (_aligned(table, names) for table in tables)
        for pair in material.pairs if names else ():
            sides = material.sides(pair, recorder.images)
            active = np.diff((before + after).tocsr()[:, np.flatnonzero(sides)].tocsr().indptr)
            chosen = np.flatnonzero(active >= recorder.options.min_active)
            if not len(chosen) or min((sides == 1).sum(), (sides == -1).sum()) < LEAST:
                continue
            value, low, high, p = change(before[chosen], after[chosen], sides, clusters)
            for index, (row, q) in enumerate(zip(chosen, benjamini_hochberg(p), strict=True)):
                recorder.measure(
                    **pair.columns,
                    concept=names[row],
                    n=np.count_nonzero(sides),
                    active=int(active[row]),
                    value=100 * value[index],
                    ci_low=100 * low[index],
                    ci_high=100 * high[index],
                    unit="pp",
                    p=p[index],
                    q=q,
                    estimator="difference at the target minus that at truth, "
                    + ("added pairs" if clusters is None else "Welch over clusters"),
                    null_hypothesis="the difference of the groups does not change",
                )


def _comparable(name: str, kind: str, recorder: Recorder) -> bool:
    """Whether both stages can hold a concept: of a closed vocabulary its types alone."""
    coverages = [recorder.material.coverage.get(stage, Coverage()) for stage in (recorder.stage, recorder.truth)]
    found = [(getattr(one, kind), one.types) for one in coverages]
    return all(how == "open" or (how == "closed" and name in types) for how, types in found)


def _aligned(table: Presence, names: list[str]) -> sparse.csr_array:
    """The matrix with these concepts as its rows."""
    row_of = {name: row for row, name in enumerate(table.concepts)}
    empty = sparse.csr_array((1, len(table.images)))
    return sparse.vstack([table.matrix, empty], format="csr")[[row_of.get(name, len(row_of)) for name in names]]


def _concepts(kind: str) -> Callable[[Iterable[Fact]], list[str]]:
    return lambda facts: [fact.concept for fact in facts if fact.kind == kind]
