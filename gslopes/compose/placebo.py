"""Placebo sweeps: pictures that go through the same walk and should move no classifier by way of the attribute.

``same``: the picture at the centre value K times, encoded anew each time: what the classifier's answers do by
themselves. ``light``: the masked region made darker or lighter by as much, pixel for pixel on average, as the edit
changed it: what a change of this place and size does that has nothing to do with the attribute.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from gslopes.compose.encode import QUALITY
from gslopes.compose.paste import Composite


def qualities(photo: str, steps: int, seed: int) -> list[int]:
    """The JPEG quality of each of K re-encodings: K neighbouring ones in an order drawn for each photo.

    photo: its id.  The order is drawn so that quality does not go along with the step.
    """
    key = int.from_bytes(hashlib.sha256(f"{seed}:{photo}".encode()).digest()[:8])
    order = np.random.default_rng(key).permutation(steps)
    return [QUALITY - int(place) for place in order]


def lightened(whole: Composite, values: Sequence[float]) -> Composite:
    """The centre picture with its masked region made darker (below the centre) or lighter (above it).

    whole: the edited photo at K values, K odd.  values: (K,), increasing.

    At each value the mean absolute change of the masked pixels, before rounding and clipping, is that of the edit.
    """
    centre = len(values) // 2
    base = whole.patches[centre].astype(np.float32)
    weight = whole.weight[..., None]
    area = float(whole.weight.mean()) if whole.weight.size else 0.0
    patches = np.empty_like(whole.patches)
    for k, patch in enumerate(patches):
        moved = float(np.abs(whole.patches[k].astype(np.float32) - base).mean()) if area else 0.0
        amount = np.sign(values[k] - values[centre]) * moved / area if area else 0.0
        patch[:] = np.clip(np.rint(base + weight * amount), 0, 255).astype(np.uint8)
    return Composite(whole.photo, patches, whole.weight, whole.box, whole.mask_area)
