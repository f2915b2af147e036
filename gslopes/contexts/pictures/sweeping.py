"""The K counterfactuals of a person's photo, by the walk's own components, and the gate's verdict on them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gslopes.core.geometry import warp
from gslopes.core.records import Face, Photo
from gslopes.faces.components import Components
from gslopes.faces.compose.masks import heads_of, mask_is_degenerate
from gslopes.faces.compose.paste import Composite, compose
from gslopes.faces.find import choose
from gslopes.faces.gate.verdict import GateConfig, Measured, verdict

if TYPE_CHECKING:
    from gslopes.faces.gate.sweep_measurer import SweepMeasurer


@dataclass(frozen=True, slots=True)
class Sweeper:
    """A photo to its counterfactuals, as the walk makes them.

    components: finder, masker and one editor.  values: (K,).  measurer: of the gate; without one nothing is judged.
    """

    components: Components
    attribute: str
    values: tuple[float, ...]
    min_face: int = 32
    device: str = "cpu"
    measurer: SweepMeasurer | None = None

    def __call__(self, photo: Photo) -> tuple[Composite, dict[str, Any] | None] | None:
        """(the counterfactuals, the gate's verdict as columns); None if the photo has no usable face.

        Such a photo stays in the plain part.  The gate judges whole edited photos, once for all backgrounds.
        """
        editor = self.components.editors[self.attribute]
        height, width = photo.pixels.shape[:2]
        face = choose(self.components.finder([photo])[0], width, height, self.min_face, editor.size)
        if not isinstance(face, Face):
            return None
        chip = warp(photo.pixels, face.matrix, editor.size)[None]
        mask = self.components.masker([photo], [face], chip, editor.border)[0]
        whole = editor.region == "head"
        head = heads_of(self.components.masker, [photo], [face], chip, editor.border)[0] if whole else None
        if mask_is_degenerate(mask):
            return None
        swept = editor.sweep(chip, np.asarray(self.values, np.float32))
        composite = compose(
            *(photo.pixels, photo.gray, swept.edited[0], swept.neutral[0], mask, face.matrix, editor.blend),
            self.device,
            chroma=editor.chroma,
            motion=swept.motion_of(0),
            head=head,
        )
        if self.measurer is None:
            return composite, None
        from gslopes.faces.gate.sweep_measurer import Sweep

        pictures = [composite.picture(step) for step in range(len(composite))]
        box, points = np.asarray(face.box, np.float64), np.asarray(face.points, np.float64).reshape(5, 2)
        sweep = Sweep(self.attribute, self.values, pictures, photo.pixels, box, points, composite.mask_area)
        measured: Measured = self.measurer(sweep)[0]
        why = verdict(measured, GateConfig())
        return composite, {**asdict(measured), "mask_area": composite.mask_area, "kept": not why, **why.columns}
