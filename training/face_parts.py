"""Parts of an aligned face, as boxes of the chip with soft edges: bounds on an edit may differ from part to part.

The boxes go by the chip's template (``zoo.framing.CHIP``), in which eyes, nose and mouth have their places in every
face.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torchvision.transforms.functional import gaussian_blur

# Left, top, right and bottom in units of the side; what lies in two boxes belongs to the later one. The mouth is the
# skin about the upper lip, and ends where the corners of the lips are; the jaw belongs to the cheeks.
BOXES = {
    "forehead": (0.0, 0.0, 1.0, 0.3),
    "eyes": (0.0, 0.3, 1.0, 0.5),
    "cheeks": (0.0, 0.5, 1.0, 1.0),
    "nose": (0.37, 0.46, 0.63, 0.665),
    "mouth": (0.3, 0.665, 0.7, 0.74),
    "chin": (0.3, 0.74, 0.7, 1.0),
    "lips": (0.36, 0.695, 0.64, 0.81),
}
PARTS = tuple(BOXES)
SOFT = 4 / 128  # of the Gaussian that softens the edges, in units of the side


def over_parts(numbers: tuple[float, ...], like: Tensor) -> Tensor:
    """(S, S) numbers over a chip, without an edge from part to part.

    numbers: one of each of ``PARTS``.  like: (..., S, S), whose side, type and device count.
    """
    return _drawn(numbers, like.shape[-1]).to(like)


def inverse_over_parts(bounds: tuple[float, ...], like: Tensor) -> Tensor:
    """(S, S) 1 / bound over a chip, likewise; 0 where a part has none.

    bounds: one of each of ``PARTS``, 0 for none.  like: as of ``over_parts``.
    """
    return over_parts(tuple(1 / bound if bound else 0.0 for bound in bounds), like)


@lru_cache(16)
@torch.inference_mode(False)  # what is kept here may be wanted by a training later
def _drawn(numbers: tuple[float, ...], size: int) -> Tensor:
    drawn = torch.zeros(size, size)
    for (left, top, right, bottom), number in zip(BOXES.values(), numbers, strict=True):
        rows, columns = slice(round(top * size), round(bottom * size)), slice(round(left * size), round(right * size))
        drawn[rows, columns] = number
    pixels = SOFT * size
    return gaussian_blur(drawn[None], 2 * round(3 * pixels) + 1, pixels)[0]
