"""Slopes of groups of photos, and differences between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.slopes.fit.answers import Answers, columns_of
from gslopes.slopes.fit.membership import membership_test
from gslopes.slopes.fit.options import RARE, FitOptions
from gslopes.slopes.fit.photo import KINDS, TESTED, infer, linear
from gslopes.slopes.fit.profiles import Moments, moments, profiles, varying
from gslopes.slopes.fit.slopes import active, centre_shares
from gslopes.stats.intervals import half_width, t_test, welch_satterthwaite
from gslopes.stats.multiplicity import adjust
from gslopes.stats.ols import Lines, t_ratio
from gslopes.stats.permutation import below_floor

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


def group_slopes(
    answers: Answers, column: str, groups: Sequence[str | None], options: FitOptions, cluster: Codes | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Slopes of each group of photos, and differences between every two groups.

    Null hypotheses: the group's mean slope is 0 (one-sample t); two groups have the same mean slope (p_perm permutes
    membership, see ``slopes.fit.membership``; p is Welch's t, for groups of different spread, and can reject too often
    where one group is small).  Intervals are of the same t.  A label whose answers vary on fewer than ``min_varying``
    units of a group is too rare to judge there, and has no interval where they vary on none; a difference is too rare
    to judge from a group of fewer than ``min_varying`` photos, or of a label that is rare in both.  Where all slopes of
    one group are equal, its spread is not taken for 0: both groups then share one (Student's t).  q is over the labels
    of one group, or of one pair of groups: of p_perm where there is one, or p below its floor.

    answers: of one classifier and attribute.  column: the name under which the groups go.
    groups: (n,) each photo's group; photos with None or an empty text are in none.
    cluster: (n,) codes of clusters of photos, or None.

    Returns frames with the columns of core.tables.GROUPS and DIFFERENCES.
    """
    names = np.array(["" if value is None or value != value else str(value) for value in groups], dtype=object)
    found = [name for name in sorted(set(names)) if name]
    parts = {name: _Group(answers.only(names == name), _only(cluster, names == name), options) for name in found}
    rows, pairs = [], []
    for estimator in (name for name in options.estimators if name != "paper"):
        for name, part in parts.items():
            rows.append(part.frame(estimator).assign(column=column, estimator=estimator, group=name))
        for one, other in combinations(found, 2):
            p_perm = np.full(len(answers.labels), np.nan)
            if estimator in TESTED:
                keep = (names == one) | (names == other)
                p_perm = membership_test(
                    *(answers.only(keep), KINDS[estimator], names[keep] == one, _only(cluster, keep)),
                    permutations=options.permutations,
                    seed=options.seed,
                )
            frame = _difference(parts[one], parts[other], estimator, options, p_perm)
            pairs.append(answers.frame(**frame, column=column, estimator=estimator, group=one, other=other))
    return _joined(rows), _joined(pairs)


class _Group:
    """One group's photos: counts and, by estimator, slopes."""

    def __init__(self, answers: Answers, cluster: Codes | None, options: FitOptions) -> None:
        self.answers, self.options = answers, options
        self.few = len(answers.photos) < options.min_varying
        kinds = {KINDS[name] for name in options.estimators if name != "paper"}
        numbers = {kind: profiles(answers, kind, cluster) for kind in kinds}
        self.sums: dict[str, Moments] = {kind: moments(profile) for kind, profile in numbers.items()}
        self.varying = {kind: varying(profile) for kind, profile in numbers.items()}

    def lines(self, estimator: str) -> Lines:
        sums = self.sums[KINDS[estimator]]
        return infer(linear(estimator, sums, self.answers.values), sums, confidence=self.options.confidence)

    def rare(self, estimator: str) -> NDArray[np.bool_]:
        return np.asarray(self.varying[KINDS[estimator]] < self.options.min_varying, dtype=bool)

    def frame(self, estimator: str) -> pd.DataFrame:
        lines, varies, rare = self.lines(estimator), self.varying[KINDS[estimator]], self.rare(estimator)
        p = np.where(rare, np.nan, lines.p)
        spread = columns_of(lines, "slope", "intercept", "t", "p")
        return self.answers.frame(
            n=len(self.answers.photos),
            active=active(self.answers),
            y_centre=centre_shares(self.answers),
            varying=varies,
            slope=lines.slope,
            **{key: np.where(varies > 0, value, np.nan) for key, value in spread.items()},
            p=p,
            q=adjust(p, self.options.correction),
            note=np.where(rare, RARE, ""),
        )


def _difference(one: _Group, other: _Group, estimator: str, options: FitOptions, p_perm: Array) -> dict[str, Array]:
    first, second = one.lines(estimator), other.lines(estimator)
    units = [part.sums[KINDS[estimator]].units for part in (one, other)]
    se, dof = spread_of_difference(first.se, second.se, *units)
    difference = first.slope - second.slope
    half = half_width(se, dof, options.confidence)
    # a label may be common in one group and absent in the other, if that has photos enough: that is a finding
    rare = (one.rare(estimator) & other.rare(estimator)) | one.few | other.few
    p = np.where(rare, np.nan, t_test(t_ratio(difference, se), dof))
    found = {"difference": difference, "se": se, "p": p, "ci_low": difference - half, "ci_high": difference + half}
    tested = p
    if not np.isnan(p_perm).all():
        found["p_perm"] = p_perm = np.where(np.isnan(p), np.nan, p_perm)
        tested, _ = below_floor(p_perm, p, options.permutations)
        tested = np.where(np.isnan(tested), p, tested)
    found["p_test"] = tested
    return found | {"q": adjust(tested, options.correction), "note": np.where(rare, RARE, "")}


def spread_of_difference(first: Array, second: Array, n: int, m: int) -> tuple[Array, Array]:
    """Standard error of the difference of two means, and its degrees of freedom; each (L,).

    first, second: the means' own standard errors.  n, m: how many units they are over.
    """
    parts = np.square(first), np.square(second)
    dof = welch_satterthwaite(parts[0], n, parts[1], m)
    shared = ((n - 1) * n * parts[0] + (m - 1) * m * parts[1]) / max(n + m - 2, 1) * (1 / max(n, 1) + 1 / max(m, 1))
    flat = (first == 0) != (second == 0)
    dof = np.where(flat, max(n + m - 2, 1), np.where(np.isfinite(dof), dof, 1.0))
    return np.sqrt(np.where(flat, shared, parts[0] + parts[1])), dof


def _only(cluster: Codes | None, keep: NDArray[np.bool_]) -> Codes | None:
    return None if cluster is None else cluster[keep]


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
