"""The review of a census: photos whose reading is unsure, for people to answer how the face looks to them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gslopes.collect.config import COLUMNS, DECISIONS
from gslopes.core import JsonObject, read_beside
from gslopes.report import review, words

REVIEW = read_beside(__file__, "review.toml")
PROPER: dict[str, str] = REVIEW["proper"]


def item_of(
    row: Mapping[Any, Any],
    chances: Mapping[str, Mapping[str, float]],
    source: Mapping[str, Any],
    file: str,
) -> JsonObject:
    """What the page shows of a photo, and which answers it gives when its reading is accepted.

    row: of the census.  chances: what was read, see ``collect.census.chances``.
    source: the photo's row of the manifest, empty if it has no row.  file: its path as seen from the page.
    """
    read = {name: max(values.items(), key=lambda pair: pair[1]) for name, values in chances.items()}
    occupation = words.printable(row["occupation"])
    credit = [words.printable(source.get(name, "")) for name in ("title", "creator", "licence")]
    return {
        "photo": str(row["photo"]),
        "path": words.printable(row["path"]),
        "src": quote(os.fsencode(file)),
        "occupation": occupation,
        "box": [round(float(end), 4) for end in row["box"]],
        "page": words.link(source.get("page", "")),
        "credit": " · ".join(filter(None, credit)),
        "alt": f"Photo of a search for {occupation or 'people at work'}",
        "accept": {"decision": "accept", **{name: value for name, (value, _) in read.items()}},
        **{
            f"{name}_text": f"{PROPER.get(value, value)} ({round(100 * p)} %)"
            for name, (value, p) in read.items()
        },
    }


def render_review(
    items: Sequence[Mapping[str, Any]],
    answers: Sequence[Mapping[str, str]],
    confidence: float,
    unsure: Sequence[str] = ("gender",),
) -> str:
    """The page as text.

    items: as of ``item_of``, in the order in which they are shown.  answers: rows of the review's CSV so far; those
    about other photos are kept when it is saved again.  confidence: below which a photo is here.
    unsure: the readings that are asked for. Only what a person chose is an answer: accepting answers all, a key of
    one answers that one. The key of gender moves on, else the key of the last reading that is asked for.
    """
    last = "gender" if "gender" in unsure else unsure[-1]
    questions = []
    for question in REVIEW["question"]:
        keys = question["keys"]
        moving = keys if question["name"] == last else question["moving"]
        questions.append(review.Question(question["legend"], keys, moving, question["folded"]))
    return review.render_review(
        "census-review.html.j2",
        Path(__file__).parent,
        questions,
        items,
        answers,
        COLUMNS,
        copied=("photo", "path"),
        id=("photo",),
        done=(
            {"decision": "exclude"},
            {"decision": "accept"},
            {"decision": "correct", **dict.fromkeys(unsure, "*")},
        ),
        values={"decision": DECISIONS},
        resets={"decision": "accept"},
        names=PROPER,
        page={
            "opened": set(unsure) != {"gender"},
            "confidence": f"{confidence:.0%}".replace("%", " %"),
        },
    )
