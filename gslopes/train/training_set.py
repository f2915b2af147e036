"""What a training loop is given: chips and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import ByteArray


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Chips and what is known of them.

    pixels: (n, S, S, 3) uint8 RGB.  labels: (n, L) float32 (1, 0, NaN unknown), or (n, S, S) uint8 classes.
    weights: (n,) how often a photo is drawn.  held_out: (n,) never trained on.
    calibration: (n,) not trained on either: probabilities are calibrated on them.
    """

    pixels: ByteArray
    labels: NDArray[np.float32]
    weights: NDArray[np.float64]
    held_out: NDArray[np.bool_]
    calibration: NDArray[np.bool_] | None = None

    def part(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> TrainingSet:
        """The chosen rows."""
        calibration = None if self.calibration is None else self.calibration[chosen]
        return TrainingSet(
            self.pixels[chosen], self.labels[chosen], self.weights[chosen], self.held_out[chosen], calibration
        )
