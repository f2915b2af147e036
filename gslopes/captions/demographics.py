"""Groups of the depicted: Zhao et al.'s demographics of COCO, or any CSV with a column of images.

Source: Zhao, Wang & Russakovsky 2021, Understanding and Evaluating Racial Biases in Image Captioning. Annotators'
perception of the largest person; it is not who a person is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.captions.caption_tables import read_frame
from gslopes.core.errors import DataMissing, UnknownName
from gslopes.core.group_names import normal_names

GENDER = {"female": "female", "male": "male"}
SKIN = {"dark": "darker", "darker": "darker", "light": "lighter", "lighter": "lighter"}
Groups = dict[str, dict[str, str]]


def read_groups(file: Path, columns: Sequence[str] = (), *, identifiers: bool = False) -> Groups:
    """Column to image to value; empty where a value is unknown.

    columns: of the file, ``a + b`` crosses two; all but the image's by default.
    identifiers: whether they name people rather than groups: then two spellings are two.

    Raises: DataMissing if there is no column of images, or an image has two different values; UnknownName.
    """
    frame = read_frame(file)
    if {"bb_gender", "bb_skin"} & set(frame.columns):
        if "id" not in frame.columns:
            raise DataMissing(f"{file} has no column named id.", "It is instances of Zhao et al. 2021, an id a row.")
        return _zhao(frame, file, columns)
    key = next((name for name in ("image", "id", "photo", "path") if name in frame.columns), None)
    if key is None:
        known = ", ".join(map(str, frame.columns))
        raise DataMissing(f"{file} has no column named image, but {known}.", "Name the column of images image.")
    names = columns or [str(column) for column in frame.columns if column != key]
    return {name: _column(frame, key, name, file, identifiers) for name in names}


def _zhao(frame: pd.DataFrame, file: Path, columns: Sequence[str]) -> Groups:
    found: Groups = {}
    for name, source, values in (("gender", "bb_gender", GENDER), ("skin", "bb_skin", SKIN)):
        if source in frame.columns:
            column = _column(frame, "id", source, file)
            found[name] = {image: values.get(value.strip().lower(), "") for image, value in column.items()}
    return {name: _crossed(found, name) for name in columns or found}


def _crossed(found: Groups, name: str) -> dict[str, str]:
    parts = _parts(name, found)
    if len(parts) == 1:
        return found[parts[0]]
    images = set.intersection(*(set(found[part]) for part in parts))
    values = {image: [found[part][image] for part in parts] for image in sorted(images)}
    return {image: " + ".join(both) if all(both) else "" for image, both in values.items()}


def _parts(name: str, columns: Collection[str]) -> list[str]:
    """The columns that ``a + b`` crosses.  Raises: UnknownName if there is no such column."""
    parts = [part.strip() for part in name.split("+")]
    for part in parts:
        if part not in columns:
            raise UnknownName("column", part, columns)
    return parts


def _column(frame: pd.DataFrame, key: str, name: str, file: Path, identifiers: bool = False) -> dict[str, str]:
    parts = _parts(name, list(map(str, frame.columns)))
    found: dict[str, str] = {}
    lines: dict[str, int] = {}
    rows = zip(frame[key].tolist(), *(_texts(frame[part].tolist(), identifiers) for part in parts), strict=True)
    for line, (image, *values) in enumerate(rows, 2):
        value = " + ".join(values) if all(values) else ""
        known = found.setdefault(str(image), value)
        if known != value:
            raise DataMissing(
                f"{file} gives image {image!r} twice: {known!r} in line {lines[str(image)]}, {value!r} in line {line}.",
                "Keep one row for each image.",
            )
        lines.setdefault(str(image), line)
    return found


def _texts(cells: list[Any], identifiers: bool) -> list[str]:
    if not identifiers:
        return normal_names(cells)
    return ["" if cell is None or cell != cell else str(cell).strip() for cell in cells]
