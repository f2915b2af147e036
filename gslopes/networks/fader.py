"""The Fader Network: an encoder whose latent forgets the attributes, a decoder that is told them at every layer.

Source: Lample, Zeghidour, Usunier, Bordes, Denoyer, Ranzato 2017, Fader Networks, §4.1. Two changes, both after the
paper: nearest-neighbour upsampling with 3x3 convolutions instead of transposed ones (no checkerboard), and one channel
per attribute in [-1, 1] instead of the reference's one-hot pair (1 - alpha, alpha) with alpha = (a + 1) / 2, which
spans the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class FaderConfig:
    """Shape of a Fader Network.

    attributes: what the decoder is told, the edited one first.
    size: side of the chip, pixels; a multiple of 2 ** len(widths).
    widths: channels after each encoder layer; the latent is (widths[-1], size / 2 ** len(widths), the same).
    """

    attributes: tuple[str, ...]
    size: int = 128
    widths: tuple[int, ...] = (16, 32, 64, 128, 256)


class Fader(nn.Module):
    """Encoder E and decoder D of a Fader Network.

    Chips are (B, 3, size, size) float, RGB in [-1, 1]; attributes are (B, A) float, -1 and 1 the ends of training.
    """

    def __init__(self, config: FaderConfig) -> None:
        super().__init__()
        self.config = config
        told = len(config.attributes)
        inputs = (3, *config.widths[:-1])
        self.encoder = nn.Sequential(*(_down(a, b) for a, b in zip(inputs, config.widths, strict=True)))
        outputs = (*config.widths[-2::-1], config.widths[0])
        self.decoder = nn.ModuleList(
            _up(a + told, b) for a, b in zip(config.widths[::-1], outputs, strict=True)
        )
        self.to_rgb = nn.Conv2d(config.widths[0] + told, 3, 3, padding=1)

    def encode(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S) to latents (B, C, s, s)."""
        return self.encoder(chips)

    def decode(self, latents: Tensor, attributes: Tensor) -> Tensor:
        """Latents (B, C, s, s) and attributes (B, A) to chips (B, 3, S, S) in (-1, 1)."""
        x = latents
        for layer in self.decoder:
            x = layer(_tell(x, attributes))  # (B, width, 2h, 2w)
        return torch.tanh(self.to_rgb(_tell(x, attributes)))  # (B, 3, S, S)

    def forward(self, chips: Tensor, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Chips and attributes to (latents, decoded chips)."""
        latents = self.encode(chips)
        return latents, self.decode(latents, attributes)


def _tell(x: Tensor, attributes: Tensor) -> Tensor:
    """Append one constant map per attribute: (B, C, h, w) and (B, A) to (B, C + A, h, w)."""
    maps = attributes.to(x.dtype)[:, :, None, None].expand(-1, -1, *x.shape[2:])
    return torch.cat([x, maps], dim=1)


def _down(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.LeakyReLU(0.2, inplace=True),
    )


def _up(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )
