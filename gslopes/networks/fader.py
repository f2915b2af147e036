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
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class FaderConfig:
    """Shape of a Fader Network.

    attributes: what the decoder is told, the edited one first.
    size: side of the chip, pixels; a multiple of 2 ** len(widths).
    gain: how far an editor goes for each unit of the edited attribute: at a value a the decoder is told
        own + gain (a - own), so that the own value stays where it is.
    widths: channels after each encoder layer; the latent is (widths[-1], size / 2 ** len(widths), the same).
    """

    attributes: tuple[str, ...]
    size: int = 128
    gain: float = 1.0
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
        self.decoder = nn.ModuleList(Up(a, b, told) for a, b in zip(config.widths[::-1], outputs, strict=True))
        self.to_rgb = nn.Conv2d(config.widths[0], 3, 3, padding=1)
        self.told_rgb = nn.Linear(told, 3, bias=False)

    def encode(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S) to latents (B, C, s, s)."""
        return self.encoder(chips)

    def decode(self, latents: Tensor, attributes: Tensor) -> Tensor:
        """Latents (B, C, s, s) and attributes (B, A) to chips (B, 3, S, S) in (-1, 1)."""
        x = latents
        for layer in self.decoder:
            x = layer(x, attributes)  # (B, width, 2h, 2w)
        return torch.tanh(self.to_rgb(x) + self.told_rgb(attributes)[:, :, None, None])  # (B, 3, S, S)

    def told(self, own: Tensor, value: float) -> Tensor:
        """What the decoder is told, (B, A), so that faces of ``own`` values show ``value`` of the edited attribute."""
        wanted = torch.cat([torch.full_like(own[:, :1], value), own[:, 1:]], 1)
        return wanted if self.config.gain == 1 else own + self.config.gain * (wanted - own)

    def forward(self, chips: Tensor, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Chips (B, 3, S, S) and attributes (B + n, A) to (latents, chips); the last n decode the first n again."""
        latents = self.encode(chips)
        again = latents[: len(attributes) - len(chips)]
        return latents, self.decode(torch.cat([latents, again]), attributes)


class Up(nn.Module):
    """One layer of the decoder: (B, inputs, h, w) and (B, told) to (B, outputs, 2h, 2w).

    Nearest-neighbour upsampling and a 3x3 convolution, computed as the one transposed convolution that they are, with
    less than half the operations; and a bias linear in the attributes, which is what an appended constant map amounts
    to (where the map is taken to go on beyond the border).
    """

    def __init__(self, inputs: int, outputs: int, told: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.told = nn.Linear(told, outputs, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def kernel(self) -> Tensor:
        """The transposed convolution's, (outputs, inputs, 4, 4)."""
        return F.avg_pool2d(F.pad(self.conv.weight.flip(2, 3), (1, 1, 1, 1)), 2, stride=1) * 4

    def forward(self, x: Tensor, attributes: Tensor) -> Tensor:
        # in this layout oneDNN is five times as fast on the widest layer; a transposed view would choose the other
        kernel = self.kernel().transpose(0, 1).contiguous(memory_format=torch.channels_last)
        x = F.conv_transpose2d(x, kernel, stride=2, padding=1)
        return F.relu(self.norm(x + self.told(attributes)[:, :, None, None]))


def _down(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.LeakyReLU(0.2, inplace=True),
    )
