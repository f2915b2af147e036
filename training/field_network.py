"""The teacher of an editor that looks at the face: what a unit of the attribute changes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gslopes.core.config import from_dict
from gslopes.faces.networks.edit_field import MOTION, FaceTrunk, enlarged, head
from gslopes.faces.zoo import ModelSpec
from gslopes.faces.zoo.loading import TEACHERS

LIGHTNESS = 0.8  # log-odds of luminance a unit, at most
COLOUR = 0.25  # logarithms of a channel a unit, at most


@dataclass(frozen=True, slots=True)
class EditFieldConfig:
    """Shape of an edit field's network, and how its editor uses it.

    attributes: what the editor knows, the edited one first.  size: side of the chip, pixels; a multiple of 16.
    widths: channels at the chip's side, and at its half, quarter, eighth and sixteenth.
    colours: 2 for an edit with colour, red and blue; 0 for one of only lightness.
    lightness: log-odds of luminance that the whole face moves a unit in addition to the field, see
        ``training.field_template``.
    gain: how far form, colour and motion go for each unit of the attribute; training sees 1.
    limit: log-odds of luminance a unit that the field approaches and does not pass, so that lashes and lips stay those
        of a photo; 0 for none.
    darkest: log-odds of luminance that darkening, the tone not counted, approaches and does not pass, so that lids do
        not turn black; 0 for none.
    brightest: the same of lightening, so that the rims of dark eyes do not turn pale.
    darkest_by_part, brightest_by_part: the same if the tone darkens, one for each part of a face
        (``training.face_parts``), 0 for none there; both empty to go by the bounds above. On skin that
        grows darker deep shadows look like dirt and pale patches like chalk; and people are recognised by their eyes
        and noses.
    evenly: share of darkening that is uniform over light and shade.
    slow: share of what varies slowly in the field's lightness that stays if the tone darkens.
    darker_form: factor of the field's lightness if the tone darkens.  darker_motion: the same of its motion.
    colour: share of the field's colour that stays.  motion: share of its motion that stays.
    steady_eyes: share of the motion of eyes and brows that is left out of a face whose own value is 1; of others less,
        and none at -1.
    downward: factor of units towards -1, so that dark and light faces follow equally.
    downward_exponent: power to which the share of the way to -2 that is gone is raised; above 1 the first steps are
        shorter and the last ones longer, since readings move most at first.
    reach: what the reader of own values is to read from a face at -2 and at +2, above 0 and below 1: a face whose
        reading would pass it goes a shorter way on that side, one that lags a longer one, see
        ``training.field_editor``; 0 for the same length for all.
    """

    attributes: tuple[str, ...]
    size: int = 128
    widths: tuple[int, ...] = (24, 48, 96, 128, 128)
    colours: int = 2
    lightness: float = 0.0
    gain: float = 1.0
    limit: float = 0.0
    darkest: float = 0.0
    brightest: float = 0.0
    darkest_by_part: tuple[float, ...] = ()
    brightest_by_part: tuple[float, ...] = ()
    evenly: float = 0.4
    slow: float = 1.0
    darker_form: float = 1.0
    darker_motion: float = 1.0
    colour: float = 1.0
    motion: float = 1.0
    steady_eyes: float = 0.0
    downward: float = 1.0
    downward_exponent: float = 1.0
    reach: tuple[float, float] = (0.0, 0.0)


class EditField(FaceTrunk):
    """Chips (B, 3, S, S), RGB in [-1, 1], to an edit's form, colour and motion for a unit of the attribute."""

    def __init__(self, config: EditFieldConfig) -> None:
        super().__init__(config.widths)
        self.config = config
        self.to_form = head(config.widths[1], 1 + config.colours)
        self.to_motion = head(config.widths[3], 2)

    def forward(self, chips: Tensor) -> tuple[Tensor, Tensor]:
        """Chips to the field and the motion of a unit.

        The field, (B, 1 + colours, S, S), holds log-odds of luminance, then logarithms of red and blue; the motion,
        (B, 2, S, S), x y in pixels of the chip, see ``core.records.Motion``.
        """
        fine, coarse = self.features(chips)
        form = enlarged(self.to_form(fine).float(), self.config.size)
        motion = self.to_motion(coarse)
        limits = form.new_tensor([LIGHTNESS] + [COLOUR] * self.config.colours)[:, None, None]
        enlarged_motion = enlarged(motion.float(), self.config.size)
        return limits * torch.tanh(form / limits), MOTION * torch.tanh(enlarged_motion / MOTION)


def trunk_of(network: EditField) -> dict[str, Tensor]:
    """The weights of an edit field but for its heads."""
    return {name: part for name, part in network.state_dict().items() if not name.startswith("to_")}


def _build(spec: ModelSpec) -> EditField:
    return EditField(
        from_dict(EditFieldConfig, {"attributes": spec.labels, "size": spec.size, **spec.config})
    )


TEACHERS["edit-field"] = _build
