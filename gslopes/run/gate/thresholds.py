"""The section ``[gate]`` of a configuration: whether sweeps are judged before anybody is asked, and how strictly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gslopes.validate.gate import Thresholds


@dataclass(frozen=True, slots=True)
class GateConfig(Thresholds):
    """Whether sweeps are judged, and by which thresholds; see ``validate.gate.Thresholds``.

    on: None judges unless the faces come from a table of landmarks, since of drawn faces neither the detector nor the
        reader is a measurer.
    look: where the face is looked for: at the first, middle and last value (``ends``), or at ``all`` of them.
    """

    on: bool | None = None
    look: Literal["ends", "all"] = "ends"

    def judges(self, landmarks: Path | str | None) -> bool:
        """Whether an audit judges.  landmarks: the run's table of known faces, if it has one."""
        return landmarks is None if self.on is None else self.on
