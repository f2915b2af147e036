"""Cells of the coverage bench about contexts: people with several photos, few people, and rooms that vary.

``as it was``: Wilson's interval and Pearson's X² of all pictures, percentiles of a bootstrap over people (and rooms,
if there are several), and p over people only for a statement about rooms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy import optimize, special

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import congruence_table
from gslopes.contexts.measures.describe import GENDERS, Grid
from gslopes.contexts.measures.inference import (
    accuracy_table,
    distances_table,
    inferred_table,
    recognised_table,
)
from gslopes.contexts.page import sections
from gslopes.frame.findings import decide
from gslopes.stats.intervals import wilson
from gslopes.stats.resampling import multinomial_counts, percentile
from gslopes.stats.shares import independence_p
from tests.benches.headlines_siblings import Contexts, audited

Count = tuple[str, str, int, int]
OPTIONS = ContextOptions(permutations=499)
DRAWS = 500
CANVAS = -1.5  # of F1 over rooms: its effect on the logit of being called a woman
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class Tally(Counter[tuple[str, str]]):
    """Hits by statement and method; and of how many."""

    def add(self, what: str, method: str, hit: bool, judged: bool = True) -> None:
        self[what, method] += int(bool(hit) and bool(judged))
        self[what, f"{method}\0of"] += int(judged)

    def counts(self) -> Iterator[Count]:
        for (what, method), hits in list(self.items()):
            if not method.endswith("\0of"):
                yield what, method, hits, self[what, f"{method}\0of"]


def grid(inferred: np.ndarray, person: np.ndarray, places: list[str], **more: np.ndarray) -> Grid:
    """A grid of everybody answered.  inferred: (P, A) codes.  places: (A,) contexts, empty for the canvas."""
    shape = inferred.shape
    number = Counter[str]()
    names = []
    for context in places:
        number[context] += 1
        names.append(f"{context}.{number[context]}" if context else "canvas")
    measures = {
        name: more.get(name, np.full(shape, np.nan))
        for name in ("distance", "n_tags", "demographics", "concrete", "abstract")
    }
    photos = np.array([f"{index:05d}" for index in range(shape[0])], object)
    return Grid(
        {"classifier": "planted", "tags": "gross"},
        *(photos, person, more["gender"], np.full(shape[0], "", object)),
        conditions=tuple(names),
        contexts=tuple(places),
        answered=np.ones(shape, bool),
        inferred=inferred.astype(np.int8),
        recognised=more.get("recognised", np.zeros(shape, bool)),
        measures=measures,
        tagged=frozenset(places) - {""},
    )


def alike(rng: np.random.Generator, person: np.ndarray, share: float, rho: float) -> np.ndarray:
    """(P,) of 0 and 1, correlated by rho within a person."""
    chances = rng.beta(share * (1 / rho - 1), (1 - share) * (1 / rho - 1), person.max() + 1)
    return rng.random(len(person)) < chances[person]


# -- several photos a person ------------------------------------------------------------------------------------------


def photos_of_people(
    rng: np.random.Generator,
    sets: int,
    person_of: Callable[[], np.ndarray],
    share: float,
    rhos: tuple[float, ...],
) -> Iterator[Count]:
    """Shares inferred and recognised, independent of each other, both alike within a person."""
    tally = Tally()
    for rho in rhos:
        for _ in range(sets):
            person = person_of()
            woman, named = (alike(rng, person, share, rho) for _ in range(2))
            answers = grid(
                np.where(woman, 1, 2)[:, None],
                person,
                ["room"],
                gender=np.full(len(person), "woman", object),
                recognised=named[:, None],
            )
            rows = inferred_table(answers, {}, OPTIONS)
            row = rows[(rows["gender"] == "all") & (rows["inferred"] == "woman")].iloc[0]
            recognised = recognised_table(answers).set_index("given").loc["all"]
            for what, table_row in (("share", row), ("Pr(R)", recognised)):
                low, high = wilson(table_row["share"], len(person))
                tally.add(f"{what} covered, rho {rho:g}", "as it was", low <= share <= high)
                tally.add(
                    f"{what} covered, rho {rho:g}",
                    "over people",
                    table_row["ci_low"] <= share <= table_row["ci_high"],
                )
            old = independence_p(named, woman.astype(int), np.arange(len(person)))
            for method, p in (("as it was", old), ("over people", recognised["p"])):
                tally.add(f"X², p < 0.05, rho {rho:g}", method, p < 0.05, np.isfinite(p))
    yield from tally.counts()


def contexts_photos(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """40 people with 3 photos each, share 0.4."""
    yield from photos_of_people(rng, sets, lambda: np.repeat(np.arange(40), 3), 0.4, (0.5, 0.9))


def contexts_photos_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """25 people with 1 to 8 photos each, share 0.15."""
    yield from photos_of_people(
        rng, sets, lambda: np.repeat(np.arange(25), rng.integers(1, 9, 25)), 0.15, (0.02, 0.4, 0.8)
    )


# -- few people -------------------------------------------------------------------------------------------------------


def cells_of_distances(
    rng: np.random.Generator,
    sets: int,
    sizes: tuple[tuple[int, int], ...],
    draw: Callable[[int], np.ndarray],
) -> Iterator[Count]:
    """Mean distance of people of one cell, mean 0.3."""
    tally = Tally()
    for least, most in sizes:
        for _ in range(sets):
            n = int(rng.integers(least, most + 1))
            values, person = draw(n), np.arange(n)
            none = np.zeros((n, 1), int)
            answers = grid(
                none, person, ["room"], gender=np.full(n, "woman", object), distance=values[:, None]
            )
            row = distances_table(answers).iloc[0]
            counts = multinomial_counts(n, DRAWS, rng)
            low, high = percentile(counts @ values / n)
            what = f"mean distance covered, {least} to {most} people"
            tally.add(what, "as it was", low <= 0.3 <= high)
            tally.add(what, "t over people", row["ci_low"] <= 0.3 <= row["ci_high"])
    yield from tally.counts()


def contexts_distances(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Normal distances, standard deviation 0.1."""
    sizes = ((2, 5), (6, 12), (13, 24), (25, 25))
    yield from cells_of_distances(rng, sets, sizes, lambda n: rng.normal(0.3, 0.1, n))


def contexts_distances_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Skewed distances: gamma of shape 6."""
    yield from cells_of_distances(
        rng, sets, ((3, 6), (10, 20), (40, 40)), lambda n: rng.gamma(6, 0.05, n)
    )


def contexts_f1(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """F1 of women before a room, and its change from the canvas: half of the people women, few of them wrong."""
    tally = Tally()
    for people in (12, 20, 40, 100):
        woman = np.arange(people) < people // 2
        for right, wrong in ((0.9, 0.05), (0.7, 0.2)):
            hits = people // 2 * right
            true = 2 * hits / (hits + people // 2 + wrong * (people - people // 2))
            for _ in range(sets):
                called = rng.random((2, people)) < np.where(woman, right, wrong)
                called[1] = np.where(rng.random(people) < 0.6, called[0], called[1])
                gender = np.where(woman, "woman", "man").astype(object)
                named = np.ones((people, 2), bool)
                answers = grid(
                    np.where(called.T, 1, 2),
                    np.arange(people),
                    ["", "room"],
                    gender=gender,
                    recognised=named,
                )
                rows = accuracy_table(answers, {}, ContextOptions(permutations=1))
                row = rows[(rows["context"] == "room") & (rows["gender"] == "woman")].iloc[0]
                draws = multinomial_counts(people, DRAWS, rng)
                tops, bottoms = 2.0 * (called & woman), called.astype(float) + woman
                with np.errstate(invalid="ignore"):
                    drawn = np.array(
                        [
                            draws @ top / (draws @ bottom)
                            for top, bottom in zip(tops, bottoms, strict=True)
                        ]
                    )
                low, high = percentile(drawn[1])
                less, more = percentile(drawn[1] - drawn[0])
                what = f"{people} people, {right:.0%} right"
                tally.add(f"F1 covered, {what}", "as it was", low <= true <= high)
                tally.add(
                    f"F1 covered, {what}", "over people", row["ci_low"] <= true <= row["ci_high"]
                )
                judged = np.isfinite(row["change_low"])
                tally.add(f"change of F1 covered, {what}", "as it was", less <= 0 <= more, judged)
                tally.add(
                    f"change of F1 covered, {what}",
                    "over people",
                    row["change_low"] <= 0 <= row["change_high"],
                    judged,
                )
    yield from tally.counts()


# -- rooms ------------------------------------------------------------------------------------------------------------


def mean_share(logit: np.ndarray) -> np.ndarray:
    """The share over people whose logits have a standard deviation of 1."""
    return np.asarray(special.expit(np.asarray(logit)[..., None] + NODES) @ WEIGHTS)


def resampled_twice(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Percentiles of the mean of (U, B) over resamples of people and rooms."""
    people, rooms = values.shape
    counts, across = multinomial_counts(people, DRAWS, rng), multinomial_counts(rooms, DRAWS, rng)
    return percentile(((counts @ values) * across).sum(axis=1) / (people * rooms))


def varied_rooms(
    rng: np.random.Generator,
    sets: int,
    people: int,
    rooms: int,
    draw: Callable[[tuple[int, int]], np.ndarray],
) -> Iterator[Count]:
    """Eight contexts rated 0 to 10; rooms move the logit of being called a woman, by 0 on average: no context does.

    draw: effects of rooms, logits of mean 0, of a shape.
    """
    tally, ratings = Tally(), {f"room {index}": 10.0 * index / 7 for index in range(8)}
    gender = np.array(GENDERS, object)[np.arange(people) % 2]
    level = np.where(gender == "woman", 1.0, -1.0)
    places = ["", *(name for name in ratings for _ in range(rooms))]
    population = mean_share(draw((1, 40_000))[0][:, None] + np.array([1.0, -1.0]))
    base = mean_share(np.array([1.0, -1.0])).mean()
    truth = {"share": population.mean(), "change": population.mean() - base, "congruence": 0.0}
    fit = np.array([(rating - 5) / 5 for rating in ratings.values()])
    for _ in range(sets):
        effects = draw((8, rooms))
        logits = (
            np.concatenate([[0.0], effects.ravel()])
            + level[:, None]
            + rng.standard_normal((people, 1))
        )
        woman = rng.random(logits.shape) < special.expit(logits)
        answers = grid(np.where(woman, 1, 2), np.arange(people), places, gender=gender)
        rows = inferred_table(answers, {}, OPTIONS)
        row = rows[
            (rows["context"] == "room 0")
            & (rows["gender"] == "all")
            & (rows["inferred"] == "woman")
        ].iloc[0]
        slopes = congruence_table(answers, ratings, ContextOptions(permutations=1))
        slope = slopes[(slopes["measure"] == "correct") & (slopes["gender"] == "all")].iloc[0]
        shares = mean_share(effects[..., None] + np.array([1.0, -1.0])).mean(
            axis=1
        )  # (8, 2) women, men called woman
        # the slope of men's right answers, 1 - share, on their fit, and of women's on theirs, which is its negative
        of_these = {"share": shares[0].mean(), "change": shares[0].mean() - base}
        of_these["congruence"] = -100 * float((fit @ shares).mean() / (fit @ fit))
        first = woman[:, 1 : 1 + rooms].astype(float)
        change = resampled_twice(first - woman[:, :1], rng)
        for what, numbers, names, old in (
            ("share", row, ("ci", "rooms"), wilson(row["share"], people * rooms)),
            ("change", row, ("change", "change_rooms"), change),
            ("congruence", slope, ("ci", "rooms"), (slope["ci_low"], slope["ci_high"])),
        ):
            tally.add(
                f"{what}, any such rooms, covered", "as it was", old[0] <= truth[what] <= old[1]
            )
            for name, about, true in zip(
                names, ("these", "any such"), (of_these[what], truth[what]), strict=True
            ):
                low, high = numbers[f"{name}_low"], numbers[f"{name}_high"]
                method = "over people" if about == "these" else "people x rooms"
                tally.add(
                    f"{what}, {about} rooms, covered", method, low <= true <= high, np.isfinite(low)
                )
        if truth["change"] < 1e-3:
            for method, p in (("as it was", row["p"]), ("people x rooms", row["p_rooms"])):
                tally.add("RQ1, p < 0.05", method, p < 0.05, np.isfinite(p))
        for method, p in (("as it was", slope["p"]), ("people x rooms", slope["p_rooms"])):
            tally.add("congruence, p < 0.05", method, p < 0.05)
    yield from tally.counts()


def contexts_rooms(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """60 people, two rooms a context, room logits normal with a standard deviation of 1.5."""
    yield from varied_rooms(rng, sets, 60, 2, lambda shape: 1.5 * rng.standard_normal(shape))


def contexts_rooms_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """24 people, four rooms a context, room logits skewed: exponential, standard deviation 1."""
    yield from varied_rooms(rng, sets, 24, 4, lambda shape: rng.exponential(1.0, shape) - 1)


def f1_of_rooms(
    rng: np.random.Generator,
    sets: int,
    people: int,
    rooms: int,
    draw: Callable[[tuple[int, ...]], np.ndarray],
) -> Iterator[Count]:
    """F1 of women before rooms of a context, and its change from the canvas, which on average is 0.

    Half of the people are women.  draw: effects of rooms on the logit of being called a woman, of a shape.
    """
    tally, level = Tally(), np.where(np.arange(people) % 2, -2.0, 2.0)
    drawn = draw((40_000,))

    def f1_at(logits: np.ndarray) -> float:
        women, men = (float(mean_share(logits + side).mean()) for side in (2.0, -2.0))
        return 2 * women / (women + men + 1)

    truth = f1_at(np.array([CANVAS]))
    shift = optimize.brentq(
        lambda offset: f1_at(drawn + offset) - truth, -4, 0
    )  # above, F1 falls again
    gender, places = np.where(level > 0, "woman", "man").astype(object), ["", *["room"] * rooms]
    title = f"{people} people, {rooms} rooms"
    for _ in range(sets):
        effects = np.concatenate([[CANVAS], draw((rooms,)) + shift])
        leanings = level[:, None] + rng.standard_normal((people, 1))
        woman = rng.random((people, rooms + 1)) < special.expit(leanings + effects)
        answers = grid(
            np.where(woman, 1, 2),
            np.arange(people),
            places,
            gender=gender,
            recognised=np.ones(woman.shape, bool),
        )
        rows = accuracy_table(answers, {}, ContextOptions(permutations=199))
        row = rows[(rows["context"] == "room") & (rows["gender"] == "woman")].iloc[0]
        for what, true, names in (
            ("F1", truth, ("ci", "rooms")),
            ("change of F1", 0.0, ("change", "change_rooms")),
        ):
            for name, method in zip(
                names, ("as it was, over people", "people x rooms"), strict=True
            ):
                low, high = row[f"{name}_low"], row[f"{name}_high"]
                holds = low <= true <= high
                tally.add(
                    f"{what}, any such rooms, covered, {title}", method, holds, np.isfinite(low)
                )
        for p, method in ((row["p"], "as it was, over people"), (row["p_rooms"], "people x rooms")):
            tally.add(
                f"change of F1, p < 0.05 with none, {title}", method, p < 0.05, np.isfinite(p)
            )
        low, high, p = row["change_rooms_low"], row["change_rooms_high"], row["p_rooms"]
        same = (low <= 0 <= high) == (p >= 0.05)
        tally.add(
            f"change of F1, p and interval agree, {title}", "people x rooms", same, np.isfinite(p)
        )
    yield from tally.counts()


def contexts_f1_rooms(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Room logits normal with a standard deviation of 1."""
    for people in (60, 300):
        for rooms in (2, 5, 12):
            yield from f1_of_rooms(
                rng, sets, people, rooms, lambda shape: rng.standard_normal(shape)
            )


def contexts_f1_rooms_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Other designs: skewed rooms, exponential; rooms that hardly differ."""
    yield from f1_of_rooms(rng, sets, 120, 4, lambda shape: rng.exponential(1.0, shape) - 1)
    yield from f1_of_rooms(rng, sets, 40, 8, lambda shape: 0.1 * rng.standard_normal(shape))


# -- whole audits of few people ---------------------------------------------------------------------------------------


def whole_audits(
    rng: np.random.Generator, sets: int, audits: tuple[Contexts, ...], by: str = "whole audits"
) -> Iterator[Count]:
    """Nothing planted: RQ1, F1, distances, slopes on congruence, and what is judged and found."""
    tally = Tally()
    for audit in audits:
        title = f"{audit.women} women, {audit.men} men"
        level = special.logit(audit.right) + audit.people * NODES
        right = 0.9 * float(special.expit(level) @ WEIGHTS)  # a tenth is inferred neutral
        share = {"woman": right, "man": 0.9 - right}
        women = 2 * audit.women * right
        f1 = women / (audit.women * (1 + right) + audit.men * (0.9 - right))
        for _ in range(sets):
            made = audited(audit, rng, ContextOptions(permutations=199))
            inferred, accuracy = (
                made[name][made[name]["context"] != "canvas"] for name in ("inferred", "accuracy")
            )
            of_women = inferred["inferred"] == "woman"
            for gender, true in share.items():
                rows = inferred[of_women & (inferred["gender"] == gender)]
                add_rows(tally, f"RQ1, share covered, {title}", rows, true)
            everybody = inferred[of_women & (inferred["gender"] == "all")]
            add_rows(tally, f"RQ1, change covered, {title}", everybody, 0.0, "change", "p")
            of_f1 = accuracy[accuracy["gender"] == "woman"]
            add_rows(tally, f"F1 covered, {title}", of_f1, f1)
            add_rows(tally, f"F1, change covered, {title}", of_f1, 0.0, "change", "p")
            slopes = made["congruence"]
            slopes = slopes[(slopes["measure"] == "correct") & (slopes["gender"] == "all")]
            add_rows(tally, f"congruence covered, {title}", slopes, 0.0, "ci", "p_perm")
            add_rows(tally, f"women less men covered, {title}", made["changes"], 0.0, "ci", "p")
            decided = decide(sections.judged(made))["decision"]
            tally.add(f"an audit has a finding, {title}", by, "finding" in set(decided))
            for decision in decided:
                tally.add(f"a number is judged, {title}", by, decision != "unjudged")
    yield from tally.counts()


def add_rows(
    tally: Tally, what: str, rows: pd.DataFrame, true: float, ends: str = "ci", p: str = ""
) -> None:
    """Whether each row's interval, if it has one, holds the truth; and whether its p is below 0.05."""
    for row in rows.to_dict("records"):
        low, high = row[f"{ends}_low"], row[f"{ends}_high"]
        tally.add(what, "over people", low <= true <= high, np.isfinite(low))
        if p:
            name = what.replace(" covered", ", p < 0.05")
            tally.add(name, "over people", row[p] < 0.05, np.isfinite(row[p]))


def contexts_few(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """2 to 12 people a gender, whole audits; choices were made on these."""
    sizes = ((2, 2), (3, 3), (5, 5), (8, 8), (12, 12))
    yield from whole_audits(rng, sets, tuple(Contexts(*size) for size in sizes))


def contexts_few_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Other such audits: unequal genders, rare errors, refusals, several photos."""
    audits = (
        Contexts(2, 40),
        Contexts(4, 11, right=0.95, people=2.0),
        Contexts(10, 10, right=0.6, refused=0.2),
        Contexts(6, 6, photos=3, ratings=(1.0, 3.0, 9.0)),
    )
    yield from whole_audits(rng, sets, audits)


CASES = {
    "contexts-few": contexts_few,
    "contexts-few-unseen": contexts_few_unseen,
    "contexts-photos": contexts_photos,
    "contexts-photos-unseen": contexts_photos_unseen,
    "contexts-distances": contexts_distances,
    "contexts-distances-unseen": contexts_distances_unseen,
    "contexts-f1": contexts_f1,
    "contexts-rooms": contexts_rooms,
    "contexts-rooms-unseen": contexts_rooms_unseen,
    "contexts-f1-rooms": contexts_f1_rooms,
    "contexts-f1-rooms-unseen": contexts_f1_rooms_unseen,
}
