"""People across contexts: each composite with the inferred gender and its tags, coloured by their kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
Answers = dict[str, tuple[str, list[tuple[str, str]]]]
"""Classifier to the inferred gender and the tags with their kinds, best first."""


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
    shown = plain[plain["kind"].isin(["original", "canvas", "context"])]
    firsts = shown[shown["kind"] == "context"].groupby("context", sort=True)["attribute"].min()
    conditions = [name for name in ("original", "canvas") if name in set(shown["attribute"])] + list(firsts)
    files = {(row["photo"], row["attribute"]): row["file"] for row in plain.to_dict("records")}
    answers = _answers(run, described[(described["tags"] == "gross") & (described["step"] == 0)], results)

    def cell(photo: str, attribute: str, condition: str) -> Cell | None:
        file = files.get((photo, attribute))
        if file is None:
            return None
        src = _address(run, file)
        return Cell(src, condition, answers.get((photo, attribute), {})) if src else None

    people = results["people"].set_index("photo")
    rows = [
        Person(
            str(people.loc[photo, "gender"]), str(people.loc[photo, "group"]), [cell(photo, n, n) for n in conditions]
        )
        for photo in _evenly(results["people"], set(shown.loc[shown["kind"] == "context", "photo"]))
    ]
    photo_of = dict(zip(results["backgrounds"]["key"], results["backgrounds"]["photo"], strict=True))
    empty = [cell(photo_of.get(name, ""), "empty", name) for name in conditions]
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


def _address(run: Path, file: str) -> str:
    """An image as an address, small; empty if it is no picture of the run.

    file: relative to the run folder, as a table names it.
    """
    try:
        photo = photo_of(photo_bytes(file, run), Path(file))
    except PhotoError:
        return ""
    small = Image.fromarray(photo.pixels)
    small.thumbnail((_THUMB, _THUMB), Image.Resampling.LANCZOS)
    return jpeg_uri(small, 82)


def _answers(run: Path, rows: pd.DataFrame, results: Mapping[str, pd.DataFrame]) -> dict[tuple[str, str], Answers]:
    """(photo, attribute) to the answers about that picture.  rows: of the ``described`` table."""
    answers: dict[tuple[str, str], Answers] = {}
    for name, photo, attribute, inferred in zip(
        *(rows[column] for column in ("classifier", "photo", "attribute", "inferred")), strict=True
    ):
        answers.setdefault((photo, attribute), {})[name] = (str(inferred), [])
    if not (run / "scores.parquet").is_file():
        return answers
    kinds: dict[Any, str] = {}
    if "tag_kinds" in results:
        kinds = results["tag_kinds"].set_index(["classifier", "label"])["kind"].to_dict()
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    scores = scores[scores["step"] == 0].sort_values(["score", "label"], ascending=[False, True])
    for name, photo, attribute, label in zip(
        *(scores[column] for column in ("classifier", "photo", "attribute", "label")), strict=True
    ):
        if name in answers.get((photo, attribute), {}):
            answers[photo, attribute][name][1].append((words.printable(label), kinds.get((name, label), "")))
    return answers
