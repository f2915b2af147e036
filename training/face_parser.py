"""Train the skin parser: a class for every pixel of an aligned face."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.faces.compose.skin import mirrored_classes
from gslopes.faces.networks.feature_pyramid import FeaturePyramid
from gslopes.faces.zoo import ModelSpec, build, load
from training.augment import (
    color_jitter,
    mirrored_outside,
    random_affine,
    random_blur,
    random_rectangle,
    to_float,
    warp,
)
from training.loop import Ema, Steps, descend, one_cycle, seed_step
from training.parallel import mine, share
from training.watch import Watch


def train_face_parser(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, M, M, 3) uint8 RGB, M > S = spec.size: the chip in the middle and a margin around it
    labels: NDArray[np.uint8],  # (n, M, M) class numbers
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    steps: int = 3000,
    batch: int = 16,
    lr: float = 2e-3,  # peak, of a one-cycle cosine
    mirrored: float = 0.0,  # share of the chips cut to a tight rectangle and mirrored beyond it
    begin_with: str = "",  # a model of the zoo, of the same network, whose weights training goes on from
    encoder_lr: float = 1.0,  # the encoder's rate, share of ``lr``
    decay: float = 0.01,  # AdamW's weight decay
    ema: float = 0.998,
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 500,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights.

    Loss: cross-entropy over all pixels.
    """
    # What is trained, and the step reached.
    torch.manual_seed(seed)
    generator = torch.Generator()
    network = build(spec)
    assert isinstance(network, FeaturePyramid)
    if begin_with:
        network.load_state_dict(load(begin_with).module.state_dict())
    network = network.to(device).to(memory_format=torch.channels_last).train()
    average = Ema(network, build(spec).to(device), ema)
    encoder = list(network.encoder.parameters())
    decoder = [p for name, p in network.named_parameters() if not name.startswith("encoder.")]
    optimiser = torch.optim.AdamW(
        [{"params": decoder}, {"params": encoder}], weight_decay=decay, betas=(0.9, 0.99)
    )
    parts = {"network": network, "average": average, "optimiser": optimiser}
    loop = Steps(
        folder, steps, parts, report_every=report_every, save_every=save_every, watch=watch
    )

    # The whole set stays on the device.
    share(batch)
    x_all = torch.from_numpy(pixels).to(device)
    y_all = torch.from_numpy(labels).to(device)
    odds = torch.from_numpy(weights / weights.sum())
    mirror = mirrored_classes(spec.labels).to(device)

    for step in loop:
        seed_step(seed, step, generator)
        rate = one_cycle(optimiser, lr, step, steps)
        optimiser.param_groups[1]["lr"] = encoder_lr * rate

        # A batch: photo and classes moved in the same way, some cut tight, left and right swapped if it is mirrored.
        index = torch.multinomial(odds, batch, replacement=True, generator=generator)
        index = mine(index).to(device)
        affine = random_affine(len(index), generator, zoom=0.12, turn=0.2, shift=0.04)
        rectangle = random_rectangle(len(index), generator, share=mirrored)
        x = middle(warp(to_float(x_all[index], spec.mean, spec.std), affine), spec.size)
        x = random_blur(
            color_jitter(mirrored_outside(x, rectangle), generator, strength=0.3),
            generator,
            share=0.2,
        )
        y = middle(warp(y_all[index, None].float(), affine, mode="nearest"), spec.size)
        y = mirrored_outside(y, rectangle)[:, 0].long()
        flipped = (torch.linalg.det(affine[:, :, :2]) < 0).to(device)
        y = torch.where(flipped[:, None, None], mirror[y], y)

        loss = F.cross_entropy(network(x), y)
        descend(optimiser, loss)
        average.update(network, step)
        loop.end(loss=loss, lr=rate)
    return average.state_dict()


def middle(x: Tensor, size: int) -> Tensor:
    """The middle (B, C, size, size) of larger pictures."""
    edge = (x.shape[-1] - size) // 2
    return x[..., edge : edge + size, edge : edge + size].contiguous(
        memory_format=torch.channels_last
    )
