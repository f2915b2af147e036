"""Parts of an aligned face, as boxes of the chip with soft edges: bounds on an edit may differ from part to part.

The boxes go by the chip's template (``zoo.crops.CHIP``), in which eyes, nose and mouth have their places in every face.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torchvision.transforms.functional import gaussian_blur

# Left, top, right and bottom in units of the side; what lies in two boxes belongs to the later one. The mouth ends, and
# the chin begins, where the corners of the lips are.
BOXES = {
    "forehead": (0.0, 0.0, 1.0, 0.3),
    "eyes": (0.0, 0.3, 1.0, 0.5),
    "cheeks": (0.0, 0.5, 1.0, 0.665),
    "nose": (0.37, 0.46, 0.63, 0.665),
    "mouth": (0.0, 0.665, 1.0, 0.74),
    "chin": (0.0, 0.74, 1.0, 1.0),
}
PARTS = tuple(BOXES)
SOFT = 4 / 128  # of the Gaussian that softens the edges, in units of the side


def inverse_over_parts(bounds: tuple[float, ...], like: Tensor) -> Tensor:
    """(S, S) 1 / bound over a chip, without an edge from part to part; 0 where a part has none.

    bounds: one of each of ``PARTS``, 0 for none.  like: (..., S, S), whose side, type and device count.
    """
    return _inverse(bounds, like.shape[-1]).to(like)


@lru_cache(16)
@torch.inference_mode(False)  # what is kept here may be wanted by a training later
def _inverse(bounds: tuple[float, ...], size: int) -> Tensor:
    inverse = torch.zeros(size, size)
    for (left, top, right, bottom), bound in zip(BOXES.values(), bounds, strict=True):
        rows, columns = slice(round(top * size), round(bottom * size)), slice(round(left * size), round(right * size))
        inverse[rows, columns] = 1 / bound if bound else 0.0
    pixels = SOFT * size
    return gaussian_blur(inverse[None], 2 * round(3 * pixels) + 1, pixels)[0]
