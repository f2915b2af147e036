"""A small residual network that answers several questions about a face at once: tagger, judge and labeller."""

from copy import deepcopy
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from gslopes.core import frozen


@frozen
class TaggerConfig:
    """Shape of a tagger: how many logits; channels of the stem and of each stage, which halves the picture's side."""

    labels: int
    widths: tuple[int, ...] = (24, 48, 96, 192)


class Tagger(nn.Module):
    """Faces (B, 3, S, S), normalised by the model's spec, to logits (B, labels).

    Source: He et al. 2016, Deep Residual Learning, basic blocks.
    """

    def __init__(self, config: TaggerConfig) -> None:
        super().__init__()
        self.config = config
        stem, *stages = config.widths
        self.stem = convolution(3, stem, 3, stride=2)
        blocks = [Block(a, b, stride=2) for a, b in zip(config.widths[:-1], stages, strict=True)]
        self.blocks = nn.Sequential(*blocks, Block(config.widths[-1], config.widths[-1], stride=1))
        self.head = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(config.widths[-1], config.labels),
        )

    def forward(self, faces: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(faces)))


class Block(nn.Module):
    """A basic residual block: (B, inputs, h, w) to (B, outputs, h / stride, w / stride)."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        first = convolution(inputs, outputs, 3, stride)
        self.body = nn.Sequential(*first, *convolution(outputs, outputs, 3)[:2])
        self.shortcut: nn.Module = nn.Identity()
        if inputs != outputs or stride > 1:
            self.shortcut = convolution(inputs, outputs, 1, stride)[:2]
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.body(x) + self.shortcut(x))


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Convolution, batch norm, rectifier: (B, inputs, h, w) to (B, outputs, h / stride, w / stride)."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


Network = TypeVar("Network", bound=nn.Module)


def folded(network: Network) -> Network:
    """A copy to be called and not trained: each batch norm in the convolution right before it, channels last.

    Source: Jacob et al. 2018, §3.2. Exact up to rounding; of a tagger on a CPU three quarters of the time.
    """
    copy = deepcopy(network).eval()
    for parent in list(copy.modules()):
        before = ""
        conv = None
        for name, layer in parent.named_children():
            if isinstance(conv, nn.Conv2d) and isinstance(layer, nn.BatchNorm2d):
                setattr(parent, before, fuse_conv_bn_eval(conv, layer))
                setattr(parent, name, nn.Identity())
            before = name
            conv = layer
    return copy.requires_grad_(False).to(memory_format=torch.channels_last)
