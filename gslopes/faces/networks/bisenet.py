"""BiSeNet for parsing faces, under the names of parameters that its public checkpoint has.

Source: Yu et al. 2018, BiSeNet, arXiv 1808.00897, sections 3.1 to 3.3, with ResNet-18 (He et al. 2016, Table 1) as
context path. As in zllrunning/face-parsing.PyTorch, to whose checkpoint it belongs, features at 1/8 of the side take
the place of the spatial path, and an attention is refined by a convolution after it is grown.
"""

from collections import OrderedDict

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models.resnet import BasicBlock, ResNet  # which imports torch's compiler

CLASSES = 19


class BiSeNet(nn.Module):
    """Pictures (B, 3, S, S), normalised as ImageNet's, to logits (B, 19, S, S); S a multiple of 32."""

    def __init__(self) -> None:
        super().__init__()
        self.cp = ContextPath()
        self.ffm = FeatureFusion(256)
        self.conv_out = head(256, 256)
        # of the auxiliary losses in training, section 3.3: checkpoints have them, nothing asks them
        self.conv_out16 = head(128, 64)
        self.conv_out32 = head(128, 64)

    def forward(self, pictures: Tensor) -> Tensor:
        fine, context = self.cp(pictures)
        logits = self.conv_out(self.ffm(fine, context))  # (B, 19, S/8, S/8)
        return F.interpolate(logits, pictures.shape[2:], mode="bilinear", align_corners=True)


class ContextPath(nn.Module):
    """Pictures (B, 3, S, S) to fine features and features of the context, both (B, 128, S/8, S/8)."""

    def __init__(self) -> None:
        super().__init__()
        self.resnet = ResNet18()
        self.arm16 = AttentionRefinement(256, 128)
        self.arm32 = AttentionRefinement(512, 128)
        self.conv_head32 = convolution(128, 128, 3)
        self.conv_head16 = convolution(128, 128, 3)
        self.conv_avg = convolution(512, 128, 1)

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        at8, at16, at32 = self.resnet(pictures)
        scene = self.conv_avg(at32.mean((2, 3), keepdim=True))  # of the whole picture
        context = self.conv_head32(_grown(self.arm32(at32) + scene, at16))
        return at8, self.conv_head16(_grown(self.arm16(at16) + context, at8))


class ResNet18(ResNet):  # type: ignore[misc]
    """Pictures (B, 3, S, S) to features (B, 128, S/8, S/8), (B, 256, S/16, S/16) and (B, 512, S/32, S/32)."""

    def __init__(self) -> None:
        super().__init__(BasicBlock, [2, 2, 2, 2])
        del self.fc  # of ImageNet's classes

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        stem = self.maxpool(self.relu(self.bn1(self.conv1(pictures))))  # (B, 64, S/4, S/4)
        at8 = self.layer2(self.layer1(stem))
        at16 = self.layer3(at8)
        return at8, at16, self.layer4(at16)


class AttentionRefinement(nn.Module):
    """Features (B, inputs, h, w) to (B, outputs, h, w), each channel weighed by what the whole picture shows."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = convolution(inputs, outputs, 3)
        self.conv_atten = nn.Conv2d(outputs, outputs, 1, bias=False)
        self.bn_atten = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        attention = self.bn_atten(self.conv_atten(x.mean((2, 3), keepdim=True)))
        return x * attention.sigmoid()


class FeatureFusion(nn.Module):
    """Two features whose channels add up to ``channels``, to one, (B, channels, h, w)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convblk = convolution(channels, channels, 1)
        self.conv1 = nn.Conv2d(channels, channels // 4, 1, bias=False)
        self.conv2 = nn.Conv2d(channels // 4, channels, 1, bias=False)

    def forward(self, fine: Tensor, context: Tensor) -> Tensor:
        x = self.convblk(torch.cat([fine, context], 1))
        attention = self.conv2(self.conv1(x.mean((2, 3), keepdim=True)).relu())
        return x + x * attention.sigmoid()


def head(inputs: int, width: int) -> nn.Module:
    """Features (B, inputs, h, w) to logits (B, 19, h, w)."""
    last = nn.Conv2d(width, CLASSES, 1, bias=False)
    return nn.Sequential(OrderedDict(conv=convolution(inputs, width, 3), conv_out=last))


def convolution(inputs: int, outputs: int, kernel: int) -> nn.Module:
    """Convolution, batch norm, ReLU: (B, inputs, h, w) to (B, outputs, h, w)."""
    conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
    return nn.Sequential(OrderedDict(conv=conv, bn=nn.BatchNorm2d(outputs), relu=nn.ReLU()))


def _grown(x: Tensor, like: Tensor) -> Tensor:
    return F.interpolate(x, size=like.shape[2:], mode="nearest")
