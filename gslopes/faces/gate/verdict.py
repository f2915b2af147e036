"""Is one photo's sweep fit to be asked about? A verdict from what was measured on it, before any classifier sees it.

What a classifier answers has no part in it, or the audit would choose the result. The pictures do: a sweep whose
face is lost, or that does not move what it should, or moves much else, is not a counterfactual, whatever is answered.
Keeping only sweeps that the reader follows is a choice nevertheless. If a classifier errs as the reader errs, photos
kept for a reading that rose by chance have answers that rose by chance; with most photos kept that is nothing, with
few kept it is not. How many were dropped, and why, is therefore shown next to every result.
"""

from collections.abc import Sequence
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from gslopes.core import Reason, SkipReason, frozen
from gslopes.core.records import ByteArray, doubles

VALIDITY = "validity.json"  # in a run folder: the summaries of its sweeps

# Readings that should stay while another is edited.
JUDGED = ("gender", "race", "young", "smiling")
RESOLUTION = 0.02  # of probabilities
MEASURES = (
    "luminance",
    "sharpness",
    "background",
    "identity",
)  # readings other than probabilities

# Bounds of the area that may change, as a share of the face's box, and of the mean change within the box at the
# farthest value, of 255. A face must be found again wherever it is looked for.
MASK = (0.1, 1.5)
CHANGE = (0.5, 64.0)
NECK = 1.5  # face, ears and neck of portraits cover at most this much more of the face's box than only the face may


@frozen
class GateConfig:
    """Whether sweeps are judged, and what a sweep must satisfy to be kept.

    on: None judges unless the faces come from a table of landmarks: of drawn faces neither the detector nor the judge
        is a measurer.
    identity: the largest hundredth that kept every sweep of our edit fields, -2 to 2, on 18 photos of four sets. On 17
        others it drops 1 of 34 of them, 4 of 34 of our Fader Networks', and misses 21 % of faces of other persons.
    """

    on: bool | None = None
    tau: float = 0.6
    shift: float = 0.1
    off_target: float = 0.15
    identity: float = 0.88

    def judges(self, landmarks: Path | str | None) -> bool:
        """Whether an audit judges.  landmarks: the run's table of known faces, if it has one."""
        if self.on is None:
            return landmarks is None
        return self.on


@frozen
class Measured:
    """One sweep in numbers; NaN for what could not be measured.

    looked: values at which the face was looked for.  found: of them, those at which it was found again.
    tau, shift, off_target: as in ``GateConfig``; off_target has a sign.  off_target_reading: whose it is.
    mask_share, change: what ``MASK`` and ``CHANGE`` bound.
    identity: least cosine of the face with the photo's own, over the values; see ``faces.zoo.reader``.
    """

    looked: int = 0
    found: int = 0
    tau: float = nan
    shift: float = nan
    off_target: float = nan
    off_target_reading: str = ""
    mask_share: float = nan
    change: float = nan
    identity: float = nan


def verdict(sweep: Measured, gate: GateConfig, *, neck: bool = False) -> SkipReason:
    """Why the sweep is dropped: the first check that it fails, its number in parentheses; empty if it is kept.

    neck: whether ears and neck may change as well.  A check whose measure is missing is passed.

    >>> verdict(Measured(looked=3, found=2), GateConfig())
    'face not found again (2 of 3 values)'
    """
    most_mask = MASK[1] * (NECK if neck else 1)
    moved = sweep.off_target_reading
    masked = not np.isnan(
        sweep.mask_share
    )  # pictures that others made may differ in all of their pixels
    moves_too = Reason(f"the reading of {moved} moves too") if moved else Reason.NONE
    checks = (
        (sweep.found < sweep.looked, Reason.FACE_LOST, f"{sweep.found} of {sweep.looked} values"),
        (sweep.identity < gate.identity, Reason.IDENTITY_GONE, f"similarity {sweep.identity:.2f}"),
        (sweep.mask_share < MASK[0], Reason.MASK_TOO_SMALL, f"{sweep.mask_share:.2f} of its box"),
        (sweep.mask_share > most_mask, Reason.MASK_TOO_LARGE, f"{sweep.mask_share:.2f} of its box"),
        (sweep.change < CHANGE[0], Reason.TOO_LITTLE_CHANGE, f"{sweep.change:.1f} of 255"),
        (masked and sweep.change > CHANGE[1], Reason.TOO_MUCH_CHANGE, f"{sweep.change:.0f} of 255"),
        (sweep.shift < gate.shift, Reason.READING_DOES_NOT_FOLLOW, f"shift {sweep.shift:+.2f}"),
        (sweep.tau < gate.tau, Reason.READING_NOT_STEADY, f"tau {sweep.tau:+.2f}"),
        (abs(sweep.off_target) > gate.off_target, moves_too, f"{sweep.off_target:+.2f} per unit"),
    )
    return next(
        (SkipReason(reason, detail) for failed, reason, detail in checks if failed), SkipReason()
    )


def follows(target: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """(tau-b with the values, last minus first) of one face's readings of the target, (K,) each.

    Readings that differ by no more than RESOLUTION count as equal: a reader that is sure wavers in the last digits.
    """
    from gslopes.stats.agreement import kendall  # not at the top: configurations load without scipy

    readings = doubles(target)
    tau = float(kendall(readings[None], values, RESOLUTION)[0])
    # equal readings do not rise: that is what tau is asked about
    return (0.0 if np.isnan(tau) else tau), float(readings[-1] - readings[0])


def steepest(others: ArrayLike, names: Sequence[str], values: ArrayLike) -> tuple[float, str]:
    """The slope per unit, and the name, of the reading that moves most; NaN and empty without one.

    others: (readings, K).  names: of the readings.
    """
    from gslopes.stats.ols import line_slopes

    if not len(names):
        return nan, ""
    slopes = line_slopes(others, values)
    row = int(np.abs(slopes).argmax())
    return float(slopes[row]), names[row]


def largest_change(pictures: Sequence[ByteArray]) -> float:
    """Mean absolute difference from the middle picture, of 255, of the one that differs most.  pictures: K, odd."""
    centre = pictures[len(pictures) // 2].astype(np.int16)
    return max(float(np.abs(picture - centre).mean()) for picture in pictures)
