"""Shares of photos, alike if they are of one person: intervals and a test of independence over people.

Sums are by person, (U,) arrays: how many photos of each count, of how many.  With one photo a person all numbers are
the usual ones: Wilson's and Newcombe's intervals, Pearson's test.
"""

from functools import lru_cache
from math import nan, sqrt

import numpy as np
from scipy import special

from gslopes.core.records import AnyIntegers, Array, Flags, Interval, doubles
from gslopes.stats.intervals import newcombe, t_quantile, wilson
from gslopes.stats.rounding import settled

_PRIOR = 2.0  # hits or misses; with as few of them it is half assumed that all photos of a person are alike


@lru_cache(maxsize=100_000)
def fisher(a: int, n: int, b: int, m: int) -> float:
    """Fisher's exact p, two-sided.  Null hypothesis: the same probability in both groups.

    >>> round(fisher(4, 5, 1, 5), 4)
    0.2063
    """
    from scipy.stats import fisher_exact  # half a second to import

    return float(fisher_exact([[a, n - a], [b, m - b]]).pvalue) if n and m else nan


def effective_photos(hits: Array, photos: Array) -> float:
    """How many photos of different people tell as much about a share as these do; NaN if that cannot be known.

    The photos over the design effect, by the jackknife over people, and over the square of what t over people widens.
    The degrees of freedom are one less than Kish's effective number of people.  The fewer the hits or the misses, the
    more the design effect is taken to be as of photos that are all alike, since few of them show nothing.

    hits: (U,) at most photos.  photos: (U,) whole numbers.

    Source: Kish 1965, Survey Sampling, section 8.2; Korn & Graubard 1998, Survey Methodology 24:193.

    >>> effective_photos(np.array([1.0, 0.0, 1.0]), np.ones(3))
    3.0
    >>> round(effective_photos(np.repeat([3.0, 0.0], 20), np.full(40, 3.0)), 1)  # 40 people, not 120
    37.7
    """
    hits = hits[photos > 0]
    photos = photos[photos > 0]
    people = len(photos)
    n = float(photos.sum())
    if not people or photos.max() <= 1:
        return n
    kish = n**2 / float(np.square(photos).sum())
    if people < 2 or not kish > 1:
        return nan
    hit = float(hits.sum())
    share = hit / n
    effect = alike = n / kish
    few = min(hit, float((photos - hits).sum()))
    if few > 0:
        moves = settled(hits - share * photos, photos)
        variance = (people - 1) / people * float(np.square(moves / (n - photos)).sum())
        if not variance > 0:
            return nan  # all people have the same share: no variation between them to judge by
        effect = variance / (share * (1 - share) / (n - 1))
        effect += _PRIOR / (_PRIOR + few) * max(alike - effect, 0.0)
    return n / effect * float(t_quantile(n - 1) / t_quantile(kish - 1)) ** 2


def share_interval(hits: Array, photos: Array) -> Interval:
    """Wilson's 95 % interval of a share for as many photos as ``effective_photos`` gives, with its arguments."""
    n = float(photos.sum())
    return wilson(float(hits.sum()) / n if n else nan, effective_photos(hits, photos))


def difference_interval(first: tuple[Array, Array], second: tuple[Array, Array]) -> Interval:
    """Newcombe's 95 % interval of a difference of two shares of the same people, first less second.

    first, second: (hits, photos) by person, (U,) each, of people in one order.  Both shares for as many photos as
    ``effective_photos`` gives, with the correlation that people who count in both give them.
    """
    counts = []
    moves = []
    for hits, photos in (first, second):
        n = float(photos.sum())
        effective = effective_photos(hits, photos)
        if not effective > 0:
            return nan, nan
        hit = float(hits.sum())
        share = hit / n
        counts.append((hit if effective == n else share * effective, effective))
        moves.append(settled(hits - share * photos, photos))
    one, other = moves
    scale = sqrt(float((one @ one) * (other @ other)))
    correlation = float(one @ other) / scale if scale > 0 else 0.0
    return newcombe(*counts[0], *counts[1], max(-1.0, min(1.0, correlation)))


def independence_p(hit: Flags, group: AnyIntegers, person: AnyIntegers) -> float:
    """P of Pearson's X² of a yes or no against groups, photos of one person alike; NaN if either never varies.

    With one photo a person by the chi-squared distribution, else by Rao and Scott's second-order correction as an F,
    no design effect under 1: in sparse tables these are noise.

    hit: (n,).  group: (n,) codes.  person: (n,) codes from 0.

    Source: Rao & Scott 1984, doi 10.1214/aos/1176346391; Thomas & Rao 1987, doi 10.1080/01621459.1987.10478473.
    """
    members = doubles(group[:, None] == np.unique(group))  # (n, G)
    shares = members.mean(0)
    rate = float(hit.mean()) if len(hit) else 0.0
    n = len(hit)
    df = members.shape[1] - 1
    if df < 1 or not 0 < rate < 1:
        return nan
    moves = (hit - rate)[:, None] * (members - shares)
    gaps = moves.mean(0)
    statistic = n * float((gaps**2 / shares).sum()) / (rate * (1 - rate))
    sizes = np.bincount(person)
    people = int((sizes > 0).sum())
    if people == n:
        return float(special.chdtrc(df, statistic))
    if people < 2:
        return nan
    sums = np.stack([np.bincount(person, column) for column in (moves - gaps)[:, :-1].T], 1)
    covariance = people / (people - 1) * sums.T @ sums / n
    usual = rate * (1 - rate) * (np.diag(shares) - np.outer(shares, shares))[:-1, :-1]
    effects = np.maximum(np.linalg.eigvals(np.linalg.solve(usual, covariance)).real, 1.0)
    total = float(effects.sum())
    freedom = total**2 / float((effects**2).sum())
    return float(special.fdtrc(freedom, freedom * (people - 1), statistic / total))
