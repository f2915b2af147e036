"""What a product may do with a saliency map, and whom each way shows.

Every policy answers with a share for each person: the chance that the focal point is that person's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, special
from scipy.spatial import distance

from gslopes.core.errors import UnknownName
from gslopes.crops.pictures import Layout, Ties, from_edge, maxima, owners, winners

Array = NDArray[np.float64]

POLICIES = ("argmax", "sample", "average", "top-k-average", "choose-k", "either-k", "hybrid", "focal-point", "pad")
POINTED = ("argmax", "sample", "average", "top-k-average")  # those that give one focal point

# Agency, automation, coverage, risk where several points are salient: the words of the paper's Table 1; of hybrid ours.
TABLE_1 = {
    "argmax": ("none", "full", "majority", "high"),
    "sample": ("none", "full", "high", "reduced"),
    "average": ("none", "full", "high", "reduced"),
    "top-k-average": ("none", "full", "high", "reduced"),
    "choose-k": ("some", "some", "higher", "greatly reduced"),
    "either-k": ("some", "some", "higher", "greatly reduced"),
    "hybrid": ("where points are apart", "elsewhere", "higher", "greatly reduced"),
    "focal-point": ("full", "none", "full", "none"),
    "pad": ("as uploaded", "full", "full", "none"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How the policies work.

    temperature: of the softmax, by which a map becomes chances (the paper's "equal to the scores" cannot be: scores can
        be negative).
    top: k of top-k-average.  peaks: k of choose-k and either-k; min_distance: between two of them, of the shorter side.
    apart: hybrid asks the user, who chooses as by choose-k, where two of the k peaks are farther from each other, as a
        share of the shorter side; elsewhere it is argmax.
    """

    temperature: float = 1.0
    ties: Ties = "half"
    top: int = 10
    peaks: int = 3
    min_distance: float = 0.2
    apart: float = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One policy over B pictures.

    shares: (B, people); they sum to 1 but for ``either-k`` and ``pad``.
    points: (B, 2) x y of the focal point, NaN where the policy has none.
    low: (B,) chance that the focal point scores below the map's median.
    """

    shares: Array
    points: Array
    low: Array


def check_policies(names: Sequence[str]) -> None:
    """Raises: UnknownName for a policy that does not exist."""
    for name in names:
        if name not in POLICIES:
            raise UnknownName("policy", name, POLICIES)


def outcomes(
    scores: NDArray[np.floating],
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    plan: Layout,
    names: Sequence[str],
    settings: Settings | None = None,
    draw: NDArray[np.float64] | None = None,
) -> dict[str, Outcome]:
    """Whom each policy shows in each picture.

    scores: (B, rows, columns) maps of pictures with one layout.  x: (columns,), y: (rows,) cell centres, pixels.
    draw: (B,) in [0, 1), by which ``sample`` draws its focal point; without it, it has none.

    Raises: UnknownName.
    """
    check_policies(names)
    settings = settings or Settings()
    cells = _Cells.of(np.asarray(scores, np.float64), x, y, plan)
    return {name: _outcome(name, cells, settings, draw) for name in names}


def cell_weights(scores: Array, temperature: float = 1.0) -> Array:
    """(B, cells) chances of each cell, sum 1; a constant map weighs all alike."""
    return np.asarray(special.softmax(scores / temperature, axis=1))


def temperature_for(scores: Array, share: float = 0.1) -> float:
    """The temperature at which the softmax of a map spreads, by its entropy, over this share of its cells.

    For models whose scores are no log densities: one rule for all units.  scores: (cells,) of a typical map.
    """
    target = np.log(max(share * scores.size, 1.0 + 1e-9))
    spread = float(np.ptp(scores))
    if spread == 0:
        return 1.0
    low, high = spread * 1e-6, spread * 1e6
    for _ in range(80):
        middle = float(np.sqrt(low * high))
        p = special.softmax(scores.ravel() / middle)
        low, high = (middle, high) if special.entr(p).sum() < target else (low, middle)
    return float(np.sqrt(low * high))


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """scores: (B, cells).  grid: rows, columns.  owner: (cells, people).  at: (cells, 2) x y.  plan: of the picture.

    x, y: columns and rows as distances from the picture's edges.
    """

    scores: Array
    grid: tuple[int, int]
    owner: Array
    at: Array
    plan: Layout
    x: Array
    y: Array

    @classmethod
    def of(cls, scores: Array, x: NDArray[np.float32], y: NDArray[np.float32], plan: Layout) -> _Cells:
        at = np.stack([axis.ravel() for axis in np.meshgrid(x, y)], axis=1).astype(np.float64)
        edges = from_edge(x, plan.width), from_edge(y, plan.height)
        return cls(scores.reshape(len(scores), -1), scores.shape[1:], owners(x, y, plan), at, plan, *edges)

    def low(self, weights: Array) -> Array:
        return np.asarray((weights * (self.scores < np.median(self.scores, axis=1, keepdims=True))).sum(axis=1))


def _outcome(name: str, cells: _Cells, settings: Settings, draw: Array | None) -> Outcome:
    count, people = len(cells.scores), len(cells.plan.territories)
    nowhere, none = np.full((count, 2), np.nan), np.full(count, np.nan)
    if name == "argmax":
        return _argmax(cells, settings.ties)
    if name in ("sample", "average"):
        weights = cell_weights(cells.scores, settings.temperature)
        if name == "average":
            return _pointed(cells, weights)
        points = nowhere if draw is None else cells.at[_drawn(weights, draw)]
        return Outcome(np.asarray(weights @ cells.owner), points, cells.low(weights))
    if name == "top-k-average":
        return _pointed(cells, _top_weights(cells.scores, min(settings.top, cells.scores.shape[1])))
    if name in ("choose-k", "either-k"):
        shares = np.array([_peak_shares(cells, index, settings, name == "either-k") for index in range(count)])
        return Outcome(shares.reshape(count, people), nowhere, none)
    if name == "hybrid":
        return _hybrid(cells, settings)
    alone = 1.0 if name == "pad" else 1 / people
    return Outcome(np.full((count, people), alone), nowhere, none)


def _argmax(cells: _Cells, ties: Ties) -> Outcome:
    best = np.argmax(cells.scores, axis=1)
    shares = cells.owner[best] if ties == "first" else winners(maxima(cells.scores, cells.owner), cells.scores)
    return Outcome(shares, cells.at[best], np.zeros(len(best)))


def _drawn(weights: Array, draw: Array) -> NDArray[np.int64]:
    passed = np.cumsum(weights, axis=1) >= draw[:, None] * weights.sum(axis=1, keepdims=True)
    return np.argmax(passed, axis=1)


def _top_weights(scores: Array, top: int) -> Array:
    """(B, cells) weights of the ``top`` highest cells, sum 1; cells tied for the last places share them."""
    last = -np.partition(-scores, top - 1, axis=1)[:, top - 1 : top]
    above, tied = scores > last, scores == last
    left = top - above.sum(axis=1, keepdims=True)
    return np.asarray((above + tied * left / tied.sum(axis=1, keepdims=True)) / top)


def _pointed(cells: _Cells, weights: Array) -> Outcome:
    """A policy whose focal point is the weighted mean of cells: it counts for the territory that it lies in."""
    points = weights @ cells.at
    x, y = points[:, 0] + cells.x[0] - cells.at[0, 0], points[:, 1] + cells.y[0] - cells.at[0, 1]
    nearest = [int(np.argmin(np.square(cells.at - point).sum(axis=1))) for point in points]
    at_point = cells.scores[np.arange(len(points)), nearest]
    low = (at_point < np.median(cells.scores, axis=1)).astype(np.float64)
    return Outcome(cells.plan.shares(x, y), points, low)


def find_peaks(
    scores: Array, x: NDArray[np.floating], y: NDArray[np.floating], count: int, min_distance: float
) -> list[tuple[float, float, float]]:
    """The highest local maxima of a map, ``min_distance`` pixels or more from each other: (x, y, score), highest first.

    scores: (rows, columns).  A maximum at the border counts; a constant map has none.
    """
    if np.ptp(scores) == 0:
        return []
    local = scores == ndimage.maximum_filter(scores, size=3, mode="nearest")
    rows, columns = np.nonzero(local & (scores > scores.min()))
    order = np.argsort(-scores[rows, columns], kind="stable")
    kept: list[tuple[float, float, float]] = []
    for index in order:
        place = float(x[columns[index]]), float(y[rows[index]])
        if all((place[0] - px) ** 2 + (place[1] - py) ** 2 >= min_distance**2 for px, py, _ in kept):
            kept.append((*place, float(scores[rows[index], columns[index]])))
            if len(kept) == count:
                break
    return kept


def _hybrid(cells: _Cells, settings: Settings) -> Outcome:
    """Argmax, unless peaks are far apart: the user is asked, so that there is no point, and ``low`` is NaN."""
    certain = _argmax(cells, settings.ties)
    shares, points, low = certain.shares.copy(), certain.points.copy(), certain.low.copy()
    shorter = min(cells.plan.width, cells.plan.height)
    for index, scores in enumerate(cells.scores):
        peaks = find_peaks(
            scores.reshape(cells.grid), cells.x, cells.y, settings.peaks, settings.min_distance * shorter
        )
        places = np.array(peaks).reshape(-1, 3)[:, :2]
        if len(places) > 1 and distance.pdist(places).max() > settings.apart * shorter:
            shares[index] = _peak_shares(cells, index, settings, either=False)
            points[index], low[index] = np.nan, np.nan
    return Outcome(shares, points, low)


def _peak_shares(cells: _Cells, index: int, settings: Settings, either: bool) -> Array:
    """Among equal peaks the first in order is taken: the mean over the map and its mirror image favours no side."""
    grid = cells.scores[index].reshape(cells.grid)
    min_distance = settings.min_distance * min(cells.plan.width, cells.plan.height)
    people = len(cells.plan.territories)
    found = []
    side_by_side = cells.plan.territories[0].y1 == cells.plan.height
    for step in (1, -1):
        across, down = (step, 1) if side_by_side else (1, step)
        turned = grid[::down, ::across], cells.x[::across], cells.y[::down]
        peaks = find_peaks(*turned, settings.peaks, min_distance)
        if not peaks:
            return np.full(people, 1 / people)
        x, y, _ = np.array(peaks).T
        counts = cells.plan.shares(x, y).sum(axis=0)
        found.append((counts > 0).astype(np.float64) if either else counts / counts.sum())
    return np.asarray(np.mean(found, axis=0))


def weighted_exposure(h: Array, views: int, exponent: float) -> tuple[float, float, float]:
    """Mean and standard deviation of a group's share of views, where few pictures get most of them; n_eff.

    h: shares of the group in the pictures, any shape, NaN where not asked.  views: N pictures in random order, the k-th
    seen in proportion to k^-exponent.

    Source: the standard error of a weighted mean with n_eff = (sum v)^2/sum v^2.
    """
    known = h[~np.isnan(h)]
    weight = np.arange(1, views + 1, dtype=np.float64) ** -exponent
    effective = float(weight.sum() ** 2 / np.square(weight).sum())
    mean = float(known.mean())
    return mean, float(np.sqrt(max(np.square(known).mean() - mean**2, 0.0) / effective)), effective
