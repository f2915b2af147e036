"""The three networks of MTCNN, with the weights that facenet-pytorch ships (MIT).

Its package is not imported: it imports torchvision, and that torch's compiler, which takes longer than a photo.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gslopes.core import read_beside

LAYERS = read_beside(__file__, "cascade.toml")


class Network(nn.Module):
    """Layers one after the other, then heads side by side, under the names of their weights.

    name: ``pnet``, which may see a picture of any size, ``rnet`` for 24 x 24 pixels or ``onet`` for 48 x 48.

    Source: Zhang, Zhang, Li, Qiao 2016, Joint Face Detection and Alignment using Multi-task Cascaded CNNs, Figure 2.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        layers: dict[str, nn.Module] = {}
        for number, row in enumerate(LAYERS[name]["convolutions"], 1):
            before, after, kernel, pool = row
            layers[f"conv{number}"] = nn.Conv2d(before, after, kernel)
            layers[f"prelu{number}"] = nn.PReLU(after)
            if pool:
                layers[f"pool{number}"] = nn.MaxPool2d(pool, 2, ceil_mode=True)
        dense = LAYERS[name]["dense"]
        if dense:
            layers |= {"flat": Flat(), f"dense{number + 1}": nn.Linear(*dense)}
            layers[f"prelu{number + 1}"] = nn.PReLU(dense[1])
        for key, shape in LAYERS[name]["heads"].items():
            layers[key] = nn.Linear(*shape) if dense else nn.Conv2d(*shape)
        self.heads = list(LAYERS[name]["heads"])
        self.body = [key for key in layers if key not in self.heads]
        for key, layer in layers.items():
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
