"""A trained Fader Network folded for use: the same function with fewer operations, to be called and not trained.

Batch norm becomes part of the convolution before it (Jacob et al. 2018, §3.2), upsampling and convolution one
transposed convolution, and the condition a bias per face: exact up to rounding.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.faces.networks.fader import Fader, Up

LAST = torch.channels_last


class FoldedFader(nn.Module):
    """Encoder and decoder of a Fader in evaluation mode.

    network: whose weights are taken; it can be dropped afterwards.
    """

    def __init__(self, network: Fader) -> None:
        super().__init__()
        with torch.no_grad():
            layers = [cast(nn.Sequential, layer) for layer in network.encoder]
            self.down = nn.ModuleList(_Down(layer) for layer in layers)
            self.narrow = None if network.narrow is None else _Narrow(network.narrow)
            self.up = nn.ModuleList(_Up(cast(Up, layer)) for layer in network.decoder)
        self.rgb_condition_bias = nn.Parameter(network.rgb_condition_bias.weight.repeat(2, 1), False)  # (6, A)
        self.bias_rgb = nn.Parameter(cast(Tensor, network.to_rgb.bias).repeat(2), False)
        # The processor computes 8 channels for 3 in the time of 3: as a 3x4 convolution in steps of two columns to 6
        # channels, two neighbouring pixels waste 2 of 8 instead of 5.
        pairs = torch.cat([F.pad(network.to_rgb.weight, (0, 1)), F.pad(network.to_rgb.weight, (1, 0))])
        self.kernel_rgb = nn.Parameter(pairs.contiguous(memory_format=LAST), False)

    @property
    def dtype(self) -> torch.dtype:
        """Of the arithmetic: float32, or float16 after ``half()``."""
        return self.kernel_rgb.dtype

    def encode(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S) to latents (B, C, s, s) in ``dtype``."""
        x = chips.to(self.dtype).contiguous(memory_format=LAST)
        for layer in self.down:
            x = layer(x)
        return x if self.narrow is None else self.narrow(x)

    def sweep(self, latents: Tensor, conditions: Tensor) -> Tensor:
        """Latents (B, C, s, s), each at K attribute vectors (B, K, A), to chips (B * K, 3, S, S) float32 in (-1, 1).

        What the first layer makes of a latent is the same for all K: it is computed once.
        """
        conditions = conditions.to(self.dtype)
        each = conditions.flatten(0, 1)  # (B * K, A)
        first, *others = self.up
        x = cast(_Up, first).spread(latents, conditions)
        for layer in others:
            x = layer(x, each)
        pairs = F.conv2d(x, self.kernel_rgb, stride=(1, 2), padding=1)  # (B * K, 6, S, S / 2)
        pairs.add_(F.linear(each, self.rgb_condition_bias, self.bias_rgb)[:, :, None, None]).tanh_()
        rgb = pairs.permute(0, 2, 3, 1).unflatten(3, (2, 3)).flatten(2, 3)  # (B * K, S, S, 3), no copy
        return rgb.permute(0, 3, 1, 2).float()


class _Down(nn.Module):
    """Convolution, norm and leaky rectifier."""

    def __init__(self, layer: nn.Sequential) -> None:
        super().__init__()
        conv, norm, rectifier = cast(nn.Conv2d, layer[0]), cast(nn.BatchNorm2d, layer[1]), cast(nn.LeakyReLU, layer[2])
        scale, shift = _affine(norm)
        self.slope, self.stride, self.padding = rectifier.negative_slope, conv.stride, conv.padding
        self.kernel = nn.Parameter((conv.weight * scale[:, None, None, None]).contiguous(memory_format=LAST), False)
        self.bias = nn.Parameter(shift, False)

    def forward(self, x: Tensor) -> Tensor:
        x = F.conv2d(x, self.kernel, self.bias, self.stride, self.padding)
        return F.leaky_relu_(x, self.slope)


class _Narrow(nn.Module):
    """1x1 convolution and norm."""

    def __init__(self, layer: nn.Sequential) -> None:
        super().__init__()
        conv, norm = cast(nn.Conv2d, layer[0]), cast(nn.BatchNorm2d, layer[1])
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = torch.rsqrt(norm.running_var + norm.eps)
        self.kernel = nn.Parameter((conv.weight * scale[:, None, None, None]).contiguous(memory_format=LAST), False)
        self.bias = nn.Parameter(-norm.running_mean * scale, False)

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.kernel, self.bias)


class _Up(nn.Module):
    """Upsampling, convolution, condition, norm and rectifier: see ``fader.Up``."""

    def __init__(self, layer: Up) -> None:
        super().__init__()
        scale, shift = _affine(layer.norm)
        kernel = layer.kernel() * scale[:, None, None, None]
        self.kernel = nn.Parameter(kernel.transpose(0, 1).contiguous(memory_format=LAST), False)
        self.condition_bias = nn.Parameter(layer.condition_bias.weight * scale[:, None], False)
        self.shift = nn.Parameter(shift, False)

    def bias(self, attributes: Tensor) -> Tensor:
        return F.linear(attributes, self.condition_bias, self.shift)

    def forward(self, x: Tensor, attributes: Tensor) -> Tensor:
        x = F.conv_transpose2d(x, self.kernel, stride=2, padding=1)
        return F.relu_(x.add_(self.bias(attributes)[:, :, None, None]))

    def spread(self, x: Tensor, attributes: Tensor) -> Tensor:
        """(B, C, h, w) and (B, K, A) to (B * K, C', 2h, 2w)."""
        x = F.conv_transpose2d(x, self.kernel, stride=2, padding=1)
        many = F.relu_(x[:, None] + self.bias(attributes)[:, :, :, None, None])
        return many.flatten(0, 1).contiguous(memory_format=LAST)


def _affine(norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Scale and shift, one per channel, that a batch norm amounts to when it is not trained."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return scale, norm.bias - norm.running_mean * scale
