"""How faces are read: the face nearest the centre of a photo, and the reader's calibrated probabilities of it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import ByteArray


class FaceReader(Protocol):
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


class ShippedReader:
    """The zoo's reader, on the editors' chips of 128 pixels, scaled down as it was trained.

    device: where it runs.

    Raises: ModelError.
    """

    size = 128

    def __init__(self, device: str) -> None:
        from gslopes import zoo

        self._model = zoo.load("reader", device)
        self._device = device
        self.sha256 = self._model.sha256

    def __call__(self, chips: ByteArray) -> dict[str, NDArray[np.float64]]:
        """Probabilities by label; those of race sum to 1."""
        import torch
        from torch.nn import functional as F

        spec = self._model.spec
        with torch.inference_mode():
            x = torch.from_numpy(np.ascontiguousarray(chips)).to(self._device).permute(0, 3, 1, 2).float() / 255
            x = F.interpolate(x, size=(spec.size, spec.size), mode="area")
            mean, std = (x.new_tensor(v)[:, None, None] for v in (spec.mean, spec.std))
            said = self._model.module((x - mean) / std).sigmoid().double().cpu().numpy()
        return dict(zip(spec.labels, said.T, strict=True))
