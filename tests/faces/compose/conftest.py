"""What tests of composing share."""

from typing import Any

from gslopes.core.records import EditedChip, Motion
from gslopes.faces.compose import paste
from gslopes.faces.compose.composite import Composite


def compose(
    pixels: Any, gray: bool, edited: Any, neutral: Any, mask: Any, matrix: Any, blend: Any = "difference", *,
    motion: Motion | None = None, head: Any = None,
) -> Composite:  # fmt: skip
    """As ``paste.compose``, of a chip's parts."""
    return paste.compose(
        pixels, gray, EditedChip(edited, neutral, motion), mask, matrix, blend, head
    )
