"""What people mark on the review page, or outline as boxes: a CSV, checked, and the regions that it names."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show
from gslopes.crops.pictures.geometry import Box

MARKS = ("text", "number", "badge", "skin", "clothing", "background", "other")
OVERLAP = 0.5  # share of a region's box that a given box must cover to name it


def read_marks(path: Path, *, wanted: bool) -> list[dict[str, str]]:
    """Rows of a review, or of boxes, each checked; none without a file.  wanted: a missing file is an error.

    Raises: UsageError naming the line.
    """
    if not path.is_file():
        if wanted:
            raise UsageError(f"There is no review {show(path)}.", "Save one from the page review.html.")
        return []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [{str(k): str(v or "").strip() for k, v in row.items()} for row in csv.DictReader(file)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"{show(path)} is not a CSV in UTF-8: {error}.", "Save it from the page review.html."
        ) from None
    boxed = bool(rows) and "x0" in rows[0]
    needed = ("photo", "x0", "y0", "x1", "y1", "kind") if boxed else ("photo", "region", "kind")
    for line, row in enumerate(rows, start=2):
        missing = [name for name in needed if name not in row]
        if missing:
            raise UsageError(f"{show(path)} lacks the column {missing[0]!r}.", f"It needs {', '.join(needed)}.")
        if row["kind"] not in MARKS:
            raise UsageError(
                f"Line {line} of {show(path)} has the kind {row['kind']!r}.", f"One of {', '.join(MARKS)}."
            )
        try:
            [float(row[name]) for name in needed[1:-1]]
        except ValueError:
            raise UsageError(
                f"Line {line} of {show(path)} has something that is no number.", "Save it from the page review.html."
            ) from None
    return rows


def marked(regions: pd.DataFrame, marks: Sequence[Mapping[str, str]], path_of: Mapping[str, str]) -> pd.DataFrame:
    """Regions with their kinds.  path_of: photo to path, by either of which a mark may name it."""
    result = regions.copy()
    for mark in marks:
        named = (result["photo"] == mark["photo"]) | (result["photo"].map(path_of) == mark["photo"])
        if "x0" in mark:
            box = Box(*(float(mark[name]) for name in ("x0", "y0", "x1", "y1")))
            fits = (
                named & result.apply(lambda row, outline=box: _covers(outline, row), axis=1) if len(result) else named
            )
            by = "boxes"
        else:
            fits = named & (result["region"] == int(float(mark["region"])))
            if mark.get("cropper"):
                fits &= result["cropper"] == mark["cropper"]
            by = mark.get("by") or "review"
        result.loc[fits, ["kind", "by"]] = [mark["kind"], by]
    return result


def _covers(box: Box, row: pd.Series) -> bool:
    region = Box(float(row["x0"]), float(row["y0"]), float(row["x1"]), float(row["y1"]))
    return region.area > 0 and region.shared(box) >= OVERLAP * region.area
