"""The table of an editor of tone: which colours skin has at the steps of the scale, of people under one lamp.

Lightness is given, see ``gslopes.faces.compose.tone``: even between the lightest and the darkest skin that photos show.
a* and b* are quadratic in it, by least squares over the London set's people, whose portraits have one lamp, one
camera and one exposure: what their skin differs in is its own. They rise to the middle of the scale and fall to both
ends, as those of the Monk scale's swatches do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gslopes.core.geometry import SCALE, step_of
from gslopes.core.records import ByteArray
from gslopes.faces.compose.skin import class_probabilities, region_classes
from gslopes.faces.gate.manipulation import mean
from gslopes.faces.zoo import ModelSpec, load
from training.chips import aligned
from training.sets import TrainingSet
from training.sources import RACES, LabelledPhotos

BATCH = 16
SPLIT_SEED = 48  # as of ``training.evaluation.composites``: its half "card" is held out


def london(spec: ModelSpec, photos: Sequence[LabelledPhotos], device: str) -> TrainingSet:
    """The London set's neutral portraits, labelled by the ethnicities that people gave."""
    chips = aligned(photos[0], size=spec.size, device=device)
    digests = [
        hashlib.sha256(f"{SPLIT_SEED} {path.stem}".encode()).digest()[0]
        for path in chips.photos.paths
    ]
    labels = np.stack([chips.photos.column(name) for name in RACES], 1)
    held_out = np.array(digests) % 2 == 1
    return TrainingSet(chips.pixels, labels.astype(np.float32), np.ones(len(labels)), held_out)


def train_tone_scale(
    spec: ModelSpec,
    pixels: ByteArray,
    labels: NDArray[np.float32],
    weights: NDArray[np.float64],
    work: Path,
    *,
    device: str = "cpu",
    steps: int = 10,
) -> dict[str, Tensor]:
    """Fit the table; arguments as of the other loops.  steps: of the scale."""
    colours = skin_colours(pixels, device)
    light = np.linspace(*SCALE, steps)
    red, yellow = (
        np.polyval(np.polyfit(colours[:, 0], colours[:, channel], 2), light) for channel in (1, 2)
    )
    return {"places": torch.from_numpy(np.stack([light, red, yellow], 1)).float()}


def skin_colours(pixels: ByteArray, device: str = "cpu") -> NDArray[np.float64]:
    """(n, 3) medians of L*, a*, b* of the skin that the parser sees.  pixels: (n, S, S, 3) uint8 RGB chips."""
    parser = load("face-parser", device)
    classes = list(region_classes("skin", parser.spec.labels))
    rows = []
    for start in range(0, len(pixels), BATCH):
        chips = pixels[start : start + BATCH]
        shares = class_probabilities(parser, chips, torch.device(device))[:, classes].sum(1)
        for chip, share in zip(chips, shares.cpu().numpy(), strict=True):
            skin = chip[share > 0.5][None].astype(np.float32) / 255
            rows.append(np.median(cv2.cvtColor(skin, cv2.COLOR_RGB2LAB)[0], axis=0))
    return np.array(rows, np.float64)


def measured(module: Any, held_out: TrainingSet, device: str) -> dict[str, Any]:
    """Steps of people by what they said of themselves, and how far their colours lie from the table's."""
    colours = skin_colours(held_out.pixels, device)
    places = module.places.cpu().double().numpy()
    at = np.stack([np.interp(-colours[:, 0], -places[:, 0], column) for column in places.T], 1)
    steps = step_of(colours[:, 0])
    off = np.abs(colours - at)
    return {
        "step": {
            name: mean(steps[held_out.labels[:, index] == 1])
            for index, name in enumerate(RACES)
            if (held_out.labels[:, index] == 1).sum() >= 2
        },
        "off": {"a*": mean(off[:, 1]), "b*": mean(off[:, 2])},
    }
