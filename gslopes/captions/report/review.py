"""The review of a captions audit: one case at a time, to be answered by a person; photos are linked, never copied."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from gslopes.captions.review import ANSWERS, COLUMNS
from gslopes.report import words
from gslopes.report.inline import render
from gslopes.report.review import review_data

HERE = Path(__file__).parents[1] / "templates"
HARMS = {
    "identity": (
        "Denying self-identification",
        "Someone is put into an identity category without having agreed to it.",
    ),
    "reifying": ("Reifying groups", "A visual trait is presented as if it naturally made someone a member of a group."),
    "stereotyping": ("Stereotyping", "An over-simple belief about a group that keeps a hierarchy in place."),
    "erasing": ("Erasing", "People, attributes or things tied to a group are not recognised."),
    "demeaning": ("Demeaning", "A group is cast as lower, as deserving less respect."),
}
KEYS = dict(zip("hnptu", ANSWERS, strict=True))
NO_TRUTH = "not asked: the caption alone is read"


def mask(word: str) -> str:
    """First letter and dots.

    >>> mask("clown")
    'c••••'
    """
    return word[:1] + "•" * max(0, len(word) - 1)


def word_and_text(row: Mapping[Any, Any], show_words: bool) -> tuple[str, str]:
    """A case's word and caption, printable; of D1 with the listed word masked, in any inflection."""
    word, text = str(row["word"]), str(row["text"])
    if row["technique"] == "D1" and not show_words and word:
        stem = re.escape(word.replace("_", " ")[: max(3, len(word) - 2)])
        text = re.sub(rf"\b{stem}\w*", lambda found: mask(found[0]), text, flags=re.IGNORECASE)
        word = mask(word)
    return words.printable(word), words.printable(text)


def sampled(cases: pd.DataFrame, size: int, seed: int) -> pd.DataFrame:
    """At most ``size`` cases of each technique, in a random order that is the same each time."""
    key = [sha256(f"{seed}\0{case}".encode()).hexdigest() for case in cases["case"]]
    ordered = cases.assign(lot=key).sort_values(["technique", "lot"])
    return ordered.groupby("technique", sort=False).head(size).drop(columns="lot")


def review_items(
    cases: pd.DataFrame,
    images: Path | None,
    out: Path,
    *,
    show_words: bool = False,
    titles: Mapping[str, str] | None = None,
) -> list[dict[str, str]]:
    """What the review shows of each case.

    images: the folder of photos, if any.  out: the run folder, from which they are linked.
    titles: of the techniques, by name.
    """
    titles = titles or {}
    items = []
    for row in cases.to_dict("records"):
        word, text = word_and_text(row, show_words)
        item = {name: words.printable(row[name]) for name in ("rule", "group", "image")}
        item |= {"case": str(row["case"]), "stage": str(row["stage"]), "word": word, "text": text}
        item["technique"] = f"{row['technique']} {titles.get(row['technique'], '')}".strip()
        item["harm"] = HARMS[row["harm"]][0]
        item["concept"] = words.printable("" if row["technique"] == "D1" else row["concept"])
        item["truth"] = words.printable(row["truth_text"]) or ("nothing" if row["truth"] else NO_TRUTH)
        item["src"] = _link(images, str(row["image"]), out)
        items.append(item | {"file": item["image"] + ("" if item["src"] else " (no photo linked)")})
    return items


def _link(images: Path | None, image: str, out: Path) -> str:
    """The photo's file as seen from the run folder; empty if it is not a file below the folder of images."""
    if images is None or "\0" in image:
        return ""
    root = images.resolve()
    names = [image] + [f"{image}{suffix}" for suffix in (".jpg", ".png", ".jpeg")]
    if image.isdigit():
        names += [f"COCO_val2014_{int(image):012d}.jpg", f"{int(image):012d}.jpg"]
    for name in names:
        file = (root / name).resolve()
        if file.is_relative_to(root) and file.is_file():
            return quote(os.path.relpath(file, out.resolve()))
    return ""


def render_review(items: Sequence[Mapping[str, str]], answers: Sequence[Mapping[str, str]]) -> str:
    """The review as text; it asks no server.  items: of ``review_items``.  answers: rows of earlier reviews."""
    return render(
        "captions-review.html.j2",
        house=HERE,
        styles=("review.css",),
        scripts=("review.js",),
        data=review_data(
            items,
            answers,
            COLUMNS,
            copied=("case",),
            id=("case", "reviewer"),
            done=({"answer": "*"},),
            keys={key: {"set": {"answer": word}, "next": True} for key, word in KEYS.items()},
            values={"answer": ANSWERS},
            reviewer="reviewer",
            untold=("note",),
            others=True,
            noun="Case",
        ),
        count=len(items),
    )
