"""Sample sheets: what an editor does to a few faces, looked at while it trains and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from gslopes.core.levels import OFFSET
from gslopes.core.records import ByteArray, Editor
from gslopes.networks.fader import Fader
from gslopes.zoo import ModelSpec
from gslopes.zoo.reader import face_window
from training.augment import to_float

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)


def odd_part(network: Fader, latents: Tensor, condition: Tensor) -> Tensor:
    """e(a) = (D(z, a) - D(z, -a)) / 2 with all other attributes as they are; (B, 3, S, S)."""
    return (network.decode(latents, condition) - network.decode(latents, network.mirrored(condition))) / 2


@torch.no_grad()
def edits(spec: ModelSpec, network: Fader, x: Tensor, photo: Tensor, values: Sequence[float]) -> list[Tensor]:
    """What is added at each value, (B, 3, S, S) each, network units: what the template changes, else the odd part.

    x: (B, 3, S, S) in the network's units.  photo: (B, A) the faces' own values, the edited attribute first.
    """
    if network.template is not None:
        units = network.config.gain * (photo.new_tensor(list(values))[None] - photo[:, :1])
        mean, std = (x.new_tensor(v)[:, None, None] for v in (spec.mean, spec.std))
        logs = (255 * (x * std + mean) + OFFSET).log()[:, None] + units[:, :, None, None, None] * network.template
        return list((((logs.exp() - OFFSET) / 255 - mean) / std - x[:, None]).unbind(1))
    z = network.encode(x)
    at_photo = odd_part(network, z, photo)
    return [odd_part(network, z, network.condition(photo, value)) - at_photo for value in values]


@torch.no_grad()
def sheet(
    spec: ModelSpec,
    network: nn.Module,
    pixels: ByteArray,
    labels: NDArray[np.float32],
    path: Path,
    device: str,
) -> None:
    """Write a picture with a row a face: the photo, D(z, a) at -2, -1, 0, 1, 2, then the photo edited.

    pixels: (n, S, S, 3) uint8 RGB.  labels: (n, A) the faces' own values, the edited attribute first.
    """
    assert isinstance(network, Fader)
    x = to_float(torch.from_numpy(np.array(pixels)), spec.mean, spec.std).to(device)
    photo = torch.from_numpy(np.array(labels)).to(device)
    z = network.encode(x)
    conditions = [network.condition(photo, value) for value in VALUES]
    region = face_window(spec.size).to(device)
    edited = [x + region * edit for edit in edits(spec, network, x, photo, VALUES)]
    columns = [x, *(network.decode(z, condition) for condition in conditions), *edited]
    grid = torch.cat([torch.cat(list(column), 1) for column in columns], 2)  # (3, n S, columns S)
    levels = (grid.clamp(-1, 1).permute(1, 2, 0).cpu().numpy() + 1) * 127.5
    Image.fromarray(levels.round().astype(np.uint8)).save(path)


def edited_sheet(editor: Editor, pixels: ByteArray, path: Path) -> None:
    """Write a picture with a row a face: the photo, then the chip edited at -2, -1, 0, 1, 2; nothing is moved.

    pixels: (n, S, S, 3) uint8 RGB.
    """
    swept = editor.sweep(pixels, np.array(VALUES, np.float32))
    columns = [pixels, *np.clip(np.rint(swept.edited), 0, 255).astype(np.uint8).transpose(1, 0, 2, 3, 4)]
    Image.fromarray(np.concatenate([np.concatenate(list(column)) for column in columns], 1)).save(path)
