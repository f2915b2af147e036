"""By person: bootstrap intervals, exact and permutation tests of changes between two pictures of the same people.

A *unit* is a person with all photos.  Sums over a unit's pictures are (U, B): B backgrounds of a context, 1 at least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.stats.intervals import percentile
from gslopes.stats.permutation import permutation_p, random_signs
from gslopes.stats.resampling import bootstrap_counts

Array = NDArray[np.float64]
RARE = "too rare to judge"
FEW = 10  # discordant people, or people inferred, under which there is no test


def sums(values: Array, keep: NDArray[np.bool_], person: NDArray[np.int64], people: int) -> Array:
    """(U, B) sums of values over each person's photos.  values, keep: (P, B).  person: (P,) codes."""
    result = np.zeros((people, values.shape[1]))
    np.add.at(result, person, np.where(keep, values, 0))
    return result


def resampled(statistic: Callable[..., Array], parts: Sequence[Array], draws: int, seed: int) -> Array:
    """(draws,) a statistic of sums on resamples of people and, where there are two at least, of backgrounds.

    statistic: takes one (draws,) array of totals a part.  parts: (U, B) each.
    """
    units, backgrounds = parts[0].shape
    weights = _weights(units, draws, seed)
    if backgrounds == 1:
        totals = [part[:, 0] @ weights for part in parts]
    else:
        across = _weights(backgrounds, draws, seed + 1)
        totals = [np.einsum("bd,bd->d", part.T @ weights, across) for part in parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistic(*totals), dtype=np.float64)


def interval(replicates: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Ends of the percentile interval; NaN where fewer than half of the resamples have a number."""
    known = replicates[np.isfinite(replicates)]
    if 2 * len(known) < len(replicates) or not len(known):
        return math.nan, math.nan
    return percentile(known, confidence)


def share_change(
    before: Array, after: Array, keep: NDArray[np.bool_], person: NDArray[np.int64], options: ContextOptions
) -> dict[str, Any]:
    """How much a share moves between two pictures of the same photos, over pairs that were both answered.

    Null hypothesis: each person's two answers are exchangeable.  p: exact McNemar (binomial on the discordant pairs)
    where every person is one pair, else sign flips by person.  Interval: percentile bootstrap over people, and over
    backgrounds where there are several.  Fewer than ten discordant people have no p.

    before, after, keep: (P, B) of 0 and 1.  person: (P,) codes.

    Returns change, change_low, change_high, discordant and p, as the ``inferred`` table names them.
    """
    people = int(person.max()) + 1 if len(person) else 0
    difference, changed, pairs = (
        sums(values, keep, person, people) for values in (after - before, np.abs(after - before), np.ones_like(before))
    )
    if not pairs.sum():
        return {"change": math.nan, "change_low": math.nan, "change_high": math.nan, "discordant": 0, "p": math.nan}
    low, high = interval(resampled(lambda up, n: up / n, [difference, pairs], options.bootstrap, options.seed))
    discordant = int((changed.sum(axis=1) > 0).sum())
    by_unit = difference.sum(axis=1)
    if discordant < FEW:
        p = math.nan
    elif pairs.sum(axis=1).max() == 1:
        p = mcnemar(int((by_unit > 0).sum()), int((by_unit < 0).sum()))
    else:
        p = sign_flips(by_unit, options.permutations, options.seed)
    change = float(difference.sum() / pairs.sum())
    return {"change": change, "change_low": low, "change_high": high, "discordant": discordant, "p": p}


def mcnemar(up: int, down: int) -> float:
    """Exact two-sided p of McNemar's test: binomial on the discordant pairs; 1 if there is none.

    Source: McNemar 1947, doi 10.1007/BF02295996.

    >>> mcnemar(12, 3)
    0.03515625
    """
    return float(stats.binomtest(up, up + down).pvalue) if up + down else 1.0


def sign_flips(differences: Array, permutations: int, seed: int) -> float:
    """Two-sided p of a sum of differences by flipping the sign of whole people.  differences: (U,)."""
    observed = abs(float(differences.sum()))
    moving = differences[differences != 0]
    flipped = np.abs(_signs(len(moving), permutations, seed) @ moving)
    return float(permutation_p(np.sum(flipped >= observed - 1e-9), permutations))


def exchanged(
    statistic: Callable[..., Array], before: Sequence[Array], after: Sequence[Array], permutations: int, seed: int
) -> float:
    """Two-sided p of statistic(after) - statistic(before) by exchanging the two answers of whole people.

    before, after: (U,) sums of each unit, one array for each argument of the statistic.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = float(statistic(*[one.sum() for one in after]) - statistic(*[one.sum() for one in before]))
        moving = np.any([one != other for one, other in zip(before, after, strict=True)], axis=0)
        swap = (_signs(int(moving.sum()), permutations, seed) < 0).astype(np.float64)
        first, second = [], []
        for one, other in zip(before, after, strict=True):
            exchanged = swap @ (one - other)[moving]
            first.append(one.sum() - exchanged)
            second.append(other.sum() + exchanged)
        drawn = np.asarray(statistic(*second) - statistic(*first))
    if not math.isfinite(observed):
        return math.nan
    return float(permutation_p(np.sum(np.abs(drawn) >= abs(observed) - 1e-9), permutations))


@lru_cache(maxsize=64)
def _weights(units: int, draws: int, seed: int) -> Array:
    return bootstrap_counts(units, draws, np.random.default_rng([seed, units])).astype(np.float64)


@lru_cache(maxsize=16)
def _signs(units: int, permutations: int, seed: int) -> NDArray[np.float32]:
    return random_signs((permutations, units), np.random.default_rng([seed, units, 7]))
