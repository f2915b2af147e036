"""Does the sweep move its target, what else moves, on whom did it fail, and is what was planted recovered?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from gslopes.core import placebo, runfolder, tables
from gslopes.core.files import read_json
from gslopes.core.records import ByteArray
from gslopes.photos.folder import open_photo
from gslopes.report import numbers, units, words
from gslopes.report.inline import jpeg_uri
from gslopes.slopes.report import loading
from gslopes.slopes.report.loading import Finding
from gslopes.stats.intervals import normal_quantile

NAMES = {
    "gender": "perceived gender (masculine)",
    "race": "perceived race (White)",
    "young": "perceived age (young)",
    "smiling": "smiling",
    "luminance": "luminance (L*, of 100)",
    "sharpness": "sharpness (log variance)",
}


def sweeps(run: Path, values: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """One entry for each attribute with verdicts: counts, drop reasons, and what the readings did along the sweep.

    values: attribute to its K values.
    """
    verdicts = loading.read_rows(
        tables.VERDICTS,
        run,
        ["photo", "attribute", "kept", "reason", "looked", "found", "tau", "shift", "off_target", "off_target_reading"],
    )
    readings = loading.read_rows(tables.READINGS, run, ["photo", "attribute", "step", "reading", "score"])
    side_effects = what_else_moves(run)
    entries = []
    for name, of_group in verdicts.groupby("attribute", sort=True):
        attribute = str(name)
        if placebo.is_placebo(attribute):
            continue
        looked = of_group[of_group["looked"] > 0]
        entries.append(
            {
                "attribute": words.perceived(attribute),
                "sweeps": len(of_group),
                "kept": int(of_group["kept"].sum()),
                "reasons": Counter(of_group.loc[~of_group["kept"], "reason"]).most_common(),
                "tau": _quartiles(of_group["tau"]),
                "shift": _quartiles(of_group["shift"]),
                "found": float((looked["found"] == looked["looked"]).mean()) if len(looked) else None,
                "off": _quartiles(of_group["off_target"].abs()),
                "moved": side_effects.get(attribute, ()),
                "off_readings": [NAMES.get(r, words.printable(r)) for r in of_group["off_target_reading"].mode() if r],
                "values": list(values.get(attribute, ())),
                "curves": _curves(readings[readings["attribute"] == attribute], attribute, values.get(attribute, ())),
            }
        )
    return entries


def what_else_moves(run: Path) -> dict[str, list[tuple[str, str]]]:
    """Attribute to (reading, its slope as a share of the target's with the 95 % interval), as ``validate`` prints it.

    From RUN/validity.json, which the stage gate writes; empty without it.
    """
    try:
        content = read_json(run / "validity.json")
        found = {}
        for one in content["attributes"]:
            rows = []
            for name, share in one["leakage"].items():
                if share["value"] is not None:
                    text = numbers.with_interval(share["value"], share["low"], share["high"], numbers.ratio)
                    rows.append((NAMES.get(name, words.printable(name)), text))
            found[str(one["attribute"])] = rows
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return found


def _curves(readings: pd.DataFrame, attribute: str, values: Sequence[float]) -> list[dict[str, Any]]:
    """Mean of each reading at each value with a 95 % normal interval over photos, the target first."""
    curves = []
    for name, of_group in readings[readings["step"] >= 0].groupby("reading", sort=True):
        by = of_group.groupby("step")["score"].agg(["mean", "std", "count"]).sort_index()
        if by.index.tolist() != list(range(len(values))):
            continue
        mean, low, high = _interval(by)
        curves.append(
            {
                "name": NAMES.get(str(name), words.printable(name)),
                "target": name == attribute,
                "unit": name not in ("luminance", "sharpness"),
                "mean": mean,
                "low": low,
                "high": high,
            }
        )
    return sorted(curves, key=lambda curve: not curve["target"])


def _interval(by: pd.DataFrame) -> tuple[list[float], list[float], list[float]]:
    """Means with the ends of their 95 % normal interval, from columns mean, std and count."""
    half = (normal_quantile() * by["std"].fillna(0) / np.sqrt(by["count"].clip(lower=1))).to_numpy(float)
    mean = by["mean"].to_numpy(float)
    return mean.tolist(), (mean - half).tolist(), (mean + half).tolist()


def _quartiles(column: pd.Series) -> tuple[float, float, float] | None:
    numbers = column.dropna().to_numpy(float)
    if not len(numbers):
        return None
    low, middle, high = (float(number) for number in np.quantile(numbers, [0.25, 0.5, 0.75]))
    return low, middle, high


# -- planted slopes of drawn faces ------------------------------------------------------------------------------------

TRUTH, TRUTH_PICTURE = "truth.json", "truth.png"


@dataclass(frozen=True, slots=True)
class Truth:
    """What the page says.

    rows: label, planted, recovered, interval, whether it holds what was planted; of slopes in percentage points.
    reach: how far the edit moves the cue, drawing the face again being 1.
    strip: one face drawn again at each value, as an address; empty without.  name: of that photo.
    """

    rows: tuple[tuple[str, str, str, str, str], ...]
    reach: str
    strip: str
    name: str


def write_truth(run: Path, planted: Sequence[tuple[str, float]], reach: float, name: str, drawn: ByteArray) -> None:
    """Keep the truth of a run in its folder.

    planted: label and slope when the faces are drawn again, percentage points per unit.
    reach: how far the edit moves the cue, as a share of drawing again.
    name: of the photo that is drawn again: drawn, (K, S, S, 3) uint8 RGB.

    Raises: StorageError.
    """
    with runfolder.storage(run):
        Image.fromarray(drawn.transpose(1, 0, 2, 3).reshape(drawn.shape[1], -1, 3)).save(run / TRUTH_PICTURE)
    labels = [{"label": label, "planted": slope} for label, slope in planted]
    runfolder.write_json(run / TRUTH, {"labels": labels, "reach": reach, "name": name})


def read_truth(run: Path, findings: Sequence[Finding]) -> Truth | None:
    """What ``write`` kept, next to what was recovered; None if there is none."""
    try:
        known = read_json(run / TRUTH)
        planted = [(str(row["label"]), float(row["planted"])) for row in known["labels"]]
        reach, name = float(known["reach"]), words.printable(known["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    found = {str(row["label"]): row for one in findings[:1] for row in one.read.to_dict("records")}
    rows = tuple(_planted_row(label, slope, found[label]) for label, slope in planted if label in found)
    strip = (
        jpeg_uri(Image.fromarray(open_photo(run / TRUTH_PICTURE).pixels), 90) if (run / TRUTH_PICTURE).is_file() else ""
    )
    return Truth(rows, numbers.decimal(reach), strip, name) if rows else None


def _planted_row(label: str, planted: float, row: Any) -> tuple[str, str, str, str, str]:
    write = units.writer(units.measure_of(row))
    low, high = float(row["ci_low"]), float(row["ci_high"])
    holds = "–" if math.isnan(low) else "yes" if low <= planted <= high else "no"
    return words.label(label), write(planted), write(row["slope"]), numbers.interval(low, high, write), holds
