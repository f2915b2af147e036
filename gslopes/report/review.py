"""The review: one page that opens from the disk, asks no server, and is answered by keyboard; its answers are a CSV."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from gslopes.report import words
from gslopes.report.inline import render
from gslopes.report.words import link


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


def review_data(
    items: Sequence[Mapping[str, Any]],
    answers: Sequence[Mapping[str, str]],
    columns: Sequence[str],
    *,
    copied: Sequence[str],
    done: Sequence[Mapping[str, str]],
    keys: Mapping[str, Mapping[str, Any]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    reviewer: str = "",
    **more: Any,
) -> dict[str, Any]:
    """What the script of every review reads: ``review.js``.

    items: what is shown of each; they hold the columns in ``copied``.  answers: rows of the CSV so far.
    columns: of that CSV.  copied: those that name an item.  done: cells of an answered row, ``*`` for any text.
    keys: key to the cells that it ``set``s, or to the name of an item's own (``from``), and whether it moves on
        (``next``).  values: column to the texts that a file may have in it.  reviewer: the column of who answers.
    more: ``id`` where rows differ by more than ``copied``; ``others``, rows about no item are kept; ``resets``,
        cells of a row that another key begins again; ``untold``, columns that are not shown; ``names`` of values;
        ``noun`` of an item.
    """
    named = [[str(item[name]) for name in copied] for item in items]
    kept = [{name: str(row.get(name, "")) for name in columns} for row in answers]
    key, base = (sha256(json.dumps(part).encode()).hexdigest()[:32] for part in (named, kept))
    usual: dict[str, Any] = {"id": copied, "others": False, "resets": None, "untold": [], "names": {}, "noun": "Photo"}
    return usual | {
        "items": list(items),
        "answers": kept,
        "columns": columns,
        "copied": copied,
        "done": done,
        "keys": keys or {},
        "values": values or {},
        "reviewer": reviewer,
        "key": key,
        "base": base,
        **more,
    }


def _key(cells: Mapping[str, str], *, on: bool = True) -> dict[str, Any]:
    return {"set": cells, "next": on}


_SAID = ("gender", "race", "age")
_PROPER = {name: name.capitalize() for name in ("white", "black", "asian", "indian")}
_GENDER = {"f": "female", "m": "male", "n": "non-binary", "u": "unknown"}
_RACE = {"1": "white", "2": "black", "3": "asian", "4": "indian", "5": "other", "6": "unknown"}
_AGE = {"y": "under 35", "o": "35 or older", "k": "unknown"}
_CORRECT = {"decision": "correct"}
# Only what a person said is an answer: accepting says all three, a key of one says that one.
_KEYS = {
    "a": {"from": "accept", "next": True},
    "x": _key({"decision": "exclude"}),
    "d": _key({"decision": "undecided"}),
}


def _keys(unsure: Sequence[str]) -> dict[str, Any]:
    """The page's keys: that of gender is the last one and moves on, else that of the last reading that is asked for."""
    last = "gender" if "gender" in unsure else unsure[-1]
    said = {"gender": _GENDER, "race": _RACE, "age": _AGE}
    words = {
        key: _key(_CORRECT | {name: word}, on=name == last) for name, keys in said.items() for key, word in keys.items()
    }
    return {"a": _KEYS["a"], **words, **{key: _KEYS[key] for key in "xd"}}


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
    shown = []
    for item in items:
        read = {name: getattr(item, name)[0] for name in _SAID}
        texts = {
            f"{name}_text": f"{_PROPER.get(word, word)} ({round(100 * getattr(item, name)[1])} %)"
            for name, word in read.items()
        }
        credit = " · ".join(filter(None, (item.title, item.creator, item.licence)))
        alt = f"Photo of a search for {item.occupation or 'people at work'}"
        accept = {"decision": "accept", **read}
        shown.append({**asdict(item), **texts, "credit": credit, "alt": alt, "accept": accept})
    data = review_data(
        shown,
        answers,
        ("photo", "path", "decision", *_SAID),
        copied=("photo", "path"),
        id=("photo",),
        done=({"decision": "exclude"}, {"decision": "accept"}, _CORRECT | dict.fromkeys(unsure, "*")),
        keys=_keys(unsure),
        values={"decision": ("accept", "correct", "exclude", "undecided")},
        others=True,
        resets={"decision": "accept"},
        names=_PROPER,
    )
    return render(
        "review.html.j2",
        styles=("review.css",),
        scripts=("review.js",),
        data=data,
        count=len(items),
        opened=set(unsure) != {"gender"},
        confidence=f"{confidence:.0%}".replace("%", " %"),
    )
