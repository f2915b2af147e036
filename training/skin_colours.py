"""Measure the colours of skin that ``training.skin_colour`` follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from gslopes.faces.zoo import load
from gslopes.faces.zoo.parsing import SKIN, class_probabilities
from gslopes.faces.zoo.spec import find_spec
from training.field_template import SMOOTH, blurred
from training.sets import SETS
from training.skin_colour import colours_of

FACES, PIXELS, BATCH = 2400, 300, 64
KNOTS = np.arange(3.0, 5.5, 0.4)  # logarithms of luminance
WIDTH = 0.15  # of the Gaussian around each
SURE = 0.9  # likelihood from which a pixel is skin
OUTER = 0.05  # share at either end that is cut to the rest


def measured(data: Path) -> list[tuple[float, ...]]:
    """The rows of the table: lightness, medians of red and blue, their deviations, their correlation.

    data: the folder of the data sets, whose photos the race editors learn from.
    """
    everything = SETS["fader"](find_spec("race-field"), data, "cpu")
    faces = everything.part(~everything.held_out)
    random, odds = np.random.default_rng(0), np.minimum(faces.weights / faces.weights.mean(), 8)
    drawn = random.choice(len(odds), FACES, p=odds / odds.sum())
    parser = load("face-parser")
    members = [parser.spec.labels.index(name) for name in SKIN]
    light, colours = [], []
    for start in tqdm(range(0, FACES, BATCH), desc="skin", unit="batch"):
        chips = faces.pixels[drawn[start : start + BATCH]]
        skin = class_probabilities(parser, chips, torch.device("cpu"))[:, members].sum(1) > SURE
        x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
        found, bright = colours_of(blurred(x, SMOOTH))
        for row in range(len(chips)):
            pixels = torch.nonzero(skin[row].flatten()).flatten()
            if len(pixels) >= PIXELS:
                chosen = pixels[torch.from_numpy(random.choice(len(pixels), PIXELS))]
                light.append(bright[row].flatten()[chosen])
                colours.append(found[row].flatten(1)[[0, 2]][:, chosen])
    return [row_at(knot, torch.cat(light).numpy(), torch.cat(colours, 1).numpy()) for knot in KNOTS]


def row_at(
    knot: float, light: np.ndarray[tuple[int, ...], np.dtype[np.float32]], colours: np.ndarray
) -> tuple[float, ...]:
    """One row.  light: (n,).  colours: (2, n), red and blue."""
    weight = np.exp(-0.5 * ((light - knot) / WIDTH) ** 2)
    weight /= weight.sum()
    low: list[float] = []
    middle: list[float] = []
    high: list[float] = []
    for values in colours:
        order = np.argsort(values)
        below = np.cumsum(weight[order])
        for kept, share in ((low, OUTER), (middle, 0.5), (high, 1 - OUTER)):
            kept.append(np.interp(share, below, values[order]))
    cut = np.clip(colours, np.array(low)[:, None], np.array(high)[:, None])
    cut = cut - (cut * weight).sum(1, keepdims=True)
    covariance = (cut * weight) @ cut.T
    red, blue = np.sqrt(np.diag(covariance))
    return (knot, *middle, red, blue, covariance[0, 1] / red / blue)
