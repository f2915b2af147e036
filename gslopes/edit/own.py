"""A face's own values of the attributes that an editor knows: read from the photo, in the editor's units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from gslopes.core.records import FloatArray
from gslopes.zoo import LoadedModel
from gslopes.zoo.reader import FaceReader


class OwnValues:
    """Reads chips with the shipped reader.

    reader: the zoo's ``reader``.  attributes: the editor's, in its order.

    Raises: ModelError for an attribute that the reader cannot read.
    """

    def __init__(self, reader: LoadedModel, attributes: tuple[str, ...]) -> None:
        self.reader, self.attributes = FaceReader(reader), attributes
        self.reader.check(attributes)

    def __call__(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to values (B, A) in [-1, 1]."""
        return 2 * self.reader.attributes(chips, self.attributes) - 1


def best_fitting(decode: Callable[[Tensor], Tensor], chips: Tensor) -> Tensor:
    """Own values (B, 1) of an editor of one attribute without a reader: where its reconstruction is nearest the chip.

    decode: (B, 1) values to chips (B, 3, S, S).  chips: (B, 3, S, S), in the same units as the decoder's.
    """
    grid: FloatArray = np.linspace(-1, 1, 9, dtype=np.float32)
    errors = [(decode(chips.new_full((len(chips), 1), v)) - chips).abs().mean((1, 2, 3)) for v in grid.tolist()]
    return torch.from_numpy(grid).to(chips)[torch.stack(errors).argmin(0)][:, None]
