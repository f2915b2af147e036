"""``gslopes calibrate``: planted biases, against what the walk recovers and what a naive comparison concludes."""

from __future__ import annotations

from gslopes.synthetic.planted.study import PlantedStudy, calibrate

__all__ = ["PlantedStudy", "calibrate"]
