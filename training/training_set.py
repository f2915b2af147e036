"""What a training loop is given: chips and what is known of them, also packed in one file without the photos."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import DataMissing
from gslopes.core.records import ByteArray
from gslopes.zoo import ModelSpec

QUALITY = 75  # of the WebPs: about 2.1 KB for a chip of 128 x 128


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


def write_packed(data: TrainingSet, path: Path) -> int:
    """Write the set and return how many photos it has; the folder is made if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    quality = [cv2.IMWRITE_WEBP_QUALITY, QUALITY]
    files = [np.asarray(cv2.imencode(".webp", chip[..., ::-1], quality)[1], np.uint8) for chip in data.pixels]
    np.savez(
        path,
        webp=np.concatenate(files),
        ends=np.cumsum([len(file) for file in files]),
        labels=data.labels,
        weights=data.weights,
        held_out=data.held_out,
    )
    return len(files)


def packed(spec: ModelSpec, data: Path, device: str) -> TrainingSet:
    """The set that ``training.pack`` wrote to ``data/<model>.npz``.  Raises: DataMissing."""
    del device
    path = data / f"{spec.name}.npz"
    if not path.is_file():
        raise DataMissing(
            f"There is no packed set {path}.", f"Make it: python -m training pack {spec.name} DATA {path}"
        )
    with np.load(path) as file:
        webp, starts = file["webp"], np.concatenate([[0], file["ends"]])
        chips = [np.asarray(cv2.imdecode(webp[a:b], cv2.IMREAD_COLOR))[..., ::-1] for a, b in pairwise(starts)]
        return TrainingSet(np.stack(chips), file["labels"], file["weights"], file["held_out"])
