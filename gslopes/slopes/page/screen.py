"""The first screen: for each classifier and attribute the finding, one face, the labels; and what it is about."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import numpy as np

from gslopes.core import Facts, Texts, nudged, placebo
from gslopes.core.tables import records
from gslopes.frame.page import Content
from gslopes.report import inline, numbers, units, words
from gslopes.report.quote import SOURCE, About
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.page import answers as matrix, decisions
from gslopes.slopes.page.loading import Finding
from gslopes.slopes.page.page_data import Album, value_names
from gslopes.stats.rounding import places

MOST = 40
LEAST = (
    12  # rows of the chart: labels that move, at most; and at least, if the run has other labels
)


def chart(
    finding: Finding, decided: Mapping[str, decisions.Decision], answers: Answers
) -> list[Content]:
    """Labels that move, at most ``MOST``, then those like a placebo and others, as long as there are ``LEAST`` rows.

    Of equal decisions the one that goes furthest first; expected ones last.  A share or a score is drawn on a scale of
    0 to 1, a number in another unit on one from the lowest to the highest that any picture got.

    Returns the row of each label, and with it:

    place: of the label among all.  decision: see ``decisions``.
    first, last: share of photos, or mean, at the first and the last value, in per cent of the row's scale.
    levels, of: both as texts, and their unit.
    """
    rows = finding.read.dropna(subset=["slope", "y_first", "y_last"])
    places_of = {label: place for place, label in enumerate(sorted(set(finding.rows["label"])))}
    scores = matrix.scores(answers)
    drawn: list[Content] = []
    for row in records(rows):
        label = row["label"]
        measure = units.measure_of(row)
        if decided[label].code == decisions.UNJUDGED:
            continue
        ends = np.array([row["y_first"], row["y_last"]])
        low, high = 0.0, 1.0
        levels, scale = units.levels(row, *ends)
        scale = scale or "score"
        if measure == "value":
            every = np.append(scores[answers.labels[answers.label] == label], ends)
            low, high = float(np.nanmin(every)), float(np.nanmax(every))
            span = " to ".join(numbers.apart([low, high]))
            scale = f"{units.short(row)}, on a scale of {span}".lstrip(" ,")
        first, last = (100 * (ends - low) / ((high - low) or 1)).tolist()
        drawn.append(
            {
                **row,
                "place": places_of[label],
                "decision": decided[label],
                "first": round(nudged(first), 1),
                "last": round(nudged(last), 1),
                "levels": numbers.change(*levels),
                "of": scale,
            }
        )
    far = places([-abs(row["last"] - row["first"]) for row in drawn]).tolist()
    order = sorted(
        zip(drawn, far, strict=True),
        key=lambda pair: (*_rank(pair[0]["decision"]), *pair[1:], pair[0]["label"]),
    )
    most = max(LEAST, min(MOST, sum(row["decision"].moves for row in drawn)))
    return [row for row, _ in order[:most]]


def _rank(decision: decisions.Decision) -> tuple[bool, int, bool]:
    return (
        not decision.moves,
        0 if decision.moves else decisions.CODES.index(decision.code),
        decision.expected,
    )


def strip(
    finding: Finding,
    label: str,
    answers: Answers,
    album: Album,
    credited: Mapping[str, Texts],
) -> Content | None:
    """One photo's sweep with the scores of a label; None without a label or a picture.

    Returns photo: its id.  file: a picture with K squares.  cells: (value, score) as texts.  credit: of a collected
    photo.
    """
    row = matrix.typical(answers, label) if label else None
    if row is None:
        return None
    photo = answers.photos[answers.photo[row]]
    file = album.files.get((photo, finding.attribute), "")
    if not file:
        return None
    values = value_names(finding.attribute, finding.values)
    scores = numbers.apart(matrix.scores(answers)[row].tolist())
    return {
        "photo": photo,
        "name": album.names[album.index[photo]],
        "label": words.readable(label),
        "file": file,
        "cells": list(zip(values, scores, strict=True)),
        "credit": credited.get(photo),
    }


# -- what others may quote ---------------------------------------------------------------------------------------------


def about(manifest: Facts, attributes: Sequence[str]) -> About:
    """How the walk describes itself if it is quoted.  manifest: the content of run.json.  attributes: of the run."""
    model = str(manifest["config"].get("edit", {}).get("model") or "")
    starts = tuple(f"{placebo.attribute_of(attribute)}-" for attribute in attributes)
    editors = []
    for name, facts in manifest["models"].items():
        if name.startswith(starts) or (model and PurePath(model).name == PurePath(name).name):
            digest = str(facts.get("sha256", ""))[:8]
            editors.append(words.printable(f"{name} {digest}".strip()))
    editors += {words.printable(facts["name"]): "" for facts in manifest["editor"].values()}
    given = placebo.of_a_set(manifest)
    facts = {"attributes": attributes, "editors": editors, "given": given}
    title, what, *limits = inline.plain("about.txt.j2", decisions.HOUSE, **facts).split("\n")
    return About(title, ("photo", "photos"), what, tuple(limits), SOURCE)
