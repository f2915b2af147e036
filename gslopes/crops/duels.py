"""Duels: a person's pictures at two values next to each other.

Each photo is asked about at every value next to its opponents and next to itself; slopes of people next to opponents
whom they share have an interval over both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core.progress import Tick
from gslopes.core.reasons import Reason
from gslopes.crops.asker import Asker
from gslopes.crops.config import INSIDE, SweepConfig
from gslopes.crops.parity import interval
from gslopes.crops.tables import TABLES
from gslopes.stats.intervals import mean_t, t_quantile
from gslopes.stats.ols import line_slopes
from gslopes.stats.resampling import multinomial_counts

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Duels:
    """A person's pictures at K values next to each other, all K(K-1)/2 pairs.

    p: (K, K) chance that the row's value is favoured over the column's, mean over persons; NaN on the diagonal.
    low, high: (K, K) ends of its 95 % t interval over persons; NaN where they do not differ.
    score: (n,) mean over pairs of values of sign(v - v') (h - 1/2) 2, in [-1, 1]: 1 if the larger value always wins.
    """

    p: Array
    low: Array
    high: Array
    score: Array


def value_pairs(values: int) -> list[tuple[int, int]]:
    """(lower, higher) step of every pair."""
    return list(combinations(range(values), 2))


def duels(h: Array, confidence: float = 0.95) -> Duels:
    """h: (n, K, K), share of the answers about a person's pictures at steps k and l that favoured k; NaN: not asked."""
    size = h.shape[1]
    diagonal = np.eye(size, dtype=bool)
    filled = np.where(diagonal, 0.5, h)
    n = (~np.isnan(filled)).sum(axis=0)
    mean = np.nansum(filled, axis=0) / np.where(n > 0, n, np.nan)
    spread = np.sqrt(np.nansum(np.square(filled - mean), axis=0) / np.where(n > 1, n - 1, np.nan))
    half = t_quantile(np.maximum(n - 1, 1), confidence) * np.where(spread > 0, spread, np.nan) / np.sqrt(n)
    steps = value_pairs(size)
    score = np.mean([2 * h[:, high, low] - 1 for low, high in steps], axis=0)
    p, low, high_end = (np.where(diagonal, np.nan, table) for table in (mean, mean - half, mean + half))
    return Duels(p, low, high_end, np.asarray(score))


def duel_rows(single: pd.DataFrame, values: dict[str, list[float]]) -> pd.DataFrame:
    """Duels of all persons from those of each: rows of DUELS, the mean over pairs of values with no ``low``."""
    split = single["attribute"].str.split(" ", n=1, expand=True)
    single = single.assign(photo=split[0], attribute=split[1])
    rows: list[dict[str, Any]] = []
    for (cropper, attribute), answers in single.groupby(["cropper", "attribute"], sort=True):
        steps = values[str(attribute)]
        people = sorted(answers["photo"].unique())
        place = {photo: index for index, photo in enumerate(people)}
        h = np.full((len(people), len(steps), len(steps)), np.nan)
        lower, upper = (answers[name].to_numpy().astype(np.int64) for name in ("low", "high"))
        person = answers["photo"].map(place).to_numpy().astype(np.int64)
        won = answers["p"].to_numpy().astype(np.float64)
        h[person, upper, lower], h[person, lower, upper] = won, 1 - won
        found = duels(h)
        labels = {"cropper": cropper, "attribute": attribute, "persons": len(people)}
        for low, high in value_pairs(len(steps)):
            ends = {"p": found.p[high, low], "ci_low": found.low[high, low], "ci_high": found.high[high, low]}
            rows.append({**labels, "low": steps[low], "high": steps[high], **ends})
        mean = mean_t(found.score)
        rows.append({**labels, "low": None, "high": None, "p": mean.value, "ci_low": mean.low, "ci_high": mean.high})
    return pd.DataFrame(rows, columns=TABLES["duels"].columns)


FAVOURED = "favoured"
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """A person's picture at a step next to another one: an opponent's, or the person's own at ``low``."""

    person: int
    step: int
    opponent: int | None = None
    low: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """The pictures of one attribute.

    photos: ids.  values: of the steps.  files: (n, K) numbers in the scaled photos.  pairs: (P, 2) photo and opponent.
    """

    attribute: str
    photos: Sequence[str]
    values: Sequence[float]
    files: NDArray[np.int64]
    pairs: NDArray[np.int64]


def ask_about(swept: Swept, people: Sequence[int], asker: Asker, out: Path, tick: Tick) -> dict[str, Rows]:
    """Rows of duels (of one photo each), opponents, scores and asked, about some photos of an attribute."""
    questions = [question for person in people for question in _questions(swept, person)]
    numbers = _shares(swept, asker, questions, out, tick)
    labels = [FAVOURED, *(f"kept@{ratio:g}" for ratio in asker.config.ratios)]
    name = asker.model.name
    duels: Rows = []
    opponents: Rows = []
    for question, shares in zip(questions, numbers, strict=True):
        photo = swept.photos[question.person]
        if question.opponent is None:
            key = {"cropper": name, "attribute": f"{photo} {swept.attribute}", "persons": 1, "p": float(shares[0])}
            duels.append(key | {"low": question.low, "high": question.step, "ci_low": None, "ci_high": None})
            continue
        key = {"classifier": f"crop:{name}", "attribute": swept.attribute, "photo": photo, "step": question.step}
        key |= {"opponent": swept.photos[question.opponent]}
        opponents += [
            {**key, "label": label, "share": float(share)} for label, share in zip(labels, shares, strict=True)
        ]
    asked, scores = _means(swept, f"crop:{name}", people, questions, numbers, labels)
    return {"duels": duels, "opponents": opponents, "scores": scores, "asked": asked}


def _questions(swept: Swept, person: int) -> list[Question]:
    met, steps = swept.pairs[swept.pairs[:, 0] == person, 1], len(swept.values)
    facing = [Question(person, step, opponent=int(other)) for step in range(steps) for other in met]
    return facing + [Question(person, high, low=low) for low, high in value_pairs(steps)]


def _shares(swept: Swept, asker: Asker, questions: Sequence[Question], out: Path, tick: Tick) -> Array:
    """(n, 1 + ratios) of each question: being favoured, and kept at each ratio, over both orders; NaN: unknown."""
    centre, config = len(swept.values) // 2, asker.config
    pictures = []
    for question in questions:
        one = swept.files[question.person, question.step]
        two = swept.files[question.person, question.low] if question.opponent is None else (
            swept.files[question.opponent, centre]
        )  # fmt: skip
        pictures += [(one, two), (two, one)]
    favoured = np.full(len(pictures), np.nan)
    kept = np.full((len(pictures), len(config.ratios), 2), np.nan)
    for answer in asker.answers(np.array(pictures), out, tick, config.ratios):
        if answer.plan is None or answer.main is None:
            continue
        favoured[answer.row] = answer.main.shares[0]
        for place, (crop, _) in enumerate(answer.main.crops.values()):
            inside = asker.kept(answer.photos, answer.plan, crop)
            kept[answer.row, place] = [np.nan if share is None else share >= INSIDE for share in inside]
    h = (favoured[0::2] + 1 - favoured[1::2]) / 2
    return np.column_stack([h, (kept[0::2, :, 0] + kept[1::2, :, 1]) / 2])


def _means(
    swept: Swept,
    classifier: str,
    people: Sequence[int],
    questions: Sequence[Question],
    numbers: Array,
    labels: Sequence[str],
) -> tuple[Rows, Rows]:
    """Rows of ASKED and SCORES: of each photo at each value the means over its opponents."""
    asked: Rows = []
    scores: Rows = []
    places: dict[tuple[int, int], list[int]] = {(p, step): [] for p in people for step in range(len(swept.values))}
    for index, question in enumerate(questions):
        if question.opponent is not None:
            places[question.person, question.step].append(index)
    for (person, step), chosen in places.items():
        key = {"photo": swept.photos[person], "attribute": swept.attribute, "step": step, "classifier": classifier}
        means = numbers[chosen].mean(axis=0)
        status = {"status": "answered", "reason": "", "detail": ""}
        if np.isnan(means[0]):
            status = {"status": "failed", "reason": Reason.FAILED, "detail": "the cropper gave no answer"}
        asked.append(key | status)
        value = np.float32(swept.values[step])
        scores += [
            {**key, "value": value, "label": label, "score": np.float32(mean)}
            for label, mean in zip(labels, means, strict=True)
            if not np.isnan(mean)
        ]
    return asked, scores


Codes = NDArray[np.int64]
_BLOCK = 1 << 24  # weights held at once


@dataclass(frozen=True, slots=True)
class PairSlope:
    """The mean slope over pairs of a person and an opponent.

    slope: per unit of the values.  low, high: ends of the percentile interval.  p: two-sided, of slope 0; 1/B at least.
    """

    slope: float
    low: float
    high: float
    p: float


def pair_slope(
    slopes: Array, person: Codes, opponent: Codes, people: int, count: int = 2000, seed: int = 0
) -> PairSlope:
    """Draw people again: a pair weighs its person's weight times its opponent's.

    A person is in the sample twice, as the one who is edited and as an opponent of others; the one-sample t interval
    over persons covers the first alone. Resampling both ways is conservative for crossed samples.

    slopes: (P,), NaN ones are left out.  person, opponent: (P,) codes below ``people``.
    count: draws.  Source: Owen 2007, "The pigeonhole bootstrap", doi 10.1214/07-AOAS122.
    """
    known = ~np.isnan(slopes)
    slopes, person, opponent = slopes[known], person[known], opponent[known]
    if not len(slopes):
        return PairSlope(*[float("nan")] * 4)
    generator = np.random.default_rng([seed, 12])
    draws = []
    for start in range(0, count, max(1, _BLOCK // len(slopes))):
        size = min(max(1, _BLOCK // len(slopes)), count - start)
        drawn = multinomial_counts(people, size, generator)
        weights = drawn[:, person] * drawn[:, opponent]
        total = weights.sum(axis=1)
        draws.append(np.divide(weights @ slopes, total, out=np.full(size, np.nan), where=total > 0))
    all_draws = np.concatenate(draws)
    all_draws = all_draws[~np.isnan(all_draws)]
    low, high = interval(all_draws)
    beyond = min(float((all_draws <= 0).mean()), float((all_draws >= 0).mean())) if len(all_draws) else float("nan")
    return PairSlope(float(slopes.mean()), low, high, min(1.0, max(2 * beyond, 1 / count)))


def slope_intervals(
    facing: pd.DataFrame,
    slopes: pd.DataFrame,
    person: Mapping[str, str],
    values: Mapping[str, Sequence[float]],
    config: SweepConfig,
) -> pd.DataFrame:
    """Rows of SWEEP_SLOPES.  facing: OPPONENTS.  slopes: SLOPES.  person: photo to person.  values: by attribute."""
    code = {name: index for index, name in enumerate(sorted(set(person.values())))}
    of_photo = {photo: code[name] for photo, name in person.items()}
    by_pair = dict(iter(facing.groupby(["classifier", "attribute", "label"])))
    rows = []
    for row in slopes[slopes["estimator"] == "photo-score"].to_dict("records"):
        key = {name: row[name] for name in ("classifier", "attribute", "label")}
        of_pair = by_pair.get(tuple(key.values()), facing.iloc[:0])
        steps = np.asarray(values[str(row["attribute"])], dtype=np.float64)
        wide = of_pair.pivot_table(index=["photo", "opponent"], columns="step", values="share")
        wide = wide.reindex(columns=range(len(steps)))
        people = [wide.index.get_level_values(n).map(of_photo).to_numpy(np.int64) for n in ("photo", "opponent")]
        by_pair_slopes = line_slopes(wide.to_numpy(np.float64), steps)
        drawn = pair_slope(by_pair_slopes, people[0], people[1], len(code), config.bootstrap, config.seed)
        of_t = (row["ci_low"], row["ci_high"]) if row["ci_high"] > row["ci_low"] else (np.nan, np.nan)
        low, high = (drawn.low, drawn.high) if drawn.high - drawn.low > of_t[1] - of_t[0] else of_t
        counts = {"photos": int(row["n"]), "people": len(np.unique(np.concatenate(people))), "pairs": len(wide)}
        ends = {"t_low": of_t[0], "t_high": of_t[1], "boot_low": drawn.low, "boot_high": drawn.high}
        p = row["p"] if np.isnan(drawn.p) else np.maximum(row["p"], drawn.p)
        rows.append({**key, **counts, "slope": row["slope"], **ends, "ci_low": low, "ci_high": high, "p": p})
    return pd.DataFrame(rows, columns=TABLES["sweep_slopes"].columns)
