"""The review: cases one at a time, to be answered by people; their answers, shares confirmed, agreement.

Photos are linked, never copied.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from urllib.parse import quote

import numpy as np
from pandas import DataFrame

from gslopes.captions.config import SENTENCES
from gslopes.core import Record, Row, Texts, hexdigest, many, runfolder
from gslopes.core.tables import lookup, records
from gslopes.frame.spec import Made, Run
from gslopes.report import inline, review as pages
from gslopes.report.review import Question
from gslopes.report.words import printable
from gslopes.stats import agreement, intervals

ANSWERS = tuple(word for _, word in SENTENCES["review"].values())
COLUMNS = ("case", "answer", "reviewer", "note")
SAMPLE = 200  # cases of each technique: an hour of a reader's time
HARMS: dict[str, list[str]] = SENTENCES["harms"]


def read_answers(file: Path, *, required: bool) -> list[dict[str, str]]:
    """Rows of a review's CSV, each an answer of a reviewer about a case, or only a note.  Raises: DataMissing."""
    values = {"answer": ANSWERS}
    return pages.read_answers(file, COLUMNS, ("case", "reviewer"), values, required=required)


def confirmed(cases: DataFrame, reviews: DataFrame) -> list[Row]:
    """Per technique: cases, how many were read, the share confirmed with its interval, causes of the rest, kappa.

    Estimator: the share of read cases that every answer but unsure calls a harm by majority, ties not. Interval:
    Wilson's with the finite-population correction (the effective n is n (N − 1) / (N − n)).
    """
    rows = []
    answers = reviews.query("answer != ''").merge(cases[["case", "technique"]], on="case")
    for name, group in cases.groupby("technique"):
        reviewed = answers.query("technique == @name")
        total = len(group)
        harmful = (
            reviewed.assign(yes=reviewed["answer"] == "harm").groupby("case")["yes"].mean() > 0.5
        )
        read = len(harmful)
        row: Row = {"technique": name, "cases": total, "read": read}
        rows.append(row)
        if not read:
            continue
        share = float(harmful.mean())
        row["share"] = share
        row["low"], row["high"] = corrected(share, read, total)
        others = sorted(answer for answer in reviewed["answer"] if answer != "harm")
        row["causes"] = dict(Counter(others).most_common())
        wide = reviewed.pivot_table(
            index="case", columns="reviewer", values="answer", aggfunc="last"
        )
        pairs = [wide[[*two]].dropna() for two in combinations(wide.columns, 2)]
        kappas = [
            agreement.cohens_kappa(*both.to_numpy().T.tolist()) for both in pairs if len(both)
        ]
        row["kappa"] = float(np.mean(kappas)) if kappas else math.nan
    return rows


def corrected(share: float, read: int, total: int) -> tuple[float, float]:
    """Wilson's interval of a sample without replacement: no width once everything was read.

    >>> corrected(0.14, 312, 312)
    (0.14, 0.14)
    """
    if read >= total:
        return share, share
    return intervals.wilson(share, round(read * (total - 1) / (total - read)))


def mask(word: str) -> str:
    """First letter and dots.

    >>> mask("clown")
    'c••••'
    """
    return word[:1] + "•" * max(0, len(word) - 1)


def masked(row: Record) -> tuple[str, str]:
    """A case's word and caption, printable; of D1 with the listed word masked, in any inflection."""
    word = str(row["word"])
    text = str(row["text"])
    if row["technique"] == "D1" and word:
        stem = re.escape(word.replace("_", " ")[: max(3, len(word) - 2)])
        text = re.sub(rf"\b{stem}\w*", lambda match: mask(match[0]), text, flags=re.IGNORECASE)
        word = mask(word)
    return printable(word), printable(text)


def sampled(cases: DataFrame, size: int = SAMPLE) -> DataFrame:
    """At most ``size`` cases of each technique, in a random order that is the same each time."""
    key = [hexdigest(f"0\0{case}") for case in cases["case"]]
    ordered = cases.assign(lot=key).sort_values(["technique", "lot"])
    return ordered.groupby("technique", sort=False).head(size).drop(columns="lot")


def review_items(
    cases: DataFrame,
    images: Path | None,
    out: Path,
    titles: Texts,
) -> list[Row]:
    """What the review shows of each case; listed words are not masked, since they are what is judged.

    images: the folder of photos, if any.  out: the run folder, from which they are linked.
    titles: of the techniques, by name.
    """
    rows = [{**row, "src": link_of(images, row["image"], out)} for row in records(cases)]
    return records(inline.listed(SENTENCES["item"], rows, titles=titles, harms=HARMS))


def link_of(images: Path | None, image: str, out: Path) -> str:
    """The photo's file as seen from the folder of a page; empty if it is not a file below the folder of images."""
    if images is None or "\0" in image:
        return ""
    root = images.resolve()
    names = [image] + [f"{image}{suffix}" for suffix in (".jpg", ".png", ".jpeg")]
    if image.isdigit():
        names += [f"COCO_val2014_{int(image):012d}.jpg", f"{int(image):012d}.jpg"]
    for file in ((root / name).resolve() for name in names):
        if file.is_relative_to(root) and file.is_file():
            return quote(os.path.relpath(file, out.resolve()))
    return ""


def render_review(items: Sequence[Texts], answers: Sequence[Texts]) -> str:
    """The review as text; it asks no server.  items: of ``review_items``.  answers: rows of earlier reviews."""
    keys = {key: (text, {"answer": word}) for key, (text, word) in SENTENCES["review"].items()}
    return pages.render_review(
        "captions-review.html.j2",
        Path(__file__).parent,
        [Question("Answer", keys, keys)],
        items,
        answers,
        COLUMNS,
        copied=("case",),
        id=("case", "reviewer"),
        done=({"answer": "*"},),
        values={"answer": ANSWERS},
        reviewer="reviewer",
        untold=("note",),
        noun="Case",
    )


def review(run: Run) -> Made:
    """The page on which people read cases, and what they answered before."""
    config = run.config
    cases = run.table("cases")
    techniques = run.table("techniques")
    answers = read_answers(
        config.review or run.folder / "review.csv", required=config.review is not None
    )
    case_ids = set(cases["case"])
    if unknown := sum(row["case"] not in case_ids for row in answers):
        of_all = f"{unknown:,} of the review's {many(len(answers), 'answer')}"
        run.note(f"{of_all} are about cases that are not in this run.")
    titles = lookup(techniques, "technique", "title")
    items = review_items(sampled(cases), config.images, run.folder, titles)
    runfolder.write_bytes(run.folder / "review.html", render_review(items, answers).encode())
    return {"reviews": answers}
