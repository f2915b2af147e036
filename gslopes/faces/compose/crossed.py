"""A photo at every pair of values of two attributes: the chip that one editor made is what the other one edits.

Each pair goes into the photo once, in floats; what both editors move is added up. Placebos are crossed likewise: what
one gives along each attribute, with the other one at its centre, is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from gslopes.core.crossed import Grid
from gslopes.core.records import ByteArray, EditedChips, Face, FloatArray, Photo
from gslopes.faces.compose.paste import Composite, Edits, compose_each


def chips_between(chips: ByteArray, first: Edits) -> FloatArray:
    """The chips that the second editor is given, (B I, S, S, 3) float32: within its mask what the first one made.

    chips: (B, S, S, 3).  first: at I values.
    """
    swept = first.swept
    edited = swept.edited if isinstance(swept.edited, np.ndarray) else swept.edited.cpu().numpy()
    whole = chips.astype(np.float32)
    from_level = whole if first.blend == "paste" else swept.neutral
    change = np.stack(first.masks)[:, None, ..., None] * (edited - from_level[:, None])
    return np.clip(whole[:, None] + change, 0, 255).reshape(-1, *chips.shape[1:])


def compose_grids(
    photos: Sequence[Photo], faces: Sequence[Face], first: Edits, second: Edits, device: str
) -> Iterator[Composite]:
    """One ``Composite`` of I J pictures for each of B photos.

    first: of the photos' chips at I values.  second: of ``chips_between`` at J; its masks and heads are the photos'.
    """
    count = first.swept.edited.shape[1]
    rows = [row for row in range(len(photos)) for _ in range(count)]
    below = Edits(_one_each(first.swept), [first.masks[r] for r in rows], first.blend, [first.heads[r] for r in rows])
    above = replace(second, masks=[second.masks[r] for r in rows], heads=[second.heads[r] for r in rows])
    made = compose_each([photos[r] for r in rows], [faces[r] for r in rows], [below, above], device)
    for _ in photos:
        parts = list(islice(made, count))
        yield replace(parts[count // 2], patches=np.concatenate([part.patches for part in parts]))


def _one_each(swept: EditedChips) -> EditedChips:
    """B chips at I values as B I chips at one; of their distances that comes first."""

    def apart(values: Any) -> Any:
        return values.reshape(-1, 1, *values.shape[2:])

    count, motion, tone = swept.edited.shape[1], swept.motion, swept.tone
    if motion is not None:
        turned = np.stack([np.roll(motion.distances, -step, 1) for step in range(count)], 1)
        motion = replace(motion, field=motion.field.repeat(count, 0), distances=turned.reshape(-1, count))
    if tone is not None:
        tone = replace(tone, shares=apart(tone.shares))
    return EditedChips(apart(swept.edited), swept.neutral.repeat(count, 0), motion, tone)


def crossed_placebo(
    whole: Composite, grid: Grid, make: Callable[[Composite, Sequence[float], str], Composite]
) -> Composite:
    """A placebo of a grid.  make: a plain one, of a sweep, its values and its attribute."""
    cells, middle = np.arange(len(whole)).reshape(*map(len, grid.values)), [len(own) // 2 for own in grid.values]
    base, total = whole.patches[cells[middle[0], middle[1]]].astype(np.int16), np.zeros(1, np.int16)
    sweeps = (cells[:, middle[1]], whole.under), (cells[middle[0]], whole.motion)
    for axis, (steps, motion) in enumerate(sweeps):
        sweep = replace(whole, patches=whole.patches[steps], motion=motion)
        part = make(sweep, grid.values[axis], grid.names[axis])
        total = total + np.expand_dims(part.patches.astype(np.int16) - base, 1 - axis)
    patches = np.clip(base + total, 0, 255).astype(np.uint8)
    return replace(whole, patches=patches.reshape(whole.patches.shape))
