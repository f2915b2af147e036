"""The review of a census: photos whose reading is unsure, for people to answer how the face looks to them."""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from gslopes.collect.config import COLUMNS, REVIEW
from gslopes.core import Facts, Texts
from gslopes.core.tables import Record, Row, records
from gslopes.report import inline, review

PROPER: dict[str, str] = REVIEW["proper"]


def items_of(shown: Sequence[Record]) -> list[Row]:
    """What the page shows of photos, and which answers each gives when its reading is accepted.

    shown: rows of the census, next to ``read``, see ``collect.census.chances``; ``source``, the photo's row of the
        manifest, empty if it has no row; ``file``, its path as seen from the page.
    """
    rows = [
        {
            **row,
            "best": {name: max(read, key=read.__getitem__) for name, read in row["read"].items()},
        }
        for row in shown
    ]
    texts = records(inline.listed(REVIEW["item"], rows, proper=PROPER))
    return [
        {
            **text,
            "src": quote(os.fsencode(row["file"])),
            "box": [round(float(end), 4) for end in row["box"]],
            "accept": {"decision": "accept", **row["best"]},
        }
        for text, row in zip(texts, rows, strict=True)
    ]


def render_review(
    items: Sequence[Facts],
    answers: Sequence[Texts],
    confidence: float,
    unsure: Sequence[str] = ("gender",),
) -> str:
    """The page as text.

    items: as of ``items_of``, in the order in which they are shown.  answers: rows of the review's CSV so far; those
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
        values={"decision": REVIEW["decisions"]},
        resets={"decision": "accept"},
        names=PROPER,
        page={
            "opened": set(unsure) != {"gender"},
            "confidence": f"{confidence:.0%}".replace("%", " %"),
        },
    )
