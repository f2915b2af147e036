"""What others see in a composite: the judge, which shares no photo and no weight with the editors, and the tagger.

The judge learned from the judges' fold of UTKFace and from CelebA's first 10,000 pictures, whose identities are not
among the editors' wide portraits. The tagger labelled the gender of the editors' photos: what it says of gender edits
is shown, and judges nothing.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray, Face, FloatArray
from gslopes.faces.gate.sweep_measurer import luminance, sharpness
from gslopes.faces.networks.mtcnn import Mtcnn
from gslopes.faces.networks.tagger import Tagger
from gslopes.faces.zoo import LoadedModel, load
from gslopes.faces.zoo.framing import FRAMES
from gslopes.faces.zoo.reader import FaceReader, attribute, normalised

BATCH = 128  # chips that a network sees at once
Readings = dict[str, NDArray[np.float64]]


class Judges:
    """The networks that read composites.

    device: where they run.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.judge, self.tagger = FaceReader.load(device), load("celeba-tagger", device)
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
        portrait = FRAMES["portrait"] * self.tagger.spec.size - 0.5
        frames = [similarity(face.points, portrait) for face in faces]
        framed = [
            warp(picture, frame if frame is not None else face.matrix, self.tagger.spec.size)
            for row, frame, face in zip(pictures, frames, faces, strict=True)
            for picture in row
        ]
        tags = dict(zip(self.tagger.spec.labels, self._ask(self.tagger, np.stack(framed)).T, strict=True))
        within = np.repeat(masks, steps, 0)
        columns = {
            **{name: attribute(read, name) for name in ("gender", "race", "young", "smiling")},
            "tagger: Male": tags["Male"],
            "tagger: Young": tags["Young"],
            "tagger: Smiling": tags["Smiling"],
            "luminance": luminance(flat, within),
            "sharpness": sharpness(flat, within),
        }
        return {name: np.asarray(v, np.float64).reshape(count, steps) for name, v in columns.items()}, chips

    def found(self, pictures: list[list[ByteArray]]) -> NDArray[np.bool_]:
        """(B, K) whether MTCNN still finds a face."""
        flat = [picture for row in pictures for picture in row]
        return np.array([len(d.scores) > 0 for d in self.detector(flat)]).reshape(len(pictures), -1)

    def probabilities(self, chips: ByteArray) -> NDArray[np.float64]:
        """(n, labels): what the judge says of chips (n, S, S, 3)."""
        return np.stack(list(self.judge(chips, BATCH).values()), 1)

    def features(self, chips: ByteArray) -> NDArray[np.float64]:
        """(n, C): the judge's last features of chips (n, S, S, 3), for KID."""
        return self._ask(self.judge.model, chips, features=True)

    def stages(self, chips: ByteArray) -> list[NDArray[np.float64]]:
        """The judge's maps after its stem and each block, [(n, C, h, w)], for the perceptual distance."""
        module = cast(Tagger, self.judge.model.module)
        x = self._normal(self.judge.model, chips)
        maps = []
        with torch.inference_mode():
            x = module.stem(x)
            maps.append(x)
            for block in module.blocks:
                x = block(x)
                maps.append(x)
        return [m.double().cpu().numpy() for m in maps]

    def _ask(self, model: LoadedModel, chips: ByteArray, *, features: bool = False) -> NDArray[np.float64]:
        out = []
        with torch.inference_mode():
            for start in range(0, len(chips), BATCH):
                x = self._normal(model, chips[start : start + BATCH])
                module = cast(Tagger, model.module)
                y = module.blocks(module.stem(x)).mean((2, 3)) if features else module(x).sigmoid()
                out.append(y.double().cpu().numpy())
        return np.concatenate(out)

    def _normal(self, model: LoadedModel, chips: ByteArray) -> torch.Tensor:
        x = torch.from_numpy(np.ascontiguousarray(chips)).to(self.device).permute(0, 3, 1, 2).float() / 255
        return normalised(model, x)
