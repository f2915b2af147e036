"""Cells of the coverage bench about captions: S2, the log odds of being mentioned between two groups.

A hundred types are labelled, of which one, in every image here, is tested. ``as it was`` is the percentile interval of
a bootstrap of a ridge over all 201 columns, in a tenth of the sets of at most 400 images. ``score test`` is what the
audit shows; what it refuses is counted, and not in the other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import special

from gslopes.captions.measures.salience import _rotate, _standard, fit
from gslopes.stats.logistic import fit_ridge
from gslopes.stats.resampling import multinomial_counts, percentile

Array = np.ndarray
Drawn = tuple[Array, Array, Array]  # features, group, mentioned
Count = tuple[str, str, int, int]
TYPES, DRAWS = 100, 200
SIZES = (60, 150, 400, 1000, 5000)


def independent(
    rng: np.random.Generator,
    n: int,
    rate: float,
    beta: float,
    *,
    twice: bool = False,
    share: float = 0.5,
) -> Drawn:
    """Types in ``rate`` of the images, sizes beta(1, 6), places uniform.

    twice: the tested type is twice as large in one group, and the larger it is the more often it is mentioned.
    """
    group = np.where(rng.random(n) < share, 0.5, -0.5)
    present = rng.random((n, TYPES)) < rate
    present[:, 0] = True
    sizes, places = (
        present * rng.beta(1, 6, (n, TYPES)),
        np.where(present, rng.random((n, TYPES)), 1.0),
    )
    logit = beta * group
    if twice:
        sizes[:, 0] *= np.where(group > 0, 2, 1)
        logit = logit + 6 * (sizes[:, 0] - 0.2)
    return np.column_stack([sizes, places]), group, rng.random(n) < special.expit(logit)


def as_it_was(
    features: Array, group: Array, mentioned: Array, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Ends and p of the percentile bootstrap of the ridge, λ = 1."""
    rotated, back = _rotate(_standard(features), group)
    weights = multinomial_counts(len(group), DRAWS, rng).T.astype(float)
    drawn = back @ fit_ridge(rotated, mentioned.astype(float), weights, 1.0, tolerance=0.02)[1:]
    p = min(1.0, 2 * (min((drawn <= 0).sum(), (drawn >= 0).sum()) + 1) / (DRAWS + 1))
    return (*percentile(drawn), p)


def judged(
    what: str,
    draw: Callable[[np.random.Generator], Drawn],
    truth: float,
    rng: np.random.Generator,
    sets: int,
    old: int,
) -> Iterator[Count]:
    """old: of the sets, how many are judged as it was, too."""
    rows_of: dict[str, list[tuple[float, float, float]]] = {"as it was": [], "score test": []}
    for count in range(sets):
        features, group, mentioned = draw(rng)
        result = fit(features, 0, group, mentioned)
        if result.eligible:
            rows_of["score test"].append((result.ci_low, result.ci_high, result.p))
        if count < old:
            rows_of["as it was"].append(as_it_was(features, group, mentioned, rng))
    yield f"{what}: refused", "score test", sets - len(rows_of["score test"]), sets
    for method, rows in rows_of.items():
        if rows:
            yield (
                f"{what}: held",
                method,
                int(sum(low <= truth <= high for low, high, _ in rows)),
                len(rows),
            )
            if not truth:
                yield f"{what}: p < 0.05", method, int(sum(p < 0.05 for _, _, p in rows)), len(rows)


def salience(rng: np.random.Generator, sets: int, n: int) -> Iterator[Count]:
    """Half of the images mention the type; nothing but the group, or the type's own size, decides."""
    old = sets // 10 if n <= 400 else 0
    for rate, beta in ((0.15, 0), (0.15, 1), (0.04, 1)):
        what = f"{n} images, types in {100 * rate:.0f} %, beta {beta}"
        yield from judged(
            what, partial(independent, n=n, rate=rate, beta=beta), beta, rng, sets, old
        )
    draw = partial(independent, n=n, rate=0.15, beta=0, twice=True)
    yield from judged(f"{n} images, twice as large in one group, beta 0", draw, 0, rng, sets, old)


def salience_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """A design that no choice was made on; groups of 30 and 70 %."""
    for n in (60, 150, 400):
        draw = partial(independent, n=n, rate=0.15, beta=1, share=0.3)
        yield from judged(f"{n} images, groups of 30 and 70 %, beta 1", draw, 1, rng, sets, 0)


def skewed(rng: np.random.Generator, n: int, beta: float) -> Drawn:
    """35 types in 50 to 3 % of the images, sizes log-normal; groups of 20 and 80 %; about a third mention the type.

    The tested type is 1.4 times as large in one group; size and place count.  A second type is in 60 % of the images of
    one group and 25 % of the other's, and goes with the mention by log odds of 1.2.
    """
    group = np.where(rng.random(n) < 0.2, 0.5, -0.5)
    present = rng.random((n, 35)) < np.geomspace(0.5, 0.03, 35)
    present[:, 0] = True
    present[:, 1] = rng.random(n) < np.where(group > 0, 0.6, 0.25)
    sizes = present * np.minimum(rng.lognormal(-2.5, 0.8, (n, 35)), 0.6)
    places = np.where(present, rng.beta(2, 3, (n, 35)), 1.0)
    sizes[:, 0] *= np.where(group > 0, 1.4, 1)
    logit = (
        beta * group + 4 * (sizes[:, 0] - 0.1) - (places[:, 0] - 0.4) + 1.2 * present[:, 1] - 1.1
    )
    return np.column_stack([sizes, places]), group, rng.random(n) < special.expit(logit)


def salience_fresh(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """A third design, drawn up when the estimator was settled."""
    for n in (90, 250, 800):
        for beta in (0, 0.8):
            draw = partial(skewed, n=n, beta=beta)
            yield from judged(
                f"{n} images, groups of 20 and 80 %, a confounder, beta {beta}",
                draw,
                beta,
                rng,
                sets,
                0,
            )


CASES = {f"captions-salience-{n}": partial(salience, n=n) for n in SIZES}
CASES |= {"captions-salience-unseen": salience_unseen, "captions-salience-fresh": salience_fresh}
