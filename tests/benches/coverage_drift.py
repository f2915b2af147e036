"""Cells of the coverage bench: whether a service has drifted, and plans for rare labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from coverage_cases import VALUES, Count, counted

from gslopes.slopes.fit.estimators import linear
from gslopes.slopes.fit.power import Design, smallest_slope
from gslopes.stats.clusters import clustered_mean, codes_of
from gslopes.stats.contrast import infer
from gslopes.stats.outcomes import dense, moments


def rare_power(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """500 photos, power planned at 80 % with spread 1.5: a photo's share lies between 0 and 1."""
    for rate in (0.01, 0.02, 0.1, 0.98, 0.99):
        design = Design(rate)
        slope = smallest_slope(design, 500)
        slopes = slope / 100 * (1 + 1.5 * rng.standard_normal((sets, 500, 1)))
        present = rng.random((sets, 500, 7)) < rate + slopes * VALUES
        sums = moments(dense(present.astype(np.float32), VALUES))
        said = "warned of" if design.clipped(slope) else "not warned of"
        hits = infer(linear("rate", sums, VALUES), sums).p < 0.05
        yield counted("found at 0.05", f"rate {rate:g}, {said}", hits)


def drift_by_photo(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Answers move by photo, by 0 on average: 10, 40 and 300 photos at 7 values, and 50 pictures of 40 photos."""
    for photos, sample in ((10, 70), (40, 280), (300, 2100), (40, 50)):
        codes = np.repeat(np.arange(photos), 7)
        flagged = {"photos": np.zeros(sets, bool), "pictures": np.zeros(sets, bool)}
        for place in range(sets):
            moved = 0.1 * rng.standard_normal((photos, 1)) + 0.05 * rng.standard_normal((photos, 7))
            rows = np.sort(rng.permutation(len(codes))[:sample])
            change = moved.ravel()[rows]
            for name, units in (("photos", codes_of(codes[rows], sample)), ("pictures", np.arange(sample))):
                flagged[name][place] = clustered_mean(change, units).p < 0.05
        for name, hits in flagged.items():
            yield counted("flagged as drift", f"{photos} photos, {sample} pictures, t over {name}", hits)


def drift_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Another design: 25 photos, changes by photo skewed (t with 5 degrees, a tenth of them large), slopes by photo."""
    hits = np.zeros(sets, bool)
    for place in range(sets):
        own = rng.standard_t(5, (25, 1)) * np.where(rng.random((25, 1)) < 0.1, 0.3, 0.05)
        tilt = 0.05 * rng.standard_normal((25, 1))
        rows = np.sort(rng.permutation(175)[: rng.integers(40, 176)])
        change = (own + tilt * VALUES + 0.02 * rng.standard_normal((25, 7))).ravel()[rows]
        units = codes_of(np.repeat(np.arange(25), 7)[rows], len(rows))
        hits[place] = clustered_mean(change, units).p < 0.05
    yield counted("flagged as drift", "t over photos", hits)


CASES = {"rare-power": rare_power, "drift": drift_by_photo, "drift-unseen": drift_unseen}
