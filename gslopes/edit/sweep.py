"""Edit aligned chips: encode once, decode at K values of one attribute, the others held at the face's own values.

Source: Joo & Kärkkäinen 2020, §3.3, ``D(E(x), a)``.
"""

from __future__ import annotations

import numpy as np
import torch

from gslopes.core import runtime
from gslopes.core.errors import ModelError
from gslopes.core.records import ByteArray, FloatArray
from gslopes.edit.own import OwnValues, best_fitting
from gslopes.networks.fader import Fader
from gslopes.networks.folded import FoldedFader
from gslopes.zoo import LoadedModel, load

# Chips that are decoded at once on the CPU, K pictures each; bytes for a picture of 128 x 128, and in 16 bits half.
AT_ONCE = 4
PICTURE = 1_400_000


class FaderEditor:
    """A records.Editor on one of the zoo's Fader Networks.

    model: its name, such as ``fader-gender``, or the model itself, loaded on the device.  device: where it runs.
    reader: the model that reads a face's own values; None for an editor of a single attribute, whose own value is then
        where its reconstruction fits best.

    On a CUDA device the editor computes in 16 bits (fp16): 3 levels in 100 then round the other way, none by more than
    one (tests/edit/test_sweep.py). bf16 was up to 7 levels off.

    Raises: UnknownName, ModelError.
    """

    def __init__(self, model: str | LoadedModel, device: str = "cpu", reader: str | None = "reader") -> None:
        loaded = load(model, device) if isinstance(model, str) else model
        name = loaded.spec.name
        if not isinstance(loaded.module, Fader):
            raise ModelError(f"The model {name} is no editor.", "Models whose names begin with fader- are.")
        if reader is None and len(loaded.spec.labels) > 1:
            raise ModelError(f"The editor {name} holds {', '.join(loaded.spec.labels[1:])} fixed and needs a reader.")
        self.network = FoldedFader(loaded.module).eval()
        self.told = loaded.module.told
        self.spec, self.sha256, self.size = loaded.spec, loaded.sha256, loaded.spec.size
        self.device = torch.device(device)
        if self.device.type == "cuda":
            self.network.half()
        self.own = None if reader is None else OwnValues(load(reader, device), loaded.spec.labels)

    @torch.inference_mode()
    def sweep(self, chips: ByteArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The chips at every value, and at their own.

        chips: (B, S, S, 3) uint8 RGB.  values: (K,) in units of the attribute.
        Returns ((B, K, S, S, 3), (B, S, S, 3)) float32 RGB in [0, 255]: D(E(x), a) and D(E(x), own a).
        """
        each = PICTURE * (self.size / 128) ** 2 * (len(values) + 1)
        step = runtime.at_once(str(self.device), each, AT_ONCE)
        pictures = np.empty((len(chips), len(values) + 1, *chips.shape[1:]), np.float32)
        for part in (slice(start, start + step) for start in range(0, len(chips), step)):
            pictures[part] = self._sweep(chips[part], values)
        return pictures[:, :-1], pictures[:, -1]

    def _sweep(self, chips: ByteArray, values: FloatArray) -> FloatArray:
        """As ``sweep``; (b, K + 1, S, S, 3), the chips at their own values last."""
        x = torch.from_numpy(chips).to(self.device).permute(0, 3, 1, 2).float() / 255
        mean, std = (x.new_tensor(v)[:, None, None] for v in (self.spec.mean, self.spec.std))
        normal = (x - mean) / std
        latents = self.network.encode(normal)
        if self.own is None:
            own = best_fitting(lambda a: self.network.sweep(latents, a[:, None]), normal)
        else:
            own = self.own(x)
        told = torch.stack([*(self.told(own, float(value)) for value in values), own], 1)  # (b, K + 1, A)
        rgb = (self.network.sweep(latents, told).mul_(std).add_(mean)).mul_(255).clamp_(0, 255)
        pictures = rgb.permute(0, 2, 3, 1).unflatten(0, told.shape[:2]).contiguous()
        return np.asarray(pictures.cpu().numpy())
