"""A face's own values of the attributes that an editor knows: read from the photo, in the editor's units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.errors import ModelError
from gslopes.core.records import FloatArray
from gslopes.zoo import LoadedModel


class OwnValues:
    """Reads chips with the shipped reader.

    reader: the zoo's ``reader``.  attributes: the editor's, in its order.

    Raises: ModelError for an attribute that the reader cannot read.
    """

    def __init__(self, reader: LoadedModel, attributes: tuple[str, ...]) -> None:
        self.reader, self.attributes = reader, attributes
        unknown = [name for name in attributes if name not in ("gender", "race") and name not in reader.spec.labels]
        if unknown:
            raise ModelError(f"The model {reader.spec.name} cannot read {unknown[0]!r} from a face.")

    def __call__(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to values (B, A) in [-1, 1]."""
        spec = self.reader.spec
        small = F.interpolate(chips, size=(spec.size, spec.size), mode="area")
        mean, std = (small.new_tensor(v)[:, None, None] for v in (spec.mean, spec.std))
        shares = self.reader.module((small - mean) / std).sigmoid()
        return torch.stack([2 * self._share(name, shares) - 1 for name in self.attributes], 1)

    def _share(self, name: str, shares: Tensor) -> Tensor:
        """How far towards +1, in [0, 1]: the reader's probability; for race that of White among White and Black."""
        column = {label: shares[:, index] for index, label in enumerate(self.reader.spec.labels)}
        if name == "gender":
            return column["masculine"]
        if name == "race":
            return column["white"] / (column["white"] + column["black"]).clamp_min(1e-6)
        return column[name]


def best_fitting(decode: Callable[[Tensor], Tensor], chips: Tensor) -> Tensor:
    """Own values (B, 1) of an editor of one attribute without a reader: where its reconstruction is nearest the chip.

    decode: (B, 1) values to chips (B, 3, S, S).  chips: (B, 3, S, S), in the same units as the decoder's.
    """
    grid: FloatArray = np.linspace(-1, 1, 9, dtype=np.float32)
    errors = [(decode(chips.new_full((len(chips), 1), v)) - chips).abs().mean((1, 2, 3)) for v in grid.tolist()]
    return torch.from_numpy(grid).to(chips)[torch.stack(errors).argmin(0)][:, None]
