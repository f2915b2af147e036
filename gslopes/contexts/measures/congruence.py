"""The main summary: does an answer change with how well the context fits the person's gender?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.measures.changes import welch
from gslopes.contexts.measures.grid import ALL, GENDERS, INFERRED, Grid, by_person, person_words
from gslopes.contexts.options import ContextOptions

Array = NDArray[np.float64]
SCALE = {"n_tags": 1.0}  # tags per unit; all others in points (hundredths) per unit
_CHUNK = 500
NEEDS_TWO = "needs two contexts of different rating"


def kappa(rating: float, gender: str) -> float:
    """How well a context fits a gender: 1 wholly, -1 not at all; NaN for other genders.

    >>> kappa(0, "woman"), kappa(9, "woman"), kappa(9, "man")
    (1.0, -0.8, 0.8)
    """
    side = {"man": 1, "woman": -1}.get(gender, math.nan)
    return (rating - 5) / 5 * side


def slopes(values: Array, congruence: Array) -> Array:
    """(U,) least-squares slope of each person's values on the congruence of their contexts; NaN under two of them.

    values, congruence: (U, C), NaN where unknown.
    """
    known = np.isfinite(values) & np.isfinite(congruence)
    n = known.sum(axis=1)
    x = np.where(known, congruence, 0)
    middle = np.divide(x.sum(axis=1), n, out=np.zeros(len(n)), where=n > 0)
    centred = np.where(known, congruence - middle[:, None], 0)
    squares = (centred**2).sum(axis=1)
    return np.divide(
        (centred * np.where(known, values, 0)).sum(axis=1),
        squares,
        out=np.full(len(n), np.nan),
        where=squares > 1e-12,
    )


def permutation_p(values: Array, congruence: Array, permutations: int, seed: int) -> float:
    """Two-sided p of the mean slope when each person's answers are dealt to the contexts at random."""
    observed = slopes(values, congruence)
    use = np.isfinite(observed)
    if not use.any():
        return math.nan
    values, congruence = values[use], congruence[use]
    known = np.isfinite(values) & np.isfinite(congruence)
    x = np.where(known, congruence - _mean_of(congruence, known)[:, None], 0)
    weights = x / (x**2).sum(axis=1)[:, None]
    total, hits, done = abs(float(observed[use].mean())), 0, 0
    generator = np.random.default_rng([seed, 5])
    rows = np.arange(len(values))[None, :, None]
    while done < permutations:
        count = min(_CHUNK, permutations - done)
        # unknown answers stay where they are: their keys come last, in place
        keys = generator.random((count, *values.shape))
        order = np.argsort(np.where(known, keys, 2), axis=2, kind="stable")
        slots = np.argsort(~known, axis=1, kind="stable")
        permuted = np.zeros((count, *values.shape))
        np.put_along_axis(
            permuted, np.broadcast_to(slots, permuted.shape), np.where(known, values, 0)[rows, order], axis=2
        )
        drawn = np.abs((permuted * weights).sum(axis=2).mean(axis=1))
        hits += int((drawn >= total - 1e-12).sum())
        done += count
    return (1 + hits) / (permutations + 1)


def _mean_of(values: Array, known: NDArray[np.bool_]) -> Array:
    return np.asarray(np.where(known, values, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def congruence_table(grid: Grid, ratings: Mapping[str, float], options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``congruence`` table without q.

    Estimator ``person``: mean over people of each one's slope of the answer on congruence, over the contexts that have
    a rating, backgrounds and photos averaged first; in points per unit of congruence (tags per unit for ``n_tags``).
    Null hypothesis: the answers do not go with the contexts (p of t; ``p_perm`` by dealing each person's answers to
    the contexts).  Interval: t over people.  ``difference``: Welch's t of two genders' or groups' slopes.
    ``correct`` is whether the inferred gender is the self-reported one.
    """
    rated = [name for name in grid.names if math.isfinite(ratings.get(name, math.nan))]
    genders, groups = person_words(grid, grid.gender), person_words(grid, grid.group)
    head = {"classifier": grid.classifier, "tags": grid.tags}
    fit = np.array([[kappa(ratings[name], gender) for name in rated] for gender in genders]).reshape(len(genders), -1)
    rows: list[dict[str, Any]] = []
    for measure, values in _measures(grid).items():
        scale = SCALE.get(measure, 100.0)
        outcome = np.stack([by_person(values, grid, grid.of(name)) for name in rated], 1) if rated else fit
        each = slopes(outcome, fit) * scale
        for gender, group, at in _parts(genders, groups):
            rows.append({**head, "measure": measure, **_person(outcome[at], fit[at], each[at], gender, group, options)})
        for gender, group, one, other in _pairs(genders, groups):
            numbers = _difference(each[one], each[other])
            rows.append({**head, "measure": measure, "gender": gender, "group": group, **numbers})
        if options.mixed and len(rated) > 1:
            rows.append({**head, "measure": measure, **mixed(grid, values, rated, ratings, scale)})
    return pd.DataFrame(rows)


def _measures(grid: Grid) -> dict[str, Array]:
    codes = np.array([INFERRED.index(word) if word in INFERRED else -1 for word in grid.gender])
    right = np.where(np.isin(grid.gender, GENDERS)[:, None], grid.inferred == codes[:, None], np.nan)
    return {"correct": right, **grid.measures}


def _parts(genders: NDArray[np.object_], groups: NDArray[np.object_]) -> list[tuple[str, str, NDArray[np.bool_]]]:
    either = np.isin(genders, GENDERS)
    parts = [(ALL, ALL, either), *((gender, ALL, genders == gender) for gender in GENDERS)]
    names = sorted({group for group in groups.tolist() if group})
    return parts + [(ALL, group, either & (groups == group)) for group in names if len(names) > 1]


def _pairs(
    genders: NDArray[np.object_], groups: NDArray[np.object_]
) -> list[tuple[str, str, NDArray[np.bool_], NDArray[np.bool_]]]:
    either = np.isin(genders, GENDERS)
    pairs = [("woman - man", ALL, genders == "woman", genders == "man")]
    names = sorted({group for group in groups.tolist() if group})
    for one, other in combinations(names, 2):
        pairs.append((ALL, f"{one} - {other}", either & (groups == one), either & (groups == other)))
    return pairs


def _person(values: Array, fit: Array, each: Array, gender: str, group: str, options: ContextOptions) -> dict[str, Any]:
    known = each[np.isfinite(each)]
    row: dict[str, Any] = {"gender": gender, "group": group, "n": len(known), "estimator": "person", "note": ""}
    row |= dict.fromkeys(("slope", "se", "ci_low", "ci_high", "p", "p_perm"), math.nan)
    if not len(known):
        return {**row, "note": NEEDS_TWO}
    mean = float(known.mean())
    if len(known) < 2:
        return {**row, "slope": mean}
    se = float(known.std(ddof=1) / math.sqrt(len(known)))
    half = float(stats.t.ppf(0.975, len(known) - 1)) * se
    p = float(2 * stats.t.sf(abs(mean) / se, len(known) - 1)) if se > 0 else math.nan
    row |= {"slope": mean, "se": se, "ci_low": mean - half, "ci_high": mean + half, "p": p}
    if se > 0:
        row["p_perm"] = permutation_p(values, fit, options.permutations, options.seed)
    return row


def _difference(one: Array, other: Array) -> dict[str, Any]:
    found = welch(one, other)
    n = int(np.isfinite(one).sum() + np.isfinite(other).sum())
    se = found["difference"] / found["t"] if found["t"] else math.nan
    numbers = {"slope": found["difference"], "se": se, "p_perm": math.nan}
    interval = {name: found[name] for name in ("ci_low", "ci_high", "p")}
    return {"n": n, "estimator": "difference", "note": "", **numbers, **interval}


def mixed(grid: Grid, values: Array, rated: list[str], ratings: Mapping[str, float], scale: float) -> dict[str, Any]:
    """The slope on congruence of a linear mixed model: person as group, background as a component of variance."""
    from statsmodels.formula.api import mixedlm

    columns = [column for name in rated for column in grid.of(name)]
    rows = []
    for photo, column in zip(*np.nonzero(grid.answered[:, columns]), strict=True):
        condition = columns[column]
        fit = kappa(ratings[grid.contexts[condition]], str(grid.gender[photo]))
        rows.append(
            (values[photo, condition], fit, grid.gender[photo], int(grid.person[photo]), grid.conditions[condition])
        )
    frame = pd.DataFrame(rows, columns=["y", "fit", "gender", "person", "place"]).dropna()
    result: dict[str, Any] = {"gender": ALL, "group": ALL, "n": frame["person"].nunique(), "estimator": "mixed"}
    result |= dict.fromkeys(("slope", "se", "ci_low", "ci_high", "p", "p_perm"), math.nan)
    formula = "y ~ fit * C(gender, Sum)" if frame["gender"].nunique() > 1 else "y ~ fit"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told in the note
        try:
            model = mixedlm(formula, frame, groups="person", vc_formula={"place": "0 + C(place)"})
            found = model.fit()
        except (np.linalg.LinAlgError, ValueError):
            return {**result, "note": "the mixed model did not converge"}
    low, high = (float(end) * scale for end in found.conf_int().loc["fit"])
    result |= {"slope": float(found.params["fit"]) * scale, "se": float(found.bse["fit"]) * scale}
    result |= {"ci_low": low, "ci_high": high, "p": float(found.pvalues["fit"])}
    return {**result, "note": "" if found.converged else "the mixed model did not converge"}
