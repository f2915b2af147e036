"""What tests of composing share."""

from typing import Any

import numpy as np

from gslopes.core.records import EditedChip, Motion
from gslopes.faces.compose import device, paste
from gslopes.faces.compose.composite import Composite, Footprint


def compose(
    pixels: Any, gray: bool, edited: Any, neutral: Any, mask: Any, matrix: Any, blend: Any = "difference", *,
    motion: Motion | None = None, head: Any = None,
) -> Composite:  # fmt: skip
    """As ``paste.compose``, of a chip's parts."""
    return paste.compose(
        pixels, gray, EditedChip(edited, neutral, motion), mask, matrix, blend, head
    )


def compose_there(
    pixels: Any, gray: bool, edited: Any, neutral: Any, mask: Any, matrix: Any, blend: Any = "difference", *,
    motion: Motion | None = None,
) -> Composite:  # fmt: skip
    """As ``compose``, by the arithmetic of ``compose.device``, on the CPU."""
    chip = EditedChip(np.asarray(edited), np.asarray(neutral), motion)
    footprint = Footprint((pixels, gray), motion, mask, matrix, None)
    return footprint.composite(device.patches(footprint, chip, blend, None, "cpu"))
