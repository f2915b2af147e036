"""People across contexts: each composite with the inferred gender and its tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from PIL import Image

from gslopes.contexts.tables import TABLES
from gslopes.core import tables
from gslopes.core.errors import PhotoError
from gslopes.photos.folder import photo_bytes, photo_of
from gslopes.report import words
from gslopes.report.inline import jpeg_uri

MOST_PEOPLE = 8
_THUMB = 240
Answers = dict[str, tuple[str, list[str]]]
"""Classifier to the inferred gender and the tags, best first."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One picture.  src: address of the image."""

    src: str
    condition: str
    answers: Answers


@dataclass(frozen=True, slots=True)
class Person:
    """One row: the person's self-report, and a cell for each condition, None where there is no picture."""

    gender: str
    group: str
    cells: list[Cell | None]


@dataclass(frozen=True, slots=True)
class PictureGrid:
    """conditions: column heads.  classifiers: whose answers are there.  empty: the backgrounds alone, by condition."""

    conditions: list[str]
    classifiers: list[str]
    people: list[Person]
    empty: list[Cell | None]


def picture_grid(run: Path, results: Mapping[str, pd.DataFrame]) -> PictureGrid:
    """The grid of at most eight people, chosen evenly over the photos' ids, never for what they show."""
    composites, described = results["composites"], results.get("described", TABLES["described"].empty())
    plain = composites[(composites["step"] == 0) & ~composites["attribute"].str.contains("~")]
    in_context = plain[plain["kind"] == "context"]
    firsts = in_context.groupby("context", sort=True)["attribute"].min()
    conditions = [name for name in ("original", "canvas") if name in set(plain["attribute"])] + list(firsts)
    files = dict(zip(zip(plain["photo"], plain["attribute"], strict=True), plain["file"], strict=True))
    gross = described[(described["tags"] == "gross") & (described["step"] == 0)]
    answers = _answers(run, gross)

    def cell(photo: str, attribute: str, condition: str) -> Cell | None:
        try:
            file = files[photo, attribute]
            small = Image.fromarray(photo_of(photo_bytes(file, run), Path(file)).pixels)
        except (KeyError, PhotoError):
            return None
        small.thumbnail((_THUMB, _THUMB), Image.Resampling.LANCZOS)
        return Cell(jpeg_uri(small, 82), condition, answers.get((photo, attribute), {}))

    chosen = _evenly(results["people"], set(in_context["photo"]))
    people = results["people"].set_index("photo")
    rows = [
        Person(
            str(people.loc[photo, "gender"]), str(people.loc[photo, "group"]), [cell(photo, n, n) for n in conditions]
        )
        for photo in chosen
    ]
    photo_of_key = dict(zip(results["backgrounds"]["key"], results["backgrounds"]["photo"], strict=True))
    empty = [cell(photo_of_key.get(name, ""), "empty", name) for name in conditions]
    return PictureGrid(conditions, sorted(set(described["classifier"])), rows, empty)


def _evenly(people: pd.DataFrame, shown: set[str]) -> list[str]:
    """As many women as men where there are, each evenly over their ids; genders of few people leave room to others."""
    kept = people[people["photo"].isin(shown)].sort_values("photo")
    chosen: dict[str, list[str]] = {}
    counts = kept["gender"].value_counts().sort_index().sort_values(kind="stable")
    for index, gender in enumerate(counts.index):
        photos = list(kept.loc[kept["gender"] == gender, "photo"])
        most = (MOST_PEOPLE - sum(map(len, chosen.values()))) // (len(counts) - index)
        chosen[gender] = photos[:: max(1, len(photos) // max(most, 1))][:most]
    order = sorted(chosen, key=lambda word: (word not in ("woman", "man"), word))
    return [photo for gender in order for photo in chosen[gender]]


def _answers(run: Path, rows: pd.DataFrame) -> dict[tuple[str, str], Answers]:
    """(photo, attribute) to the answers about that picture.  rows: of the ``described`` table."""
    answers: dict[tuple[str, str], Answers] = {}
    for row in rows.to_dict("records"):
        answers.setdefault((row["photo"], row["attribute"]), {})[row["classifier"]] = (str(row["inferred"]), [])
    if not (run / "scores.parquet").is_file():
        return answers
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    scores = scores[scores["step"] == 0].sort_values(["score", "label"], ascending=[False, True])
    for row in scores.to_dict("records"):
        known = answers.get((row["photo"], row["attribute"]), {})
        if row["classifier"] in known:
            known[row["classifier"]][1].append(words.printable(row["label"]))
    return answers
