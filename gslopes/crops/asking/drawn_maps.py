"""The maps of the few pairs that the page draws, kept so that the page can be made again without the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.core import runfolder, tables
from gslopes.core.errors import AnswerError
from gslopes.crops.asking.asker import Asker
from gslopes.crops.croppers import has_map
from gslopes.crops.pictures.saliency import check_map
from gslopes.crops.policies import find_peaks
from gslopes.crops.records import Cropper, Saliency, SaliencyMap
from gslopes.crops.tables import DRAWN_MAPS, PAIRS

Key = tuple[str, str, str]
LONGEST = 96  # cells a side that are kept; of a larger map the highest of each block
PEAKS, MIN_DISTANCE = 3, 0.2  # as the policy choose-k has them


def keep_drawn_maps(
    out: Path, models: Sequence[Saliency | Cropper], askers: Sequence[Asker], ids: Sequence[str]
) -> None:
    """Ask each model with a map about the pairs that its part of the page draws; those that are kept are not asked.

    models, askers: one another's.  ids: number of a photo to its id.
    """
    from gslopes.crops.report.pictures import chosen

    path = out / f"{DRAWN_MAPS.name}.parquet"
    before = tables.read(DRAWN_MAPS, path) if path.is_file() else DRAWN_MAPS.empty()
    kept: dict[Key, dict[Any, Any]] = {
        (row["cropper"], row["left"], row["right"]): row for row in before.to_dict("records")
    }
    number = {photo: index for index, photo in enumerate(ids)}
    pairs = tables.read(PAIRS, out / f"{PAIRS.name}.parquet")
    rows: list[dict[Any, Any]] = []
    for model, asker in zip(models, askers, strict=True):
        if not has_map(model):
            continue
        chosen_pairs = pd.concat(chosen(pairs[pairs["cropper"] == model.name]))
        for drawn in chosen_pairs.drop_duplicates(["left", "right"]).to_dict("records"):
            key = model.name, drawn["left"], drawn["right"]
            if key not in kept:
                picture, plan = asker.picture([number[drawn["left"]], number[drawn["right"]]])
                try:
                    (found,) = cast("Saliency", model).maps([picture])
                    check_map(found, plan.width, plan.height, model.name, "a joined picture")
                except AnswerError:
                    continue
                kept[key] = {"cropper": key[0], "left": key[1], "right": key[2]}
                kept[key] |= _cells(found, plan.width, plan.height)
            rows.append(kept[key])
    runfolder.write_table(DRAWN_MAPS, pd.DataFrame(rows, columns=DRAWN_MAPS.columns), path)


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
