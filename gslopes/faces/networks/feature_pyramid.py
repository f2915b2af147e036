"""A feature pyramid for parsing: what a deep network sees, brought back up to fine features step by step.

Source: Lin et al. 2017, Feature Pyramid Networks, §3, with one head at the finest level as in Kirillov et al. 2019,
Panoptic Feature Pyramid Networks; narrower levels, since chips have 128 pixels. The encoder is EfficientNet-Lite0 (Tan
& Le 2019, EfficientNet, Table 1, as Google's TPU models have it: no squeeze-and-excitation, ReLU6, a fixed stem).
Convolutions of stride 2 are padded as TensorFlow does, right and below first, so that weights trained there fit.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.core import frozen, read_beside
from gslopes.faces.networks.tagger import convolution

STEM = 32  # channels
# kernel, stride, expansion, channels, blocks
STAGES = read_beside(__file__, "feature_pyramid.toml")["stages"]


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
            others = [
                InvertedResidual(outputs, outputs, kernel, 1, expansion) for _ in range(blocks - 1)
            ]
            self.stages.append(nn.Sequential(first, *others))
            channels = outputs

    def forward(self, pictures: Tensor) -> list[Tensor]:
        x = F.relu6(self.norm(self.stem(padded(pictures, 3, 2))), inplace=True)  # (B, 32, S/2, S/2)
        features = []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        return features


class InvertedResidual(nn.Module):
    """Wider by a factor, filtered channel by channel, narrow again; added to its input if the shapes agree.

    Source: Sandler et al. 2018, MobileNetV2, §3.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int,
        expansion: int,
    ) -> None:
        super().__init__()
        wide = inputs * expansion
        self.kernel = kernel
        self.stride = stride
        self.adds = stride == 1 and inputs == outputs
        self.expand: nn.Module = nn.Identity()
        if expansion > 1:
            self.expand = nn.Sequential(
                nn.Conv2d(inputs, wide, 1, bias=False),
                _norm(wide),
                nn.ReLU6(inplace=True),
            )
        border = kernel // 2 if stride == 1 else 0  # what ``padded`` would put around it
        self.depthwise = nn.Conv2d(
            wide, wide, kernel, stride=stride, padding=border, groups=wide, bias=False
        )
        self.depthwise_norm = _norm(wide)
        self.project = nn.Conv2d(wide, outputs, 1, bias=False)
        self.project_norm = _norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        y = self.expand(x)
        y = self.depthwise(y if self.stride == 1 else padded(y, self.kernel, self.stride))
        y = self.project_norm(self.project(F.relu6(self.depthwise_norm(y), inplace=True)))
        if self.adds:
            return x + y
        return y


def padded(x: Tensor, kernel: int, stride: int) -> Tensor:
    """As TensorFlow's ``same`` for sides that the stride divides: what is left over goes right and below."""
    total = kernel - stride
    return F.pad(x, (total // 2, total - total // 2) * 2)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3)


LEVELS = (0, 1, 2, 4)  # stages at 1/2, 1/4, 1/8 and 1/16 of the side


@frozen
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
        self.deepest = convolution(channels[-1], deepest, 3)
        self.scene = nn.Sequential(
            nn.Conv2d(channels[-1], deepest, 1), nn.ReLU()
        )  # of the whole chip
        self.lateral = nn.ModuleList(
            [convolution(c, w, 1) for c, w in zip(channels, widths, strict=False)]
        )
        self.down = nn.ModuleList(
            [nn.Conv2d(a, b, 1) for a, b in zip(config.widths[1:], widths, strict=True)]
        )
        self.smooth = nn.ModuleList([convolution(w, w, 3) for w in widths])
        self.head = nn.Conv2d(widths[0], config.classes, 1)

    def forward(self, chips: Tensor) -> Tensor:
        features = self.encoder(chips)
        *finer, last = [features[stage] for stage in LEVELS]
        x = self.deepest(last) + self.scene(last.mean((2, 3), keepdim=True))  # (B, 112, S/16, S/16)
        for level in reversed(range(len(finer))):
            above = _grow(self.down[level](x), finer[level])
            x = self.smooth[level](self.lateral[level](finer[level]) + above)
        return _grow(self.head(x), chips)  # from (B, classes, S/2, S/2)


def _grow(x: Tensor, like: Tensor) -> Tensor:
    return F.interpolate(x, size=like.shape[2:], mode="bilinear", align_corners=False)
