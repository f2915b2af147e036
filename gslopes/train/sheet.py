"""Sample sheets: what an editor does to a few faces, looked at while it trains and after."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn

from gslopes.core.records import ByteArray
from gslopes.networks.fader import Fader
from gslopes.train.augment import to_float
from gslopes.train.guide import window
from gslopes.train.regions import softened
from gslopes.zoo import ModelSpec

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)


@torch.no_grad()
def sheet(
    spec: ModelSpec,
    network: nn.Module,
    pixels: ByteArray,
    labels: NDArray[np.float32],
    path: Path,
    device: str,
    regions: ByteArray | None = None,
) -> None:
    """Write a picture with a row a face: the photo, D(z, a) at -2, -1, 0, 1, 2, then the photo plus the difference.

    pixels: (n, S, S, 3) uint8 RGB.  labels: (n, A) the faces' own values, the edited attribute first.
    regions: (n, S, S) uint8 as ``regions.parsed`` codes them, where the difference is added; an ellipse by default.
    """
    assert isinstance(network, Fader)
    x = to_float(torch.from_numpy(np.array(pixels)), spec.mean, spec.std).to(device)
    own = torch.from_numpy(np.array(labels)).to(device)
    z = network.encode(x)
    decoded = [network.decode(z, network.told(own, v)) for v in VALUES]
    rebuilt = network.decode(z, own)
    region = window(spec.size).to(device)
    if regions is not None:
        region = softened(torch.from_numpy(np.array(regions))[:, None].float().to(device), 0.0, torch.Generator())
    columns = [x, *decoded, *(x + region * (picture - rebuilt) for picture in decoded)]
    grid = torch.cat([torch.cat(list(column), 1) for column in columns], 2)  # (3, n S, columns S)
    Image.fromarray(((grid.clamp(-1, 1).permute(1, 2, 0).cpu().numpy() + 1) * 127.5).round().astype(np.uint8)).save(
        path
    )
