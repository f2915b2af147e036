"""Teach a small edit field what a large one says of a face and of its mirror image: one look, at a quarter of the cost.

Source: Hinton, Vinyals, Dean 2015, Distilling the knowledge in a neural network, arXiv 1503.02531; fields are matched
rather than the probabilities of classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gslopes.core.records import ByteArray
from gslopes.networks.edit_field import EditField
from gslopes.train.augment import color_jitter, random_affine, random_rectangle, seen_through, warp
from gslopes.train.checkpoint import Ema, load_state, save_state
from gslopes.train.log import Log
from gslopes.zoo import ModelSpec, build
from gslopes.zoo.reader import face_window

BEYOND = 0.1  # weight of what lies beyond the face's place in a chip
ROUGH = 4.0  # of the differences between neighbours, against the field's own


@dataclass(frozen=True, slots=True)
class Distillation:
    """How the small field learns.

    steps: with ``batch`` photos each.  lr: Adam's, warmed up over 50 steps and lowered to a fiftieth.
    ema: share of the averaged weights that each step keeps.  colour, motion: weights beside lightness.
    zoom, turn, shift, color, mirrored: how photos vary, as of ``train.edit_field.Augmentation``.
    """

    steps: int = 1000
    batch: int = 16
    lr: float = 1e-3
    ema: float = 0.99
    colour: float = 0.3
    motion: float = 0.5
    zoom: float = 0.08
    turn: float = 0.08
    shift: float = 0.03
    color: float = 0.12
    mirrored: float = 0.35


def distilled(
    spec: ModelSpec,
    teacher: EditField,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    how: Distillation = Distillation(),
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
) -> dict[str, Any]:
    """The averaged weights of the network of ``spec`` after it has learned; resumes from ``folder``.

    What is logged is a share of the teacher's variance: 0 is agreement, 1 what a field of zeros would have.
    """
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    teacher = teacher.to(device).requires_grad_(False).eval()
    network = cast(EditField, build(spec)).to(device).to(memory_format=torch.channels_last).train()
    average = Ema(network, cast(EditField, build(spec)).to(device), how.ema)
    optimiser = torch.optim.Adam(network.parameters(), how.lr, betas=(0.9, 0.99))
    parts = {"network": network, "average": average, "optimiser": optimiser}
    start = load_state(folder / "state.pt", parts, torch.Generator())

    photos, odds = torch.from_numpy(pixels).to(device), torch.from_numpy(np.minimum(weights / weights.mean(), 8))
    face = face_window(spec.size).to(device)
    generator, on_device = torch.Generator(), torch.Generator(device)
    log = Log(folder, how.steps, start)
    for step in range(start, how.steps):
        # All that is random in a step comes from its number: a resumed run goes on as if never stopped.
        generator.manual_seed(seed + 1000003 * step)
        on_device.manual_seed(seed + 1000003 * step)
        for group in optimiser.param_groups:
            group["lr"] = how.lr * min(1.0, (step + 1) / 50, 0.02 + 1.6 * (1 - step / how.steps))

        # Photos, some of them cut tight, and what the teacher says of them.
        chosen = torch.multinomial(odds, how.batch, generator=generator).to(device)
        x = photos[chosen].permute(0, 3, 1, 2).float() / 255
        x = seen_through(x, random_rectangle(how.batch, on_device, share=how.mirrored))
        x = warp(x, random_affine(how.batch, on_device, zoom=how.zoom, turn=how.turn, shift=how.shift))
        x = color_jitter(2 * x - 1, on_device, strength=how.color).clamp(-1, 1)
        x = x.contiguous(memory_format=torch.channels_last)
        wanted_form, wanted_motion = mean_with_mirror_image(teacher, x)
        form, motion = network(x)

        # Lightness, colour and motion, each as a share of the teacher's variance.
        form, wanted_form = _centred(form, face), _centred(wanted_form, face)
        forms, motions = _difference(form, wanted_form, face), _difference(motion, wanted_motion, face)
        rough = _roughness(form, wanted_form)
        loss = forms[0] + how.colour * forms[1:].sum() + how.motion * motions.sum() + rough
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        average.update(network, step)
        told = {"loss": loss, "lightness": forms[0], "motion": motions.mean(), "rough": rough}
        if log.end_step(step + 1, report_every, save_every, **told):
            save_state(folder / "state.pt", step + 1, parts, torch.Generator())
    log.close()
    return average.state_dict()


@torch.no_grad()
def mean_with_mirror_image(network: EditField, chips: Tensor) -> tuple[Tensor, Tensor]:
    """Form and motion, as of ``EditField.forward``, of chips (B, 3, S, S) and of their mirror images, turned back."""
    both = network(torch.cat([chips, chips.flip(3)]))
    (form, form_there), (motion, motion_there) = ((p.chunk(2)[0], p.chunk(2)[1].flip(3)) for p in both)
    motion_there = motion_there * motion.new_tensor([-1.0, 1.0])[:, None, None]
    return (form + form_there) / 2, (motion + motion_there) / 2


def _centred(form: Tensor, face: Tensor) -> Tensor:
    """Without its mean over the face, which no edit uses."""
    return form - (form * face).sum((2, 3), keepdim=True) / face.sum()


def _difference(found: Tensor, wanted: Tensor, face: Tensor) -> Tensor:
    """(C,) squared differences of (B, C, S, S), the face's most, each channel's as a share of its variance."""
    weight = face / face.max() + BEYOND
    squares = (found - wanted).square() * (weight / weight.mean())
    return squares.mean((0, 2, 3)) / _variance(wanted)


def _roughness(found: Tensor, wanted: Tensor) -> Tensor:
    """Squared differences between neighbours of what is left, as a share of the variance."""
    left = (found - wanted) / _variance(wanted)[:, None, None].sqrt()
    return ROUGH * torch.stack([left.diff(dim=axis).square().mean() for axis in (2, 3)]).sum()


def _variance(wanted: Tensor) -> Tensor:
    return wanted.var((0, 2, 3)).clamp(min=1e-12)
