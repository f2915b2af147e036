"""Which pictures an audit asks about, and how the photos look when they are joined; no pixel is touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core.errors import UsageError
from gslopes.crops.asking.asker import Asker
from gslopes.crops.asking.pairing import all_pairs, balanced_pairs, one_per_group, published_draws
from gslopes.crops.config import CropsConfig
from gslopes.crops.croppers import has_map
from gslopes.crops.people import People
from gslopes.crops.pictures.geometry import Box
from gslopes.crops.policies import temperature_for
from gslopes.crops.records import Cropper, Saliency

Numbers = Mapping[str, list[int]]
LEAST_TOGETHER = 3


def pairs_of(table: People, numbers: Numbers, config: CropsConfig) -> NDArray[np.int64]:
    """(P, 2) numbers of photos of different groups.  numbers: person to those of the photos."""
    groups = _numbered(table, numbers)
    if config.draws:
        large = {name: persons for name, persons in groups.items() if len(persons) >= config.min_group}
        return published_draws(large, config.draws, config.seed)
    most = config.pairs or config.max_pairs // (2 if config.orders == "both" else 1)
    whole = all_pairs(groups)
    return whole if len(whole) <= most else balanced_pairs(groups, most, config.seed)


def sets_of(table: People, numbers: Numbers, config: CropsConfig) -> NDArray[np.int64]:
    """(``config.together``, k) numbers of photos, one of each group that is large enough.

    Raises: UsageError if there are fewer than three such groups.
    """
    if not config.together:
        return np.empty((0, 0), dtype=np.int64)
    groups = {name: indices for name, indices in _numbered(table, numbers).items() if len(indices) >= config.min_group}
    if len(groups) < LEAST_TOGETHER:
        counts = ", ".join(f"{name} {len(persons)}" for name, persons in table.cells.items())
        message = f"One person of each group together needs {LEAST_TOGETHER} groups of {config.min_group} persons"
        raise UsageError(f"{message} ({counts}).", "Lower --min-group, or leave out --together.")
    return one_per_group(groups, config.together, config.seed)


def _numbered(table: People, numbers: Numbers) -> dict[str, list[int]]:
    groups = {
        name: [number for person in persons for number in numbers.get(person, [])]
        for name, persons in table.cells.items()
    }
    return {name: indices for name, indices in groups.items() if indices}


def by_person(persons: list[str]) -> dict[str, list[int]]:
    """Person to the places at which it stands."""
    found: dict[str, list[int]] = {}
    for number, person in enumerate(persons):
        found.setdefault(person, []).append(number)
    return found


def as_joined(used: pd.DataFrame, config: CropsConfig) -> tuple[list[tuple[int, int]], dict[int, Box]]:
    """Sizes of the photos as they are joined, and heads in them."""
    sizes, heads = [], {}
    for index, row in enumerate(used.to_dict("records")):
        wide, tall = int(row["width"]), int(row["height"])
        new = scaled_size(wide, tall, config)
        sizes.append(new)
        if row["head"] is not None:
            x0, y0, x1, y1 = (float(value) for value in row["head"])
            across, down = new[0] / wide, new[1] / tall
            heads[index] = Box(x0 * across, y0 * down, x1 * across, y1 * down)
    return sizes, heads


def scaled_size(width: int, height: int, config: CropsConfig) -> tuple[int, int]:
    """(width, height) of ``look.scaled`` without any pixel."""
    if config.height:
        return max(1, width * config.height // height), config.height
    longer = max(width, height)
    if config.max_side and longer > config.max_side:
        across, down = (max(1, round(side * config.max_side / longer)) for side in (width, height))
        return across, down
    return width, height


def temperature(model: Saliency | Cropper, asker: Asker, photos: int, config: CropsConfig) -> float:
    """The temperature of the softmax: given, 1 where scores are log densities, else by the rule of entropy.

    The rule: over the maps of the first photos joined with their neighbours, the median of the temperatures at which a
    map spreads over a tenth of its cells.
    """
    if config.temperature is not None:
        return config.temperature
    if not has_map(model) or getattr(model, "log", False) or model.name.startswith("fastgaze"):
        return 1.0
    first = min(photos, 8)
    pairs = np.array([[index, (index + 1) % photos] for index in range(first)])
    found = [batch.scores for batch in asker.maps(pairs) if not isinstance(batch, tuple)]
    known = [temperature_for(scores_of_one.astype(np.float64)) for scores in found for scores_of_one in scores]
    return float(np.float32(np.median(known))) if known else 1.0


def cropper_of(model: Any) -> Cropper | None:
    """The model if it answers with rectangles alone."""
    return None if has_map(model) else cast("Cropper", model)
