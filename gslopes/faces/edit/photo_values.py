"""A face's own values of the attributes that an editor knows: read from the photo, in the editor's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from gslopes.core.records import FloatArray
from gslopes.faces.networks.tagger import Tagger
from gslopes.faces.zoo import LoadedModel
from gslopes.faces.zoo.reader import FaceReader, cropped, normalised

# Attributes that a tagger of CelebA's labels reads: its label, and whether that says the opposite.
TAGS = {"smiling": ("Smiling", False), "eyeglasses": ("Eyeglasses", False), "beard": ("No_Beard", True)}


class PhotoValues:
    """Reads chips with readers of the zoo.

    reader: the zoo's ``labeller``, say.  attributes: the editor's, in its order.
    tagger: reads those of ``TAGS`` in place of the reader, ``celeba-tagger``, say. It sees the chip in its own framing,
        mirrored beyond the chip.

    Raises: ModelError for an attribute that neither can read.
    """

    def __init__(self, reader: LoadedModel, attributes: tuple[str, ...], tagger: LoadedModel | None = None) -> None:
        if isinstance(reader.module, Tagger):
            reader = replace(reader, module=reader.module.folded())
        self.reader, self.attributes, self.tagger = FaceReader(reader), attributes, tagger
        self.tagged = tuple(name for name in attributes if tagger is not None and name in TAGS)
        self.read = tuple(name for name in attributes if name not in self.tagged)
        self.reader.check(self.read)

    def __call__(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to values (B, A) in [-1, 1]."""
        values = dict(zip(self.read, self.reader.attributes(chips, self.read).T, strict=True))
        if self.tagged:
            values |= self._tags(chips)
        return 2 * torch.stack([values[name] for name in self.attributes], 1) - 1

    def _tags(self, chips: Tensor) -> dict[str, Tensor]:
        """{attribute: (B,)} in [0, 1] of those that the tagger reads."""
        assert self.tagger is not None
        spec = self.tagger.spec
        said = self.tagger.module(normalised(self.tagger, cropped(chips, spec.crop, spec.size))).sigmoid()
        columns = {name: said[:, spec.labels.index(TAGS[name][0])] for name in self.tagged}
        return {name: 1 - column if TAGS[name][1] else column for name, column in columns.items()}


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
