"""The networks of an editor that looks at the face: a chip to what an attribute changes in it, per pixel.

A U-Net (Ronneberger, Fischer, Brox 2015, arXiv 1505.04597) with residual blocks and group norm. It draws no pixel: it
gives by how much each part of the face changes in lightness and colour, at half the chip's resolution, and how far it
moves, at an eighth. The photo's own texture stays, since it can give nothing else.

It tells what the face becomes at both ends of the attribute, or at each of several that have names. The teacher of two
ends, which tells what a unit of the attribute changes, is in ``training.field_network``.
"""

from collections import OrderedDict
from functools import lru_cache
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.core import Names, frozen

GROUPS = 8
MOTION = 3.0  # pixels of a chip of 128 a unit, at most
FARTHEST = 4 * MOTION  # the same on the whole way from one end to another
RATIO = 2.5  # logarithms of a channel between a face and an end, at most
Colours = tuple[tuple[float, ...], ...]
Pair = tuple[Tensor, Tensor]


@frozen
class TrunkConfig:
    """Shape of an editor's network: what it knows, the edited attribute first; the chip's side, a multiple of 16.

    widths: channels at the chip's side, and at its half, quarter, eighth and sixteenth.
    """

    attributes: Names
    size: int = 128
    widths: tuple[int, ...] = (24, 32, 64, 96, 128)


@frozen
class EditEndsConfig(TrunkConfig):
    """Fields of ``TrunkConfig``.

    tone: the skin's colour at both ends, see ``core.records.Tone``; empty if the network tells all.
    """

    tone: Colours = ()


@frozen
class EditGroupsConfig(TrunkConfig):
    """Fields of ``TrunkConfig``, and the named ends.

    ends: how many there are; the spec has their names, in the same order.
    tones: the skin's colour at each of them, as one of ``core.records.Tone``'s ends; empty if the network tells all.
    brightest: logarithm of a channel's ratio by which a part grows brighter, at most.
    """

    ends: int = 2
    brightest: float = RATIO
    tones: Colours = ()


class FaceTrunk(nn.Module):
    """What editor and teacher have in common: chips (B, 3, S, S), RGB in [-1, 1], to features at two resolutions."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 3, padding=1)
        self.down = nn.ModuleList(_down(a, b) for a, b in pairwise(widths))
        self.middle = _Residual(widths[-1])
        self.up = nn.ModuleList(_Up(b, a) for a, b in reversed(list(pairwise(widths))[1:]))

    def features(self, chips: Tensor) -> Pair:
        """Features (B, widths[1], S / 2, S / 2) and (B, widths[3], S / 8, S / 8)."""
        active = F.silu(self.stem(chips), inplace=True)
        skips = []
        for layer in self.down:
            x = layer(active)  # (B, widths[i + 1], S / 2 ** (i + 1), ...)
            active = F.silu(x)
            skips.append(x)
        x = self.middle(x)
        coarse = None
        for layer, skip in zip(self.up, skips[-2::-1], strict=True):
            x = layer(x, skip)
            coarse = x if coarse is None else coarse
        assert coarse is not None
        return x, coarse


class EditEnds(FaceTrunk):
    """Chips (B, 3, S, S), RGB in [-1, 1], to what the face becomes at both ends of an attribute, and how it moves."""

    def __init__(self, config: EditEndsConfig) -> None:
        super().__init__(config.widths)
        self.config = config
        self.to_ends = head(config.widths[1], 6)
        self.to_motion = head(config.widths[3], 2)

    def forward(self, chips: Tensor) -> Pair:
        """Chips to the ratios at both ends and the motion of a unit.

        The ratios, (B, 2, 3, S, S), hold the logarithm of each channel at -2 and at +2 of the attribute less the
        photo's, see ``faces.edit.editors``; the motion, (B, 2, S, S), x y in pixels of the chip, see
        ``core.records.Motion``.
        """
        fine, coarse = self.features(chips)
        ratios = enlarged(self.to_ends(fine).float(), self.config.size).unflatten(1, (2, 3))
        motion = enlarged(self.to_motion(coarse).float(), self.config.size)
        return RATIO * torch.tanh(ratios / RATIO), MOTION * torch.tanh(motion / MOTION)


class EditGroups(FaceTrunk):
    """Chips (B, 3, S, S), RGB in [-1, 1], to what the face becomes at each of E named ends, and how it moves."""

    def __init__(self, config: EditGroupsConfig) -> None:
        super().__init__(config.widths)
        self.config = config
        self.to_ends = head(config.widths[1], 3 * config.ends)
        self.to_motion = head(config.widths[3], 2 * config.ends)

    def forward(self, chips: Tensor) -> Pair:
        """Chips to the ratios and the motions of the whole way to each end.

        The ratios, (B, E, 3, S, S), hold the logarithm of each channel at the end less the photo's; the motions,
        (B, E, 2, S, S), x y in pixels of the chip: at an end pixel p shows what lay at p - motion(p).
        """
        fine, coarse = self.features(chips)
        ends = (self.config.ends, -1)
        ratios = enlarged(self.to_ends(fine).float(), self.config.size).unflatten(1, ends)
        motions = enlarged(self.to_motion(coarse).float(), self.config.size).unflatten(1, ends)
        most = torch.where(ratios > 0, self.config.brightest, RATIO)
        return most * torch.tanh(ratios / most), FARTHEST * torch.tanh(motions / FARTHEST)


def head(inputs: int, outputs: int) -> nn.Conv2d:
    """A 3x3 convolution that gives 0 at first."""
    head = nn.Conv2d(inputs, outputs, 3, padding=1)
    for part in head.parameters():
        nn.init.zeros_(part)
    return head


def enlarged(x: Tensor, size: int) -> Tensor:
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
            nn.GroupNorm(GROUPS, width),
            nn.SiLU(inplace=True),
            nn.Conv2d(width, width, 3, padding=1),
            nn.GroupNorm(GROUPS, width),
            nn.SiLU(inplace=True),
            nn.Conv2d(width, width, 3, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x).add_(x)


def _down(inputs: int, outputs: int) -> nn.Module:
    """Half the side, then a residual block."""
    conv = nn.Conv2d(inputs, outputs, 4, stride=2, padding=1)
    return nn.Sequential(OrderedDict(conv=conv, block=_Residual(outputs)))


class _Up(nn.Module):
    """Twice the side, joined with what the encoder had there, then a residual block."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1)
        self.block = _Residual(outputs)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        return self.block(F.interpolate(self.conv(x), scale_factor=2, mode="nearest").add_(skip))


# --- The colours of skin at the steps of a scale: all that an editor of tone knows; see ``faces.compose.tone`` -------


class ToneScale(nn.Module):
    """places: (steps, 3) L*, a*, b* of skin at each step, the lightest first."""

    places: Tensor

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.register_buffer("places", torch.zeros(steps, 3))
