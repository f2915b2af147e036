"""A face's own values of the attributes that an editor knows: read from the photo, in the editor's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from gslopes.core.records import FloatArray
from gslopes.networks.tagger import Tagger
from gslopes.zoo import LoadedModel
from gslopes.zoo.reader import FaceReader


class PhotoValues:
    """Reads chips with a reader of the zoo.

    reader: the zoo's ``labeller``, say.  attributes: the editor's, in its order.

    Raises: ModelError for an attribute that the reader cannot read.
    """

    def __init__(self, reader: LoadedModel, attributes: tuple[str, ...]) -> None:
        if isinstance(reader.module, Tagger):
            reader = replace(reader, module=reader.module.folded())
        self.reader, self.attributes = FaceReader(reader), attributes
        self.reader.check(attributes)

    def __call__(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to values (B, A) in [-1, 1]."""
        return 2 * self.reader.attributes(chips, self.attributes) - 1


def best_fitting(decode: Callable[[Tensor], Tensor], chips: Tensor, attributes: int = 1) -> Tensor:
    """A face's own values (B, A) without a reader: where the editor's reconstruction is nearest the chip.

    decode: (B, A) values to chips (B, 3, S, S).  chips: (B, 3, S, S), in the same units as the decoder's.
    attributes: A. Each is fitted with the others as they are, all of them twice if there are several.
    """
    grid: FloatArray = np.linspace(-1, 1, 9, dtype=np.float32)
    steps = torch.from_numpy(grid).to(chips)
    values = chips.new_zeros(len(chips), attributes)
    for attribute in list(range(attributes)) * (1 if attributes == 1 else 2):
        errors = []
        for value in grid.tolist():
            values[:, attribute] = value
            errors.append((decode(values) - chips).abs().mean((1, 2, 3)))
        values[:, attribute] = steps[torch.stack(errors).argmin(0)]
    return values
