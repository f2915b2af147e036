"""What others see in a composite: the judge, which shares no photo and no weight with the editors.

It learned from the judges' fold of UTKFace and from CelebA's first 10,000 pictures, whose identities are not among the
editors' wide portraits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gslopes.core.geometry import warp
from gslopes.core.records import ByteArray, Face, FloatArray
from gslopes.faces.gate.sweep_measurer import luminance, sharpness
from gslopes.faces.networks.mtcnn import Mtcnn
from gslopes.faces.zoo.reader import FaceReader, attribute

BATCH = 128  # chips that a network sees at once
Readings = dict[str, NDArray[np.float64]]


class Judges:
    """The networks that read composites.

    device: where they run.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.judge = FaceReader.load(device)
        self.detector = Mtcnn(30).to(device)

    def read(self, pictures: list[list[ByteArray]], faces: list[Face], masks: FloatArray) -> tuple[Readings, ByteArray]:
        """({reading: (B, K)}, chips (B, K, S, S, 3)) of B photos at K values.

        pictures: B lists of K photos, (H, W, 3) uint8 RGB.  masks: (B, S, S), for luminance and sharpness.

        Probabilities in [0, 1]; race is that of White among White and Black; luminance is mean L* in 0 to 100 and
        sharpness the logarithm of the Laplacian's variance, both within the mask.
        """
        size = masks.shape[1]
        chips = np.stack(
            [[warp(picture, face.matrix, size) for picture in row] for row, face in zip(pictures, faces, strict=True)]
        )
        count, steps = chips.shape[:2]
        flat = chips.reshape(-1, size, size, 3)
        read = self.judge(flat, BATCH)
        within = np.repeat(masks, steps, 0)
        columns = {
            **{name: attribute(read, name) for name in ("gender", "race", "young", "smiling")},
            "luminance": luminance(flat, within),
            "sharpness": sharpness(flat, within),
        }
        return {name: np.asarray(v, np.float64).reshape(count, steps) for name, v in columns.items()}, chips

    def found(self, pictures: list[list[ByteArray]]) -> NDArray[np.bool_]:
        """(B, K) whether MTCNN still finds a face."""
        flat = [picture for row in pictures for picture in row]
        return np.array([len(d.scores) > 0 for d in self.detector(flat)]).reshape(len(pictures), -1)
