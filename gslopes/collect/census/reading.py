"""How faces are read: the face nearest the centre of a photo, and the reader's calibrated probabilities of it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import ByteArray


class ChipReader(Protocol):
    """Reads aligned chips.

    sha256: of its weights.  size: side of the chips that it is given, pixels.
    Called with (n, size, size, 3) uint8 RGB it gives {label: (n,) probabilities}: masculine, white, black, asian,
    indian, other and young.
    """

    sha256: str
    size: int

    def __call__(self, chips: ByteArray) -> dict[str, NDArray[np.float64]]:
        """See above."""
        ...
