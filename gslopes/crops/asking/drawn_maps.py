"""The maps of the few pairs that the page draws, kept so that the page can be made again without the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.records import Saliency, SaliencyMap
from gslopes.core.errors import AnswerError
from gslopes.crops.asking.asker import Asker
from gslopes.crops.pictures.saliency import check_map
from gslopes.crops.policies import find_peaks
from gslopes.crops.tables import DRAWN_MAPS, PAIRS
from gslopes.frame.parts import read_table, write_tables

Key = tuple[str, str, str]
LONGEST = 96  # cells a side that are kept; of a larger map the highest of each block
PEAKS, MIN_DISTANCE = 3, 0.2  # as the policy choose-k has them


def keep_drawn_maps(out: Path, askers: Sequence[Asker], ids: Sequence[str]) -> None:
    """Ask each cropper with a map about the pairs that its part of the page draws; those that are kept are not asked.

    ids: number of a photo to its id.
    """
    from gslopes.crops.report.pictures import chosen

    before = read_table(DRAWN_MAPS, out, optional=True)
    kept: dict[Key, dict[Any, Any]] = {
        (row["cropper"], row["left"], row["right"]): row for row in before.to_dict("records")
    }
    number = {photo: index for index, photo in enumerate(ids)}
    pairs = read_table(PAIRS, out)
    rows: list[dict[Any, Any]] = []
    for asker in askers:
        name = asker.model.name
        if not has_map(asker.model):
            continue
        drawn = pd.concat(chosen(pairs[pairs["cropper"] == name])).drop_duplicates(["left", "right"])
        for left, right in drawn[["left", "right"]].itertuples(index=False):
            if (name, left, right) not in kept:
                picture, plan = asker.picture([number[left], number[right]])
                try:
                    (found,) = cast("Saliency", asker.model).maps([picture])
                    check_map(found, plan.width, plan.height, name, "a joined picture")
                except AnswerError:
                    continue
                key = {"cropper": name, "left": left, "right": right}
                kept[name, left, right] = key | _cells(found, plan.width, plan.height)
            rows.append(kept[name, left, right])
    write_tables(out, {DRAWN_MAPS.name: pd.DataFrame(rows, columns=DRAWN_MAPS.columns)}, DRAWN_MAPS)


def _cells(found: SaliencyMap, width: int, height: int) -> dict[str, Any]:
    scores = found.scores.astype(np.float64)
    peaks = find_peaks(scores, found.x, found.y, PEAKS, MIN_DISTANCE * min(width, height))
    for axis in (0, 1):
        step = -(-scores.shape[axis] // LONGEST)
        scores = np.maximum.reduceat(scores, np.arange(0, scores.shape[axis], step), axis=axis)
    return {
        "rows": scores.shape[0],
        "columns": scores.shape[1],
        "peaks": np.array([(x / width, y / height) for x, y, _ in peaks], np.float32).ravel(),
        "values": scores.astype(np.float32).ravel(),
    }
