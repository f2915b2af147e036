"""UTKFace (Zhang, Song, Qi 2017): aligned and cropped faces, ``age_gender_race_date.jpg.chip.jpg`` in one folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gslopes.core.errors import DataMissing
from training.sources.labelled import LabelledPhotos, need

NAMES = ("masculine", "age", "white", "black", "asian", "indian", "other")


def read(data: Path) -> LabelledPhotos:
    """The set below ``data/UTKFace``; perceived gender and race as its annotators gave them, age in years.

    Files whose names lack a part (some of the official set do) are left out.

    Raises: DataMissing if the folder is not there or holds no such file.
    """
    folder = need(data / "UTKFace", "UTKFace")
    paths, rows = [], []
    for path in sorted(folder.glob("*.jpg")):
        labels = parse(path.name)
        if labels is not None:
            paths.append(path)
            rows.append(labels)
    if not paths:
        raise DataMissing(f"{folder} holds no picture named as UTKFace names them.", "Unpack UTKFace there.")
    return LabelledPhotos("utkface", tuple(paths), NAMES, np.array(rows, np.float32))


def parse(name: str) -> tuple[float, ...] | None:
    """The labels in a file name, in the order of NAMES; None if it has not all of them.

    >>> parse("30_1_3_20170104235219219.jpg.chip.jpg")
    (0.0, 30.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    """
    parts = name.split("_")
    if len(parts) < 4 or not all(part.isdigit() for part in parts[:3]):
        return None
    age, gender, race = (int(part) for part in parts[:3])
    if gender > 1 or race > 4:
        return None
    return (float(gender == 0), float(age), *(float(race == index) for index in range(5)))
