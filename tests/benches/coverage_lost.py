"""Cells of the coverage bench: answers that were lost, what drawing does, weak explained shares, and small drift."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from coverage_cases import VALUES, Count, counted
from scipy import special

from gslopes.core import placebo
from gslopes.slopes.drift import changes_of
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.explained import explained_rows
from gslopes.slopes.measures.observed import drawing_rows
from gslopes.slopes.measures.options import FitOptions, Study
from tests.slopes.measures.conftest import build
from tests.slopes.measures.pairs import drawn
from tests.slopes.measures.test_observed import answers

OPTIONS = FitOptions(estimators=("photo-rate",), permutations=999)
UNTESTED = FitOptions(permutations=0)
Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]  # presence and values, (n, K), to the chance


def rising(most: float, present: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A picture with the first label is refused, the more often the further up."""
    return most * ((values - values[0]) / np.ptp(values)) ** 3 * present


def both_ends(most: float, present: np.ndarray, values: np.ndarray) -> np.ndarray:
    """At the upper end pictures with it, at the lower end those without: no trend of refusals."""
    return most * ((values == values[-1]) * present + (values == values[0]) * ~present)


def at_random(share: float, present: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.full(present.shape, share)


def one_end(share: float, present: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.broadcast_to(share * (values == values[-1]), present.shape)


def audit(
    rng: np.random.Generator, photos: int, loss: Loss, slope: float, values: np.ndarray, people: int
) -> str:
    """The decision about the first of three labels, which moves by ``slope`` log-odds a unit; rate 0.4."""
    person = np.arange(photos) % (people or photos)
    log_odds = special.logit(0.4) + rng.standard_normal((photos, 3, 1))[person]
    parts = []
    for name in ("gender", *placebo.names("gender")):
        moves = np.array([slope * (name == "gender"), 0, 0])[:, None] * values
        present = rng.random((photos, 3, len(values))) < special.expit(log_odds + moves)
        chance = loss(present[:, 0], values) * (name == "gender")
        lost = rng.random(chance.shape) < chance
        scores, questions = build(present & ~lost[:, None], values, attribute=name)
        status = np.where(lost.ravel(), "refused", "answered")
        parts.append((scores, questions.assign(status=status)))
    tables = [pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)]
    ids = sorted(set(tables[1]["photo"]))
    about = pd.DataFrame({"person": person.astype(str)}, index=ids)
    given = dict.fromkeys(set(tables[1]["attribute"]), values.tolist())
    study = Study(values=given, about=about, cluster="person" * bool(people))
    rows = analyse(*tables, study, options=OPTIONS).slopes
    rows = rows[rows["attribute"] == "gender"].set_index("label")
    return str(rows["decision"].get("label0", "unjudged"))


def lost_labels(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Pictures with the first label are refused by value."""
    ends = np.array([-1.0, 1.0])
    designs: list[tuple[str, int, Loss, float, np.ndarray, int]] = [
        ("with the label up to .8", 60, partial(rising, 0.8), 0.0, VALUES, 0),
        ("with the label up to .8", 300, partial(rising, 0.8), 0.0, VALUES, 0),
        ("with the label up to .8, K = 2", 300, partial(rising, 0.8), 0.0, ends, 0),
        ("with the label up to .8, 40 people", 120, partial(rising, 0.8), 0.0, VALUES, 40),
        ("half at both ends", 120, partial(both_ends, 0.5), 0.0, VALUES, 0),
        (".05 of all pictures", 60, partial(at_random, 0.05), 0.8, VALUES, 0),
        (".3 at the upper end", 60, partial(one_end, 0.3), 0.8, VALUES, 0),
        ("none", 60, partial(at_random, 0.0), 0.8, VALUES, 0),
    ]
    for name, photos, loss, slope, values, people in designs:
        found = [audit(rng, photos, loss, slope, values, people) for _ in range(sets)]
        what = f"moves by {slope} logits" if slope else "does not move"
        hits = np.array(found) == "finding"
        yield counted(f"{photos} photos, refused {name}, it {what}: finding", "decision", hits)


def drawing(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Drawing moves a label as far as the sweep, or twice."""
    for photos in (30, 60, 300):
        log_odds = special.logit(0.4) + rng.standard_normal((sets, photos, 1))
        before = (rng.random(log_odds.shape) < special.expit(log_odds)).astype(float)
        again = (rng.random(log_odds.shape) < special.expit(log_odds)).astype(float)
        flipped = np.where(rng.random(log_odds.shape) < 0.3, again, before)
        sweeps = {"flips .3 both ways, the sweep is still": np.repeat(flipped, 7, axis=2)}
        for name, slope in (("as far", 0.2045), ("twice as far", 0.1)):
            chance = special.expit(log_odds + 0.8 + slope * VALUES)
            sweeps[f"moves it 16.4 points, {name}"] = (rng.random(chance.shape) < chance) + 0.0
        unedited = answers(before, np.zeros(1))
        for name, sweep in sweeps.items():
            rows = drawing_rows(answers(sweep, VALUES), unedited, UNTESTED)
            single = rows["q"].notna().to_numpy()
            p = np.full(sets, np.nan)
            for index in np.flatnonzero(single):  # each label is an audit of its own
                pair = (
                    answers(part[[index]], steps)
                    for part, steps in ((sweep, VALUES), (before, np.zeros(1)))
                )
                p[index] = drawing_rows(*pair, UNTESTED)["q"].item()
            yield counted(f"{photos} photos, drawing {name}", "called further", p < 0.05, single)


def weak_shares(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Weak slopes that go with light."""
    for units, count, direct, through in (
        (24, 7, 0.0, 0.5),
        (24, 7, 0.3, 0.3),
        (24, 2, 0.0, 0.7),
        (100, 2, 0.0, 0.4),
        (300, 2, 0.1, 0.1),
    ):
        frames = [
            explained_rows(*drawn(rng, units, count, direct, through), UNTESTED)
            for _ in range(sets)
        ]
        rows = pd.concat(frames)[["share", "share_low", "share_high"]].astype(float)
        truth = through / (direct + through)
        held = ((rows["share_low"] <= truth) & (truth <= rows["share_high"])).to_numpy()
        judged = rows["share"].notna().to_numpy()
        name = f"{units} units at {count} values, {truth:.0%} with light"
        yield counted(f"{name}: share covered", "Fieller", held, judged)
        yield counted(f"{name}: a share that is wrong is given", "Fieller", judged & ~held)


def small_drift(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Scores asked again move by .02 logits, or by .05."""
    designs = (
        ("moves by .02 logits without noise", 0.02, 0.0),
        ("moves by .02 logits", 0.02, 0.05),
        ("moves by .05, the size that matters", 0.0, 0.1),
        ("does not move", 0.0, 0.05),
    )
    for name, logits, noise in designs:
        facts: dict[str, list[bool]] = {"sure": [], "changed": [], "less than would matter": []}
        for _ in range(sets):
            level = rng.standard_normal((50, 1))
            before = special.expit(level)
            now = special.expit(level + logits) + noise * rng.standard_normal((50, 1))
            now += 0.05 * ("matters" in name)
            rows = changes_of(pd.DataFrame(before), pd.DataFrame(now), np.arange(50))
            row = rows.iloc[0]
            facts["sure"].append(bool(row["changed"] or row["small"]))
            facts["changed"].append(bool(row["changed"]))
            facts["less than would matter"].append(bool(row["small"]))
        for method, hits in facts.items():
            yield counted(f"50 photos, a score {name}", method, np.array(hits))


CASES = {
    "lost-labels": lost_labels,
    "drawing-further": drawing,
    "weak-shares": weak_shares,
    "small-drift": small_drift,
}
