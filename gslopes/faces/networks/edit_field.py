"""The networks of an editor that looks at the face: a chip to what an attribute changes in it, per pixel.

A U-Net (Ronneberger, Fischer, Brox 2015, arXiv 1505.04597) with residual blocks and group norm. It draws no pixel: it
says by how much each part of the face changes in lightness and colour, at half the chip's resolution, and how far it
moves, at an eighth. The photo's own texture stays, since that is all it can say.

``EditEnds`` ships: it says what the face becomes at both ends of the attribute. ``EditField`` is its teacher, see
``train.field_editor``: it says what a unit of the attribute changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

GROUPS = 8
LIGHTNESS = 0.8  # log-odds of luminance a unit, at most
COLOUR = 0.25  # logarithms of a channel a unit, at most
MOTION = 3.0  # pixels of a chip of 128 a unit, at most
RATIO = 2.5  # logarithms of a channel between a face and either end, at most


@dataclass(frozen=True, slots=True)
class EditEndsConfig:
    """Shape of the network of an editor.

    attributes: what the editor knows, the edited one first.  size: side of the chip, pixels; a multiple of 16.
    widths: channels at the chip's side, and at its half, quarter, eighth and sixteenth.
    """

    attributes: tuple[str, ...]
    size: int = 128
    widths: tuple[int, ...] = (24, 32, 64, 96, 128)


@dataclass(frozen=True, slots=True)
class EditFieldConfig:
    """Shape of an edit field's network, and how its editor uses it.

    attributes: what the editor knows, the edited one first.  size: side of the chip, pixels; a multiple of 16.
    widths: channels at the chip's side, and at its half, quarter, eighth and sixteenth.
    colours: 2 for an edit with colour, red and blue; 0 for one of lightness alone.
    lightness: log-odds of luminance that the whole face moves a unit in addition to the field, see
        ``train.field_template``.
    gain: how far form, colour and motion go for each unit of the attribute; training sees 1.
    limit: log-odds of luminance a unit that the field approaches and does not pass, so that lashes and lips stay those
        of a photo; 0 for none.
    darkest: log-odds of luminance that darkening, the tone not counted, approaches and does not pass, so that lids do
        not turn black; 0 for none.
    brightest: the same of lightening, so that the rims of dark eyes do not turn pale.
    darkest_by_part, brightest_by_part: the same where the tone darkens, one for each part of a face
        (``train.face_parts``), 0 for none there; both empty to go by the bounds above. On skin that
        grows darker deep shadows look like dirt and pale patches like chalk; and people are recognised by their eyes
        and noses.
    evenly: share of darkening that is uniform over light and shade.
    slow: share of what varies slowly in the field's lightness that stays where the tone darkens.
    darker_form: factor of the field's lightness where the tone darkens.  darker_motion: the same of its motion.
    colour: share of the field's colour that stays.  motion: share of its motion that stays.
    steady_eyes: share of the motion of eyes and brows that is left out of a face whose own value is 1; of others less,
        and none at -1.
    downward: factor of units towards -1, so that dark and light faces follow equally.
    downward_exponent: power to which the share of the way to -2 that is gone is raised; above 1 the first steps are
        shorter and the last ones longer, since readings move most at first.
    reach: what the reader of own values is to read from a face at -2 and at +2, above 0 and below 1: a face whose
        reading would pass it goes a shorter way on that side, one that lags a longer one, see
        ``train.field_editor``; 0 for the same length for all.
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


class FaceTrunk(nn.Module):
    """What both networks have in common: chips (B, 3, S, S), RGB in [-1, 1], to features at two resolutions.

    widths: as of ``EditEndsConfig``.
    """

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        w = widths
        self.stem = nn.Conv2d(3, w[0], 3, padding=1)
        self.down = nn.ModuleList(_Down(a, b) for a, b in pairwise(w))
        self.middle = _Residual(w[-1])
        self.up = nn.ModuleList(_Up(w[i + 1], w[i]) for i in range(len(w) - 2, 0, -1))

    def features(self, chips: Tensor) -> tuple[Tensor, Tensor]:
        """Features (B, widths[1], S / 2, S / 2) and (B, widths[3], S / 8, S / 8)."""
        active, kept = F.silu(self.stem(chips), inplace=True), []
        for layer in self.down:
            x = layer(active)  # (B, widths[i + 1], S / 2 ** (i + 1), ...)
            active = F.silu(x)
            kept.append(x)
        x, coarse = self.middle(x), None
        for layer, skip in zip(self.up, kept[-2::-1], strict=True):
            x = layer(x, skip)
            coarse = x if coarse is None else coarse
        assert coarse is not None
        return x, coarse


class EditEnds(FaceTrunk):
    """Chips (B, 3, S, S), RGB in [-1, 1], to what the face becomes at both ends of an attribute, and how it moves."""

    def __init__(self, config: EditEndsConfig) -> None:
        super().__init__(config.widths)
        self.config = config
        self.to_ends = _head(config.widths[1], 6)
        self.to_motion = _head(config.widths[3], 2)

    def forward(self, chips: Tensor) -> tuple[Tensor, Tensor]:
        """Chips to the ratios at both ends and the motion of a unit.

        The ratios, (B, 2, 3, S, S), hold the logarithm of each channel at -2 and at +2 of the attribute less that of
        the photo, see ``faces.edit.ends``; the motion, (B, 2, S, S), x y in pixels of the chip, see
        ``core.records.Motion``.
        """
        fine, coarse = self.features(chips)
        ratios = _enlarged(self.to_ends(fine).float(), self.config.size).unflatten(1, (2, 3))
        motion = _enlarged(self.to_motion(coarse).float(), self.config.size)
        return RATIO * torch.tanh(ratios / RATIO), MOTION * torch.tanh(motion / MOTION)


class EditField(FaceTrunk):
    """Chips (B, 3, S, S), RGB in [-1, 1], to an edit's form, colour and motion for a unit of the attribute."""

    def __init__(self, config: EditFieldConfig) -> None:
        super().__init__(config.widths)
        self.config = config
        self.to_form = _head(config.widths[1], 1 + config.colours)
        self.to_motion = _head(config.widths[3], 2)

    def forward(self, chips: Tensor) -> tuple[Tensor, Tensor]:
        """Chips to the field and the motion of a unit.

        The field, (B, 1 + colours, S, S), holds log-odds of luminance, then logarithms of red and blue; the motion,
        (B, 2, S, S), x y in pixels of the chip, see ``core.records.Motion``.
        """
        fine, coarse = self.features(chips)
        form, motion = _enlarged(self.to_form(fine).float(), self.config.size), self.to_motion(coarse)
        limits = form.new_tensor([LIGHTNESS] + [COLOUR] * self.config.colours)[:, None, None]
        whole = _enlarged(motion.float(), self.config.size)
        return limits * torch.tanh(form / limits), MOTION * torch.tanh(whole / MOTION)


def _head(inputs: int, outputs: int) -> nn.Conv2d:
    """A 3x3 convolution that says 0 at first."""
    head = nn.Conv2d(inputs, outputs, 3, padding=1)
    nn.init.zeros_(head.weight)
    assert head.bias is not None
    nn.init.zeros_(head.bias)
    return head


def _enlarged(x: Tensor, size: int) -> Tensor:
    """(B, C, s, s) to (B, C, size, size), bicubic: no edge of the smaller grid is to be seen.

    As two products of matrices: on a CPU a tenth of the time of ``interpolate``.
    """
    along = _bicubic(x.shape[-1], size).to(x)
    with torch.autocast(x.device.type, enabled=False):
        return along @ x @ along.T


@lru_cache(8)
@torch.inference_mode(False)  # what is kept here may be wanted by a training later
def _bicubic(small: int, large: int) -> Tensor:
    """(large, small) what enlarges a column: each pixel's share in each."""
    each = torch.eye(small, dtype=torch.float64)[None, None]
    return F.interpolate(each, size=(large, small), mode="bicubic", align_corners=False)[0, 0]


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.GroupNorm(GROUPS, width), nn.SiLU(inplace=True), nn.Conv2d(width, width, 3, padding=1),
            nn.GroupNorm(GROUPS, width), nn.SiLU(inplace=True), nn.Conv2d(width, width, 3, padding=1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.body(x).add_(x)
        return y


class _Down(nn.Module):
    """Half the side, then a residual block."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 4, stride=2, padding=1)
        self.block = _Residual(outputs)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.block(self.conv(x))
        return y


class _Up(nn.Module):
    """Twice the side, joined with what the encoder had there, then a residual block."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1)
        self.block = _Residual(outputs)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        y: Tensor = self.block(F.interpolate(self.conv(x), scale_factor=2, mode="nearest").add_(skip))
        return y
