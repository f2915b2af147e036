"""Edit aligned chips: encode once, decode at K values of one attribute, the others held at the face's own values.

Source: Joo & Kärkkäinen 2020, §3.3, ``D(E(x), a)``.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gslopes.core.errors import ModelError
from gslopes.core.records import ByteArray, FloatArray
from gslopes.edit.own import OwnValues, best_fitting
from gslopes.networks.fader import Fader
from gslopes.zoo import load


class FaderEditor:
    """A records.Editor on one of the zoo's Fader Networks.

    model: its name, such as ``fader-gender``.  device: where it runs.
    reader: the model that reads a face's own values; None for an editor of a single attribute, whose own value is then
        where its reconstruction fits best.

    Raises: UnknownName, ModelError.
    """

    def __init__(self, model: str, device: str = "cpu", reader: str | None = "reader") -> None:
        loaded = load(model, device)
        if not isinstance(loaded.module, Fader):
            raise ModelError(f"The model {model} is no editor.", "Models whose names begin with fader- are.")
        if reader is None and len(loaded.spec.labels) > 1:
            raise ModelError(f"The editor {model} holds {', '.join(loaded.spec.labels[1:])} fixed and needs a reader.")
        self.network = loaded.module.to(memory_format=torch.channels_last)
        self.spec, self.sha256, self.size = loaded.spec, loaded.sha256, loaded.spec.size
        self.device = torch.device(device)
        self.own = None if reader is None else OwnValues(load(reader, device), loaded.spec.labels)

    @torch.inference_mode()
    def sweep(self, chips: ByteArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The chips at every value, and at their own.

        chips: (B, S, S, 3) uint8 RGB.  values: (K,) in units of the attribute.
        Returns ((B, K, S, S, 3), (B, S, S, 3)) float32 RGB in [0, 255]: D(E(x), a) and D(E(x), own a).
        """
        x = torch.from_numpy(chips).to(self.device).permute(0, 3, 1, 2).float() / 255
        mean, std = (x.new_tensor(v)[:, None, None] for v in (self.spec.mean, self.spec.std))
        normal = ((x - mean) / std).contiguous(memory_format=torch.channels_last)
        latents = self.network.encode(normal)
        own = best_fitting(lambda a: self.network.decode(latents, a), normal) if self.own is None else self.own(x)
        neutral = self.network.decode(latents, own)
        edited = [self.network.decode(latents, self.network.told(own, float(value))) for value in values]
        pictures = [self._pixels(chip, mean, std) for chip in (*edited, neutral)]
        return np.stack(pictures[:-1], 1), pictures[-1]

    @staticmethod
    def _pixels(chips: Tensor, mean: Tensor, std: Tensor) -> FloatArray:
        """The network's (B, 3, S, S) to (B, S, S, 3) in [0, 255]."""
        rgb = ((chips * std + mean) * 255).clamp(0, 255)
        return np.ascontiguousarray(rgb.permute(0, 2, 3, 1).float().cpu().numpy())
