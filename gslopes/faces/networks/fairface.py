"""FairFace's network: a ResNet-34 with 18 outputs, as torchvision builds it: its parameters carry their names.

Source: Kärkkäinen & Joo 2021, FairFace, arXiv 1908.04913; He, Zhang, Ren, Sun 2016, Table 1.
"""

from __future__ import annotations

from torch import nn
from torchvision.models import resnet34

OUTPUTS = {"race": slice(0, 7), "gender": slice(7, 9), "age": slice(9, 18)}  # a softmax each


def fairface() -> nn.Module:
    """Faces (B, 3, 224, 224), normalised as ImageNet's, to logits (B, 18): see ``OUTPUTS``; random weights."""
    network: nn.Module = resnet34(weights=None, num_classes=18)
    return network
