"""Edit aligned chips by what a network says that this face becomes at both ends of an attribute.

From the photo's own value o towards an end, the edit at a is the share (a - o) / (end - o) of the logarithm of the
ratio between the face at that end and the photo, on the photo's own texture: a value is in proportion to what is seen.
Beyond an end it goes on along the same line. How parts of the face move comes along as a motion, a - o units of it,
which ``compose`` carries out on the photo itself.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gslopes.core import runtime
from gslopes.core.errors import ModelError
from gslopes.core.levels import OFFSET
from gslopes.core.records import ByteArray, EditedChips, FloatArray, Motion
from gslopes.faces.edit.photo_values import PhotoValues
from gslopes.faces.edit.steps import EXTENT
from gslopes.faces.networks.edit_field import EditEnds
from gslopes.faces.zoo import LoadedModel, load

# Chips that are read at once on the CPU; bytes for a picture of 128 x 128.
BATCH_SIZE = 16
PICTURE = 1_400_000


class EndsEditor:
    """A records.Editor on one of the zoo's networks that know both ends of an attribute.

    model: its name, such as ``gender-field``, or the model itself, loaded on the device.  device: where it runs.
    reader: the model that reads a face's own value.

    Raises: UnknownName, ModelError.
    """

    def __init__(self, model: str | LoadedModel, device: str = "cpu", reader: str = "labeller") -> None:
        loaded = load(model, device) if isinstance(model, str) else model
        if not isinstance(loaded.module, EditEnds):
            raise ModelError(f"The model {loaded.spec.name} is no edit field.", "gslopes list models lists the models.")
        self.network = loaded.module.to(memory_format=torch.channels_last)
        self.spec, self.sha256, self.size = loaded.spec, loaded.sha256, loaded.spec.size
        self.blend, self.chroma, self.border = loaded.spec.blend, loaded.spec.chroma, loaded.spec.border
        self.region = loaded.spec.region
        self.device = torch.device(device)
        self.photo_values = PhotoValues(load(reader, device), loaded.spec.labels)

    @torch.inference_mode()
    def sweep(self, chips: ByteArray, values: FloatArray) -> EditedChips:
        """The chips at every value, and as they are.

        chips: (B, S, S, 3) uint8 RGB.  values: (K,) in units of the attribute.
        """
        step = runtime.batch_size(str(self.device), PICTURE * (self.size / 128) ** 2 * (len(values) + 1), BATCH_SIZE)
        edited = torch.empty(len(chips), len(values), *chips.shape[1:])
        fields = torch.empty(*chips.shape[:3], 2)
        distances = torch.empty(len(chips), len(values))
        for part in (slice(start, start + step) for start in range(0, len(chips), step)):
            x = torch.from_numpy(chips[part]).to(self.device).permute(0, 3, 1, 2).float() / 255
            ratios, motion = self.network((2 * x - 1).contiguous(memory_format=torch.channels_last))
            source_value = self.photo_values(x)[:, :1]
            towards, share = way(source_value, values)
            logs = (255 * x + OFFSET).log()
            alone = 1 if self.device.type == "cpu" else len(x)  # on a CPU one chip at a time, in its cache
            for rows in (slice(start, start + alone) for start in range(0, len(x), alone)):
                face = torch.arange(len(x[rows]), device=self.device)[:, None]
                edits = share[rows, :, None, None, None] * ratios[rows][face, towards[rows]]
                pictures = (logs[rows, None] + edits).exp_().sub_(OFFSET)  # (alone, K, 3, S, S)
                edited[part][rows] = pictures.permute(0, 1, 3, 4, 2).cpu()
            fields[part] = motion.permute(0, 2, 3, 1).cpu()
            distances[part] = (source_value.new_tensor(values) - source_value).cpu()
        return EditedChips(edited.numpy(), chips.astype(np.float32), Motion(fields.numpy(), distances.numpy()))


def way(source_value: Tensor, values: FloatArray) -> tuple[Tensor, Tensor]:
    """From own values (b, 1) to values (K,): the end that lies that way, 0 or 1, and the share of the way to it.

    Returns (b, K) int64 and (b, K) float; the share is 0 at the own value, 1 at the end and more beyond it.
    """
    units = source_value.new_tensor(values) - source_value
    towards = (units > 0).long()
    return towards, units / (units.new_tensor(EXTENT)[towards] - source_value)
