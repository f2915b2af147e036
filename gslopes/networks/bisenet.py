"""BiSeNet: a shallow path that keeps edges beside a deep one that knows what it sees.

Source: Yu, Wang, Peng, Gao, Yu, Sang 2018, BiSeNet: Bilateral Segmentation Network, §3. Smaller than the paper's: the
spatial path stops at a quarter of the side (chips are 128 pixels, so an eighth would lose the lips' edges), and the
context path is a narrow residual network.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.networks.tagger import Block


@dataclass(frozen=True, slots=True)
class BiSeNetConfig:
    """Shape of a BiSeNet.

    classes: how many classes a pixel can have.
    width: channels of the spatial path and of the fusion.
    context: channels of the context path at 1/2, 1/4, 1/8 and 1/16 of the side.
    """

    classes: int = 19
    width: int = 64
    context: tuple[int, int, int, int] = (24, 48, 96, 160)


class BiSeNet(nn.Module):
    """Chips (B, 3, S, S), normalised as the model's spec says, to logits (B, classes, S, S); S a multiple of 16."""

    def __init__(self, config: BiSeNetConfig) -> None:
        super().__init__()
        self.config = config
        width, (c2, c4, c8, c16) = config.width, config.context
        self.spatial = nn.Sequential(_conv(3, width // 2, 3, stride=2), _conv(width // 2, width, 3, stride=2))
        self.context4 = nn.Sequential(_conv(3, c2, 3, stride=2), Block(c2, c4, stride=2))
        self.context8 = nn.Sequential(Block(c4, c8, stride=2), Block(c8, c8, stride=1))
        self.context16 = nn.Sequential(Block(c8, c16, stride=2), Block(c16, c16, stride=1))
        self.refine8 = AttentionRefinement(c8, width)
        self.refine16 = AttentionRefinement(c16, width)
        self.tail = _conv(c16, width, 1)
        self.fuse = FeatureFusion(2 * width, width)
        self.head = nn.Sequential(_conv(width, width, 3), nn.Conv2d(width, config.classes, 1))

    def forward(self, chips: Tensor) -> Tensor:
        spatial = self.spatial(chips)  # (B, width, S/4, S/4)
        x8 = self.context8(self.context4(chips))  # (B, c8, S/8, S/8)
        x16 = self.context16(x8)  # (B, c16, S/16, S/16)
        tail = self.tail(x16.mean((2, 3), keepdim=True))  # (B, width, 1, 1)
        deep = _grow(self.refine16(x16) + tail, x8.shape[2:])
        deep = _grow(self.refine8(x8) + deep, spatial.shape[2:])  # (B, width, S/4, S/4)
        return _grow(self.head(self.fuse(spatial, deep)), chips.shape[2:])


class AttentionRefinement(nn.Module):
    """§3.2: features weighted by their own global mean."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = _conv(inputs, outputs, 3)
        self.attention = nn.Sequential(nn.Conv2d(outputs, outputs, 1), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return x * self.attention(x.mean((2, 3), keepdim=True))


class FeatureFusion(nn.Module):
    """§3.3: the two paths joined, their channels weighed by their global mean."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = _conv(inputs, outputs, 1)
        self.attention = nn.Sequential(
            nn.Conv2d(outputs, outputs // 4, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs // 4, outputs, 1),
            nn.Sigmoid(),
        )

    def forward(self, spatial: Tensor, deep: Tensor) -> Tensor:
        x = self.conv(torch.cat([spatial, deep], dim=1))
        return x + x * self.attention(x.mean((2, 3), keepdim=True))


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


def _grow(x: Tensor, size: torch.Size) -> Tensor:
    return F.interpolate(x, size=size, mode="bilinear", align_corners=False)
