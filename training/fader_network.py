"""The Fader Network as it is trained: encode, then decode at any values; its layers are in ``faces.networks.fader``.

Its use, ``FoldedFader``, is the same function with fewer operations.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.faces.networks.fader import LAST, Fader, Up


def encode(network: Fader, chips: Tensor) -> Tensor:
    """Chips (B, 3, S, S) to latents (B, C, s, s)."""
    latents: Tensor = network.narrow(network.encoder(chips))
    return latents


def decode(network: Fader, latents: Tensor, attributes: Tensor) -> Tensor:
    """Latents (B, C, s, s) and attributes (B, A) to chips (B, 3, S, S) in (-1, 1)."""
    x = latents
    for layer in network.decoder:
        assert isinstance(layer, Up)
        x = grown(layer, x, attributes)  # (B, width, 2h, 2w)
    shift = network.rgb_condition_bias(attributes)[:, :, None, None]
    return torch.tanh(network.to_rgb(x) + shift)  # (B, 3, S, S)


def grown(layer: Up, x: Tensor, attributes: Tensor) -> Tensor:
    """One layer of the decoder: (B, inputs, h, w) and (B, conditions) to (B, outputs, 2h, 2w)."""
    # in this layout oneDNN is five times as fast on the widest layer; a transposed view would choose the other
    kernel = layer.kernel().transpose(0, 1).contiguous(memory_format=LAST)
    x = F.conv_transpose2d(x, kernel, stride=2, padding=1)
    return F.relu(layer.norm(x + layer.condition_bias(attributes)[:, :, None, None]))
