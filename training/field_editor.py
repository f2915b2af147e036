"""Edit aligned chips by an edit field: a network predicts from the face what a unit of the attribute changes.

The field is read once for a photo and is the same for all values: from the photo's own value o to a, a - o units of it
are applied (``train.field_template``), in logarithms, on the photo's own texture. How parts of the face move comes
along as a motion, which ``compose`` carries out on the photo itself.

A unit takes some faces further than others: at -2 one may be read as surely as can be, another hardly otherwise than
unedited. So a spec may name what is to be read at -2 or at +2 (``reach``). The chip is then edited to that end in the
usual length and read by the reader of own values. Between the photo's reading and this one log-odds are taken to move
along a line; where that line meets the named reading is the face's length, from ``SHORTEST`` to ``LONGEST`` times the
usual one, for all values on that side. It depends only on the photo, not on which values are asked for. Motion, which
comes later, is not in the picture that is read.

Towards -2 units may count more than once (``downward``), and the first ones less than the last (``downward_exponent``),
for a reading moves most at first; the way to -2 is as long as without that.

Eyes and brows may keep still (``steady_eyes``) on a face at the light end, which can only darken: moved, they make a
person hard to recognise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from gslopes.core.errors import ModelError
from gslopes.core.geometry import LUMA
from gslopes.faces.edit.editors import PhotoValues
from gslopes.faces.zoo import LoadedModel, load
from training.chips import face_window
from training.field_network import EditField
from training.field_template import PARTS, TemplateEdits, TemplateUse, over_parts

# Bounds of a face's length, times the default one. Readings are kept PROBABILITY_FLOOR from 0 and 1, and count as
# moving by MIN_LOGIT_SHIFT at least: the length of a face that hardly moves would be anything.
SHORTEST = 0.5
LONGEST = 1.8
PROBABILITY_FLOOR = 1e-4
MIN_LOGIT_SHIFT = 0.3
ENDS = (-2.0, 2.0)
EYE_REGION = tuple(
    1.0 if part in ("forehead", "eyes") else 0.0 for part in PARTS
)  # brows and eyes, not the nose


class FieldEditor:
    """What one of the zoo's edit fields makes of chips: the teacher of ``train.ends``.

    model: its name, such as ``gender-teacher``, or the model itself, loaded on the device.  device: that it runs on.
    reader: the model that reads a face's own value.

    Raises: UnknownName, ModelError.
    """

    def __init__(
        self, model: str | LoadedModel, device: str = "cpu", reader: str = "labeller"
    ) -> None:
        loaded = load(model, device) if isinstance(model, str) else model
        if not isinstance(loaded.module, EditField):
            message = f"The model {loaded.spec.name} is not an edit field."
            raise ModelError(message, "gslopes list models lists the models.")
        self.network = loaded.module
        self.config = loaded.module.config
        self.network.to(memory_format=torch.channels_last)
        self.spec = loaded.spec
        self.face = face_window(loaded.spec.size).to(device)
        self.photo_values = PhotoValues(load(reader, device), loaded.spec.labels)

    @torch.no_grad()
    def at(self, chips: Tensor, values: Sequence[float]) -> tuple[Tensor, Tensor, Tensor]:
        """What chips (B, 3, S, S), RGB in [0, 1], become at values of the attribute, and how they move.

        Returns the logarithms of the ratio of each level plus ``OFFSET`` to the chip's, (B, K, 3, S, S), the motion of
        a unit, (B, 2, S, S), and the units to each value, (B, K), see ``core.records.Motion``.
        """
        form, motion = self.field(chips)
        edits = TemplateEdits(chips, as_template(form), self.face, self.use)
        source_value = self.photo_values(chips)[:, :1]
        units = self._units(source_value, edits, values)
        darkens = units * self.config.lightness < 0
        distances = torch.where(darkens, self.config.darker_motion * units, units)
        return edits(units), self._steadied(motion, source_value), distances

    def ends(self, chips: Tensor) -> tuple[Tensor, Tensor]:
        """As ``at`` -2 and +2, (B, 2, 3, S, S), and the motion of a unit of value, the mean of both ways."""
        edits, motion, distances = self.at(chips, ENDS)
        way = distances.new_tensor(ENDS) - self.photo_values(chips)[:, :1]
        return edits, (distances / way).mean(1)[:, None, None, None] * motion

    def field(self, chips: Tensor) -> tuple[Tensor, Tensor]:
        """Chips (b, 3, S, S), RGB in [0, 1], to what a unit changes and moves, see ``training.field_network``."""
        form, motion = self.network((2 * chips - 1).contiguous(memory_format=torch.channels_last))
        light = self.config.gain * form[:, :1]
        colour = self.config.colour * self.config.gain * form[:, 1:]
        if self.config.limit:
            light = self.config.limit * torch.tanh(light / self.config.limit)
        return torch.cat([light, colour], 1), self.config.motion * self.config.gain * motion

    @property
    def use(self) -> TemplateUse:
        """How the field is applied, by the model's spec."""
        c = self.config
        bounds = c.darkest, c.brightest, c.darkest_by_part, c.brightest_by_part
        return TemplateUse(c.lightness, *bounds, c.evenly, c.slow, c.darker_form)

    def _steadied(self, motion: Tensor, source_value: Tensor) -> Tensor:
        """Motion (b, 2, S, S) with eyes that move the less, the nearer a face's own value (b, 1) is to 1."""
        eyes = over_parts(EYE_REGION, motion)
        return motion * (
            1 - self.config.steady_eyes * (1 + source_value[..., None, None]) / 2 * eyes
        )

    def _units(self, source_value: Tensor, edits: TemplateEdits, values: Sequence[float]) -> Tensor:
        """(b, K) units from each photo's own value (b, 1) to each of the values (K,), in that photo's length."""
        units = self._default_steps(source_value, source_value.new_tensor(values))
        for end, target in zip(ENDS, self.config.reach, strict=True):
            if target:
                at_end = edits.pictures(
                    self._default_steps(source_value, source_value.new_tensor([end]))
                )
                read = self.photo_values(at_end[:, 0].clamp(0, 255) / 255)[:, :1]
                length = _length(
                    _log_odds(source_value), _log_odds(read), math.log(target / (1 - target)), end
                )
                units = torch.where(units * end > 0, length * units, units)
        return units

    def _default_steps(self, source_value: Tensor, values: Tensor) -> Tensor:
        """(b, K) units from own values (b, 1) to values (K,), in the default length."""
        units = values - source_value
        full_step = ENDS[0] - source_value  # the way down is 1 unit or more
        share = (units / full_step).clamp(min=0)
        down = self.config.downward * full_step * share**self.config.downward_exponent
        return torch.where(units < 0, down, units)


def _log_odds(values: Tensor) -> Tensor:
    """Values in [-1, 1] to the log-odds of what was read."""
    return ((values + 1) / 2).clamp(PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR).logit()


def _length(source_value: Tensor, read: Tensor, target: float, end: float) -> Tensor:
    """Length at which a reading that moves from ``own`` to ``read`` in the usual one is at a target, all log-odds."""
    towards = 1.0 if end > 0 else -1.0
    return (
        towards
        * (target - source_value)
        / (towards * (read - source_value)).clamp(min=MIN_LOGIT_SHIFT)
    ).clamp(SHORTEST, LONGEST)


def as_template(form: Tensor) -> Tensor:
    """A field (B, 1 or 3, S, S), log-odds of luminance and logarithms of red and blue, as a template of that shape.

    Green makes up for red and blue, so that colour does not change luminance to first order.
    """
    light = form[:, :1]
    if form.shape[1] == 1:
        return light
    red = form[:, 1:2]
    blue = form[:, 2:]
    green = -(LUMA[0] * red + LUMA[2] * blue) / LUMA[1]
    return light + torch.cat([red, green, blue], 1)
