"""The adversaries of editors: what is still to be read from a latent, and whether a face looks like a photo."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class LatentCritic(nn.Module):
    """Reads the attributes from a latent; the encoder is trained until it cannot.

    latents (B, channels, side, side) to logits (B, attributes), one per attribute, positive for +1.

    Source: Lample et al. 2017, §3.2, equations 2 and 3.
    """

    def __init__(
        self, channels: int, side: int, attributes: int, widths: tuple[int, ...] = (512, 256), dropout: float = 0.2
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Flatten()]
        inputs = channels * side * side
        for width in widths:
            layers += [nn.Linear(inputs, width), nn.LeakyReLU(0.2, inplace=True), nn.Dropout(dropout)]
            inputs = width
        self.body = nn.Sequential(*layers, nn.Linear(inputs, attributes))

    def forward(self, latents: Tensor) -> Tensor:
        return self.body(latents)


class PictureCritic(nn.Module):
    """Tells photos of one end of the attribute from composites.

    pictures (B, channels, 128, 128) and attributes (B, A) in [-1, 1], the edited one first, to logits (B,), positive
    for photos.

    Source: one answer for each end, Choi et al. 2020, StarGAN v2, §2 and appendix E; a projection on the other
    attributes, Miyato & Koyama 2018, cGANs with projection discriminator, §3.
    """

    def __init__(self, channels: int, attributes: int, widths: tuple[int, ...] = (32, 64, 128, 192, 256, 256)) -> None:
        super().__init__()
        features = widths[-1]
        self.stem = nn.Conv2d(channels, widths[0], 3, padding=1)
        self.blocks = nn.Sequential(*(_Halved(a, b) for a, b in pairwise(widths)))
        self.last = nn.Conv2d(features, features, 4)
        self.ends = nn.Linear(features, 2)
        self.others = nn.Linear(attributes - 1, features, bias=False) if attributes > 1 else None

    def forward(self, pictures: Tensor, attributes: Tensor) -> Tensor:
        x = self.blocks(self.stem(pictures))  # (B, features, 4, 4)
        features = F.leaky_relu(self.last(F.leaky_relu(x, 0.2)).flatten(1), 0.2)
        share = (attributes[:, :1] + 1) / 2
        logits = (self.ends(features) * torch.cat([1 - share, share], 1)).sum(1)
        if self.others is not None:
            logits = logits + (self.others(attributes[:, 1:]) * features).sum(1) / 4
        return logits


class _Halved(nn.Module):
    """A residual block of half the side."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, inputs, 3, padding=1)
        self.second = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.short = nn.Conv2d(inputs, outputs, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(F.leaky_relu(x, 0.2))
        y = self.second(F.leaky_relu(F.avg_pool2d(y, 2), 0.2))
        z: Tensor = (y + self.short(F.avg_pool2d(x, 2))) / 2**0.5
        return z
