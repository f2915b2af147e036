"""The Fader Network: an encoder whose latent forgets the attributes, a decoder conditioned on them at every layer.

Source: Lample, Zeghidour, Usunier, Bordes, Denoyer, Ranzato 2017, Fader Networks, §4.1. Three changes:
nearest-neighbour upsampling with 3x3 convolutions instead of transposed ones (no checkerboard); one channel per
attribute in [-1, 1] instead of the reference's one-hot pair (1 - alpha, alpha) with alpha = (a + 1) / 2, which spans
the same functions; and, if the configuration asks for it, a 1x1 convolution that narrows the latent.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.core import Names, frozen
from gslopes.faces.networks.tagger import folded


@frozen
class FaderConfig:
    """Shape of a Fader Network.

    attributes: what the decoder is conditioned on, the edited one first.
    size: side of the chip, pixels; a multiple of 2 ** len(widths).
    widths: channels after each encoder layer.
    latent: channels of the latent, whose side is size / 2 ** len(widths); ``widths[-1]``, without narrowing, if None.
    template: whether the weights hold the decoder's mean edit of a unit, in logarithms, (3, size, size), which is used
        in its place, see ``training.fader``.
    """

    attributes: Names
    size: int = 128
    widths: tuple[int, ...] = (16, 32, 64, 128, 256)
    latent: int | None = None
    template: bool = False


class Fader(nn.Module):
    """Encoder E and decoder D of a Fader Network.

    Chips are (B, 3, size, size) float, RGB in [-1, 1]; attributes are (B, A) float, -1 and 1 the ends of training.
    """

    template: Tensor | None

    def __init__(self, config: FaderConfig) -> None:
        super().__init__()
        self.config = config
        conditions = len(config.attributes)
        inputs = (3, *config.widths[:-1])
        self.encoder = nn.Sequential(
            *(_down(a, b) for a, b in zip(inputs, config.widths, strict=True))
        )
        self.narrow: nn.Module = nn.Identity()
        if config.latent:  # the norm fixes the latent's scale: an encoder must not blind the adversary by small latents
            narrow = nn.Conv2d(config.widths[-1], config.latent, 1, bias=False)
            self.narrow = nn.Sequential(narrow, nn.BatchNorm2d(config.latent, affine=False))
        self.channels = config.latent or config.widths[-1]  # of the latent
        inputs = (self.channels, *config.widths[-2::-1])
        outputs = (*config.widths[-2::-1], config.widths[0])
        self.decoder = nn.ModuleList(
            Up(a, b, conditions) for a, b in zip(inputs, outputs, strict=True)
        )
        self.to_rgb = nn.Conv2d(config.widths[0], 3, 3, padding=1)
        self.rgb_condition_bias = nn.Linear(conditions, 3, bias=False)
        template = torch.zeros(3, config.size, config.size) if config.template else None
        self.register_buffer("template", template)

    def encode(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S) to latents (B, C, s, s)."""
        return self.narrow(self.encoder(chips))

    def decode(self, latents: Tensor, attributes: Tensor) -> Tensor:
        """Latents (B, C, s, s) and attributes (B, A) to chips (B, 3, S, S) in (-1, 1)."""
        x = latents
        for layer in self.decoder:
            x = layer(x, attributes)  # (B, width, 2h, 2w)
        return torch.tanh(
            self.to_rgb(x) + self.rgb_condition_bias(attributes)[:, :, None, None]
        )  # (B, 3, S, S)

    def forward(self, chips: Tensor, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Chips (B, 3, S, S) and attributes (B, A) to (latents, reconstructed chips)."""
        latents = self.encode(chips)
        return latents, self.decode(latents, attributes)


class Up(nn.Module):
    """One layer of the decoder: (B, inputs, h, w) and (B, conditions) to (B, outputs, 2h, 2w).

    Nearest-neighbour upsampling and a 3x3 convolution, computed as the one transposed convolution that they are, with
    less than half the operations; and a bias linear in the attributes, which is what an appended constant map amounts
    to (if the map is taken to go on beyond the border).
    """

    def __init__(self, inputs: int, outputs: int, conditions: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.condition_bias = nn.Linear(conditions, outputs, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def kernel(self) -> Tensor:
        """The transposed convolution's, (outputs, inputs, 4, 4)."""
        return F.avg_pool2d(F.pad(self.conv.weight.flip(2, 3), (1, 1, 1, 1)), 2, stride=1) * 4

    def forward(self, x: Tensor, attributes: Tensor) -> Tensor:
        # in this layout oneDNN is five times as fast on the widest layer; a transposed view would choose the other
        kernel = self.kernel().transpose(0, 1).contiguous(memory_format=torch.channels_last)
        x = F.conv_transpose2d(x, kernel, stride=2, padding=1)
        return F.relu(self.norm(x + self.condition_bias(attributes)[:, :, None, None]))


def _down(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.LeakyReLU(0.2, inplace=True),
    )


# --- A trained Fader Network folded for use: the same function with fewer operations, to be called and not trained ----
# Batch norm becomes part of the convolution before it (Jacob et al. 2018, §3.2), upsampling and convolution one
# transposed convolution, and the condition a bias per face: exact up to rounding.


LAST = torch.channels_last


class FoldedFader(nn.Module):
    """Encoder and decoder of a Fader in evaluation mode.

    network: whose weights are taken; it can be dropped afterwards.
    """

    def __init__(self, network: Fader) -> None:
        super().__init__()
        self.down = folded(network.encoder)
        self.narrow = folded(network.narrow)
        with torch.no_grad():
            self.up = nn.ModuleList(_FoldedUp(cast(Up, layer)) for layer in network.decoder)
        condition_bias = network.rgb_condition_bias.weight.repeat(2, 1)  # (6, A)
        self.rgb_condition_bias = nn.Parameter(condition_bias, False)
        self.bias_rgb = nn.Parameter(cast(Tensor, network.to_rgb.bias).repeat(2), False)
        # The processor computes 8 channels for 3 in the time of 3: as a 3x4 convolution in steps of two columns to 6
        # channels, two neighbouring pixels waste 2 of 8 instead of 5.
        pairs = torch.cat(
            [F.pad(network.to_rgb.weight, (0, 1)), F.pad(network.to_rgb.weight, (1, 0))]
        )
        self.kernel_rgb = nn.Parameter(pairs.contiguous(memory_format=LAST), False)

    def encode(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S) to latents (B, C, s, s)."""
        return self.narrow(self.down(chips.contiguous(memory_format=LAST)))

    def sweep(self, latents: Tensor, conditions: Tensor) -> Tensor:
        """Latents (B, C, s, s), each at K attribute vectors (B, K, A), to chips (B * K, 3, S, S) float32 in (-1, 1).

        What the first layer makes of a latent is the same for all K: it is computed once.
        """
        each = conditions.flatten(0, 1)  # (B * K, A)
        first, *others = self.up
        x = cast(_FoldedUp, first).spread(latents, conditions)
        for layer in others:
            x = layer(x, each)
        pairs = F.conv2d(x, self.kernel_rgb, stride=(1, 2), padding=1)  # (B * K, 6, S, S / 2)
        pairs.add_(F.linear(each, self.rgb_condition_bias, self.bias_rgb)[:, :, None, None]).tanh_()
        # (B * K, S, S, 3), no copy
        rgb = pairs.permute(0, 2, 3, 1).unflatten(3, (2, 3)).flatten(2, 3)
        return rgb.permute(0, 3, 1, 2)


class _FoldedUp(nn.Module):
    """Upsampling, convolution, condition, norm and rectifier: see ``fader.Up``."""

    def __init__(self, layer: Up) -> None:
        super().__init__()
        norm = layer.norm
        scale = norm.weight / (cast(Tensor, norm.running_var) + norm.eps).sqrt()
        shift = norm.bias - cast(Tensor, norm.running_mean) * scale
        kernel = layer.kernel() * scale[:, None, None, None]
        self.kernel = nn.Parameter(kernel.transpose(0, 1).contiguous(memory_format=LAST), False)
        self.condition_bias = nn.Parameter(layer.condition_bias.weight * scale[:, None], False)
        self.shift = nn.Parameter(shift, False)

    def forward(self, x: Tensor, attributes: Tensor) -> Tensor:
        x = F.conv_transpose2d(x, self.kernel, stride=2, padding=1)
        return F.relu_(x.add_(self.bias(attributes)))

    def bias(self, attributes: Tensor) -> Tensor:
        """(..., conditions) to (..., outputs, 1, 1)."""
        return F.linear(attributes, self.condition_bias, self.shift)[..., None, None]

    def spread(self, x: Tensor, attributes: Tensor) -> Tensor:
        """(B, C, h, w) and (B, K, A) to (B * K, C', 2h, 2w)."""
        x = F.conv_transpose2d(x, self.kernel, stride=2, padding=1)
        many = F.relu_(x[:, None] + self.bias(attributes))
        return many.flatten(0, 1).contiguous(memory_format=LAST)
