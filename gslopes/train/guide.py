"""A reader as a guide: does it see the wanted edit on the composite, and nothing else?"""

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
    """The shipped reader, fixed, looking at chips in [-1, 1].

    attribute: gender or race.
    """

    def __init__(self, attribute: str, device: str) -> None:
        model = load("reader", device)
        self.reader, self.labels, self.size = model.module, model.spec.labels, model.spec.size
        plus, minus = {"gender": (("masculine",), ()), "race": (("white",), ("black",))}[attribute]
        self.direction = torch.tensor([(n in plus) - (n in minus) for n in self.labels], dtype=torch.float32).to(device)
        aside = {"masculine"} if attribute == "gender" else set(RACES)
        self.others = [i for i, name in enumerate(self.labels) if name not in aside]

    def __call__(self, edited: Tensor, photos: Tensor, wanted: Tensor, margin: float) -> tuple[Tensor, Tensor]:
        """(how far the reader is from seeing ``wanted``, how far its other answers moved).

        edited, photos: (B, 3, S, S) in [-1, 1].  wanted: (B,) in [-1, 1].
        margin: the logit at which it is content with -1 or 1; less for values between.
        """
        said = self.reader(self._small(edited))
        with torch.no_grad():
            before = self.reader(self._small(photos))
        wish = F.relu(margin * wanted.abs() - wanted.sign() * (said @ self.direction)).mean()
        stay = F.smooth_l1_loss(said[:, self.others], before[:, self.others])
        return wish, stay

    def probability(self, chips: Tensor) -> Tensor:
        """(B,) how likely the reader takes (B, 3, S, S) chips in [-1, 1] for the positive end, in [0, 1]."""
        said: Tensor = self.reader(self._small(chips)) @ self.direction
        return said.sigmoid()

    def _small(self, chips: Tensor) -> Tensor:
        small = F.interpolate(chips, size=(self.size, self.size), mode="area")
        return small.contiguous(memory_format=torch.channels_last)


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

    def __call__(self, photos: Tensor, edited: Tensor, own: Tensor, wanted: Tensor) -> Tensor:
        """How far the edited faces' mean colours are from where they belong, mean absolute in [-1, 1] units.

        photos, edited: (B, 3, S, S).  own, wanted: (B,) the attribute; half way between the ends is half the way.
        """
        before, now = self._colour(photos), self._colour(edited)
        here, there = (own > 0).long(), (wanted > 0).long()
        moved = self.mean[there] + self.spread[there] / self.spread[here] * (before - self.mean[here])
        share = ((wanted - own.sign()).abs() / 2)[:, None]
        return (now - before - share * (moved - before)).abs().mean()

    def _colour(self, chips: Tensor) -> Tensor:
        """(B, 3) mean colour of the face."""
        return (chips * self.region).sum((2, 3)) / self.region.sum()


def window(size: int) -> Tensor:
    """Where a composite may differ while training, (1, 1, size, size) in [0, 1]: a soft ellipse over the face."""
    line = (torch.arange(size) + 0.5) / size
    y, x = torch.meshgrid(line, line, indexing="ij")
    radius = (((x - 0.5) / 0.46) ** 2 + ((y - 0.5) / 0.52) ** 2).sqrt()
    return ((1.08 - radius) / 0.16).clamp(0, 1)[None, None]
