"""Thirty headlines of simulated audits whose truth is known, to be read by a person: do they mislead?

Answers as in coverage_cases.py: a photo's own inclination and noise that is new in every picture, along the edit and
along its placebo sweeps; ``light`` moves labels as the edit does.  Each audit goes through the fit and is worded as in
a terminal.

    python -m tests.benches.headlines
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from gslopes.core import placebo, tables
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.page.evidence import summary
from tests.slopes.measures.conftest import build

VALUES = np.linspace(-2, 2, 7)


@dataclass(frozen=True)
class Audit:
    """What is simulated.

    slope: logits a unit, of the first label; the others do not move.  rate: of all labels at value 0.
    light: share of the slope that light moves as well.  refused: share refused at the upper end, none at the lower.
    people: how many the photos are of, who are alike; 0: one per photo.  by: presence, a score on every picture
    or a number, skewed from person to person.
    """

    photos: int
    labels: int
    slope: float = 0.0
    rate: float = 0.4
    placebos: bool = True
    light: float = 0.0
    refused: float = 0.0
    people: int = 0
    by: str = "presence"


NULL = [Audit(n, labels, placebos=n != 60) for n in (5, 20, 60, 300) for labels in (2, 20)]
SMALL = [Audit(n, labels, 0.3) for n in (20, 60, 300) for labels in (2, 20)]
LARGE = [Audit(n, 20, 1.0, placebos=n > 12) for n in (5, 12, 60)] + [Audit(60, 2, 1.0, light=1.0)]
RARE = [Audit(300, 2, rate=0.02), Audit(300, 2, 0.6, 0.02), Audit(60, 20, 0.8, 0.03)]
REFUSED = [Audit(60, 2, 1.0, refused=0.6), Audit(300, 2, 0.0, refused=0.6)]
NUMBERS = [
    Audit(n, 2, slope, by=by)
    for n, slope, by in ((20, 0.0, "number"), (60, 0.3, "number"), (60, 0.0, "score"))
]
CLUSTERED = [Audit(60, 2, people=6), Audit(120, 2, 0.8, people=30), Audit(300, 2, people=150)]
AUDITS = [
    *NULL,
    *SMALL,
    *LARGE,
    *RARE,
    *REFUSED,
    *NUMBERS,
    *CLUSTERED,
    Audit(300, 20, 0.6, light=0.5),
]


def sweep(audit: Audit, levels: np.ndarray, slope: float, rng: np.random.Generator) -> np.ndarray:
    """(photos, labels, 7) latent answers, in units of the noise of one picture's."""
    moves = np.r_[slope / 1.7, np.zeros(audit.labels - 1)][:, None] * VALUES
    return levels + np.sqrt(0.4) * rng.standard_normal((audit.photos, audit.labels, 7)) + moves


def tables_of(audit: Audit, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores and asked."""
    person = np.arange(audit.photos) % (audit.people or audit.photos)
    levels = np.sqrt(0.6) * rng.standard_normal((audit.photos, audit.labels, 1))[person]
    moving = {"gender": audit.slope}
    if audit.placebos:
        moving |= {
            placebo.name("gender", kind): audit.slope * audit.light * (kind == "light")
            for kind in placebo.KINDS
        }
    names, parts = [f"label {number + 1}" for number in range(audit.labels)], []
    for attribute, slope in moving.items():
        latent = sweep(audit, levels, slope, rng)
        present = (
            latent > special.ndtri(1 - audit.rate)
            if audit.by == "presence"
            else np.full(latent.shape, True)
        )
        scores, questions = build(present, VALUES, names, attribute=attribute)
        if audit.by != "presence":
            numbers = special.expit(latent) if audit.by == "score" else 20 + np.exp(1.2 * latent)
            scores["score"] = numbers[np.nonzero(present)]
        lost = rng.random(len(questions)) < audit.refused * (questions["step"] / 6) ** 3
        questions.loc[lost, ["status", "reason"]] = ["refused", "refused"]
        gone = pd.MultiIndex.from_frame(questions.loc[lost, ["photo", "step"]])
        parts.append(
            (scores[~pd.MultiIndex.from_frame(scores[["photo", "step"]]).isin(gone)], questions)
        )
    scores, questions = (
        pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)
    )
    return scores, questions


def said(audit: Audit, seed: int) -> str:
    """The headline."""
    scores, questions = tables_of(audit, np.random.default_rng([66, seed]))
    photos = sorted(set(questions["photo"]))
    person = np.arange(audit.photos) % (audit.people or audit.photos)
    about = pd.DataFrame({"person": person.astype(str)}, index=photos)
    options = FitOptions(estimators=("photo-rate", "photo-measure"), permutations=2000)
    values = dict.fromkeys(set(questions["attribute"]), VALUES.tolist())
    cluster = "person" * bool(audit.people)
    study = Study(values=values, about=about, cluster=cluster)
    analysis = analyse(scores, questions, study, options=options)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder)
        (run / "run.json").write_text("{}")
        for table, frame in [*analysis.tables(), (tables.ASKED, questions)]:
            tables.write(table, frame, run / f"{table.name}.parquet")
        return summary(run, analysis.slopes)


if __name__ == "__main__":
    for number, audit in enumerate(AUDITS):
        facts = vars(audit).items()
        plain = ", ".join(
            f"{name} {value}" for name, value in facts if value != getattr(Audit, name, None)
        )
        sentence = textwrap.fill(
            said(audit, number), 116, initial_indent="    ", subsequent_indent="    "
        )
        sys.stdout.write(f"{number + 1}. {plain}\n{sentence}\n")
        sys.stdout.flush()
