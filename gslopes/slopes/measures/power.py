"""How many photos, or how large a slope, does a finding need? To be asked before any call is paid.

Audits are drawn and decided as the fit decides (``slopes.measures.decision``): the label's own test, adjusted over all
labels, of which the others do not move; then its differences from the placebo sweeps, which do not move it either.

A photo has a label if u + e + b v passes a threshold: u is fixed for the photo, e is new in every picture of every
sweep, v the value; u and e are normal, together with variance 1, and ``noise`` is e's part of it.  1: all
photos are alike, and each answer is by chance; 0: an answer never changes but through the edit.  b differs between
photos, with a standard deviation of ``spread`` times its mean.  A label judged by its number has normal slopes instead
(``Measured``).

A normal distribution with a correction for continuity replaces the permutations that the fit makes.  Photos that are
refused or lost are not in it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from gslopes.core import frozen, placebo
from gslopes.core.arrays import Array, Flags, doubles
from gslopes.core.errors import ConfigError
from gslopes.stats.multiplicity import LEVEL, is_finding
from gslopes.stats.ols import line_weights
from gslopes.stats.rounding import settled

Pool = NDArray[np.float32]

# Standard deviation of the photos' true slopes over their mean: 0.4 to 1.6, median 1.1, over the nine labels with a t
# beyond 3 in 29 London portraits (gender, celeba-tagger); the upper end is planned for.
SPREAD = 1.5
GENDER = (-2.0, -4 / 3, -2 / 3, 0.0, 2 / 3, 4 / 3, 2.0)
_VALUES = np.asarray(GENDER)
_WEIGHTS = 100 * line_weights(_VALUES)
_DRAWS = 20_000_000  # photos of all audits that are drawn at once


_SHIFTS = np.geomspace(1e-6, 20, 200)  # mean b that are tried


@frozen
class Presence:
    """A label that some pictures have.

    rate: share of photos with it at the centre, in (0, 1).  noise, spread: see above.

    Raises: ConfigError.
    """

    rate: float
    noise: float = 1.0
    spread: float = SPREAD

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise ConfigError(
                f"The rate is {self.rate}; it must lie between 0 and 1.",
                "0.01 is one photo in 100.",
            )
        if not 0 <= self.noise <= 1:
            raise ConfigError(
                f"The noise is {self.noise}; it must lie in [0, 1].",
                "1: every answer is by chance alone.",
            )

    @property
    def step(self) -> float:
        """How far the slopes of two photos lie apart at least, if they differ."""
        return float(np.diff(_WEIGHTS).min())

    @property
    def limit(self) -> float:
        """The threshold."""
        return float(special.ndtri(1 - self.rate))

    def slope_of(self, shift: float) -> float:
        """Percentage points per unit, by the mean b."""
        deviations = np.hypot(1, self.spread * shift * _VALUES)
        return float(_WEIGHTS @ special.ndtr((shift * _VALUES - self.limit) / deviations))

    def shift_of(self, slope: float) -> float:
        """The mean b of a slope.  Raises: ConfigError if no b gives as much."""
        size = abs(slope)
        top = max(_SHIFTS, key=self.slope_of)
        if size > self.steepest:
            problem = f"A label on {self.rate:.1%} of the photos cannot move by {size:g} points a unit in all."
            raise ConfigError(problem, f"Its steepest slope is {self.steepest:.2g}.")
        if size <= self.slope_of(_SHIFTS[0]):
            return 0.0
        return _root(lambda shift: self.slope_of(shift) - size, _SHIFTS[0], top)

    @property
    def steepest(self) -> float:
        """The largest slope, percentage points per unit."""
        return max(map(self.slope_of, _SHIFTS))

    def pool(self, slope: float) -> tuple[Pool, Flags]:
        """(1 + kinds of placebo, M) slopes of photos, and (M,) whether their answers vary along the edit."""
        shift = self.shift_of(slope)
        size = int(np.clip(20_000 / min(self.rate, 1 - self.rate), 50_000, 400_000))
        rng = np.random.default_rng(0)
        steady = rng.standard_normal(size, np.float32)[:, None]
        steady = np.sqrt(1 - self.noise) * steady - np.float32(self.limit)
        tilt = shift * (1 + self.spread * rng.standard_normal(size, np.float32))[:, None]
        rows = []
        for moved in (tilt * _VALUES, *[np.float32(0)] * len(placebo.KINDS)):
            chance = np.sqrt(self.noise) * rng.standard_normal((size, len(_VALUES)), np.float32)
            rows.append(steady + chance + moved > 0)
        slopes = [settled(present @ _WEIGHTS, np.abs(_WEIGHTS).sum()) for present in rows]
        return np.stack(slopes).astype(np.float32), rows[0].any(axis=1) & ~rows[0].all(axis=1)


@frozen
class Measured:
    """A label that is judged by its number: slopes of photos, in its unit.

    sd: of the slopes along the edit.  fakes: standard deviations along the placebo sweeps.  shared: correlations of
    each placebo's slopes with the edit's.
    """

    sd: float
    fakes: tuple[float, ...]
    shared: tuple[float, ...]

    step: ClassVar[float] = 0.0

    @property
    def steepest(self) -> float:
        """The largest slope that is tried."""
        return 20 * max(self.sd, *self.fakes)

    def pool(self, slope: float) -> tuple[Pool, Flags]:
        """As ``Presence.pool``."""
        rng = np.random.default_rng(0)
        normal = rng.standard_normal((1 + len(placebo.KINDS), 100_000), np.float32)
        normal[0] -= normal[0].mean()
        slopes = np.empty_like(normal)
        slopes[0] = slope + self.sd * normal[0]
        for row, (sd, shared) in enumerate(zip(self.fakes, self.shared, strict=True), 1):
            slopes[row] = sd * (shared * normal[0] + np.sqrt(1 - shared**2) * normal[row])
        return slopes, np.ones(normal.shape[1], bool)


@frozen
class Design:
    """What is known before the audit.

    label: the one that may move.  labels: how many are judged.  least: on how many photos its answer must vary.
    placebo_photos: of how many photos the placebo sweeps are; all if None.
    """

    label: Presence | Measured
    labels: int = 1
    least: int = 10
    placebo_photos: int | None = None

    def __post_init__(self) -> None:
        for name in ("labels", "placebo_photos"):
            if (number := getattr(self, name)) is not None and number < 1:
                raise ConfigError(f"{name} is {number}; it must be 1 or more.")


@lru_cache(maxsize=2)
def _pool(label: Presence | Measured, slope: float) -> tuple[Pool, Flags]:
    return label.pool(slope)


def power(design: Design, photos: int, slope: float) -> float:
    """The chance, in [0, 1], that a slope of this size is a finding in ``photos`` photos, to about 0.02.

    slope: percentage points per unit of the attribute, or in the number's unit; its sign does not matter.

    Raises: ConfigError for fewer than 2 photos, or a slope that such a label cannot have.

    >>> round(power(Design(Presence(rate=0.1)), 400, 2.5), 1)
    0.9
    """
    if photos < 2:
        raise ConfigError(f"{photos} photos have no spread.", "Give 2 or more.")
    slopes, varies = _pool(design.label, abs(slope))
    step = design.label.step
    rng = np.random.default_rng(1)
    sets = int(np.clip(_DRAWS // photos, 200, 1000))
    asked = min(photos, design.placebo_photos or photos)
    findings = 0
    for start in range(0, sets, 100):
        rows = rng.integers(0, slopes.shape[1], (min(100, sets - start), photos))
        edit = doubles(slopes[0][rows])
        side = np.sign(edit.sum(axis=1))
        holds = varies[rows].sum(axis=1) >= design.least
        q, others = _adjusted(_p(edit, side, step), design.labels, rng)
        holds &= is_finding(q)
        for kind, fake in zip(placebo.KINDS, slopes[1:], strict=True):
            paired = fake[rows[:, :asked]]
            for sign in (1,) if kind in placebo.SIGNED else (1, -1):
                gap = edit[:, :asked] - sign * paired
                holds &= _p(gap, side, 2 * step) < LEVEL / (1 + others)
        findings += int(holds.sum())
    return findings / sets


def _p(numbers: Array, side: Array, step: float) -> Array:
    """(sets,) about the p of changes of signs of each row's numbers, whose sums lie ``step`` apart; of a sum on the
    other side more than 1.
    """
    length = np.maximum(np.sqrt(np.square(numbers).sum(axis=1)), 1e-12)
    z = (numbers.sum(axis=1) * side - step / 2) / length
    return np.asarray(2 * special.ndtr(-z))


def _adjusted(p: Array, labels: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """(sets,) q of the label's p after Benjamini and Hochberg, and how many of the others, which do not move, hold."""
    others = rng.random((len(p), labels - 1))
    ordered = np.sort(np.column_stack([p, others]), axis=1) * labels / np.arange(1, labels + 1)
    q = np.minimum.accumulate(ordered[:, ::-1], axis=1)[:, ::-1]
    own = q[np.arange(len(p)), (others < p[:, None]).sum(axis=1)]
    return own, is_finding(q).sum(axis=1) - is_finding(own)


def smallest_slope(design: Design, photos: int, chance: float = 0.8) -> float:
    """The smallest slope, in the unit of ``power``, that is a finding with this chance.

    Raises: ConfigError as ``power``, if the chance is not between 0.05 and 1, or if no slope has it.
    """
    _check(chance)
    high = design.label.steepest
    if power(design, photos, high) < chance:
        problem = f"No slope of such a label is a finding in {photos:,} photos with a chance of {chance:.0%}."
        raise ConfigError(problem, "Plan for more photos.")
    low = 0.0
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        if power(design, photos, middle) >= chance:
            high = middle
        else:
            low = middle
    return high


def photos_needed(design: Design, slope: float, chance: float = 0.8) -> int:
    """How many photos make a slope of this size a finding with this chance.

    slope: in the unit of ``power``, not 0.

    Raises: ConfigError if the slope is 0 or too large, the chance not between 0.05 and 1, or if 200,000 photos do
    not suffice.
    """
    _check(chance)
    if slope == 0 or not np.isfinite(slope):
        raise ConfigError(
            "No number of photos shows a slope of 0.", "Give the smallest slope that would matter."
        )
    high = 8
    while power(design, high, slope) < chance:
        high *= 2
        if high > 200_000:
            hint = "Give a larger slope."
            if design.placebo_photos:
                hint = "Ask about placebo sweeps of more photos."
            raise ConfigError(
                "200,000 photos do not make this slope a finding with such a chance.", hint
            )
    low = high // 2
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        if power(design, middle, slope) >= chance:
            high = middle
        else:
            low = middle
    return high


def _check(chance: float) -> None:
    if not LEVEL < chance < 1:
        raise ConfigError(
            f"A power of {chance} cannot be planned for.", f"Give one between {LEVEL:g} and 1."
        )


# -- what a pilot run tells -------------------------------------------------------------------------------------------


def presence_of(rate: float, slope: float, t: float, edit: float, fake: float) -> Presence:
    """The label as a pilot saw it: noise by the placebo sweeps; spread by the edit's, if the slope is sure.

    slope: percentage points per unit.  t: of the slope.  edit, fake: variances of the photos' slopes along the edit
    and, on average, along the placebos.  Raises: ConfigError as ``Presence``.
    """
    limit = float(special.ndtri(1 - rate))
    drawn = fake / float(np.square(_WEIGHTS).sum())

    def excess_noise(noise: float) -> float:
        """Mean of p (1 - p) over photos, less the one seen; Owen 1956."""
        return float(2 * special.owens_t(limit, np.sqrt(noise / (2 - noise)))) - drawn

    noise = 0.0
    if drawn > 0:
        noise = 1.0 if excess_noise(1.0) <= 0 else _root(excess_noise, 0.0, 1.0)
    label = Presence(rate, noise)
    if not abs(t) > 3:
        return label

    def excess(spread: float) -> float:
        return float(replace(label, spread=spread).pool(slope)[0][0].var()) - edit

    spread = 0.0
    if excess(0.0) < 0:
        spread = 3.0 if excess(3.0) <= 0 else _root(excess, 0, 3, xtol=0.05)
    return replace(label, spread=spread)


def _root(function: Callable[[float], float], low: float, high: float, **options: float) -> float:
    return float(optimize.brentq(function, low, high, **options))
