"""Slopes of groups of photos, differences between them, and two sweeps of the same photos side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from gslopes.fit.answers import Answers
from gslopes.fit.membership import membership_test
from gslopes.fit.options import FitOptions
from gslopes.fit.paired import below_floor
from gslopes.fit.photo import KINDS, covariance, infer, linear
from gslopes.fit.profiles import Moments, Profiles, moments, profiles, varying
from gslopes.fit.shape import hotelling_t2
from gslopes.stats.multiplicity import adjust
from gslopes.stats.ols import Lines, line_weights, t_ratio

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
RARE = "too rare to judge"
MEANS = ("photo-rate", "photo-score", "photo-censored")  # whose differences permutation tests


def group_slopes(
    answers: Answers, column: str, groups: Sequence[str | None], options: FitOptions, cluster: Codes | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Slopes of each group of photos, and differences between every two groups.

    Null hypotheses: the group's mean slope is 0 (one-sample t); two groups have the same mean slope (p_perm permutes
    membership, see ``fit.membership``; p is Welch's t, for groups of different spread, and can reject too often where
    one group is small).  Intervals are of the same t.  A label whose answers vary on fewer than ``min_varying`` units
    of a group is too rare to judge there, and has no interval where they vary on none; a difference is too rare
    to judge from a group of fewer than ``min_varying`` photos, or of a label that is rare in both.  Where all slopes of
    one group are equal, its spread is not taken for 0: both groups then share one (Student's t).  q is over the labels
    of one group, or of one pair of groups: of p_perm where there is one, or p below its floor.

    answers: of one classifier and attribute.  column: the name under which the groups go.
    groups: (n,) each photo's group; photos with None or an empty text are in none.
    cluster: (n,) codes of clusters of photos, or None.

    Returns frames with the columns of core.tables.GROUPS and DIFFERENCES.

    Source: Welch 1947, doi 10.1093/biomet/34.1-2.28.
    """
    names = np.array(["" if value is None or value != value else str(value) for value in groups], dtype=object)
    found = [name for name in sorted(set(names)) if name]
    parts = {name: _Group(answers.only(names == name), _only(cluster, names == name), options) for name in found}
    head = {"classifier": answers.classifier, "attribute": answers.attribute, "column": column}
    rows, pairs = [], []
    how = options.correction if options.correction != "max-t" else "holm"
    for estimator in (name for name in options.estimators if name != "paper"):
        for name, part in parts.items():
            rows.append(part.frame(estimator, how).assign(**head, estimator=estimator, group=name))
        for one, other in combinations(found, 2):
            frame = _difference(parts[one], parts[other], estimator, options, how)
            if estimator in MEANS:
                keep = (names == one) | (names == other)
                permuted = membership_test(
                    *(answers.only(keep), KINDS[estimator], names[keep] == one, _only(cluster, keep)),
                    permutations=options.permutations,
                    seed=options.seed,
                )
                frame = _permuted(frame, permuted, options, how)
            pairs.append(frame.assign(**head, estimator=estimator, group=one, other=other, label=answers.labels))
    return _joined(rows), _joined(pairs)


class _Group:
    """One group's photos: counts and, by estimator, slopes."""

    def __init__(self, answers: Answers, cluster: Codes | None, options: FitOptions) -> None:
        self.answers = answers
        self.active = np.bincount(answers.label, minlength=len(answers.labels))
        self.least = options.min_varying
        self.few = len(answers.photos) < options.min_varying
        kinds = {KINDS[name] for name in options.estimators if name != "paper"}
        numbers = {kind: profiles(answers, kind, cluster) for kind in kinds}
        self.sums: dict[str, Moments] = {kind: moments(profile) for kind, profile in numbers.items()}
        self.varying = {kind: varying(profile) for kind, profile in numbers.items()}
        self.confidence = options.confidence
        centre = answers.label[answers.present[:, len(answers.values) // 2]]
        self.centre = np.bincount(centre, minlength=len(answers.labels)) / max(len(answers.photos), 1)

    def lines(self, estimator: str) -> Lines:
        sums = self.sums[KINDS[estimator]]
        return infer(linear(estimator, sums, self.answers.values), sums, confidence=self.confidence)

    def rare(self, estimator: str) -> NDArray[np.bool_]:
        return np.asarray(self.varying[KINDS[estimator]] < self.least, dtype=bool)

    def frame(self, estimator: str, how: str) -> pd.DataFrame:
        lines = self.lines(estimator)
        varies, rare = self.varying[KINDS[estimator]], self.rare(estimator)
        se, low, high = (np.where(varies > 0, value, np.nan) for value in (lines.se, lines.low, lines.high))
        p = np.where(rare, np.nan, lines.p)
        return pd.DataFrame(
            {
                "label": self.answers.labels,
                "n": len(self.answers.photos),
                "active": self.active,
                "y_centre": self.centre,
                "varying": varies,
                "slope": lines.slope,
                "se": se,
                "p": p,
                "ci_low": low,
                "ci_high": high,
                "q": adjust(p, how),
                "note": np.where(rare, RARE, ""),
            }
        )


def _difference(one: _Group, other: _Group, estimator: str, options: FitOptions, how: str) -> pd.DataFrame:
    first, second = one.lines(estimator), other.lines(estimator)
    units = [part.sums[KINDS[estimator]].units for part in (one, other)]
    se, dof = _spread(first.se, second.se, *units)
    difference = first.slope - second.slope
    half = special.stdtrit(dof, 0.5 + options.confidence / 2) * se
    # a label may be common in one group and absent in the other, if that has photos enough: that is a finding
    rare = (one.rare(estimator) & other.rare(estimator)) | one.few | other.few
    p = np.where(rare, np.nan, 2 * special.stdtr(dof, -np.abs(t_ratio(difference, se))))
    return pd.DataFrame(
        {
            "difference": difference,
            "se": se,
            "p": p,
            "ci_low": difference - half,
            "ci_high": difference + half,
            "q": adjust(p, how),
            "note": np.where(rare, RARE, ""),
        }
    )


def _permuted(frame: pd.DataFrame, p_perm: Array, options: FitOptions, how: str) -> pd.DataFrame:
    """Differences with the p of permuted membership, and q of it."""
    if np.isnan(p_perm).all():
        return frame
    p = frame["p"].to_numpy(float)
    p_perm = np.where(np.isnan(p), np.nan, p_perm)
    tested, _ = below_floor(p_perm, p, options.permutations)
    return frame.assign(p_perm=p_perm, q=adjust(np.where(np.isnan(tested), p, tested), how))


def _spread(first: Array, second: Array, n: int, m: int) -> tuple[Array, Array]:
    """Standard error of the difference of two means, and its degrees of freedom; each (L,).

    first, second: the means' own standard errors.  n, m: how many units they are over.
    """
    parts = np.square(first), np.square(second)
    total = parts[0] + parts[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        dof = total**2 / (parts[0] ** 2 / max(n - 1, 1) + parts[1] ** 2 / max(m - 1, 1))
    shared = ((n - 1) * n * parts[0] + (m - 1) * m * parts[1]) / max(n + m - 2, 1) * (1 / max(n, 1) + 1 / max(m, 1))
    flat = (first == 0) != (second == 0)
    dof = np.where(flat, max(n + m - 2, 1), np.where(np.isfinite(dof), dof, 1.0))
    return np.sqrt(np.where(flat, shared, total)), dof


def joint_slopes(one: Answers, other: Answers, options: FitOptions, cluster: Codes | None = None) -> pd.DataFrame:
    """Two sweeps of the same photos, such as perceived gender and race: does a label move along either, along both?

    Over the photos answered at all values of both sweeps: both photo-rate slopes, the correlation of a photo's two
    slopes, their difference with its paired t interval, and Hotelling's T squared for the null that both mean slopes
    are 0.

    one, other: answers of one classifier for two attributes, over the same photos: see ``same_photos``.
    cluster: (n,) codes of clusters of those photos, or None.

    Returns a frame with the columns of core.tables.JOINT.

    Raises: ValueError if the photos are not the same.
    """
    if one.photos.tolist() != other.photos.tolist():
        raise ValueError("Two sweeps can be compared over the same photos only.")
    labels = np.array(sorted({*one.labels.tolist(), *other.labels.tolist()}), dtype=object)
    both = _stack(one, other, labels, cluster)
    sums = moments(both)
    width = len(one.values)
    weights = np.zeros((width + len(other.values), 2))
    weights[:width, 0], weights[width:, 1] = 100 * line_weights(one.values), 100 * line_weights(other.values)
    slopes = sums.first @ weights / max(sums.photos, 1)
    statistic, p = hotelling_t2(weights, sums)
    many = np.broadcast_to(weights, (len(labels), *weights.shape))
    spread = covariance(many, sums)
    difference = slopes[:, 0] - slopes[:, 1]
    se = np.sqrt(np.maximum(spread[:, 0, 0] + spread[:, 1, 1] - 2 * spread[:, 0, 1], 0))
    half = special.stdtrit(max(sums.units - 1, 1), 0.5 + options.confidence / 2) * se
    scale = np.sqrt(np.maximum(spread[:, 0, 0] * spread[:, 1, 1], 0))  # round-off may leave either a hair below 0
    active = active_photos(one, other, labels)
    rare = active < options.min_varying
    p = np.where(rare, np.nan, p)
    how = options.correction if options.correction != "max-t" else "holm"
    return pd.DataFrame(
        {
            "classifier": one.classifier,
            "attribute": one.attribute,
            "other": other.attribute,
            "label": labels,
            "n": sums.photos,
            "active": active,
            "slope": slopes[:, 0],
            "slope_other": slopes[:, 1],
            "correlation": np.divide(spread[:, 0, 1], scale, out=np.full(len(scale), np.nan), where=scale > 0),
            "difference": difference,
            "ci_low": difference - half,
            "ci_high": difference + half,
            "t_squared": statistic,
            "p": p,
            "q": adjust(p, how),
            "note": np.where(rare, RARE, ""),
        }
    )


def same_photos(one: Answers, other: Answers) -> tuple[Answers, Answers]:
    """Both, cut to the photos that both have."""
    first, second = set(one.photos.tolist()), set(other.photos.tolist())
    keep = [
        np.array([photo in there for photo in sweep.photos], dtype=bool)
        for sweep, there in ((one, second), (other, first))
    ]
    return one.only(keep[0]), other.only(keep[1])


def active_photos(one: Answers, other: Answers, labels: NDArray[np.object_]) -> Codes:
    """(L,) photos with the label at one value of either sweep at least."""
    index = {label: place for place, label in enumerate(labels)}
    keys = []
    for sweep in (one, other):
        place = np.array([index[label] for label in sweep.labels], dtype=np.int64)
        keys.append(place[sweep.label] * len(sweep.photos) + sweep.photo)
    pairs = np.unique(np.concatenate(keys))
    return np.bincount(pairs // max(len(one.photos), 1), minlength=len(labels))


def _stack(one: Answers, other: Answers, labels: NDArray[np.object_], cluster: Codes | None) -> Profiles:
    """Profiles of presence whose K numbers are those of both sweeps, one after the other."""
    unit = np.arange(len(one.photos)) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    sizes = np.bincount(unit).astype(np.float64)
    index = {label: place for place, label in enumerate(labels)}
    keys = []
    for sweep in (one, other):
        place = np.array([index[label] for label in sweep.labels], dtype=np.int64)
        keys.append(place[sweep.label] * max(len(sizes), 1) + unit[sweep.photo])
    pairs = np.unique(np.concatenate(keys))
    width = len(one.values)
    numbers = np.zeros((len(pairs), width + len(other.values)), dtype=np.float32)
    np.add.at(numbers[:, :width], np.searchsorted(pairs, keys[0]), one.present)
    np.add.at(numbers[:, width:], np.searchsorted(pairs, keys[1]), other.present)
    starts = np.searchsorted(pairs // max(len(sizes), 1), np.arange(len(labels) + 1)).astype(np.int64)
    values = np.concatenate([one.values, other.values])
    return Profiles(values, sizes, (pairs % max(len(sizes), 1)).astype(np.int32), starts, numbers)


def _only(cluster: Codes | None, keep: NDArray[np.bool_]) -> Codes | None:
    return None if cluster is None else cluster[keep]


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
