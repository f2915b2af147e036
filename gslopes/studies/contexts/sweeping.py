"""The K counterfactuals of a person's photo, by the walk's own components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gslopes.compose.masks import mask_is_degenerate
from gslopes.compose.paste import Composite, compose
from gslopes.core.records import Photo
from gslopes.find import align
from gslopes.run.components import Components


@dataclass(frozen=True, slots=True)
class Sweeper:
    """A photo to its counterfactuals, as the walk makes them.

    components: finder, masker and one editor.  values: (K,).
    """

    components: Components
    attribute: str
    values: tuple[float, ...]
    min_face: int = 32
    device: str = "cpu"

    def __call__(self, photo: Photo) -> Composite | None:
        """None if the photo has no usable face: it stays in the plain part of the audit."""
        editor = self.components.editors[self.attribute]
        height, width = photo.pixels.shape[:2]
        face = align.choose(self.components.finder([photo])[0], width, height, self.min_face, editor.size)
        if isinstance(face, str):
            return None
        chip = align.warp(photo.pixels, face.matrix, editor.size)[None]
        mask = self.components.masker([photo], [face], chip)[0]
        if mask_is_degenerate(mask):
            return None
        edited, neutral = editor.sweep(chip, np.asarray(self.values, np.float32))
        return compose(photo.pixels, photo.gray, edited[0], neutral[0], mask, face.matrix, "difference", self.device)
