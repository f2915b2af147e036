"""Sentences for people about what is doubtful in an analysis: typologies, backgrounds, refusals, sizes, the gate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from gslopes.contexts.measures import checks
from gslopes.contexts.measures.describe import ALONE, Key
from gslopes.contexts.typology import Typology
from gslopes.core import tables
from gslopes.core.reasons import counted
from gslopes.core.text import many

KNOWN = 0.05  # share of a classifier's tags under which the typology is not for it


def of_classifier(
    name: str,
    answers: Mapping[Key, frozenset[str]],
    backgrounds: pd.DataFrame,
    typology: Typology,
    questions: pd.DataFrame,
) -> list[str]:
    """About one classifier.  answers: picture to tags.  questions: its rows of the ``asked`` table."""
    notes = []
    share = checks.known_share(answers, typology)
    if share < KNOWN:
        notes.append(f"{name}: the typology {typology.name} knows {share:.1%} of its tags; give another.")
    if typology.partial:
        notes.append(f"{name}: the typology {typology.name} is partial.")
    for key, flags in checks.background_flags(answers, backgrounds, typology).items():
        notes.append(f"{name}, background {key}: {'; '.join(flags)}.")
    # pictures without a person do not count: many taggers have no answer to them
    lost = (questions["status"] != "answered") & ~questions["attribute"].isin(ALONE)
    if lost.any():
        why = counted(zip(questions.loc[lost, "reason"], questions.loc[lost, "detail"], strict=True))
        pictures = f"{many(lost.sum(), 'picture')} of people ({why})"
        notes.append(f"{name}: refused or failed, and left out pairwise: {pictures}.")
    return notes


def of_balance(balance: pd.DataFrame) -> list[str]:
    """About faces and people that differ in size by gender or group.  balance: the table of that name."""
    notes = []
    for row in balance[balance["p"] < 0.05].to_dict("records"):
        what = "face height" if row["measure"] == "face_height" else "person share"
        share = f"{row['mean_one']:.3f} of the canvas for {row['one']}, {row['mean_other']:.3f} for {row['other']}"
        notes.append(f"The {what} differs: {share} (p {row['p']:.2g}); --size-by face makes all faces of one height.")
    return notes


def of_gate(run: Path) -> list[str]:
    """About the sweeps that the gate dropped, and why."""
    if not (run / "verdicts.parquet").is_file():
        return []
    verdicts = tables.read(tables.VERDICTS, run / "verdicts.parquet").drop_duplicates("photo")
    if verdicts.empty:
        return []  # nothing was judged
    lost = verdicts.loc[~verdicts["kept"], "reason"].value_counts()
    why = "; ".join(f"{count} dropped: {reason}" for reason, count in lost.items())
    kept = int(verdicts["kept"].sum())
    return [
        f"The gate kept the sweeps of {kept:,} of {many(len(verdicts), 'person', 'people')}"
        + (f"; {why}." if why else ".")
    ]
