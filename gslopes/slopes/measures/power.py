"""How many photos, or how large a slope, does a finding need? To be asked before any call is paid.

Audits are drawn and decided as the fit decides (``slopes.measures.decision``).  Only where slopes of photos come from
differs: from a pilot run (``Pilot``), or from a model of one label (``Presence``).  Both give a ``Pool``, from which
photos, or people with all their photos, are drawn with replacement.

Changes of signs replace the permutations of a photo's answers that the fit makes for the own test.  Photos that are
refused or lost are not in it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
from pandas import DataFrame
from scipy import optimize, sparse, special

from gslopes.core import ConfigError, frozen, frozen_identity, placebo
from gslopes.core.records import Flags, Integers, Numbers, doubles
from gslopes.slopes.measures import answers, decision
from gslopes.slopes.measures.options import FitOptions
from gslopes.stats import ols, permutation, rounding
from gslopes.stats.clusters import enough
from gslopes.stats.contrast import Units, contrast
from gslopes.stats.multiplicity import LEVEL, are_findings, benjamini_hochberg, is_finding

# Standard deviation of the photos' true slopes over their mean: 0.4 to 1.6, median 1.1, over the nine labels with a t
# beyond 3 in 29 London portraits (gender, celeba-tagger); the upper end is planned for.
SPREAD = 1.5
GENDER = tuple(2 * third / 3 for third in range(-3, 4))
_VALUES = np.asarray(GENDER)
_WEIGHTS = 100 * ols.line_weights(_VALUES)
_LIFTS = np.exp(
    np.sqrt(np.log1p(SPREAD**2)) * special.ndtri((np.arange(200) + 0.5) / 200)
)  # of b over its median
_LEAST_SETS = 20  # before a search may stop
_OWN = 4999  # permutations of the own test: fewer cost power where labels are many
_TESTS = FitOptions(permutations=999)
_MOST = 200_000  # photos


# -- slopes to draw from ----------------------------------------------------------------------------------------------


@frozen_identity
class Pool:
    """People, or single photos, with their slopes, from which audits are drawn.

    slopes: (1 + kinds of placebo, R, n) of n photos along the edit and each placebo.
    varies: (R, n) whether the answers vary along the edit.
    sizes: (U,) photos of each person, whose photos lie side by side; 1 each if photos are units.
    rows: (L,) the row of each label of an audit; the first is the one that is planned for.
    apart: whether each label is drawn from other photos, as independent labels are.
    """

    slopes: Numbers
    varies: Flags
    sizes: Integers
    rows: Integers
    apart: bool = False

    def drawn(
        self, rng: np.random.Generator, units: int
    ) -> tuple[tuple[Integers, Integers], Integers]:
        """Places of (L, photos) of so many units drawn with replacement, and (units,) the photos of each."""
        count = len(self.rows) if self.apart else 1
        chosen = rng.integers(0, len(self.sizes), count * units)
        sizes = self.sizes[chosen]
        starts = (np.cumsum(self.sizes) - self.sizes)[chosen] - np.cumsum(sizes) + sizes
        places = np.repeat(starts, sizes) + np.arange(sizes.sum())
        return (self.rows[:, None], places.reshape(count, -1)), sizes[:units]


@frozen
class Presence:
    """A label that some pictures have, as nobody has seen it yet.

    A photo has it if u + e + b v passes a threshold: u is fixed for the photo, e is new in every picture of every
    sweep, v the value; u and e are normal, together with variance 1, and ``noise`` is e's part of it.  1: all photos
    are alike, and each answer is by chance; 0: an answer never changes but through the edit.  b is lognormal over
    photos, with a standard deviation of ``SPREAD`` times its mean.  Photos of one person share u and b.

    rate: share of photos with it at the centre, in (0, 1).  photos_each: photos of a person.
    labels: how many are judged, of which the others do not move.

    Raises: ConfigError.
    """

    rate: float
    noise: float = 1.0
    photos_each: int = 1
    labels: int = 1
    least: ClassVar[int] = 10
    steepest: ClassVar[float] = float(np.maximum(_WEIGHTS, 0).sum()) - 0.1

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

    def pool(self, slope: float) -> Pool:
        """Slopes of the label, and of one that does not move.  slope: in [0, ``steepest``]."""
        limit = special.ndtri(1 - self.rate)

        def short(shift: float) -> float:
            """How much the mean slope is below the one asked for, by the median of b."""
            rates = special.ndtr(shift * _LIFTS[:, None] * _VALUES - limit).mean(0)
            return float(slope - rates @ _WEIGHTS)

        shift = 0.0
        if slope > 0:
            shift = float(optimize.brentq(short, 0, 1e9))
        each = self.photos_each
        size = int(np.clip(10_000 / min(self.rate, 1 - self.rate), 50_000, 200_000)) // each
        rng = np.random.default_rng(0)
        own = np.sqrt(1 - self.noise) * rng.standard_normal((2, size, 1), np.float32) - limit
        moves = shift * rng.permutation(np.resize(_LIFTS, size))[:, None] * _VALUES
        along = np.repeat(own + np.stack([moves, 0 * moves]), each, 1)
        still = np.repeat(own, each, 1)
        sweeps = []
        for level in (along, *[still] * len(placebo.KINDS)):
            chance = rng.standard_normal((2, size * each, len(_VALUES)), np.float32)
            sweeps.append(level + np.sqrt(self.noise) * chance > 0)
        slopes = rounding.settled(np.stack(sweeps) @ _WEIGHTS, np.abs(_WEIGHTS).sum())
        varies = sweeps[0].any(2) & ~sweeps[0].all(2)
        rows = np.minimum(np.arange(self.labels), 1)
        return Pool(slopes, varies, np.full(size, each), rows, apart=True)


@frozen_identity
class Pilot:
    """What a pilot run saw.

    seen: slopes as they were measured.  least: of how many units the answers must vary.
    bound: of a slope; inf if it has none.
    """

    seen: Pool
    least: int = 10
    bound: float = np.inf

    @property
    def photos_each(self) -> float:
        """Photos of a person, on average."""
        return float(self.seen.sizes.mean())

    @property
    def labels(self) -> int:
        """How many of them a run of the pilot's size judges."""
        varying = _any(self.seen.varies, self.seen.sizes).sum(1)
        return int((varying >= self.least).sum())

    @property
    def steepest(self) -> float:
        """The largest slope that is tried."""
        return float(min(self.bound, 20 * np.abs(self.seen.slopes[:, 0]).max()))

    def pool(self, slope: float) -> Pool:
        """The slopes as an audit would have them if the label had this one, on the pilot's side of 0.

        Photos keep how far they lie from the mean.  Of a slope beyond the pilot's interval, what the edit adds to their
        spread grows with it, as a share of photos that change if presence is judged, and as each photo's own slope if
        numbers are.  Other means that the
        pilot cannot tell from 0 are taken as 0: a larger audit would take their noise for effects.
        """
        seen = self.seen
        shape = seen.slopes.shape
        tested = contrast(_units(seen.slopes.reshape(-1, shape[2]), seen.sizes))
        sure = is_finding(benjamini_hochberg(tested.p), tested.low, tested.high)
        means = np.where(sure, tested.difference, 0.0).reshape(shape[:2])
        mean = tested.difference[0]
        means[0, 0] = np.copysign(slope, mean)
        gaps = seen.slopes - tested.difference.reshape(*shape[:2], 1)
        spread, *still = gaps[:, 0].var(1)
        excess = max(spread - np.mean(still), 0.0)
        inside = tested.low[0] <= means[0, 0] <= tested.high[0]
        if sure[0] and not inside and excess > 0:
            growth = abs(slope / mean) ** (1 if np.isfinite(self.bound) else 2)
            gaps[0, 0] *= np.sqrt(1 + excess * (growth - 1) / spread)
        count = len(seen.sizes)
        return replace(seen, slopes=means[:, :, None] + gaps * np.sqrt(count / max(count - 1, 1)))


def _units(slopes: Numbers, sizes: Integers) -> Units:
    """(L, n) slopes of photos as those of units, whose photos lie side by side."""
    sums = np.add.reduceat(doubles(slopes), np.cumsum(sizes) - sizes, axis=1)
    return Units(sparse.csr_array(sums), doubles(sizes))


def _any(flags: Flags, sizes: Integers) -> Flags:
    """(L, U) whether any of a unit's photos has it.  flags: (L, n)."""
    return np.logical_or.reduceat(flags, np.cumsum(sizes) - sizes, axis=1)


@lru_cache(maxsize=2)
def _pool(label: Presence | Pilot, slope: float) -> Pool:
    if slope > label.steepest:
        raise ConfigError(
            f"Such a label cannot move by {slope:g} a unit.",
            f"Its steepest slope is {label.steepest:.3g}.",
        )
    return label.pool(slope)


# -- the three questions ----------------------------------------------------------------------------------------------


def power(
    label: Presence | Pilot,
    units: int,
    slope: float,
    placebo_photos: int | None = None,
    *,
    chance: float | None = None,
    sets: int = 200,
) -> float:
    """The chance, in [0, 1], that a slope of this size is a finding in so many photos, or people, to about 0.03.

    label: the one that may move.  slope: percentage points per unit of the attribute, or in the number's unit; its sign
        does not matter.
    placebo_photos: of how many photos the placebo sweeps are; all if None.
    chance: if it only matters on which side of it the result lies: then fewer audits may do.
    sets: how many audits are drawn.

    Raises: ConfigError for fewer than 2 units, or a slope that such a label cannot have.

    >>> round(power(Presence(rate=0.1), 400, 2.0), 1)
    0.9
    """
    if units < 2:
        raise ConfigError("One photo or person has no spread.", "Give 2 or more.")
    pool = _pool(label, abs(slope))
    rng = np.random.default_rng(1)
    found = 0
    for number in range(1, sets + 1):
        found += _is_found(pool, label.least, units, placebo_photos, rng)
        if chance is None or number < _LEAST_SETS:
            continue
        if abs(found / number - chance) > 3 * np.sqrt(chance * (1 - chance) / number):
            break
    return found / number


def _is_found(
    pool: Pool,
    least: int,
    units: int,
    placebo_photos: int | None,
    rng: np.random.Generator,
) -> bool:
    """Whether the first label is a finding of one audit that is drawn."""
    places, sizes = pool.drawn(rng, units)
    varying = _any(pool.varies[places], sizes).sum(1)
    trusted = enough(doubles(sizes))
    slopes = pool.slopes[0][places]
    own = contrast(_units(slopes, sizes))
    first = contrast(_units(slopes[:1], sizes), permutations=_OWN)
    p = own.p.copy()
    p[:1] = permutation.below_floor(first.p_perm, first.p, _OWN, trusted=trusted)[0]
    p = np.where(varying >= least, p, np.nan)
    columns = {"slope": own.difference, "p_test": p, "q": benjamini_hochberg(p)}
    rows = DataFrame({**columns, "ci_low": own.low, "ci_high": own.high})
    holds = np.flatnonzero(are_findings(rows))
    if 0 not in holds:
        return False
    asked = np.sort(rng.permutation(slopes.shape[1])[:placebo_photos])
    sizes = np.unique(np.repeat(np.arange(units), sizes)[asked], return_counts=True)[1]
    edit, *fakes = (part[places][:, asked] for part in pool.slopes)
    differences = {}
    for kind, fake in zip(placebo.KINDS, fakes, strict=True):
        pair = _units(edit[holds], sizes), _units(fake[holds], sizes)
        tested = decision.paired(*pair, _TESTS, signed=kind in placebo.SIGNED)
        moved = contrast(_units(fake, sizes))
        differences[kind] = (
            DataFrame(answers.columns_of(tested), holds)
            .reindex(rows.index)
            .assign(placebo_slope=moved.difference, placebo_p=moved.p)
        )
    stepped = decision.placebo_step(rows, differences, _TESTS, trusted)
    return bool(is_finding(stepped["q_placebo"][0]))


def smallest_slope(
    label: Presence | Pilot, units: int, chance: float = 0.8, placebo_photos: int | None = None
) -> float:
    """The smallest slope, in the unit of ``power``, that is a finding with this chance.

    Raises: ConfigError as ``power``, if the chance is not between 0.05 and 1, or if no slope has it.
    """
    _check(chance)

    def enough(slope: float) -> bool:
        return power(label, units, slope, placebo_photos, chance=chance) >= chance

    if not enough(label.steepest):
        raise ConfigError(
            f"No slope of such a label is a finding in {units:,} photos with a chance of {chance:.0%}.",
            "Plan for more photos.",
        )
    return _least(enough, 0.0, label.steepest)


def units_needed(
    label: Presence | Pilot, slope: float, chance: float = 0.8, placebo_photos: int | None = None
) -> int:
    """How many photos, or people, make a slope of this size a finding with this chance.

    slope: in the unit of ``power``, not 0.

    Raises: ConfigError if the slope is 0 or too large, the chance not between 0.05 and 1, or if 200,000 photos do
    not suffice.
    """
    _check(chance)
    if slope == 0 or not np.isfinite(slope):
        raise ConfigError(
            "No number of photos shows a slope of 0.", "Give the smallest slope that would matter."
        )

    def enough(units: float) -> bool:
        return power(label, int(units), slope, placebo_photos, chance=chance) >= chance

    high = 8
    while not enough(high):
        high *= 2
        if high * label.photos_each > _MOST:
            hint = "Give a larger slope."
            if placebo_photos:
                hint = "Ask about placebo sweeps of more photos."
            raise ConfigError(
                f"{_MOST:,} photos do not make this slope a finding with such a chance.", hint
            )
    return int(_least(enough, high // 2, high, 1))


def _least(enough: Callable[[float], bool], low: float, high: float, grain: float = 0.0) -> float:
    """About the least number that is enough: to a fiftieth, or the grain."""
    while high - low > max(grain, high / 50):
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _check(chance: float) -> None:
    if not LEVEL < chance < 1:
        raise ConfigError(
            f"A power of {chance} cannot be planned for.", f"Give one between {LEVEL:g} and 1."
        )
