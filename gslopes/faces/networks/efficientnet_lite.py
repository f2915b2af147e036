"""EfficientNet-Lite0: inverted residuals without squeeze-and-excitation, as features at every scale.

Source: Tan & Le 2019, EfficientNet, Table 1; the Lite variant (no squeeze-and-excitation, ReLU6, a fixed stem) is that
of Google's TPU models. Convolutions of stride 2 are padded as TensorFlow does, right and below first, so that weights
trained there fit.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

STEM = 32  # channels
# kernel, stride, expansion, channels, blocks
STAGES = (
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
)  # without the last two, at 1/32 of the side: a chip would have 4 x 4 pixels there


class EfficientNetLite(nn.Module):
    """Pictures (B, 3, S, S) in [-1, 1], S a multiple of 16, to the features of each stage.

    Stage by stage (B, 16, S/2, S/2), (B, 24, S/4, S/4), (B, 40, S/8, S/8), (B, 80, S/16, S/16), (B, 112, S/16, S/16).
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, STEM, 3, stride=2, bias=False)
        self.norm = _norm(STEM)
        channels = STEM
        self.stages = nn.ModuleList()
        for kernel, stride, expansion, outputs, blocks in STAGES:
            first = InvertedResidual(channels, outputs, kernel, stride, expansion)
            others = [InvertedResidual(outputs, outputs, kernel, 1, expansion) for _ in range(blocks - 1)]
            self.stages.append(nn.Sequential(first, *others))
            channels = outputs

    def forward(self, pictures: Tensor) -> list[Tensor]:
        x = F.relu6(self.norm(self.stem(padded(pictures, 3, 2))))  # (B, 32, S/2, S/2)
        features = []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        return features


class InvertedResidual(nn.Module):
    """Wider by a factor, filtered channel by channel, narrow again; added to its input where the shapes agree.

    Source: Sandler et al. 2018, MobileNetV2, §3.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.kernel, self.stride = kernel, stride
        self.adds = stride == 1 and inputs == outputs
        self.expand = (
            nn.Sequential(nn.Conv2d(inputs, wide, 1, bias=False), _norm(wide), nn.ReLU6())
            if expansion > 1
            else nn.Identity()
        )
        self.depthwise = nn.Conv2d(wide, wide, kernel, stride=stride, groups=wide, bias=False)
        self.depthwise_norm = _norm(wide)
        self.project = nn.Conv2d(wide, outputs, 1, bias=False)
        self.project_norm = _norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        y = self.depthwise(padded(self.expand(x), self.kernel, self.stride))
        y = self.project_norm(self.project(F.relu6(self.depthwise_norm(y))))
        return x + y if self.adds else y


def padded(x: Tensor, kernel: int, stride: int) -> Tensor:
    """As TensorFlow's ``same`` for sides that the stride divides: what is left over goes right and below."""
    total = kernel - stride
    return F.pad(x, (total // 2, total - total // 2) * 2)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3)
