"""Ask a face parser of the zoo what each pixel of a picture shows."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from gslopes.core.errors import ModelError
from gslopes.core.records import ByteArray
from gslopes.zoo.loading import LoadedModel


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
        logits: Tensor = parser.module(resized((rgb - mean) / std, spec.size))
        if logits.shape[1] != len(spec.labels):
            raise ModelError(
                f"The face parser {spec.name} gives {logits.shape[1]} classes, its spec names {len(spec.labels)}."
            )
        return logits.float().softmax(1)


def resized(pictures: Tensor, size: int) -> Tensor:
    """Pictures (B, C, s, s) at another side; smoothed first where that is smaller."""
    if pictures.shape[-2:] == (size, size):
        return pictures
    return interpolate(pictures, size=(size, size), mode="bilinear", align_corners=False, antialias=True)
