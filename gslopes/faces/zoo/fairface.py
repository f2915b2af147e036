"""A reader of faces from FairFace weights of the user's own: perceived gender, race and age."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gslopes.core.errors import ModelError
from gslopes.core.files import sha256_of, show
from gslopes.core.records import ByteArray
from gslopes.faces.networks.fairface import OUTPUTS, fairface
from gslopes.faces.zoo.external import read_state
from gslopes.faces.zoo.reader import cropped

# The outputs in FairFace's own order.
RACES = ("White", "Black", "Latino_Hispanic", "East Asian", "Southeast Asian", "Indian", "Middle Eastern")
AGES = ("0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "more than 70")
LABELS = ("masculine", "white", "black", "asian", "indian", "other", "young")
SIDE, BATCH = 224, 32
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's
LAYOUT = "Expected is FairFace's ResNet-34 of seven races, as res34_fair_align_multi_7_20190809.pt."


class FairFaceReader:
    """Reads aligned chips, as ``faces.zoo.framing.CHIP`` frames them, in FairFace's own framing.

    network: of ``faces.networks.fairface``.  sha256: of its file.

    size: side of the chips that it is given, pixels.  labels: what it reads: Asian is East and Southeast Asian
    together, other is Latino_Hispanic and Middle Eastern; young, under 35, takes half of the ages 30 to 39.
    """

    size, labels = 256, LABELS

    def __init__(self, network: nn.Module, sha256: str) -> None:
        self.network, self.sha256 = network, sha256

    def __call__(self, chips: ByteArray) -> dict[str, NDArray[np.float64]]:
        """Chips (n, S, S, 3) uint8 RGB to {label: (n,) probabilities}; those of race sum to 1."""
        with torch.inference_mode():
            parts = [self._read(chips[start : start + BATCH]) for start in range(0, len(chips), BATCH)]
        read = torch.cat(parts).double().cpu().numpy()
        return dict(zip(LABELS, read.T, strict=True))

    def _read(self, chips: ByteArray) -> torch.Tensor:
        device = next(self.network.parameters()).device
        x = torch.from_numpy(np.ascontiguousarray(chips)).to(device).permute(0, 3, 1, 2).float() / 255
        mean, std = (x.new_tensor(numbers)[:, None, None] for numbers in (MEAN, STD))
        logits = self.network((cropped(x, "fairface", SIDE) - mean) / std)  # (B, 18)
        race, gender, age = (logits[:, part].softmax(1) for part in OUTPUTS.values())
        young = age[:, :4].sum(1) + age[:, 4] / 2
        asian, other = race[:, 3] + race[:, 4], race[:, 2] + race[:, 6]
        return torch.stack([gender[:, 0], race[:, 0], race[:, 1], asian, race[:, 5], other, young], 1)


def load_fairface(path: Path, device: str | torch.device = "cpu") -> FairFaceReader:
    """A reader from a file of FairFace's weights, a PyTorch checkpoint or safetensors; none of it is run as code.

    Its four-race file has the same shapes and looks alike from outside: name that of seven races.

    Raises: UsageError if there is no such file; ModelError if it is no checkpoint, holds code as well as tensors, or is
        another network.
    """
    name = show(path)
    state = read_state(path, name, LAYOUT)
    network = fairface()
    try:
        missing, unexpected = network.load_state_dict(state, strict=False)
    except RuntimeError as error:  # torch's word for a tensor of another shape
        raise ModelError(f"{name} has another shape: {str(error).splitlines()[-1].strip()}", LAYOUT) from error
    lost = [key for key in missing if not key.endswith("num_batches_tracked")]
    if lost or unexpected:
        which = f"lacks {lost[0]}" if lost else f"also has {unexpected[0]}"
        raise ModelError(f"{name} is another network: it {which}.", LAYOUT)
    return FairFaceReader(network.to(device).eval().requires_grad_(False), sha256_of(path))
