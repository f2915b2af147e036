"""Ask a face parser of the zoo what each pixel of a picture shows.

One whose spec says ``mirrored`` is asked of the picture and of its mirror image, and what it says of both is averaged.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from gslopes.core.errors import ModelError
from gslopes.core.records import ByteArray
from gslopes.faces.zoo.loading import LoadedModel

# The classes of CelebAMask-HQ in the set's own order, in which celebamask-mini.zip is numbered; the order of
# face-parsing.PyTorch, listed next to the archive, is another: under it, hair would be the lower lip.
CLASSES = (
    "background", "skin", "nose", "eyeglasses", "left eye", "right eye", "left brow", "right brow", "left ear",
    "right ear", "mouth", "upper lip", "lower lip", "hair", "hat", "earring", "necklace", "neck", "cloth",
)  # fmt: skip

# What is the face's skin, and what the face: neither hair, ears, neck, spectacles nor background.
SKIN = ("skin", "nose")
FACE = (
    "skin", "left eye", "right eye", "left brow", "right brow", "nose", "mouth", "upper lip", "lower lip",
)  # fmt: skip


def class_probabilities(parser: LoadedModel, pictures: ByteArray, device: torch.device) -> Tensor:
    """Pictures (B, s, s, 3) uint8 RGB, in the parser's crop, to (B, classes, S, S) that sum to 1 over the classes.

    parser: its network takes (B, 3, S, S) float32, (rgb - mean) / std of its spec, and gives logits
        (B, classes, S, S), classes as the spec's labels. Its S may differ from s.
    device: where it is.

    Raises: ModelError if it does not give one channel per class of its spec.
    """
    spec = parser.spec
    with torch.inference_mode():
        rgb = torch.from_numpy(np.ascontiguousarray(pictures)).to(device).permute(0, 3, 1, 2).float() / 255
        mean, std = (torch.tensor(v, device=device).view(1, 3, 1, 1) for v in (spec.mean, spec.std))
        chips = resized((rgb - mean) / std, spec.size)
        logits: Tensor = parser.module(chips)
        if logits.shape[1] != len(spec.labels):
            raise ModelError(
                f"The face parser {spec.name} gives {logits.shape[1]} classes, its spec names {len(spec.labels)}."
            )
        seen = logits.float().softmax(1)
        if spec.mirrored:
            seen_there = parser.module(chips.flip(3)).float().softmax(1).flip(3)
            seen = (seen + seen_there[:, mirrored_classes(spec.labels).to(device)]) / 2
        return seen


def mirrored_classes(labels: tuple[str, ...]) -> Tensor:
    """For every class the class that it becomes in a mirror, (classes,): left and right change places."""
    other = {name: name.replace("left", "@").replace("right", "left").replace("@", "right") for name in labels}
    return torch.tensor([labels.index(other[name]) for name in labels])


def resized(pictures: Tensor, size: int) -> Tensor:
    """Pictures (B, C, s, s) at another side; smoothed first where that is smaller."""
    if pictures.shape[-2:] == (size, size):
        return pictures
    return interpolate(pictures, size=(size, size), mode="bilinear", align_corners=False, antialias=True)
