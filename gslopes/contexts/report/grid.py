"""People across contexts: each composite with what was inferred and its tags, coloured by what they are."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from PIL import Image

from gslopes.core import tables
from gslopes.core.errors import ConfigError
from gslopes.report import words

MOST_PEOPLE = 8
EMBED = ("thumbs", "full", "none")
_THUMB = 240


@dataclass(frozen=True, slots=True)
class Cell:
    """One picture.  src: of the image.  answers: classifier to (inferred, [(tag, kind)])."""

    src: str
    condition: str
    answers: dict[str, tuple[str, list[tuple[str, str]]]]


@dataclass(frozen=True, slots=True)
class Person:
    """One row: what the person says of themselves, and a cell for each condition, None where there is no picture."""

    gender: str
    group: str
    cells: list[Cell | None]


@dataclass(frozen=True, slots=True)
class Grid:
    """conditions: column heads.  classifiers: whose answers are there.  empty: the backgrounds alone, by condition."""

    conditions: list[str]
    classifiers: list[str]
    people: list[Person]
    empty: list[Cell | None]


def make_grid(run: Path, found: Mapping[str, pd.DataFrame], embed: str = "thumbs") -> Grid:
    """The grid of at most eight people, chosen evenly over the photos' ids, never for what they show.

    embed: ``thumbs`` and ``full`` put the pictures into the page, ``none`` names their files.

    Raises: ConfigError for another word.
    """
    if embed not in EMBED:
        raise ConfigError(f"embed is {embed!r}.", f"It is one of {', '.join(EMBED)}.")
    composites = found["composites"]
    plain = composites[(composites["step"] == 0) & ~composites["attribute"].str.contains("~")]
    shown = plain[plain["kind"].isin(["original", "canvas", "context"])]
    firsts = shown[shown["kind"] == "context"].groupby("context", sort=True)["attribute"].min()
    conditions = [name for name in ("original", "canvas") if name in set(shown["attribute"])] + list(firsts)
    answers = _answers(run, found)
    files = {(row["photo"], row["attribute"]): row["file"] for row in plain.to_dict("records")}
    people = found["people"].set_index("photo")
    rows = []
    for photo in _evenly(found["people"], set(shown.loc[shown["kind"] == "context", "photo"])):
        cells = [_cell(run, files, answers, photo, name, name, embed) for name in conditions]
        rows.append(Person(str(people.loc[photo, "gender"]), str(people.loc[photo, "group"]), cells))
    photo_of = dict(zip(found["backgrounds"]["key"], found["backgrounds"]["photo"], strict=True))
    empty = [_cell(run, files, answers, photo_of.get(name, ""), "empty", name, embed) for name in conditions]
    return Grid(conditions, sorted({key[0] for key in answers}), rows, empty)


def _evenly(people: pd.DataFrame, shown: set[str]) -> list[str]:
    """As many women as men where there are, each evenly over their ids; genders of few people leave room to others."""
    kept = people[people["photo"].isin(shown)].sort_values("photo")
    chosen: dict[str, list[str]] = {}
    counts = kept["gender"].value_counts().sort_index().sort_values(kind="stable")
    for index, gender in enumerate(counts.index):
        photos = list(kept.loc[kept["gender"] == gender, "photo"])
        most = (MOST_PEOPLE - sum(map(len, chosen.values()))) // (len(counts) - index)
        step = max(1, len(photos) // max(most, 1))
        chosen[gender] = photos[::step][:most]
    order = sorted(chosen, key=lambda word: (word not in ("woman", "man"), word))
    return [photo for gender in order for photo in chosen[gender]]


def _cell(
    run: Path,
    files: Mapping[tuple[str, str], str],
    answers: Mapping[tuple[str, str, str], tuple[str, list[tuple[str, str]]]],
    photo: str,
    attribute: str,
    condition: str,
    embed: str,
) -> Cell | None:
    file = files.get((photo, attribute))
    if file is None:
        return None
    given = {key[0]: answer for key, answer in answers.items() if key[1:] == (photo, attribute)}
    return Cell(picture(run / file, embed, "../" + quote(file)), condition, given)


def picture(path: Path, embed: str, link: str) -> str:
    """The address of an image: the file's, or the picture itself, small or whole.  An unreadable one is linked."""
    if embed == "none" or not path.is_file():
        return link
    if embed == "full":
        kind = "png" if path.suffix == ".png" else "jpeg"
        return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
    with Image.open(path) as whole:
        small = whole.convert("RGB")
        small.thumbnail((_THUMB, _THUMB), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.save(file, "JPEG", quality=82)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"


def _answers(
    run: Path, found: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str, str], tuple[str, list[tuple[str, str]]]]:
    """(classifier, photo, attribute) to what was inferred and the tags with their kinds, best first."""
    described = found["described"]
    rows = described[(described["tags"] == "gross") & (described["step"] == 0)]
    inferred = {
        (row[0], row[1], row[2]): row[3]
        for row in rows[["classifier", "photo", "attribute", "inferred"]].itertuples(index=False)
    }
    tags: dict[tuple[str, str, str], list[tuple[str, str]]] = {key: [] for key in inferred}
    if (run / "scores.parquet").is_file():
        kinds = _kinds(found)
        scores = tables.read(tables.SCORES, run / "scores.parquet")
        scores = scores[scores["step"] == 0].sort_values(["score", "label"], ascending=[False, True])
        for name, photo, attribute, label in zip(
            scores["classifier"], scores["photo"], scores["attribute"], scores["label"], strict=True
        ):
            if (name, photo, attribute) in tags:
                tags[name, photo, attribute].append((words.printable(label), kinds.get((name, label), "")))
    return {key: (str(inferred[key]), said) for key, said in tags.items()}


def _kinds(found: Mapping[str, pd.DataFrame]) -> dict[Any, str]:
    frame = found.get("tag_kinds")
    if frame is None:
        return {}
    return {(row[0], row[1]): row[2] for row in frame[["classifier", "label", "kind"]].itertuples(index=False)}
