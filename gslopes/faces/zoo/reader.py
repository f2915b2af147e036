"""Attributes read from faces by judge or labeller: preprocessing, probabilities, White among White and Black."""

from __future__ import annotations

from typing import Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.errors import ModelError
from gslopes.core.records import ByteArray
from gslopes.faces.zoo.framing import frame_within
from gslopes.faces.zoo.loading import LoadedModel, load

LEAST = 1e-6  # below this, White and Black together say nothing
Probabilities = TypeVar("Probabilities", Tensor, NDArray[np.float64])


class FaceReader:
    """Reads aligned chips, as ``faces.zoo.framing.CHIP`` frames them, as the network was trained to.

    model: the zoo's ``judge``.

    size: side of the chips that it is given as bytes, pixels.  sha256: of its weights.  labels: what it reads.
    """

    size = 128

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self.sha256, self.labels = model.sha256, model.spec.labels

    @classmethod
    def load(cls, device: str = "cpu") -> Self:
        """The shipped one.  Raises: UnknownName, ModelError if it is not there."""
        return cls(load("judge", device))

    def __call__(self, chips: ByteArray, batch: int | None = None) -> dict[str, NDArray[np.float64]]:
        """Chips (n, S, S, 3) uint8 RGB to {label: (n,) probabilities}; those of race sum to 1.

        batch: how many at once; all by default.
        """
        batch = batch or max(1, len(chips))
        with torch.inference_mode():
            parts = [self.probabilities(self._pixels(chips[at : at + batch])) for at in range(0, len(chips), batch)]
            read = torch.cat(parts).double().cpu().numpy()
        return dict(zip(self.labels, read.T, strict=True))

    def probabilities(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to (B, labels)."""
        said: Tensor = self.model.module(self.normalised(chips)).sigmoid()
        return said

    def normalised(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], at the network's own size, in its own units."""
        return normalised(self.model, chips)

    def attributes(self, chips: Tensor, names: tuple[str, ...]) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to (B, len(names)) in [0, 1]: how far each attribute is towards its +1.

        Raises: ModelError for an attribute that it cannot read.
        """
        self.check(names)
        said = self.probabilities(chips)
        column = {label: said[:, index] for index, label in enumerate(self.labels)}
        return torch.stack([attribute(column, name) for name in names], 1)

    def check(self, names: tuple[str, ...]) -> None:
        """Raises: ModelError for an attribute that it cannot read."""
        unknown = [name for name in names if name not in ("gender", "race") and name not in self.labels]
        if unknown:
            raise ModelError(
                f"The model {self.model.spec.name} cannot read {unknown[0]!r} from a face.",
                "Name a reader that was trained on it.",
            )

    def _pixels(self, chips: ByteArray) -> Tensor:
        device = next(self.model.module.parameters()).device
        return torch.from_numpy(np.ascontiguousarray(chips)).to(device).permute(0, 3, 1, 2).float() / 255


def attribute(read: dict[str, Probabilities], name: str) -> Probabilities:
    """How far a face is towards the +1 of an attribute, in [0, 1], from probabilities by label.

    Gender is that of masculine, race that of White among White and Black, another its own label's.
    """
    if name == "gender":
        return read["masculine"]
    if name != "race":
        return read[name]
    white, both = read["white"], read["white"] + read["black"]
    return white / both.clip(LEAST)


def normalised(model: LoadedModel, chips: Tensor) -> Tensor:
    """Chips (B, 3, S, S), RGB in [0, 1], at a network's own size, in its own units."""
    side, crop = model.spec.size, model.spec.crop
    if crop == "tight":  # part of the editors' chip; other rectangles are cut from the photo
        small = cropped(chips, crop, side)
    else:
        small = chips if chips.shape[-1] == side else F.interpolate(chips, size=(side, side), mode="area")
    mean, std = (small.new_tensor(v)[:, None, None] for v in (model.spec.mean, model.spec.std))
    return (small - mean) / std


def cropped(chips: Tensor, crop: str, size: int) -> Tensor:
    """A crop of aligned chips (B, C, S, S) by its name in ``faces.zoo.framing``, resampled to (B, C, size, size)."""
    theta = chips.new_tensor(frame_within(crop, "chip")).expand(len(chips), -1, -1)
    grid = F.affine_grid(theta, [len(chips), chips.shape[1], size, size], align_corners=False)
    return F.grid_sample(chips, grid, mode="bilinear", padding_mode="reflection", align_corners=False)


# The ellipse that holds the face of an aligned chip, in units of its side: centre x y, half axes x y.
FACE_ELLIPSE = (0.5, 0.58, 0.30, 0.39)


def face_window(size: int) -> Tensor:
    """(size, size) float: 1 in the ellipse of the face, falling to 0 over an eighth of its radius."""
    x, y = torch.meshgrid(*2 * [(torch.arange(size) + 0.5) / size], indexing="xy")
    radius = (((x - FACE_ELLIPSE[0]) / FACE_ELLIPSE[2]) ** 2 + ((y - FACE_ELLIPSE[1]) / FACE_ELLIPSE[3]) ** 2).sqrt()
    return ((1.125 - radius) * 8).clamp(0, 1)
