"""The Face Research Lab London Set (DeBruine & Jones 2017): ``neutral/``, ``smiling/`` and ``people.csv``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing
from training.sources.labelled import LabelledPhotos, need

RACES = ("white", "black", "east_asian", "west_asian")
NAMES = ("masculine", "age", *RACES)


def read(data: Path, expression: Literal["neutral", "smiling"] = "neutral") -> LabelledPhotos:
    """The portraits with one expression, and what the people said of themselves.

    Labels: masculine 1 or 0, age in years, each ethnicity 1 or 0; NaN where a person gave none, or several ethnicities.

    Raises: DataMissing if the folder or the table is not there.
    """
    folder = need(data / expression, f"The London set's {expression} portraits")
    paths = tuple(sorted(folder.glob("*.jpg")))
    if not paths:
        raise DataMissing(f"{folder} holds no JPEG picture.", "Unpack the London set there.")
    table = need(data / "people.csv", "The London set's table of people")
    people = {row["id"]: row for _, row in read_csv(table, ("id",), unique=("id",), raises=DataMissing).rows()}
    rows = [_labels(people.get(path.stem, {})) for path in paths]
    return LabelledPhotos("london", paths, NAMES, np.array(rows, np.float32))


def _labels(person: dict[str, str]) -> list[float]:
    nan = float("nan")
    gender = {"male": 1.0, "female": 0.0}.get(person.get("gender", ""), nan)
    age = person.get("age", "")
    ethnicity = person.get("ethnicity", "")
    races = [float(ethnicity == race) if ethnicity in RACES else nan for race in RACES]
    return [gender, float(age) if age.isdecimal() else nan, *races]
