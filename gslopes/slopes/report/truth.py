"""What is known of a run on drawn faces: the planted slopes, for the page to show next to those that were recovered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from gslopes.core import runfolder
from gslopes.core.files import read_json
from gslopes.core.records import ByteArray
from gslopes.photos.folder import open_photo
from gslopes.report import numbers, units, words
from gslopes.report.inline import jpeg_uri
from gslopes.slopes.report.loading import Finding

FILE, PICTURE = "truth.json", "truth.png"


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


def write(run: Path, planted: Sequence[tuple[str, float]], reach: float, name: str, drawn: ByteArray) -> None:
    """Keep the truth of a run in its folder.

    planted: label and slope when the faces are drawn again, percentage points per unit.
    reach: how far the edit moves the cue, as a share of drawing again.
    name: of the photo that is drawn again: drawn, (K, S, S, 3) uint8 RGB.

    Raises: StorageError.
    """
    with runfolder.storage(run):
        Image.fromarray(drawn.transpose(1, 0, 2, 3).reshape(drawn.shape[1], -1, 3)).save(run / PICTURE)
    labels = [{"label": label, "planted": slope} for label, slope in planted]
    runfolder.write_json(run / FILE, {"labels": labels, "reach": reach, "name": name})


def read(run: Path, findings: Sequence[Finding]) -> Truth | None:
    """What ``write`` kept, next to what was recovered; None if there is none."""
    try:
        known = read_json(run / FILE)
        planted = [(str(row["label"]), float(row["planted"])) for row in known["labels"]]
        reach, name = float(known["reach"]), words.printable(known["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    found = {str(row["label"]): row for one in findings[:1] for row in one.read.to_dict("records")}
    rows = tuple(_row(label, slope, found[label]) for label, slope in planted if label in found)
    strip = jpeg_uri(Image.fromarray(open_photo(run / PICTURE).pixels), 90) if (run / PICTURE).is_file() else ""
    return Truth(rows, numbers.decimal(reach), strip, name) if rows else None


def _row(label: str, planted: float, row: Any) -> tuple[str, str, str, str, str]:
    write = units.writer(units.measure_of(row))
    low, high = float(row["ci_low"]), float(row["ci_high"])
    holds = "–" if math.isnan(low) else "yes" if low <= planted <= high else "no"
    return words.label(label), write(planted), write(row["slope"]), numbers.interval(low, high, write), holds
