"""A feature pyramid for parsing: what a deep network sees, brought back up to fine features step by step.

Source: Lin et al. 2017, Feature Pyramid Networks, §3, with one head at the finest level as in Kirillov et al. 2019,
Panoptic Feature Pyramid Networks; the encoder is EfficientNet-Lite0. Narrower levels, since chips have 128 pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.faces.networks.efficientnet_lite import STAGES, EfficientNetLite

LEVELS = (0, 1, 2, 4)  # stages at 1/2, 1/4, 1/8 and 1/16 of the side


@dataclass(frozen=True, slots=True)
class FeaturePyramidConfig:
    """Shape of a feature pyramid.

    classes: how many classes a pixel can have.  widths: channels at 1/2, 1/4, 1/8 and 1/16 of the side.
    """

    classes: int = 19
    widths: tuple[int, int, int, int] = (40, 64, 80, 112)


class FeaturePyramid(nn.Module):
    """Chips (B, 3, S, S) in [-1, 1] to logits (B, classes, S, S); S a multiple of 16."""

    def __init__(self, config: FeaturePyramidConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = EfficientNetLite()
        channels = [STAGES[stage][3] for stage in LEVELS]
        *widths, deepest = config.widths
        self.deepest = _conv(channels[-1], deepest, 3)
        self.scene = nn.Sequential(nn.Conv2d(channels[-1], deepest, 1), nn.ReLU())  # of the whole chip
        self.lateral = nn.ModuleList([_conv(c, w, 1) for c, w in zip(channels, widths, strict=False)])
        self.down = nn.ModuleList([nn.Conv2d(a, b, 1) for a, b in zip(config.widths[1:], widths, strict=True)])
        self.smooth = nn.ModuleList([_conv(w, w, 3) for w in widths])
        self.head = nn.Conv2d(widths[0], config.classes, 1)

    def forward(self, chips: Tensor) -> Tensor:
        features = self.encoder(chips)
        *finer, last = [features[stage] for stage in LEVELS]
        x = self.deepest(last) + self.scene(last.mean((2, 3), keepdim=True))  # (B, 112, S/16, S/16)
        for level in reversed(range(len(finer))):
            above = _grow(self.down[level](x), finer[level])
            x = self.smooth[level](self.lateral[level](finer[level]) + above)
        return _grow(self.head(x), chips)  # from (B, classes, S/2, S/2)


def _conv(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


def _grow(x: Tensor, like: Tensor) -> Tensor:
    return F.interpolate(x, size=like.shape[2:], mode="bilinear", align_corners=False)
