"""Teach a network what an edit field makes of a face at both ends.

Source: Hinton, Vinyals, Dean 2015, Distilling the knowledge in a neural network, arXiv 1503.02531; pictures are
matched rather than the probabilities of classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gslopes.core.records import ByteArray
from gslopes.faces.networks.edit_field import EditEnds
from gslopes.faces.zoo import ModelSpec, build
from training.augment import Augmentation, varied
from training.chips import face_window
from training.field_editor import FieldEditor
from training.field_network import trunk_of
from training.loop import Ema, Steps, descend, seed_step, set_rate
from training.parallel import averaged, mine, share
from training.watch import Watch

BEYOND = 0.1  # weight of what lies beyond the face's place in a chip
ROUGH = 4.0  # of the differences between neighbours, against the field's own
AUGMENTATION = Augmentation(zoom=0.08, turn=0.08, shift=0.03, color=0.12, mirrored=0.35)


@dataclass(frozen=True, slots=True)
class Optimisation:
    """How the weights move.

    steps: with ``batch`` photos each.  lr: Adam's, warmed up over 50 steps and lowered to a fiftieth.
    ema: share of the averaged weights that each step keeps.  motion: weight of the motion, that of the ratios being 1.
    """

    steps: int = 4000
    batch: int = 32
    lr: float = 1e-3
    ema: float = 0.995
    motion: float = 0.5


def train_edit_ends(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, A), unused: the teacher reads the faces itself
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    teacher: str = "",  # an edit field of the zoo, whose trunk training begins with
    bfloat16: bool = False,
    optimisation: Optimisation = Optimisation(),
    augmentation: Augmentation = AUGMENTATION,
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights.

    What is logged is a share of the teacher's variance: 0 is agreement, 1 what no edit at all would have.

    Raises: ConfigError without a teacher; UnknownName, ModelError for one that is none.
    """
    del labels
    torch.manual_seed(seed)
    editor = FieldEditor(teacher, device)
    network = cast(EditEnds, build(spec)).to(device).to(memory_format=torch.channels_last).train()
    network.load_state_dict(trunk_of(editor.network), strict=False)
    average = Ema(network, cast(EditEnds, build(spec)).to(device), optimisation.ema)
    optimiser = torch.optim.Adam(network.parameters(), optimisation.lr, betas=(0.9, 0.99))
    parts = {"network": network, "average": average, "optimiser": optimiser}
    steps = optimisation.steps
    batch = optimisation.batch
    share(batch)
    loop = Steps(
        folder, steps, parts, report_every=report_every, save_every=save_every, watch=watch
    )

    photos = torch.from_numpy(pixels).to(device)
    odds = torch.from_numpy(np.minimum(weights / weights.mean(), 8))
    mean = weights.mean()
    face = face_window(spec.size).to(device)
    generator = torch.Generator()
    on_device = torch.Generator(device)
    for step in loop:
        seed_step(seed, step, generator, on_device)
        set_rate(
            optimiser, optimisation.lr * min(1.0, (step + 1) / 50, 0.02 + 1.6 * (1 - step / steps))
        )

        for new in loop.renewed(step):
            photos[new.rows] = new.pixels
            odds[new.rows.cpu()] = (new.weights.cpu() / mean).clamp(max=8)

        # Photos, some of them cut tight, and what the teacher makes of them.
        chosen = mine(torch.multinomial(odds, batch, generator=generator)).to(device)
        x = varied(photos[chosen], augmentation, on_device)
        target, target_motion = editor.ends((x + 1) / 2)
        with torch.autocast(x.device.type, torch.bfloat16, enabled=bfloat16):
            ratios, motion = network(x)

        # Both ends, the face's most, and the differences between neighbours; as shares of the teacher's variance.
        ends = _difference_of_ends(ratios, target, face)
        moves = _difference_of_ends(motion[:, None], target_motion[:, None], face)
        error = (ratios - target) * (
            (face / face.max() + BEYOND) / averaged(target.square().mean()).sqrt().clamp(min=1e-6)
        )
        rough = ROUGH * sum(error.diff(dim=axis).square().mean() for axis in (3, 4))
        loss = ends.sum() + optimisation.motion * moves.sum() + rough
        descend(optimiser, loss, clip=1.0)
        average.update(network, step)
        loop.end(loss=loss, low=ends[0], high=ends[1], motion=moves[0], rough=rough)
    return average.state_dict()


def _difference_of_ends(predicted: Tensor, target: Tensor, face: Tensor) -> Tensor:
    """(N,) squared differences of (B, N, C, S, S), the face's most, as a share of the target's squares."""
    weight = face / face.max() + BEYOND
    squares = ((predicted - target).square() * weight).mean((0, 2, 3, 4))
    return squares / averaged((target.square() * weight).mean((0, 2, 3, 4))).clamp(min=1e-12)
