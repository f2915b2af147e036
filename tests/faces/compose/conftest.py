"""What tests of composing share."""

from typing import Any

import numpy as np

from gslopes.core.records import EditedChips, Motion
from gslopes.faces.compose.device import compose_batch
from gslopes.faces.compose.paste import Composite, Edit, Edits, compose_edits


def compose_there(
    pixels: Any, gray: bool, edited: Any, neutral: Any, mask: Any, matrix: Any, blend: Any = "difference", *,
    motion: Motion | None = None,
) -> Composite:  # fmt: skip
    """As ``compose``, by the arithmetic of ``compose.device``, on the CPU."""
    moved = None if motion is None else Motion(motion.field[None], motion.distances[None])
    swept = EditedChips(np.asarray(edited)[None], np.asarray(neutral)[None], moved)
    return compose_batch([(pixels, gray)], [Edits(swept, [mask], blend, [None])], [matrix], "cpu")[0]


def compose(
    pixels: Any, gray: bool, edited: Any, neutral: Any, mask: Any, matrix: Any, blend: Any = "difference", **more: Any
) -> Composite:
    """One edit of a photo; ``more`` as of ``Edit``."""
    return compose_edits(pixels, gray, [Edit(edited, neutral, mask, blend, **more)], matrix)
