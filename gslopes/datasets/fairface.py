"""FairFace (Kärkkäinen & Joo 2021): ``fairface_label_train.csv``, ``fairface_label_val.csv``, ``train/``, ``val/``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing
from gslopes.core.files import is_file
from gslopes.datasets.labelled import LabelledPhotos, need

RACES = ("White", "Black", "Latino_Hispanic", "East Asian", "Southeast Asian", "Indian", "Middle Eastern")
NAMES = (
    "masculine", "age", "age_low", "age_high", "white", "black", "latino_hispanic", "east_asian", "southeast_asian",
    "indian", "middle_eastern", "service_test",
)  # fmt: skip
COLUMNS = ("file", "age", "gender", "race", "service_test")
SPLITS = ("train", "val")
OLDEST = 70, 99  # "more than 70" has no end; this one is ours


def read(data: Path, split: Literal["train", "val"] | None = None) -> LabelledPhotos:
    """The set below ``data/FairFace``, or in ``data`` itself: perceived gender, age and race as annotated.

    split: one of the set's own; both if None, as far as their lists are there.

    ``age`` is the middle of the annotated range, in years, ``age_low`` and ``age_high`` its ends (the open range, "more
    than 70", counts as 70 to 99); ``service_test`` marks the part that the authors used to test services, NaN where
    the list has no such column. Photos that the list names and the folder lacks are left out.

    Raises: DataMissing if the list or the photos are not there, or a line is not FairFace's.
    """
    folder = data / "FairFace" if (data / "FairFace").is_dir() else data
    lists = {name: folder / f"fairface_label_{name}.csv" for name in SPLITS}
    there = [split] if split else [name for name in SPLITS if lists[name].is_file()]
    if not there:
        need(lists["train"], "FairFace's list of labels")
    paths: list[Path] = []
    rows: list[tuple[float, ...]] = []
    for name in there:
        for path, labels in _lines(need(lists[name], "FairFace's list of labels")):
            if is_file(path):
                paths.append(path)
                rows.append(labels)
    if not paths:
        raise DataMissing(f"{folder} holds none of the photos of FairFace's list.", "Unzip train/ and val/ there.")
    return LabelledPhotos("fairface", tuple(paths), NAMES, np.array(rows, np.float32))


def parse(line: dict[str, str]) -> tuple[float, ...]:
    """The labels of one line, in the order of NAMES.

    line: column to text; ``service_test`` may be missing.

    Raises: ValueError, naming what is not FairFace's.

    >>> parse({"file": "val/1.jpg", "age": "3-9", "gender": "Male", "race": "East Asian", "service_test": "False"})
    (1.0, 6.0, 3.0, 9.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    """
    gender, race, tested = line["gender"], line["race"], line.get("service_test") or ""
    if gender not in ("Male", "Female"):
        raise ValueError(f"the gender {gender!r} is neither Male nor Female")
    if race not in RACES:
        raise ValueError(f"there is no race {race!r}")
    if tested not in ("True", "False", ""):
        raise ValueError(f"service_test is {tested!r}, not True or False")
    low, high = age_range(line["age"])
    races = tuple(float(race == one) for one in RACES)
    return (float(gender == "Male"), (low + high) / 2, low, high, *races, float(tested == "True") if tested else np.nan)


def age_range(text: str) -> tuple[float, float]:
    """Least and greatest age in years.  Raises: ValueError.

    >>> age_range("20-29"), age_range("more than 70")
    ((20.0, 29.0), (70.0, 99.0))
    """
    if text == f"more than {OLDEST[0]}":
        return float(OLDEST[0]), float(OLDEST[1])
    ends = re.fullmatch(r"(\d+)-(\d+)", text)
    if ends is None or int(ends[1]) > int(ends[2]):
        raise ValueError(f"the age {text!r} is not a range such as 20-29")
    return float(ends[1]), float(ends[2])


def _lines(path: Path) -> list[tuple[Path, tuple[float, ...]]]:
    """(photo, labels) of every line of a list.  Raises: DataMissing."""
    found = []
    hint = "Take the list as FairFace publishes it."
    for number, line in read_csv(path, COLUMNS[:4], unique=("file",), raises=DataMissing, hint=hint).rows():
        try:
            found.append((path.parent / line["file"], parse(line)))
        except ValueError as error:
            raise DataMissing(f"{path}, line {number} is not FairFace's: {error}.", hint) from error
    return found
