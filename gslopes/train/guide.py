"""A reader as a guide: does it see the wanted edit on the composite, and nothing else?"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.zoo import load

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


def window(size: int) -> Tensor:
    """Where a composite may differ while training, (1, 1, size, size) in [0, 1]: a soft ellipse over the face."""
    line = (torch.arange(size) + 0.5) / size
    y, x = torch.meshgrid(line, line, indexing="ij")
    radius = (((x - 0.5) / 0.46) ** 2 + ((y - 0.5) / 0.52) ** 2).sqrt()
    return ((1.08 - radius) / 0.16).clamp(0, 1)[None, None]
