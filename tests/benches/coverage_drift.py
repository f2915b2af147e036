"""Cells of the coverage bench: whether a service has drifted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from coverage_cases import VALUES, Count, counted

from gslopes.slopes.drift import changes_of
from gslopes.stats.clusters import clustered_mean, codes_of
from gslopes.stats.multiplicity import LEVEL, benjamini_hochberg


def drift_by_photo(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Answers move by photo, by 0 on average: 10, 40 and 300 photos at 7 values, and 50 pictures of 40 photos."""
    for photos, sample in ((10, 70), (40, 280), (300, 2100), (40, 50)):
        codes = np.repeat(np.arange(photos), 7)
        flagged = {"photos": np.zeros(sets, bool), "pictures": np.zeros(sets, bool)}
        for index in range(sets):
            moved = 0.1 * rng.standard_normal((photos, 1)) + 0.05 * rng.standard_normal((photos, 7))
            rows = np.sort(rng.permutation(len(codes))[:sample])
            change = moved.ravel()[rows]
            for name, units in (
                ("photos", codes_of(codes[rows], sample)),
                ("pictures", np.arange(sample)),
            ):
                flagged[name][index] = clustered_mean(change, units).p < 0.05
        for name, hits in flagged.items():
            yield counted(
                "flagged as drift", f"{photos} photos, {sample} pictures, t over {name}", hits
            )


def drift_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Another design: 25 photos, changes by photo skewed (t with 5 degrees, a tenth of them large), slopes by photo."""
    hits = np.zeros(sets, bool)
    for index in range(sets):
        levels = rng.standard_t(5, (25, 1)) * np.where(rng.random((25, 1)) < 0.1, 0.3, 0.05)
        tilt = 0.05 * rng.standard_normal((25, 1))
        rows = np.sort(rng.permutation(175)[: rng.integers(40, 176)])
        change = (levels + tilt * VALUES + 0.02 * rng.standard_normal((25, 7))).ravel()[rows]
        units = codes_of(np.repeat(np.arange(25), 7)[rows], len(rows))
        hits[index] = clustered_mean(change, units).p < 0.05
    yield counted("flagged as drift", "t over photos", hits)


# -- the whole check --------------------------------------------------------------------------------------------------

LABELS, SAMPLE = 20, 50
NOISE = "answers move by photo and by picture"
SKEWED = "each answer has skewed noise of its own"


def changed(rng: np.random.Generator, noise: str, photo: np.ndarray) -> np.ndarray:
    """(n, 20) changes of scores between two answers about pictures of these photos, only by chance."""

    def drawn(rows: int) -> np.ndarray:
        shared = 0.8 if "correlated" in noise else 0.0
        parts = rng.standard_normal((rows, 1)), rng.standard_normal((rows, LABELS))
        return np.sqrt(shared) * parts[0] + np.sqrt(1 - shared) * parts[1]

    people, shape = photo.max() + 1, (2, len(photo), LABELS)
    if noise == SKEWED:
        once, again = np.minimum(0.05 * rng.lognormal(0, 1, shape), 1)
        return again - once
    if "presence" in noise:
        once, again = rng.random(shape) < rng.beta(0.5, 0.5, (people, LABELS))[photo]
        return again.astype(float) - once
    if "photo's changes are skewed" in noise:
        return 0.1 * (rng.exponential(1, (people, LABELS)) - 1)[photo] + 0.05 * drawn(len(photo))
    return 0.1 * drawn(people)[photo] + 0.05 * drawn(len(photo))


def flags(
    rng: np.random.Generator, change: np.ndarray, photo: np.ndarray
) -> tuple[tuple[str, bool], ...]:
    """The verdicts of two checks of 50 pictures: pictures by lot and t over photos, as it was; as it is."""
    order = rng.permutation(len(photo))
    rows = order[:SAMPLE]
    codes = codes_of(photo[rows], SAMPLE)
    p = np.array([clustered_mean(item, codes).p for item in change[rows].T])
    rounds = pd.Series(photo[order]).groupby(photo[order]).cumcount().sort_values(kind="stable")
    rows = order[rounds.index[:SAMPLE]]
    result = changes_of(
        pd.DataFrame(0 * change[rows]), pd.DataFrame(change[rows]), codes_of(photo[rows], SAMPLE)
    )
    was, now = (bool((q < LEVEL).any()) for q in (benjamini_hochberg(p), result["q"]))
    return ("pictures by lot, t over photos", was), (
        "as many photos as can be, changes of signs",
        now,
    )


def checks(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """The default check, 50 pictures and 20 labels: nothing drifts; or one label drifts by 0.05.

    7 pictures a photo, unless 2, or 1 to 40.  Where each photo's changes are skewed, answers do drift, by 0 on average.
    """
    alarm, power = "cries wolf", "finds that one of 20 labels drifts by 0.05"
    designs = [
        (alarm, noise, 0.0)
        for noise in (NOISE, f"{NOISE}, labels correlated .8", SKEWED, "presence")
    ]
    designs += [(alarm, f"{NOISE}, {few}", 0.0) for few in ("2 a photo", "1 to 40 a photo")]
    designs += [
        (alarm, "each photo's changes are skewed, mean 0", 0.0),
        (power, NOISE, 0.05),
        (power, SKEWED, 0.05),
    ]
    for what, noise, drift in designs:
        for photos in (10, 50, 300):
            item = (
                2.0 ** rng.uniform(0, 5.3, photos)
                if "1 to 40" in noise
                else 2
                if "2 a photo" in noise
                else 7
            )
            photo = np.repeat(np.arange(photos), np.broadcast_to(item, photos).astype(int))
            if len(photo) < SAMPLE:
                continue
            facts: dict[str, list[bool]] = {}
            for _ in range(sets):
                change = changed(rng, noise, photo)
                change[:, 0] += drift
                for method, flagged in flags(rng, change, photo):
                    facts.setdefault(method, []).append(flagged)
            for method, hits in facts.items():
                yield counted(f"{what}, {photos} photos, {noise}", method, np.array(hits))


CASES = {"drift": drift_by_photo, "drift-unseen": drift_unseen, "drift-checks": checks}
