"""Cells of the coverage bench: what ``gslopes power`` promises next to what becomes a finding.

Pilots and audits are drawn from the same classifier and photos.  Each pilot promises by ``slopes.measures.power``, and
promises are averaged over pilots; each audit goes through the fit's own functions.  One label moves unless stated
otherwise.  The error that is printed beside a promise leaves out that pilots differ.  The two cells tell the designs on
which ``power`` was written from those on which it was only tried.  A first run of both was seen before two last
changes: 4,999 permutations of the own test, and no other spread for slopes inside the pilot's interval.  Nor are the
latter quite unseen, then; their slopes were set so that findings are neither rare nor certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from coverage_cases import VALUES, Count, as_answers
from coverage_decision import numbered
from scipy import special

from gslopes.core import placebo
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.decision import decide, placebo_differences
from gslopes.slopes.measures.estimators import slope_rows
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.measures.power import SPREAD, Presence, power
from gslopes.slopes.pilot import pilot_of
from gslopes.stats.ols import line_weights

Sizes = tuple[int, ...]
NOISE = 0.4  # of latent answers
INNER = 25  # audits that a pilot's promise is drawn from
PILOTS = 5  # sets to a pilot


@dataclass(frozen=True)
class Plan:
    """One design.

    kind: of classifier, a key of ``KINDS``.  slope: along the edit, in its own unit.  units: photos, or people whose
    photos are one of ``each`` in turn.  pilot: units of the pilot.  moving: labels that move.  light: share of the
    slope that light alone moves.  pilot_slope: share of the slope that the pilot's photos have.
    """

    kind: str
    slope: float
    units: int
    labels: int = 20
    rate: float = 0.3
    pilot: int = 100
    each: Sizes = (1,)
    moving: int = 1
    light: float = 0.0
    pilot_slope: float = 1.0
    placebo_photos: int | None = None

    @property
    def title(self) -> str:
        people = self.each != (1,)
        texts = [self.kind]
        if self.kind in RATED:
            texts.append(f"rate {self.rate:g}")
        texts.append(f"{self.units} {'people' if people else 'photos'}")
        if people:
            texts.append(
                f"{'–'.join(map(str, sorted({min(self.each), max(self.each)})))} photos each"
            )
        texts.append(f"{self.labels} label{'s' * (self.labels > 1)}")
        if self.moving > 1:
            texts.append(f"{self.moving} move")
        if self.light:
            texts.append(f"light moves {self.light:.0%} as far")
        if self.placebo_photos:
            texts.append(f"{self.placebo_photos} with placebos")
        if self.kind == "latent":
            return ", ".join([*texts, "no pilot"])
        pilot = f"pilot of {self.pilot}"
        if self.pilot_slope != 1:
            pilot += f" with {self.pilot_slope:g} times the slope"
        return ", ".join([*texts, pilot])

    def sizes(self, units: int) -> np.ndarray:
        return np.resize(self.each, units)

    def draw(self, rng: np.random.Generator, units: int, share: float = 1.0) -> list[Answers]:
        """Answers along the edit and each placebo.  share: of the slope."""
        sizes = self.sizes(units)
        codes = np.repeat(np.arange(units), sizes)
        moves = np.zeros((self.labels, 1, 1))
        moves[: self.moving] = self.slope * share
        along = [moves, *(moves * self.light * (kind == "light") for kind in placebo.KINDS)]
        rows = KINDS[self.kind](rng, self.labels, codes, along, self.rate)
        people = None if self.each == (1,) else codes
        return [replace(self.answers(part), units=people) for part in rows]

    def answers(self, rows: np.ndarray) -> Answers:
        if self.kind in RATED:
            return as_answers(rows)
        return numbered(rows, "log-odds" if self.kind == "log-odds" else "value")

    def true_slope(self, rng: np.random.Generator) -> float:
        """Mean over 200,000 people, in the unit of power."""
        means = []
        for _ in range(10):
            moves = np.full((1, 1, 1), self.slope)
            rows = KINDS[self.kind](rng, 1, np.arange(20_000), [moves], self.rate)[0]
            if self.kind == "log-odds":
                rows = special.logit(rows)
            means.append((rows[0] @ line_weights(VALUES)).mean())
        return float(np.mean(means)) * (100 if self.kind in RATED else 1)


# -- classifiers: (labels, photos, 7) along each of the sweeps; photos of one person share what is the photo's own ----

Sweeps = list[np.ndarray]
Kind = Callable[[np.random.Generator, int, np.ndarray, Sweeps, float], Sweeps]


def _own(rng: np.random.Generator, labels: int, codes: np.ndarray) -> np.ndarray:
    """(labels, photos, 1) normal, the same of one person's photos."""
    return rng.standard_normal((labels, codes[-1] + 1, 1))[:, codes]


def logits(rng, labels, codes, along, rate):
    """Each answer by chance, with log-odds of standard deviation 1; all photos have the slope."""
    odds = special.logit(rate) + _own(rng, labels, codes)
    shape = (labels, len(codes), 7)
    return [rng.random(shape) < special.expit(odds + moves * VALUES) for moves in along]


def points(rng, labels, codes, along, rate):
    """Each answer by chance, in percentage points; slopes with a spread of 1.5."""
    slopes = (1 + 1.5 * _own(rng, 1, codes)) / 100
    shape = (labels, len(codes), 7)
    return [rng.random(shape) < rate + moves * slopes * VALUES for moves in along]


def threshold(rng, labels, codes, along, rate):
    """A threshold that only the edit passes; slopes with a spread of 1."""
    level = _own(rng, labels, codes) + special.ndtri(rate)
    slopes = 1 + _own(rng, 1, codes)
    return [
        np.broadcast_to(level + moves * slopes * VALUES, (labels, len(codes), 7)) > 0
        for moves in along
    ]


def noisy_threshold(rng, labels, codes, along, rate):
    """A threshold past which 0.4 of the variance is new in every picture; slopes with a spread of 0.5."""
    level = np.sqrt(0.6) * _own(rng, labels, codes) + special.ndtri(rate)
    slopes = 1 + 0.5 * _own(rng, 1, codes)
    shape = (labels, len(codes), 7)
    return [
        level + moves * slopes * VALUES + np.sqrt(0.4) * rng.standard_normal(shape) > 0
        for moves in along
    ]


def shared_noise(rng, labels, codes, along, rate):
    """Logits of which each picture moves all labels alike, standard deviation 1.6."""
    odds = special.logit(rate) + _own(rng, labels, codes)
    shape = (labels, len(codes), 7)
    rows = []
    for moves in along:
        picture = 1.6 * rng.standard_normal((1, len(codes), 7))
        rows.append(rng.random(shape) < special.expit(odds + picture + moves * VALUES))
    return rows


def latent(rng, labels, codes, along, rate):
    """The model that ``gslopes power --rate`` draws from, which is told its noise, 0.4, and sees no pilot."""
    level = np.sqrt(1 - NOISE) * _own(rng, labels, codes) + special.ndtri(rate)
    slopes = np.exp(np.sqrt(np.log1p(SPREAD**2)) * _own(rng, 1, codes))
    shape = (labels, len(codes), 7)
    return [
        level + moves * slopes * VALUES + np.sqrt(NOISE) * rng.standard_normal(shape) > 0
        for moves in along
    ]


def normal(rng, labels, codes, along, rate):
    """Numbers: normal in every picture; slopes with a spread of 1."""
    slopes = 1 + _own(rng, 1, codes)
    level = _own(rng, labels, codes)
    shape = (labels, len(codes), 7)
    return [level + moves * slopes * VALUES + rng.standard_normal(shape) for moves in along]


def lognormal(rng, labels, codes, along, rate):
    """Numbers: slopes of photos are lognormal(1) with mean 1, the number's noise grows with the photo's level."""
    slopes = np.exp(_own(rng, 1, codes) - 0.5)
    level = np.exp(_own(rng, labels, codes))
    shape = (labels, len(codes), 7)
    return [
        level * (1 + 0.3 * rng.standard_normal(shape)) + moves * slopes * VALUES for moves in along
    ]


def heavy(rng, labels, codes, along, rate):
    """Numbers: t with 3 degrees in every picture; slopes with a spread of 1."""
    slopes = 1 + _own(rng, 1, codes)
    level = _own(rng, labels, codes)
    shape = (labels, len(codes), 7)
    return [level + moves * slopes * VALUES + rng.standard_t(3, shape) / 2 for moves in along]


def odds(rng, labels, codes, along, rate):
    """Scores whose log-odds are normal, the photo's own with standard deviation 2; slopes with a spread of 1."""
    slopes = 1 + _own(rng, 1, codes)
    level = 2 * _own(rng, labels, codes)
    shape = (labels, len(codes), 7)
    return [
        special.expit(level + moves * slopes * VALUES + 0.7 * rng.standard_normal(shape))
        for moves in along
    ]


RATED = ("logits", "points", "threshold", "noisy threshold", "shared noise", "latent")
KINDS: dict[str, Kind] = {
    "logits": logits,
    "points": points,
    "threshold": threshold,
    "noisy threshold": noisy_threshold,
    "shared noise": shared_noise,
    "latent": latent,
    "normal": normal,
    "lognormal": lognormal,
    "heavy": heavy,
    "log-odds": odds,
}


# -- promised and found -----------------------------------------------------------------------------------------------


def is_found(plan: Plan, rng: np.random.Generator) -> bool:
    """Whether the first label of one audit is a finding."""
    edit, *fakes = plan.draw(rng, plan.units)
    if plan.placebo_photos:
        keep = np.zeros(len(edit.photos), bool)
        keep[rng.permutation(len(keep))[: plan.placebo_photos]] = True
        fakes = [fake.only(keep) for fake in fakes]
    estimator = "photo-measure" if edit.measures else "photo-rate"
    options = FitOptions(estimators=(estimator,), permutations=4999)
    by_kind = dict(zip(placebo.KINDS, fakes, strict=True))
    rows = slope_rows(edit, options)
    sizes = np.asarray(plan.sizes(plan.units), float)
    rows = decide(rows, placebo_differences(edit, by_kind, options), options, units=sizes)
    return bool(rows.set_index("label")["decision"].get("000000") == "finding")


def promise(plan: Plan, rng: np.random.Generator, slope: float, sets: int = INNER) -> float:
    """What one pilot promises, or the model."""
    if plan.kind == "latent":
        label = Presence(plan.rate, NOISE, plan.each[0], plan.labels)
        return power(label, plan.units, slope, plan.placebo_photos, sets=sets)
    edit, *fakes = plan.draw(rng, plan.pilot, plan.pilot_slope)
    by_kind = dict(zip(placebo.KINDS, fakes, strict=True))
    pilot = pilot_of(edit, by_kind, "000000")
    return power(pilot, plan.units, slope, plan.placebo_photos, sets=sets)


def cells(plans: list[Plan], rng: np.random.Generator, sets: int) -> Iterator[Count]:
    for plan in plans:
        slope = abs(plan.true_slope(np.random.default_rng(66)))
        pilots = 1 if plan.kind == "latent" else max(sets // PILOTS, 1)
        inner = INNER * sets // PILOTS // pilots
        promised = sum(promise(plan, rng, slope, inner) for _ in range(pilots))
        yield plan.title, "promised", round(promised * inner), pilots * inner
        yield plan.title, "finding", sum(is_found(plan, rng) for _ in range(sets)), sets


WRITTEN_ON = [
    Plan("logits", 0.4, 60),
    Plan("logits", 0.4, 60, moving=10),
    Plan("logits", 0.3, 30, each=(4,), pilot=25),
    Plan("points", 2.5, 300, labels=1, rate=0.1, pilot=200),
    Plan("threshold", 0.12, 60),
    Plan("shared noise", 0.5, 60, labels=5),
    Plan("normal", 0.25, 40),
    Plan("normal", 0.3, 40, pilot_slope=3),
    Plan("lognormal", 0.18, 60),
    Plan("lognormal", 0.18, 60, pilot_slope=2),
]
ONLY_TRIED = [
    Plan("logits", 0.45, 300, rate=0.02, pilot=200),
    Plan("logits", 0.5, 60, rate=0.5, labels=2, pilot=60),
    Plan("logits", 0.35, 100, labels=200),
    Plan("logits", 0.6, 100, light=0.5),
    Plan("logits", 0.4, 300, placebo_photos=60, pilot=60),
    Plan("logits", 0.5, 20, each=(1, 8, 3, 2, 6), pilot=40),
    Plan("noisy threshold", 0.15, 150, rate=0.1, pilot=150),
    Plan("noisy threshold", 0.1, 60, each=(1, 4, 2), pilot=30),
    Plan("shared noise", 0.3, 60, each=(5, 1), labels=10, pilot=60),
    Plan("normal", 0.25, 20, each=(8, 1, 4), pilot=20),
    Plan("lognormal", 0.18, 30, each=(4,), pilot=30),
    Plan("heavy", 0.3, 20, labels=5, pilot=60),
    Plan("heavy", 0.09, 60, each=(2,), pilot=60),
    Plan("log-odds", 0.12, 60, pilot=60),
    Plan("log-odds", 0.2, 20, labels=2, pilot=100),
    Plan("latent", 0.06, 200, rate=0.1),
    Plan("latent", 0.07, 30, rate=0.3, each=(4,)),
]


def planned(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Promised and found: power was written on these."""
    yield from cells(WRITTEN_ON, rng, sets)


def planned_others(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """The same, only tried."""
    yield from cells(ONLY_TRIED, rng, sets)


CASES = {"planned": planned, "planned-others": planned_others}
