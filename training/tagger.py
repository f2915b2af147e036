"""Train a tagger: several yes-or-no questions about a face, some unanswered for some photos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.faces.zoo import ModelSpec, build
from gslopes.stats.logistic import fit
from training.augment import color_jitter, random_affine, random_blur, to_float, warp
from training.loop import Ema, Steps, descend, one_cycle, seed_step
from training.parallel import averaged, mine, share
from training.sets import TrainingSet
from training.watch import Watch


def train_tagger(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, S = spec.size
    labels: NDArray[np.float32],  # (n, L) 1, 0 or NaN if unknown
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn, any scale
    folder: Path,  # checkpoint and log
    *,
    steps: int = 6000,
    batch: int = 64,
    lr: float = 2e-3,  # peak, of a one-cycle cosine
    decay: float = 0.02,  # AdamW's weight decay
    smooth: float = 0.02,  # label smoothing
    ema: float = 0.998,
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 100,
    save_every: int = 1000,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights.

    Loss: binary cross-entropy averaged over the known labels of a batch.
    """
    # What is trained, and the step reached.
    torch.manual_seed(seed)
    generator = torch.Generator()
    network = build(spec).to(device).to(memory_format=torch.channels_last).train()
    average = Ema(network, build(spec).to(device), ema)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=lr, weight_decay=decay, betas=(0.9, 0.99)
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
    total = weights.sum()

    for step in loop:
        seed_step(seed, step, generator)
        rate = one_cycle(optimiser, lr, step, steps)
        for new in loop.renewed(step):
            x_all[new.rows], y_all[new.rows] = new.pixels, new.labels
            odds[new.rows.cpu()] = new.weights.cpu() / total

        # A batch: drawn with replacement, moved, recoloured, sometimes blurred.
        index = torch.multinomial(odds, batch, replacement=True, generator=generator)
        index = mine(index).to(device)
        x = to_float(x_all[index], spec.mean, spec.std)
        x = warp(x, random_affine(len(x), generator, zoom=0.1, turn=0.15, shift=0.05))
        x = random_blur(color_jitter(x, generator, strength=0.25), generator, share=0.3)

        # One step on the known labels.
        y = y_all[index]
        labelled = y.isfinite()
        target = torch.where(labelled, y, 0.5) * (1 - 2 * smooth) + smooth
        losses = F.binary_cross_entropy_with_logits(network(x), target, reduction="none")
        loss = (losses * labelled).sum() / averaged(labelled.sum())
        descend(optimiser, loss)
        average.update(network, step)
        loop.end(loss=loss, lr=rate)
    return average.state_dict()


LAST = "head.3"  # the tagger's linear layer, into which scale and shift are folded


def calibrated(
    spec: ModelSpec, state: dict[str, Any], photos: TrainingSet, device: str
) -> dict[str, Any]:
    """A tagger's weights with each logit scaled and shifted so that its sigmoid is a frequency among ``photos``.

    photos: labelled photos that it was not trained on, as often as they come.

    Source: Platt 1999, Probabilistic outputs for support vector machines; Guo et al. 2017, On calibration of modern
    neural networks, §4.1.
    """
    network = build(spec).to(device).eval()
    network.load_state_dict(state)
    parts = []
    with torch.no_grad():
        for start in range(0, len(photos.pixels), 128):
            x = to_float(
                torch.from_numpy(photos.pixels[start : start + 128]).to(device), spec.mean, spec.std
            )
            parts.append(network(x).double().cpu())
    logits = torch.cat(parts).numpy()
    scales, shifts = zip(
        *(_scale_and_shift(logits[:, i], photos.labels[:, i]) for i in range(logits.shape[1])),
        strict=True,
    )
    weight = state[f"{LAST}.weight"]
    bias = state[f"{LAST}.bias"]
    scale = weight.new_tensor(scales)
    shift = weight.new_tensor(shifts)
    return {
        **state,
        f"{LAST}.weight": weight * scale[:, None],
        f"{LAST}.bias": bias * scale + shift,
    }


def _scale_and_shift(
    logits: NDArray[np.float64], truth: NDArray[np.float32]
) -> tuple[float, float]:
    """(scale, shift) of least cross-entropy over the known labels; (1, 0) if there are too few of either kind."""
    labelled = np.isfinite(truth)
    z = logits[labelled]
    y = truth[labelled].astype(np.float64)
    if min(int(y.sum()), int((1 - y).sum())) < 10:
        return 1.0, 0.0
    scale, shift = fit(np.column_stack([z, np.ones(len(z))]), y)
    return float(scale), float(shift)
