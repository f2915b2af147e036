"""Two sweeps of the same photos side by side, such as perceived gender and race."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.fit.answers import Answers
from gslopes.fit.measures import numbers as measured_numbers
from gslopes.fit.options import RARE, FitOptions
from gslopes.fit.photo import covariance
from gslopes.fit.profiles import Profiles, moments
from gslopes.fit.shape import hotelling_t2
from gslopes.stats.clusters import Codes, codes_of
from gslopes.stats.intervals import half_width
from gslopes.stats.multiplicity import adjust
from gslopes.stats.ols import line_weights


def joint_slopes(one: Answers, other: Answers, options: FitOptions, cluster: Codes | None = None) -> pd.DataFrame:
    """Does a label move along either attribute, along both?

    Over the photos answered at all values of both sweeps: both slopes in the unit of the label's measure, the
    correlation of a photo's two slopes, their difference with its paired t interval, and Hotelling's T squared for the
    null that both mean slopes are 0.

    one, other: answers of one classifier for two attributes, over the same photos: see ``same_photos``.
    cluster: (n,) codes of clusters of those photos, or None.

    Returns a frame with the columns of core.tables.JOINT.

    Raises: ValueError if the photos are not the same.
    """
    if one.photos.tolist() != other.photos.tolist():
        raise ValueError("Two sweeps can be compared over the same photos only.")
    labels = all_labels(one, other)
    sums = moments(_stack(one, other, labels, cluster))
    width = len(one.values)
    weights = np.zeros((width + len(other.values), 2))
    weights[:width, 0], weights[width:, 1] = 100 * line_weights(one.values), 100 * line_weights(other.values)
    slopes = sums.first @ weights / max(sums.photos, 1)
    statistic, p = hotelling_t2(weights, sums)
    spread = covariance(np.broadcast_to(weights, (len(labels), *weights.shape)), sums)
    difference = slopes[:, 0] - slopes[:, 1]
    se = np.sqrt(np.maximum(spread[:, 0, 0] + spread[:, 1, 1] - 2 * spread[:, 0, 1], 0))
    half = half_width(se, max(sums.units - 1, 1), options.confidence)
    scale = np.sqrt(np.maximum(spread[:, 0, 0] * spread[:, 1, 1], 0))  # round-off may leave either a hair below 0
    active = active_photos(one, other, labels)
    rare = active < options.min_varying
    p = np.where(rare, np.nan, p)
    return pd.DataFrame(
        {"classifier": one.classifier, "attribute": one.attribute, "other": other.attribute, "label": labels}
        | {"n": sums.photos, "active": active, "slope": slopes[:, 0], "slope_other": slopes[:, 1]}
        | {"correlation": np.divide(spread[:, 0, 1], scale, out=np.full(len(scale), np.nan), where=scale > 0)}
        | {"difference": difference, "ci_low": difference - half, "ci_high": difference + half}
        | {"t_squared": statistic, "p": p, "q": adjust(p, options.adjustment), "note": np.where(rare, RARE, "")}
    )


def same_photos(one: Answers, other: Answers) -> tuple[Answers, Answers]:
    """Both, cut to the photos that both have."""
    keep = [np.isin(sweep.photos.astype(str), rest.photos.astype(str)) for sweep, rest in ((one, other), (other, one))]
    return one.only(keep[0]), other.only(keep[1])


def all_labels(one: Answers, other: Answers) -> NDArray[np.object_]:
    """The labels of either sweep, sorted."""
    return np.array(sorted({*one.labels.tolist(), *other.labels.tolist()}), dtype=object)


def active_photos(one: Answers, other: Answers, labels: NDArray[np.object_]) -> Codes:
    """(L,) photos with the label at one value of either sweep at least."""
    return np.bincount(
        np.unique(np.concatenate(_keys(one, other, labels))) // max(len(one.photos), 1), minlength=len(labels)
    )


def _keys(one: Answers, other: Answers, labels: NDArray[np.object_], unit: Codes | None = None) -> list[Codes]:
    """Of each pair of either sweep, the label's place times the number of units, plus the photo's unit."""
    index = pd.Index(labels)
    unit = np.arange(len(one.photos)) if unit is None else unit
    units = max(int(unit.max(initial=-1)) + 1, 1)
    return [
        index.get_indexer(pd.Index(sweep.labels))[sweep.label] * units + unit[sweep.photo] for sweep in (one, other)
    ]


def _stack(one: Answers, other: Answers, labels: NDArray[np.object_], cluster: Codes | None) -> Profiles:
    """Profiles whose K numbers are those of both sweeps, one after the other: presence, or a measured number / 100."""
    unit = codes_of(cluster, len(one.photos))
    sizes = np.bincount(unit).astype(np.float64)
    keys = _keys(one, other, labels, unit)
    pairs = np.unique(np.concatenate(keys))
    width, units = len(one.values), max(len(sizes), 1)
    numbers = np.zeros((len(pairs), width + len(other.values)), dtype=np.float32)
    for place, sweep in enumerate((one, other)):
        part = numbers[:, :width] if place == 0 else numbers[:, width:]
        np.add.at(part, np.searchsorted(pairs, keys[place]), _hundredths(sweep))
    starts = np.searchsorted(pairs // units, np.arange(len(labels) + 1)).astype(np.int64)
    values = np.concatenate([one.values, other.values])
    return Profiles(values, sizes, (pairs % units).astype(np.int32), starts, numbers)


def _hundredths(sweep: Answers) -> NDArray[np.float32]:
    """(P, K) presence, or what a label is measured by over 100, whose slopes times 100 are in the label's unit."""
    found = sweep.present.astype(np.float32)
    measured = np.array([label in sweep.measures for label in sweep.labels.tolist()], dtype=bool)
    pairs = np.flatnonzero(measured[sweep.label])
    found[pairs] = measured_numbers(sweep, pairs) / 100
    return found
