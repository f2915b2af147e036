"""BiSeNet on a ResNet-18, as the public parsers trained on CelebAMask-HQ are: its parameters carry their names.

Source: Yu, Wang, Peng, Gao, Yu, Sang 2018, BiSeNet: Bilateral Segmentation Network, §3, with the ResNet-18 of He,
Zhang, Ren, Sun 2016, Table 1, as torchvision builds it. Those parsers have no spatial path of their own: the features
at an eighth of the side, which the backbone computes anyway, take its place.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models import resnet18

# Channels of the backbone at 1/8, 1/16 and 1/32 of the side, and of the context path.
C8, C16, C32, CONTEXT = 128, 256, 512, 128


class BiSeNetResNet18(nn.Module):
    """Pictures (B, 3, S, S), normalised as ImageNet's, to logits (B, classes, S, S); S a multiple of 32.

    ``conv_out16`` and ``conv_out32`` are the auxiliary heads of §3.3's joint loss. Nothing but training asks them; they
    are here so that a checkpoint fits whole.
    """

    def __init__(self, classes: int = 19) -> None:
        super().__init__()
        self.cp = ContextPath()
        self.ffm = FeatureFusion(C8 + CONTEXT, 256)
        self.conv_out = Head(256, 256, classes)
        self.conv_out16 = Head(CONTEXT, 64, classes)
        self.conv_out32 = Head(CONTEXT, 64, classes)

    def forward(self, pictures: Tensor) -> Tensor:
        shallow, deep = self.cp(pictures)  # (B, 128, S/8, S/8) twice
        logits = self.conv_out(self.ffm(shallow, deep))  # (B, classes, S/8, S/8)
        return F.interpolate(logits, size=pictures.shape[2:], mode="bilinear", align_corners=True)


class ContextPath(nn.Module):
    """§3.2: what the backbone sees at 1/16 and 1/32 of the side and as a whole, brought back to 1/8."""

    def __init__(self) -> None:
        super().__init__()
        self.resnet = resnet18(weights=None)
        del self.resnet.fc  # no classes of ImageNet here
        self.arm16 = AttentionRefinement(C16, CONTEXT)
        self.arm32 = AttentionRefinement(C32, CONTEXT)
        self.conv_head16 = ConvBlock(CONTEXT, CONTEXT, 3)
        self.conv_head32 = ConvBlock(CONTEXT, CONTEXT, 3)
        self.conv_avg = ConvBlock(C32, CONTEXT, 1)

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """The backbone's features and the context's, both (B, 128, S/8, S/8)."""
        net = self.resnet
        x = net.maxpool(net.relu(net.bn1(net.conv1(pictures))))  # (B, 64, S/4, S/4)
        x8 = net.layer2(net.layer1(x))  # (B, 128, S/8, S/8)
        x16 = net.layer3(x8)  # (B, 256, S/16, S/16)
        x32 = net.layer4(x16)  # (B, 512, S/32, S/32)
        tail = self.conv_avg(x32.mean((2, 3), keepdim=True))  # (B, 128, 1, 1)
        deep = self.conv_head32(_grow(self.arm32(x32) + tail, x16))  # (B, 128, S/16, S/16)
        deep = self.conv_head16(_grow(self.arm16(x16) + deep, x8))  # (B, 128, S/8, S/8)
        return x8, deep


class AttentionRefinement(nn.Module):
    """§3.2: features weighted by their own global mean."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = ConvBlock(inputs, outputs, 3)
        self.conv_atten = nn.Conv2d(outputs, outputs, 1, bias=False)
        self.bn_atten = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return x * self.bn_atten(self.conv_atten(x.mean((2, 3), keepdim=True))).sigmoid()


class FeatureFusion(nn.Module):
    """§3.3: the two paths joined, their channels weighed by their global mean."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convblk = ConvBlock(inputs, outputs, 1)
        self.conv1 = nn.Conv2d(outputs, outputs // 4, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs // 4, outputs, 1, bias=False)

    def forward(self, shallow: Tensor, deep: Tensor) -> Tensor:
        x = self.convblk(torch.cat([shallow, deep], dim=1))
        return x + x * self.conv2(self.conv1(x.mean((2, 3), keepdim=True)).relu()).sigmoid()


class Head(nn.Module):
    """Features to logits of the classes."""

    def __init__(self, inputs: int, middle: int, classes: int) -> None:
        super().__init__()
        self.conv = ConvBlock(inputs, middle, 3)
        self.conv_out = nn.Conv2d(middle, classes, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv_out(self.conv(x))


class ConvBlock(nn.Module):
    """Convolution, batch norm, ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.bn(self.conv(x)))


def _grow(x: Tensor, like: Tensor) -> Tensor:
    return F.interpolate(x, size=like.shape[2:], mode="nearest")
