"""The three networks of MTCNN, with the weights that facenet-pytorch ships (MIT).

Its package is not imported: it imports torchvision, and that torch's compiler, which takes longer than a photo.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class Network(nn.Module):
    """Layers one after the other, then heads side by side, under the names of their weights.

    Source: Zhang, Zhang, Li, Qiao 2016, Joint Face Detection and Alignment using Multi-task Cascaded CNNs, Figure 2.
    """

    def __init__(
        self, name: str, layers: Mapping[str, nn.Module], heads: Mapping[str, nn.Module]
    ) -> None:
        super().__init__()
        self.body = list(layers)
        self.heads = list(heads)
        for key, layer in {**layers, **heads}.items():
            self.add_module(key, layer)
        package: Any = find_spec("facenet_pytorch")
        weights = Path(package.origin).with_name("data") / f"{name}.pt"
        self.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
        self.eval().requires_grad_(False)

    def forward(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """(B, 3, H, W) in [-1, 1] to moves of the box's sides, of the last network the five points, and the chances."""
        for key in self.body:
            pictures = self.get_submodule(key)(pictures)
        chances, *rest = (self.get_submodule(key)(pictures) for key in self.heads)
        return (*rest, chances.softmax(1))


class Flat(nn.Module):
    """(B, C, H, W) to (B, W H C), as the weights have it."""

    def forward(self, x: Tensor) -> Tensor:
        """All but the first dimension in one."""
        return x.permute(0, 3, 2, 1).flatten(1)


def networks() -> tuple[Network, Network, Network]:
    """P-Net, which may see a picture of any size; R-Net for 24 x 24 pixels and O-Net for 48 x 48."""
    first = _layers((3, 10, 3, 2), (10, 16, 3, 0), (16, 32, 3, 0))  # (B, 32, h, w)
    second = _layers((3, 28, 3, 3), (28, 48, 3, 3), (48, 64, 2, 0))  # (B, 64, 3, 3)
    second |= {"flat": Flat(), "dense4": nn.Linear(576, 128), "prelu4": nn.PReLU(128)}
    third = _layers(
        (3, 32, 3, 3), (32, 64, 3, 3), (64, 64, 3, 2), (64, 128, 2, 0)
    )  # (B, 128, 3, 3)
    third |= {"flat": Flat(), "dense5": nn.Linear(1152, 256), "prelu5": nn.PReLU(256)}
    return (
        Network("pnet", first, {"conv4_1": nn.Conv2d(32, 2, 1), "conv4_2": nn.Conv2d(32, 4, 1)}),
        Network("rnet", second, {"dense5_1": nn.Linear(128, 2), "dense5_2": nn.Linear(128, 4)}),
        Network(
            "onet",
            third,
            {
                "dense6_1": nn.Linear(256, 2),
                "dense6_2": nn.Linear(256, 4),
                "dense6_3": nn.Linear(256, 10),
            },
        ),
    )


def _layers(*rows: tuple[int, int, int, int]) -> dict[str, nn.Module]:
    """Convolutions, each with its PReLU and, unless 0, a pool.  rows: channels in and out, kernel, pool's side."""
    layers: dict[str, nn.Module] = {}
    for number, (before, after, kernel, pool) in enumerate(rows, 1):
        layers |= {
            f"conv{number}": nn.Conv2d(before, after, kernel),
            f"prelu{number}": nn.PReLU(after),
        }
        if pool:
            layers[f"pool{number}"] = nn.MaxPool2d(pool, 2, ceil_mode=True)
    return layers
