"""How much of a slope goes with what else moved: age, smile, light, background, as an independent reader sees them.

Pictures that others made may differ in more than the attribute.  Per label, least squares over all photos and values,
each photo with its own level: slope, of the answer on the value; adjusted, of the answer on the value and the other
readings: the slope where none of them moves; share, 1 - adjusted / slope.  One reading's part is its coefficient times
its own slope on the value; the parts sum to slope - adjusted.

Interval: of adjusted t, of share Fieller's, from the covariance of both by leaving out one unit at a time (jackknife),
with as many degrees of freedom as units less one and the readings.

It does not say whether the reading is the cause, and nothing of what no reader reads.  Readings err: the share is
rather too small.  Likeness and sharpness have no direction in which a label could follow, and are left out.

Sources: Miller 1974, The jackknife, Biometrika 61, 1-15; Fieller 1954, Journal of the Royal Statistical Society B 16,
175-185.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.measures import SCALE, Kind, outcomes
from gslopes.slopes.fit.options import RARE, FitOptions
from gslopes.stats.clusters import codes_of
from gslopes.stats.intervals import fieller, t_quantile

Array = NDArray[np.float64]
SPARE = 10  # units more than readings
NOT_APART, FEW, STILL = "its slope may be 0", "too few units were read", "no other reading moves"
NUMBERS = ("slope", "adjusted", "adjusted_low", "adjusted_high", "share", "share_low", "share_high", "most")


def explained_rows(
    answers: Answers, moved: pd.DataFrame, options: FitOptions, cluster: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Rows of core.tables.EXPLAINED of one classifier and attribute.

    moved: columns photo, step, reading and score, of this attribute alone, without the readings of the attribute.
    cluster: photo to the code of its cluster, or None.
    """
    steps, photos = list(range(len(answers.values))), answers.photos
    by_reading = {
        str(name): rows.pivot(index="photo", columns="step", values="score") for name, rows in moved.groupby("reading")
    }
    each = {name: wide.reindex(index=photos, columns=steps).to_numpy(float) for name, wide in by_reading.items()}
    read = np.isfinite(np.array([np.zeros((len(photos), len(steps))), *each.values()])).all(axis=(0, 2))
    part, n = answers.only(read), int(read.sum())
    units = codes_of(None if cluster is None else np.array([cluster[photo] for photo in part.photos.tolist()]), n)
    within = {name: one[read] - one[read].mean(axis=1, keepdims=True) for name, one in each.items()}
    within = {name: one / one.std() for name, one in within.items() if n and one.std() > 1e-6}
    along = np.broadcast_to(answers.values - answers.values.mean(), (n, len(steps)))
    note = FEW if len(set(units.tolist())) < len(within) + SPARE else "" if within else STILL
    regression = None if note else _Regression(np.stack([along, *within.values()], axis=-1), units, list(within))
    rows: list[dict[str, Any]] = []
    kinds: tuple[Kind, ...] = ("rate", "measure")
    for kind in kinds:
        found = outcomes(part, kind)
        for place, label in enumerate(part.labels.tolist()):
            measure = answers.measures.get(label, "presence")
            if (measure == "presence") != (kind == "rate"):
                continue
            own, numbers = slice(found.starts[place], found.starts[place + 1]), np.zeros((n, len(steps)))
            numbers[found.unit[own]] = SCALE[kind] * found.numbers[own].astype(np.float64)
            rare = int((np.ptp(numbers, axis=1) > 0).sum()) < options.min_varying
            row = {"label": label, "measure": measure, "n": n, "reading": "", "note": RARE if rare else note}
            rows.append(row | (regression(numbers) if regression and not rare else {}))
    frame = pd.DataFrame(rows, columns=["label", "measure", "n", "reading", "note", *NUMBERS])
    return frame.assign(classifier=answers.classifier, attribute=answers.attribute)


class _Regression:
    """Of answers on the value and the readings, z (n, K, 1 + p), without each photo's mean.  units: (n,) codes."""

    def __init__(self, z: Array, units: NDArray[np.int64], names: list[str]) -> None:
        self.z, self.units, self.names = z, units, names
        squares = self._by_unit(np.einsum("nkp,nkq->npq", z, z))
        self.whole = squares.sum(axis=0)
        self.without, self.alone = np.linalg.pinv(self.whole - squares), (self.whole - squares)[:, 0, 0]

    def _by_unit(self, rows: Array) -> Array:
        summed = np.zeros((int(self.units.max()) + 1, *rows.shape[1:]))
        np.add.at(summed, self.units, rows)
        return summed

    def __call__(self, numbers: Array) -> dict[str, Any]:
        """The columns of one label.  numbers: (n, K) answers."""
        products = self._by_unit(np.einsum("nkp,nk->np", self.z, numbers))
        whole, count = products.sum(axis=0), len(products)
        coefficients, slope = np.linalg.pinv(self.whole) @ whole, float(whole[0] / self.whole[0, 0])
        adjusted, left = float(coefficients[0]), whole - products
        apart = np.stack([np.einsum("uq,uq->u", self.without[:, 0], left), left[:, 0] / self.alone])
        (spread, shared), (_, of_slope) = np.cov(apart, ddof=0) * (count - 1)
        limit = float(t_quantile(count - 1 - len(self.names)))
        low, high = map(float, fieller(adjusted, slope, spread, of_slope, shared, limit))
        parts = coefficients[1:] * self.whole[0, 1:] / self.whole[0, 0]
        largest, half = int((parts * np.sign(slope)).argmax()), limit * float(np.sqrt(spread))
        row = {"slope": slope, "adjusted": adjusted, "adjusted_low": adjusted - half, "adjusted_high": adjusted + half}
        if not np.isfinite(low):
            return row | {"note": NOT_APART}
        share = {"share": 1 - adjusted / slope, "share_low": 1 - high, "share_high": 1 - low}
        return row | share | {"reading": self.names[largest], "most": float(parts[largest]) / slope}
