"""Calibrate the probabilities of judge and labeller, by a scale and a shift for every label."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gslopes.stats.logistic import fit_weighted
from gslopes.zoo import ModelSpec, build
from training.augment import to_float
from training.training_set import TrainingSet

LAST = "head.3"  # the tagger's linear layer, into which scale and shift are folded


def calibrated(spec: ModelSpec, state: dict[str, Any], photos: TrainingSet, device: str) -> dict[str, Any]:
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
            x = to_float(torch.from_numpy(photos.pixels[start : start + 128]).to(device), spec.mean, spec.std)
            parts.append(network(x).double().cpu())
    logits = torch.cat(parts).numpy()
    scales, shifts = zip(
        *(_scale_and_shift(logits[:, i], photos.labels[:, i]) for i in range(logits.shape[1])), strict=True
    )
    weight, bias = state[f"{LAST}.weight"], state[f"{LAST}.bias"]
    scale, shift = weight.new_tensor(scales), weight.new_tensor(shifts)
    return {**state, f"{LAST}.weight": weight * scale[:, None], f"{LAST}.bias": bias * scale + shift}


def _scale_and_shift(logits: NDArray[np.float64], truth: NDArray[np.float32]) -> tuple[float, float]:
    """(scale, shift) of least cross-entropy over the known labels; (1, 0) where there are too few of either kind."""
    known = np.isfinite(truth)
    z, y = logits[known], truth[known].astype(np.float64)
    if min(int(y.sum()), int((1 - y).sum())) < 10:
        return 1.0, 0.0
    scale, shift = fit_weighted(np.column_stack([z, np.ones(len(z))]), y, np.ones(len(z)))
    return float(scale), float(shift)
