"""The saliency network of the cropper that was published with Yee et al. 2021, and the steps around it.

VGG-like: pairs of 3 x 3 convolutions with 2 x 2 max pooling between them, then 1 x 1 convolutions with leaky units down
to one map, a sixteenth of the picture. Zero padding, so one cell sees 140 pixels and nothing is global.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.ask.croppers.vxm import CONVOLUTION, POOL, Layer

# Added to R, G, B by the published program, in this order. They are the customary means of B, G, R.
PROGRAM_MEANS = (103.939, 116.779, 123.68)
STRIDE = 16


class FastGaze(nn.Module):
    """(B, 3, H, W) float32 RGB in [0, 255] to (B, ceil(H/16), ceil(W/16)) scores of any sign.

    layers: in order.  means: subtracted from R, G, B: ``PROGRAM_MEANS`` as the program does it, or reversed.
    smooth: whether the smoothing layer is applied; the program reads it and does not.
    """

    means: Tensor

    def __init__(
        self,
        layers: Sequence[Layer],
        means: tuple[float, float, float] = PROGRAM_MEANS,
        *,
        smooth: bool = False,
    ) -> None:
        super().__init__()
        self.register_buffer("means", torch.tensor(means).reshape(1, 3, 1, 1))
        self.smooth = smooth
        self.plan = [(layer.kind, layer.alpha, layer.size, layer.sigma) for layer in layers]
        self.convolutions = nn.ModuleList(_convolution(layer) for layer in layers if layer.kind == CONVOLUTION)

    def forward(self, pictures: Tensor) -> Tensor:
        x = pictures - self.means  # (B, 3, H, W)
        convolutions = iter(self.convolutions)
        for kind, alpha, size, sigma in self.plan:
            if kind == CONVOLUTION:
                x = F.leaky_relu(next(convolutions)(x), alpha)  # alpha 0 is ReLU
            elif kind == POOL:
                x = F.max_pool2d(x, 2, ceil_mode=True)  # windows cut at the border
            elif self.smooth:
                x = _smooth(x, size, sigma)
        return x[:, 0]  # (B, ceil(H/16), ceil(W/16))


def _convolution(layer: Layer) -> nn.Conv2d:
    weight, bias = (torch.as_tensor(values) for values in (layer.weight, layer.bias))
    out, into, tall, wide = weight.shape
    convolution = nn.Conv2d(into, out, (tall, wide), padding=(tall // 2, wide // 2))
    convolution.load_state_dict({"weight": weight, "bias": bias})
    return convolution


def _smooth(x: Tensor, size: int, sigma: float) -> Tensor:
    away = torch.arange(size, dtype=x.dtype, device=x.device) - (size - 1) / 2
    taps = torch.exp(-(away**2) / (2 * sigma**2))
    taps = taps / taps.sum()
    x = F.conv2d(x, taps.reshape(1, 1, 1, size), padding=(0, size // 2))
    return F.conv2d(x, taps.reshape(1, 1, size, 1), padding=(size // 2, 0))
