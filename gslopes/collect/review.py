"""The review of a census: photos whose reading is unsure, for people to say how the face looks to them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gslopes.report import review, words
from gslopes.report.review import Question
from gslopes.report.words import link

_PROPER = {name: name.capitalize() for name in ("white", "black", "asian", "indian")}
_CORRECT = {"decision": "correct"}
_FOLDED = "Perceived race and age, if the reading is off"
_READINGS = {
    "gender": {"f": "female", "m": "male", "n": "non-binary", "u": "unknown"},
    "race": {"1": "white", "2": "black", "3": "asian", "4": "indian", "5": "other", "6": "unknown"},
    "age": {"y": "under 35", "o": "35 or older", "k": "unknown"},
}


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
            page=link(source.get("page", "")),
            **{name: words.printable(source.get(name, "")) for name in ("title", "creator", "licence")},
        )

    def shown(self) -> dict[str, Any]:
        """What the page shows of it, and what accepting its reading says."""
        read = {name: getattr(self, name)[0] for name in _READINGS}
        texts = {
            f"{name}_text": f"{_PROPER.get(word, word)} ({round(100 * getattr(self, name)[1])} %)"
            for name, word in read.items()
        }
        credit = " · ".join(filter(None, (self.title, self.creator, self.licence)))
        alt = f"Photo of a search for {self.occupation or 'people at work'}"
        return {**asdict(self), **texts, "credit": credit, "alt": alt, "accept": {"decision": "accept", **read}}


def _questions(unsure: Sequence[str]) -> list[Question]:
    """Only what a person said is an answer: accepting says all three, a key of one says that one.

    The key of gender moves on, else that of the last reading that is asked for.
    """
    last = "gender" if "gender" in unsure else unsure[-1]

    def keys(name: str) -> dict[str, tuple[str, Mapping[str, str]]]:
        return {key: (_PROPER.get(word, word), {**_CORRECT, name: word}) for key, word in _READINGS[name].items()}

    ends = {"x": ("exclude", {"decision": "exclude"}), "d": ("undecided", {"decision": "undecided"})}
    accept = ("accept the reading", "accept")
    first: dict[str, tuple[str, Mapping[str, str] | str]] = {"a": accept, **keys("gender"), **ends}
    moving = {name: set(said if name == last else "") for name, said in _READINGS.items()}
    return [
        Question("Decision", first, moving["gender"] | set("axd")),
        Question("Perceived race", keys("race"), moving["race"], _FOLDED),
        Question("Perceived age", keys("age"), moving["age"], _FOLDED),
    ]


def render_review(
    items: Sequence[Item],
    answers: Sequence[Mapping[str, str]],
    confidence: float,
    unsure: Sequence[str] = ("gender",),
) -> str:
    """The page as text.

    items: in the order in which they are shown.  answers: rows of the review's CSV so far; those about other photos are
    kept when it is saved again.  confidence: below which a photo is here.  unsure: the readings that are asked for.
    """
    return review.render_review(
        "census-review.html.j2",
        Path(__file__).parent,
        _questions(unsure),
        [item.shown() for item in items],
        answers,
        ("photo", "path", "decision", *_READINGS),
        copied=("photo", "path"),
        id=("photo",),
        done=({"decision": "exclude"}, {"decision": "accept"}, _CORRECT | dict.fromkeys(unsure, "*")),
        values={"decision": ("accept", "correct", "exclude", "undecided")},
        resets={"decision": "accept"},
        names=_PROPER,
        page={"opened": set(unsure) != {"gender"}, "confidence": f"{confidence:.0%}".replace("%", " %")},
    )
