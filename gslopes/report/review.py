"""The review: one page that opens from the disk, asks no server, and is answered by keyboard; its answers are a CSV."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from gslopes.report import words
from gslopes.report.credit import link
from gslopes.report.inline import render


@dataclass(frozen=True, slots=True)
class Item:
    """One photo to be reviewed.

    photo: its sha256.  path: below the photos folder.  src: where the page finds the file.  occupation: its folder's or
    its search's.  box: x0 y0 x1 y1 of the face that was read, as shares of the sides.
    gender, race, age: the reader's reading and its probability.
    title, creator, licence, page: as the manifest tells; empty if there is none.
    """

    photo: str
    path: str
    src: str
    occupation: str
    box: tuple[float, ...]
    gender: tuple[str, float]
    race: tuple[str, float]
    age: tuple[str, float]
    title: str = ""
    creator: str = ""
    licence: str = ""
    page: str = ""

    @classmethod
    def of(cls, row: Mapping[Any, Any], source: Mapping[str, Any], file: str) -> Item:
        """From a row of the census and one of the manifest (empty if there is none).

        file: its path as seen from the page.
        """
        races = {name: float(row[name]) for name in ("white", "black", "asian", "indian", "other")}
        masculine, young = float(row["masculine"]), float(row["young"])
        return cls(
            photo=str(row["photo"]),
            path=words.printable(row["path"]),
            src=quote(os.fsencode(file)),
            occupation=words.printable(row["occupation"]),
            box=tuple(round(float(end), 4) for end in row["box"]),
            gender=("male", masculine) if masculine >= 0.5 else ("female", 1 - masculine),
            race=max(races.items(), key=lambda pair: pair[1]),
            age=("under 35", young) if young >= 0.5 else ("35 or older", 1 - young),
            title=words.printable(source.get("title", "")),
            creator=words.printable(source.get("creator", "")),
            licence=words.printable(source.get("licence", "")),
            page=link(source.get("page", "")),
        )


def render_review(items: Sequence[Item], answers: Sequence[Mapping[str, str]], confidence: float) -> str:
    """The page as text.

    items: in the order in which they are shown.  answers: rows of the review's CSV so far; those about other photos are
    kept when it is saved again.  confidence: below which a photo is here.
    """
    return render(
        "review.html.j2",
        styles=("review.css",),
        scripts=("review-base.js", "review.js"),
        data={"items": [asdict(item) for item in items], "answers": [dict(row) for row in answers]},
        count=len(items),
        confidence=f"{confidence:.0%}".replace("%", " %"),
    )
