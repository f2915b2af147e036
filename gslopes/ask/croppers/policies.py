"""What a product may do with a saliency map, and who is visible then.

Every policy answers with a share for each person: the chance that the focal point is that person's.
"""

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
from scipy import special

from gslopes.ask.croppers.joining import Layout, Ties, from_edge, maxima, owners, winners
from gslopes.core import UnknownName, read_beside
from gslopes.core.records import Array, FloatArray, Numbers, doubles

TABLE_1 = read_beside(__file__, "policies.toml")
TOP = 10  # k of top-k-average
PEAKS = 3  # k of choose-k
MIN_DISTANCE = 0.2  # between two of them, of the shorter side


class Outcome(NamedTuple):
    """One policy over B pictures.

    shares: (B, people); they sum to 1 but for ``pad``.  points: (B, 2) x y of the focal point, NaN without one.
    """

    shares: Array
    points: Array


def check_policies(names: Sequence[str]) -> None:
    """Raises: UnknownName for a policy that does not exist."""
    for name in names:
        if name not in TABLE_1:
            raise UnknownName("policy", name, [*TABLE_1])


def outcomes(
    scores: Numbers,
    x: FloatArray,
    y: FloatArray,
    plan: Layout,
    names: Sequence[str],
    *,
    temperature: float = 1.0,
    ties: Ties = "half",
    draw: Array | None = None,
) -> dict[str, Outcome]:
    """Whom each policy shows in each picture.

    scores: (B, rows, columns) maps of pictures with one layout.  x: (columns,), y: (rows,) cell centres, pixels.
    names: of policies, see ``check_policies``.
    temperature: of the softmax by which a map becomes chances (the paper's "equal to the scores" cannot be: scores can
        be negative).  draw: (B,) in [0, 1), by which ``sample`` draws its focal point; without it, it has none.
    """
    maps = doubles(scores)
    cells = maps.reshape(len(maps), -1)
    people = len(plan.territories)
    grid = doubles(np.stack(np.meshgrid(x, y), -1).reshape(-1, 2))
    owner = owners(x, y, plan)
    shift = np.array([from_edge(x, plan.width)[0], from_edge(y, plan.height)[0]]) - grid[0]
    result = {}
    for name in names:
        shares = np.full((len(cells), people), 1.0 if name == "pad" else 1 / people)
        points = np.full((len(cells), 2), np.nan)
        if name == "argmax":
            best = np.argmax(cells, 1)
            shares = owner[best] if ties == "first" else winners(maxima(cells, owner), cells)
            points = grid[best]
        elif name == "choose-k":
            shares = np.array([_peak_shares(saliency, x, y, plan) for saliency in maps])
        elif name == "top-k-average":
            points = _top_weights(cells, min(TOP, cells.shape[1])) @ grid
        elif name in ("sample", "average"):
            weights = special.softmax(cells / temperature, 1)
            if name == "average":
                points = weights @ grid
            elif draw is not None:
                total = weights.sum(1, keepdims=True)
                passed = np.cumsum(weights, 1) >= draw[:, None] * total
                points = grid[np.argmax(passed, 1)]
            shares = weights @ owner
        if name.endswith("average"):  # a mean of cells counts for the territory that it lies in
            shares = plan.shares(*(points + shift).T)
        result[name] = Outcome(shares, points)
    return result


def _top_weights(scores: Array, top: int) -> Array:
    """(B, cells) weights of the ``top`` highest cells, sum 1; cells tied for the last places share them."""
    last = -np.partition(-scores, top - 1, axis=1)[:, top - 1 : top]
    above = scores > last
    tied = scores == last
    places = top - above.sum(1, keepdims=True)
    return np.asarray((above + tied * places / tied.sum(1, keepdims=True)) / top)


def temperature_for(scores: Array) -> float:
    """The temperature at which the softmax of a map spreads, by its entropy, over a tenth of its cells.

    For models whose scores are not log densities: one rule for all units.  scores: (cells,) of a typical map.
    """
    target = np.log(max(0.1 * scores.size, 1.0 + 1e-9))
    spread = float(np.ptp(scores))
    if spread == 0:
        return 1.0
    low = spread * 1e-6
    high = spread * 1e6
    for _ in range(80):
        middle = float(np.sqrt(low * high))
        p = special.softmax(scores.ravel() / middle)
        low, high = (middle, high) if special.entr(p).sum() < target else (low, middle)
    return float(np.sqrt(low * high))


def find_peaks(
    scores: Array, x: Numbers, y: Numbers, min_distance: float
) -> list[tuple[float, float]]:
    """x, y of the ``PEAKS`` highest local maxima of a map, ``min_distance`` pixels or more apart, highest first.

    scores: (rows, columns).  A maximum at the border counts; a constant map has none.
    """
    if np.ptp(scores) == 0:
        return []
    local = scores == cv2.dilate(np.ascontiguousarray(scores), np.ones((3, 3), np.uint8))
    rows, columns = np.nonzero(local & (scores > scores.min()))
    peaks: list[tuple[float, float]] = []
    for index in np.argsort(-scores[rows, columns], kind="stable"):
        peak = float(x[columns[index]]), float(y[rows[index]])
        if all((peak[0] - px) ** 2 + (peak[1] - py) ** 2 >= min_distance**2 for px, py in peaks):
            peaks.append(peak)
            if len(peaks) == PEAKS:
                break
    return peaks


def _peak_shares(scores: Array, x: FloatArray, y: FloatArray, plan: Layout) -> Array:
    """Among equal peaks the first in order is taken: the mean over the map and its mirror image favours no one."""
    across = from_edge(x, plan.width)
    down = from_edge(y, plan.height)
    min_distance = MIN_DISTANCE * min(plan.width, plan.height)
    shares = []
    for step in (1, -1):
        turned = (scores[:, ::step], across[::step], down)
        if plan.stacked:
            turned = (scores[::step], across, down[::step])
        peaks = np.array(find_peaks(*turned, min_distance))
        if not len(peaks):
            return np.full(len(plan.territories), 1 / len(plan.territories))
        shares.append(plan.shares(peaks[:, 0], peaks[:, 1]).mean(0))
    return np.asarray(np.mean(shares, 0))
