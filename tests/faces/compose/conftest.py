"""What tests of composing share."""

from typing import Any

import numpy as np

from gslopes.core.records import EditedChip, EditedChips, Motion
from gslopes.faces.compose import paste
from gslopes.faces.compose.composite import Composite
from gslopes.faces.compose.device import compose_batch


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
    moved = None if motion is None else Motion(motion.field[None], motion.distances[None])
    swept = EditedChips(np.asarray(edited)[None], np.asarray(neutral)[None], moved)
    return compose_batch([(pixels, gray)], swept, [mask], [matrix], blend, "cpu", [None])[0]
