"""The gate's verdict by half of the values: what a cross-fitted slope is gated by, see ``slopes.fit.gating``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder, tables
from gslopes.core.config import from_dict
from gslopes.faces.gate.verdict import JUDGED, Measured, Thresholds, follows, steepest, verdict

MEASURES = ("looked", "found", "mask_share", "change")
Readings = Mapping[tuple[str, str, str], NDArray[np.float64]]


def half_verdicts(run: Path, values: Mapping[str, Sequence[float]]) -> dict[str, pd.DataFrame]:
    """Attribute to what the gate says of each sweep: index photo, columns kept, even and odd (by steps 0, 2, ... and 1,
    3, ... alone); empty if the gate was not applied.

    The reading's shift over half of the values is set in proportion to their range.  What was measured on the sweep as
    a whole (face, mask, change of the pixels) counts for both halves.

    Raises: TableError.
    """
    if not (run / "verdicts.parquet").exists():
        return {}
    content = runfolder.read_manifest(run).get("gate", {})
    if not content.get("applied"):
        return {}
    plain = from_dict(Thresholds, content.get("thresholds", {}))
    verdicts = tables.read(tables.VERDICTS, run / "verdicts.parquet")
    readings = read_along(run, values)
    found = {}
    for attribute, rows in verdicts[verdicts["attribute"].isin(list(values))].groupby("attribute"):
        name = str(attribute)
        thresholds = plain.with_neck() if name in content.get("heads", ()) else plain
        records = [{str(key): row[key] for key in row} for row in rows.to_dict("records")]
        halves = {
            half: [_kept(row, name, first, values[name], readings, thresholds) for row in records]
            for half, first in (("even", 0), ("odd", 1))
        }
        found[name] = pd.DataFrame({"kept": rows["kept"].to_numpy(bool), **halves}, index=rows["photo"].to_numpy())
    return found


def read_along(run: Path, values: Mapping[str, Sequence[float]]) -> Readings:
    """(photo, attribute, reading) to its K scores, of those read at all values; empty if nothing was read."""
    path = run / "readings.parquet"
    if not path.exists():
        return {}
    frame = tables.read(tables.READINGS, path)
    frame = frame[(frame["step"] >= 0) & frame["reading"].isin(JUDGED)].sort_values("step")
    keys = ["photo", "attribute", "reading"]
    whole = {
        (str(photo), str(attribute), str(reading)): rows["score"].to_numpy(np.float64)
        for (photo, attribute, reading), rows in frame.groupby(keys, sort=False)
    }
    return {key: scores for key, scores in whole.items() if len(scores) == len(values.get(key[1], ()))}


def _kept(
    row: Mapping[str, object],
    attribute: str,
    first: int,
    values: Sequence[float],
    readings: Readings,
    thresholds: Thresholds,
) -> bool:
    part = np.asarray(values, np.float64)[first::2]
    if len(part) < 2:
        return False
    known = {name: row[name] for name in MEASURES}
    photo = str(row["photo"])
    target = readings.get((photo, attribute, attribute))
    if target is not None:
        tau, shift = follows(target[first::2], part)
        known |= {"tau": tau, "shift": shift * (values[-1] - values[0]) / (part[-1] - part[0])}
    others = [name for name in JUDGED if name != attribute and (photo, attribute, name) in readings]
    off, whose = steepest([readings[photo, attribute, name][first::2] for name in others], others, part)
    return not verdict(Measured(**known, off_target=off, off_target_reading=whose), thresholds)  # type: ignore[arg-type]
