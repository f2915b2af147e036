"""The explorer's photos: who is in the list, where their pictures lie, and every classifier's scores on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.report import words
from gslopes.slopes.report import credit, findings, pictures, tally
from gslopes.slopes.report.answers import Answers
from gslopes.slopes.report.credit import Credit
from gslopes.slopes.report.loading import Embed
from gslopes.slopes.report.tally import face_box

MOST_FLIPS = 200  # labels of the explorer's filter


@dataclass(frozen=True, slots=True, eq=False)
class Album:
    """The photos of the explorer.

    photos: ids in the order of their paths.  names: as shown.  index: id to place.
    files: (photo, attribute) to the pictures relative to the report.
    """

    photos: list[str]
    names: list[str]
    index: Mapping[str, int]
    files: Mapping[tuple[str, str], list[str]]


def count_sweeps(run: Path, attributes: Mapping[str, int]) -> int:
    """How many sweeps ``build_album`` goes through."""
    edits = tally.read(tables.EDITS, run, ["photo", "attribute"])
    return len(edits[edits["attribute"].isin(list(attributes))].drop_duplicates())


def build_album(
    run: Path,
    report: Path,
    attributes: Mapping[str, int],
    embed: Embed,
    tick: Callable[[int], None] | None = None,
) -> Album:
    """Write the pictures of all photos that have sweeps, as ``embed`` says.

    attributes: name to K, real sweeps only.  With ``none`` a photo is named by its id: names may tell who is on it.
    tick: called with 1 for every sweep whose pictures are there.
    """
    edits = tally.read(tables.EDITS, run, ["photo", "attribute", "step", "file"])
    edits = edits[edits["attribute"].isin(list(attributes))].sort_values(["attribute", "photo", "step"])
    known = tally.read(tables.PHOTOS, run, ["photo", "path", "box", "status"])
    known = known[known["status"] == "used"].drop_duplicates("photo").set_index("photo")
    order = sorted(set(edits["photo"]) | set(known.index), key=lambda photo: (_path(known, photo), photo))
    shown = [photo[:12] if embed == "none" else words.printable(_path(known, photo)) for photo in order]
    wanted = []
    for (attribute, photo), of_photo in edits.groupby(["attribute", "photo"], sort=True):
        if of_photo["step"].tolist() == list(range(attributes[str(attribute)])):
            box = face_box(known.at[photo, "box"]) if photo in known.index else None
            steps = tuple(run / file for file in of_photo["file"])
            wanted.append(pictures.Wanted(str(photo), str(attribute), box, steps))
    files = pictures.write(report, run, wanted, embed, tick)
    return Album(order, shown, {photo: place for place, photo in enumerate(order)}, files)


def listing(
    album: Album,
    attributes: Sequence[str],
    why: Iterable[tuple[str, str, str]] = (),
    known: Mapping[str, Credit] | None = None,
    flips: Mapping[str, list[list[Any]]] | None = None,
) -> dict[str, Any]:
    """The file with the list: names, and for each attribute and photo its pictures (none, one strip, or K).

    why: (photo, attribute, reason) of the sweeps that the gate dropped.  known: photo to credit.
    flips: key of a finding to its ``flipped``.
    """
    files = {name: [album.files.get((photo, name), []) for photo in album.photos] for name in attributes}
    dropped: dict[str, dict[int, str]] = {name: {} for name in attributes}
    for photo, attribute, reason in why:
        if attribute in dropped and photo in album.index:
            dropped[attribute][album.index[photo]] = words.printable(reason)
    differences = {
        name: [pictures.difference_name(photo, name) if (photo, name) in album.files else "" for photo in album.photos]
        for name in attributes
    }
    return {
        "names": album.names,
        "files": files,
        "differences": differences,
        "dropped": dropped,
        "credits": credit.listing(known or {}, album.photos),
        "flips": dict(flips or {}),
    }


def flipped(answers: Answers, album: Album) -> list[list[Any]]:
    """[label, places of photos] for each label that is there at one end of a photo's sweep and not at the other.

    Labels with most such photos first, at most ``MOST_FLIPS``.
    """
    if not len(answers.values):
        return []
    there = ~np.isnan(answers.scores[:, [0, -1]])
    rows = np.flatnonzero((there[:, 0] != there[:, 1]) & answers.complete[answers.photo])
    found: dict[str, list[int]] = {}
    for row in rows.tolist():
        place = album.index.get(answers.photos[answers.photo[row]])
        if place is not None:
            found.setdefault(answers.labels[answers.label[row]], []).append(place)
    order = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_FLIPS]
    return [[words.label(label), sorted(places)] for label, places in order]


def scores_files(album: Album, scores: Mapping[str, Mapping[str, list[list[Any]]]]) -> list[dict[str, Any]]:
    """The scores of a few photos a file, in the order of the list.

    scores: key of a finding (``f0``) to photo to rows; see ``findings.photo_scores``.
    """
    chunks = []
    for start in range(0, len(album.photos), findings.PHOTOS_A_FILE):
        photos = album.photos[start : start + findings.PHOTOS_A_FILE]
        chunk = [{key: by[photo] for key, by in scores.items() if photo in by} for photo in photos]
        chunks.append({"start": start, "photos": chunk})
    return chunks


def _path(known: pd.DataFrame, photo: str) -> str:
    return str(known.at[photo, "path"]) if photo in known.index else photo[:16]


def middle(values: Sequence[float]) -> int:
    """The step whose value is nearest 0: where the explorer's slider begins."""
    return int(np.argmin(np.abs(np.asarray(values, dtype=float)))) if len(values) else 0
