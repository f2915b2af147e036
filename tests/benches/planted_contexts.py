"""Answers to the pictures of a context audit with planted effects, for the fake services: quotas, not draws.

Of the women in front of a background of congruence k, with their face edited to the value a, the share p = 0.75 + s k -
f a is called a woman, the next 0.15 nothing, the rest a man; of the men p = 0.15 - s k - f a is called a woman.
Hence the share of right answers rises by s per unit of congruence for both, and the share called a woman falls by f per
unit of the edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.contexts import TABLES
from gslopes.contexts.measures.congruence import kappa
from gslopes.core import tables

Labels = list[tuple[str, float]]
NEUTRAL = 0.15
WOMEN, MEN = 0.75, 0.15  # share called a woman at congruence 0 and value 0
FACE = 0.03  # f: the share called a woman falls by so much per unit of the edit
SLOPES: Mapping[str, float] = {
    "google": 0.08,
    "rekognition": 0.04,
    "clarifai": -0.08,
    "azure": 0.0,
    "imagga": 0.06,
}
NAMES = {  # a tag of the starter typology that names the context and no gender
    "garage": "car_repair", "home-kitchen": "kitchenware", "kindergarten": "elementary_school",
    "lecture-hall": "auditorium", "nursery": "crib", "restaurant-kitchen": "restaurant_kitchen", "sports-bar": "pub",
    "wedding-shop": "wedding_dress",
}  # fmt: skip


def plant(
    run: Path, slopes: Mapping[str, float] = SLOPES, face: float = FACE
) -> dict[str, dict[str, Labels]]:
    """Service to sha256 of each picture of a run to its labels.  run: whose pictures are made."""
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    composites = tables.read(TABLES["composites"], run / "composites.parquet").set_index(
        ["photo", "attribute", "step"]
    )
    people = tables.read(TABLES["people"], run / "people.parquet").set_index("photo")
    ratings = {
        str(row["context"]): float(row["rating"])
        for row in tables.read(TABLES["backgrounds"], run / "backgrounds.parquet").to_dict(
            "records"
        )
    }
    ranks = _ranks(people)
    result: dict[str, dict[str, Labels]] = {service: {} for service in slopes}
    for row in edits.to_dict("records"):
        digest = sha256((run / row["file"]).read_bytes()).hexdigest()
        context = str(composites.loc[(row["photo"], row["attribute"], row["step"]), "context"])
        for service, slope in slopes.items():
            labels = [("indoors", 0.95), ("wall", 0.9)]
            if context:
                labels.append((NAMES.get(context, "room"), 0.85))
            if row["photo"] in ranks:
                gender = str(people.loc[row["photo"], "gender"])
                rating = ratings.get(context, 5.0)
                labels += _person(
                    gender, ranks[row["photo"]], rating, float(row["value"]), slope, face
                )
            result[service][digest] = labels
    return result


def _person(
    gender: str, rank: float, rating: float, value: float, slope: float, face: float
) -> Labels:
    fits = slope * kappa(rating, gender)
    called = WOMEN + fits - face * value if gender == "woman" else MEN - fits - face * value
    word = "woman" if rank < called else "" if rank < called + NEUTRAL else "man"
    return [("portrait", 0.8), *([(word, 0.75)] if word else [])]


def _ranks(people: pd.DataFrame) -> dict[str, float]:
    """Photo to its rank in (0, 1) among photos of its gender, evenly spread."""
    facts = {}
    for _, part in people.groupby("gender"):
        photos = sorted(part.index)
        facts |= dict(zip(photos, (np.arange(len(photos)) + 0.5) / len(photos), strict=True))
    return {str(photo): float(rank) for photo, rank in facts.items()}
