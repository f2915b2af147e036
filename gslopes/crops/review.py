"""What people mark on the review page, or outline as boxes: a CSV, checked, and the regions that it names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from gslopes.ask.boxes import Box
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.files import is_file, show, without_guard

MARKS = ("text", "number", "badge", "skin", "clothing", "background", "other")
_SIDES, _HINT = ("x0", "y0", "x1", "y1"), "Save it from the page review.html of this run."
OVERLAP = 0.5  # share of a region's box that a given box must cover to name it


def read_marks(path: Path, *, wanted: bool) -> list[dict[str, str]]:
    """Rows of a review, or of boxes, each checked, with its ``line``; none without a file.

    wanted: a missing file is an error.

    Raises: UsageError naming the line; also for two rows about one region.
    """
    if not wanted and not is_file(path):
        return []
    table = read_csv(path, values={"kind": MARKS}, strip=True, hint=_HINT)
    boxed = "x0" in table.columns
    needed = ("photo", *(_SIDES if boxed else ("region",)), "kind")
    for name in needed:
        if name not in table.columns:
            raise UsageError(f"{show(path)} lacks the column {name!r}.", f"It needs {', '.join(needed)}.")
    rows: list[dict[str, str]] = []
    first: dict[tuple[str, ...], int] = {}
    for line, cells in table.rows():
        row = {name: without_guard(cell) for name, cell in cells.items()} | {"line": str(line)}
        if not all(_is_number(row[name], whole=not boxed) for name in needed[1:-1]):
            raise UsageError(f"Line {line} of {show(path)} has something that is no number.", _HINT)
        before = first.setdefault((row.get("cropper", ""), *(row[name] for name in needed[:-1])), line)
        if before != line:
            raise UsageError(f"Line {line} of {show(path)} is about the region of line {before}.", "Keep one of them.")
        rows.append(row)
    return rows


def _is_number(text: str, *, whole: bool) -> bool:
    try:
        return text.isdecimal() if whole else math.isfinite(float(text))
    except ValueError:
        return False


def marked(
    regions: pd.DataFrame, marks: Sequence[Mapping[str, str]], path_of: Mapping[str, str], name: str = "The review"
) -> pd.DataFrame:
    """Regions with their kinds.  path_of: photo to path, by either of which a mark may name it.  name: of the review.

    A box that covers no region says nothing.

    Raises: UsageError for a mark of a photo or of a region that is not there.
    """
    result = regions.copy()
    known = {*path_of, *path_of.values()}
    for mark in marks:
        if mark["photo"] not in known:
            raise UsageError(f"{name}, line {mark['line']}: there is no photo {mark['photo'][:80]!r}.", _HINT)
        named = (result["photo"] == mark["photo"]) | (result["photo"].map(path_of) == mark["photo"])
        if "x0" in mark:
            box = Box(*(float(mark[side]) for side in _SIDES))
            fits = named & pd.Series([_covers(box, row) for _, row in result.iterrows()], result.index, dtype=bool)
            by = "boxes"
        else:
            fits = named & (result["region"] == int(mark["region"]))
            if mark.get("cropper"):
                fits &= result["cropper"] == mark["cropper"]
            if not fits.any():
                what = f"{mark['photo'][:12]} has no region {mark['region']}"
                raise UsageError(f"{name}, line {mark['line']}: the photo {what}.", _HINT)
            by = mark.get("by") or "review"
        result.loc[fits, ["kind", "by"]] = [mark["kind"], by]
    return result


def _covers(box: Box, row: pd.Series) -> bool:
    region = Box(float(row["x0"]), float(row["y0"]), float(row["x1"]), float(row["y1"]))
    return region.area > 0 and region.shared(box) >= OVERLAP * region.area
