"""A hardened reader as a guide: does it see the wanted edit on the composite, and nothing else?"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.train.augment import to_float
from gslopes.zoo import ModelSpec, load

RACES = ("white", "black", "asian", "indian", "other")


class Guide:
    """The hardened reader of the zoo, fixed, looking at chips in [-1, 1].

    name: of the model.  attribute: gender or race.
    pixels, values: training chips (n, S, S, 3) uint8 RGB and their edited attribute (n,), -1 or 1: what the guide says
        of them, in the middle of each end, is what it should say of edits.
    """

    def __init__(self, name: str, attribute: str, pixels: ByteArray, values: NDArray[np.float32], device: str) -> None:
        model = load(name, device)
        self.reader, self.labels, self.size = model.module, model.spec.labels, model.spec.size
        plus, minus = {"gender": (("masculine",), ()), "race": (("white",), ("black",))}[attribute]
        self.direction = torch.tensor([(n in plus) - (n in minus) for n in self.labels], dtype=torch.float32).to(device)
        aside = {"masculine"} if attribute == "gender" else set(RACES)
        self.others = [i for i, name in enumerate(self.labels) if name not in aside]
        ends = []
        for sign in (-1, 1):
            chips = pixels[np.flatnonzero(np.sign(values) == sign)[:1000]]
            x = to_float(torch.from_numpy(np.array(chips)).to(device), model.spec.mean, model.spec.std)
            with torch.no_grad():
                ends.append((self._says(x) @ self.direction).median())
        self.centre, self.half = (ends[1] + ends[0]) / 2, (ends[1] - ends[0]) / 2

    def __call__(
        self, edited: Tensor, photos: Tensor, own: Tensor, wanted: Tensor, strength: float
    ) -> tuple[Tensor, Tensor]:
        """(how far the guide is from seeing ``wanted``, how far its other answers moved).

        edited, photos: (B, 3, S, S) in [-1, 1].  own, wanted: (B,) the attribute before and after.
        strength: what it should say at 1, in units of half the distance between what it says of the two ends.

        It should say the same of every face at a value far from the face's own, and of the own value what it says of
        the photo; between them the line between. Too much is as wrong as too little.
        """
        said = self._says(edited)
        with torch.no_grad():
            before = self._says(photos)
            aim, here = (self.centre + strength * self.half * value for value in (wanted, own))
            near = (1 - (wanted - own).abs() / 2).clamp(min=0)
            aim = aim + near * (before @ self.direction - here)
        wish = F.smooth_l1_loss(said @ self.direction, aim)
        stay = F.smooth_l1_loss(said[:, self.others], before[:, self.others]) if self.others else said.new_zeros(())
        return wish, stay

    def _says(self, chips: Tensor) -> Tensor:
        """Its logits (B, labels) for (B, 3, S, S) chips in [-1, 1]."""
        small = F.interpolate(chips, size=(self.size, self.size), mode="area")
        said: Tensor = self.reader(small.contiguous(memory_format=torch.channels_last))
        return said.float()


class Tone:
    """Where a face's mean colour belongs when its attribute changes, by the colours of the training faces of each end.

    Colour by colour, the linear map that carries one end's mean and spread onto the other's (optimal transport between
    two normal distributions). A reader alone can be swayed by casts that no skin has; this says what skins have.

    pixels: (n, S, S, 3) uint8 RGB.  values: (n,) the edited attribute, its sign says the end.
    """

    def __init__(self, pixels: ByteArray, values: NDArray[np.float32], spec: ModelSpec, device: str) -> None:
        self.region = window(spec.size).to(device)
        ends = []
        for sign in (-1, 1):
            rows = np.flatnonzero(np.sign(values) == sign)[:2000]
            parts = [
                self._colour(to_float(torch.from_numpy(pixels[r]), spec.mean, spec.std).to(device))
                for r in rows[:, None]
            ]
            ends.append(torch.cat(parts))
        self.mean = torch.stack([colours.mean(0) for colours in ends])  # (2, 3)
        self.spread = torch.stack([colours.std(0) for colours in ends])

    def __call__(
        self, photos: Tensor, edited: Tensor, own: Tensor, wanted: Tensor, within: Tensor | None = None
    ) -> Tensor:
        """How far the edited faces' mean colours are from where they belong, mean absolute in [-1, 1] units.

        photos, edited: (B, 3, S, S).  own, wanted: (B,) the attribute; half way between the ends is half the way.
        within: (B, 1, S, S) where the edit may change anything, the whole face by default: the mean is over it.
        """
        before, now = self._colour(photos, within), self._colour(edited, within)
        here, there = (own > 0).long(), (wanted > 0).long()
        moved = self.mean[there] + self.spread[there] / self.spread[here] * (before - self.mean[here])
        share = ((wanted - own.sign()).abs() / 2)[:, None]
        return (now - before - share * (moved - before)).abs().mean()

    def _colour(self, chips: Tensor, within: Tensor | None = None) -> Tensor:
        """(B, 3) mean colour of the face."""
        region = self.region if within is None else within
        return (chips * region).sum((2, 3)) / region.sum((2, 3)).clamp(min=1)


def window(size: int) -> Tensor:
    """Where a composite may differ while training, (1, 1, size, size) in [0, 1]: a soft ellipse over the face."""
    line = (torch.arange(size) + 0.5) / size
    y, x = torch.meshgrid(line, line, indexing="ij")
    radius = (((x - 0.5) / 0.46) ** 2 + ((y - 0.5) / 0.52) ** 2).sqrt()
    return ((1.08 - radius) / 0.16).clamp(0, 1)[None, None]
