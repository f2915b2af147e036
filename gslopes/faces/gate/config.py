"""Whether sweeps are judged, and by which thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gslopes.core.options import option
from gslopes.faces.gate.verdict import Thresholds


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
