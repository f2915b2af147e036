"""Is one photo's sweep fit to be asked about? A verdict from what was measured on it, before any classifier sees it.

What a classifier answers has no part in it, or the audit would choose its own result. The pictures do: a sweep whose
face is lost, or that does not move what it should, or moves much else, is no counterfactual, whatever is answered.
Keeping only sweeps that the reader follows is a choice nevertheless. Where a classifier errs as the reader errs, photos
kept for a reading that rose by chance have answers that rose by chance; with most photos kept that is nothing, with
few kept it is not. How many were dropped, and why, therefore stands next to every result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gslopes.core.errors import ConfigError
from gslopes.core.options import option
from gslopes.core.reasons import Reason, SkipReason

if TYPE_CHECKING:
    from gslopes.faces.gate.manipulation import Floats

VALIDITY = "validity.json"  # in a run folder: the summaries of its sweeps

# Readings that should stay while another is edited: those of the reader.
JUDGED = ("gender", "race", "young", "smiling")
RESOLUTION = 0.02  # of probabilities

NECK = 1.5  # face, ears and neck of portraits cover at most this much more of the face's box than the face alone may


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a sweep must satisfy to be kept. A check whose measure is missing is passed."""

    found: float = option(1.0, help="Minimum share of values at which the face is found.", metavar="SHARE")
    tau: float = option(0.6, help="Minimum tau-b of the reading with the values; 1 allows no step back.", metavar="T")
    shift: float = option(0.1, help="Minimum change of the reading, in [0, 1], last minus first.", metavar="S")
    off_target: float = option(0.15, help="Maximum slope of any other reading, per unit.", metavar="S")
    least_mask: float = option(
        0.1, help="Minimum area that may change, as a share of the face's box.", metavar="SHARE", advanced=True
    )
    most_mask: float = option(
        1.5,
        help="Maximum area that may change; half as much again where ears and neck change.",
        metavar="SHARE",
        advanced=True,
    )
    least_change: float = option(
        0.5, help="Minimum mean change within the box, of 255, at the farthest value.", metavar="LEVELS", advanced=True
    )
    most_change: float = option(64.0, help="Maximum mean change, measured alike.", metavar="LEVELS", advanced=True)

    def __post_init__(self) -> None:
        for name, low, high in (("found", 0, 1), ("tau", -1, 1), ("shift", -1, 1), ("off_target", 0, np.inf)):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"The gate's {name} is {getattr(self, name):g}; it goes from {low} to {high}.")
        for what in ("mask", "change"):
            least, most = getattr(self, f"least_{what}"), getattr(self, f"most_{what}")
            if not 0 <= least <= most:
                raise ConfigError(f"The gate's least_{what} is {least:g} and its most_{what} {most:g}.", "0 <= a <= b.")

    def with_neck(self) -> Self:
        """The same for edits that reach ears and neck, where more may change than in the face alone."""
        return replace(self, most_mask=NECK * self.most_mask)


@dataclass(frozen=True, slots=True)
class Measured:
    """One sweep in numbers; NaN for what could not be measured.

    looked: values at which the face was looked for.  found: of them, those at which it was found again.
    tau, shift, off_target, mask_share, change: as in ``Thresholds``; off_target has a sign.
    off_target_reading: whose it is.
    """

    looked: int = 0
    found: int = 0
    tau: float = np.nan
    shift: float = np.nan
    off_target: float = np.nan
    off_target_reading: str = ""
    mask_share: float = np.nan
    change: float = np.nan


def verdict(sweep: Measured, thresholds: Thresholds) -> SkipReason:
    """Why the sweep is dropped: the first check that it fails, its number in parentheses; empty if it is kept.

    >>> verdict(Measured(looked=3, found=2), Thresholds())
    'face not found again (2 of 3 values)'
    """
    t = thresholds
    checks = (
        (sweep.found < t.found * sweep.looked, Reason.FACE_LOST, f"{sweep.found} of {sweep.looked} values"),
        (sweep.mask_share < t.least_mask, Reason.MASK_TOO_SMALL, f"{sweep.mask_share:.2f} of its box"),
        (sweep.mask_share > t.most_mask, Reason.MASK_TOO_LARGE, f"{sweep.mask_share:.2f} of its box"),
        (sweep.change < t.least_change, Reason.TOO_LITTLE_CHANGE, f"{sweep.change:.1f} of 255"),
        (sweep.change > t.most_change, Reason.TOO_MUCH_CHANGE, f"{sweep.change:.0f} of 255"),
        (sweep.shift < t.shift, Reason.READING_DOES_NOT_FOLLOW, f"shift {sweep.shift:+.2f}"),
        (sweep.tau < t.tau, Reason.READING_NOT_STEADY, f"tau {sweep.tau:+.2f}"),
        (abs(sweep.off_target) > t.off_target, moves_too(sweep), f"{sweep.off_target:+.2f} per unit"),
    )  # fmt: skip
    return next((SkipReason(reason, detail) for failed, reason, detail in checks if failed), SkipReason())


def moves_too(sweep: Measured) -> Reason:
    """The reason that names the reading that moves most, the target aside; none if none was read."""
    name = sweep.off_target_reading
    return Reason(f"the reading of {name} moves too") if name else Reason.NONE


def follows(target: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """(tau-b with the values, last minus first) of one face's readings of the target, (K,) each.

    Readings that differ by no more than RESOLUTION count as equal: a reader that is sure wavers in the last digits.
    """
    from gslopes.stats.agreement import kendall  # not at the top: configurations load without scipy

    readings = np.asarray(target, np.float64)
    tau = float(kendall(readings[None], values, RESOLUTION)[0])
    # equal readings do not rise: that is what tau is asked about
    return (0.0 if np.isnan(tau) else tau), float(readings[-1] - readings[0])


def steepest(others: ArrayLike, names: Sequence[str], values: ArrayLike) -> tuple[float, str]:
    """The slope per unit, and the name, of the reading that moves most; NaN and empty if there is none.

    others: (readings, K).  names: of the readings.
    """
    from gslopes.stats.ols import line_slopes

    found: NDArray[np.float64] = line_slopes(others, values) if len(names) else np.empty(0)
    if not len(found):
        return np.nan, ""
    row = int(np.abs(found).argmax())
    return float(found[row]), names[row]


def largest_change(pictures: Sequence[NDArray[np.uint8]]) -> float:
    """Mean absolute difference from the middle picture, of 255, of the one that differs most.  pictures: K, odd."""
    centre = pictures[len(pictures) // 2].astype(np.int16)
    differences: Floats = np.array([np.abs(picture - centre).mean() for picture in pictures])
    return float(differences.max())


# --- Whether sweeps are judged, and by which thresholds ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GateConfig(Thresholds):
    """Whether sweeps are judged, and by which thresholds; see ``faces.gate.verdict.Thresholds``.

    on: None judges unless the faces come from a table of landmarks: of drawn faces neither the detector nor the judge
        is a measurer.
    """

    on: bool | None = option(
        None,
        help="Ask only about sweeps in which the face is found again and its reading follows the edit while little "
        "else changes.",
        name="gate",
        shown="--gate, but --no-gate with --landmarks",
    )
    look: Literal["ends", "all"] = option("ends", help="Values at which the face is looked for.")

    def judges(self, landmarks: Path | str | None) -> bool:
        """Whether an audit judges.  landmarks: the run's table of known faces, if it has one."""
        return landmarks is None if self.on is None else self.on
