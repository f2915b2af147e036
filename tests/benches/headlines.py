"""Thirty headlines of simulated audits whose truth is known, to be read by a person: do they mislead?

All kinds of the walk: plain, few photos, persons, refusals, numbers and scores, crossed, pairs with named values, tasks
of a language model, error rates, groups; and what compare says of two runs, and of one that is asked again. Answers are
as in coverage_cases.py: a photo's own inclination and noise that is new in every picture, along the edit and along its
placebo sweeps; ``light`` moves labels as the edit does. Each audit goes through the fit and is worded as in a terminal.
Error rates and groups have no headline: the rows of the first labels are shown.

    python -m tests.benches.headlines
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from gslopes.core import placebo, runfolder, tables
from gslopes.slopes.compare import compare_runs
from gslopes.slopes.drift import Drift, changes_of, print_drift
from gslopes.slopes.measures.analysis import FitTables, analyse
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.page import changes, decisions, loading, tasks
from gslopes.slopes.page.lead import summary
from tests.slopes.measures import crossed
from tests.slopes.measures.conftest import build

VALUES = np.linspace(-2, 2, 7)
ENDS = np.array([0.0, 1.0])  # of pairs
OPTIONS = FitOptions(estimators=("photo-rate", "photo-measure"), permutations=2000)


@dataclass(frozen=True)
class Audit:
    """What is simulated.

    kind: of the walk.  slope: logits a unit, of the first label; the others do not move.  rate: of all labels at value
    0.  light: share of the slope that light moves as well.  refused: share refused at the upper end, none at the lower;
    ``own``: only pictures with the first label.  people: how many the photos are of, who are alike; 0: one per photo.
    by: presence, a score on every picture or a number, skewed from person to person.  other: the slope in the second
    run, of the second task or group, or of the interaction, in points per unit of both.
    """

    photos: int
    labels: int = 2
    slope: float = 0.0
    rate: float = 0.4
    placebos: bool = True
    light: float = 0.0
    refused: float = 0.0
    own: bool = False
    people: int = 0
    by: str = "presence"
    kind: str = "plain"
    other: float = 0.0


PLAIN = [Audit(60, 20), Audit(60, 20, 0.3), Audit(300, 20, 0.6, light=0.5)]
FEW = [
    Audit(5, 20),
    Audit(12, 20, 1.0, placebos=False),
    Audit(16, 2, 1.5),
    Audit(300, 2, 0.6, 0.02),
]
PEOPLE = [Audit(60, people=6), Audit(120, 2, 0.8, people=30)]
REFUSED = [Audit(60, 2, 1.0, refused=0.6), Audit(300, refused=0.8, own=True)]
NUMBERS = [Audit(60, 2, 0.3, by="number"), Audit(60, by="score")]
CROSSED = [
    Audit(40, 3, kind="crossed"),
    Audit(60, 3, 3.0, kind="crossed"),
    Audit(100, 3, 3.0, kind="crossed", other=3.0),
]
PAIRS = [
    Audit(30, 6, kind="pairs"),
    Audit(60, 6, 1.5, kind="pairs"),
    Audit(12, 6, 3.0, kind="pairs"),
]
TASKS = [Audit(40, kind="tasks"), Audit(60, 2, 0.8, kind="tasks", other=-0.8)]
TRUTH = [Audit(60, 2, 0.6, kind="truth"), Audit(300, kind="truth")]
GROUPS = [Audit(80, 2, 0.8, kind="groups"), Audit(40, kind="groups")]
COMPARED = [
    Audit(60, 20, 0.6, kind="compare", other=0.6),
    Audit(60, 20, 0.6, kind="compare", other=0.0),
    Audit(100, 2, 0.5, by="score", kind="compare", other=0.52),
]
ASKED_AGAIN = [Audit(50, 20, kind="drift", other=0.02), Audit(50, 20, kind="drift", other=0.8)]
AUDITS = [*PLAIN, *FEW, *PEOPLE, *REFUSED, *NUMBERS, *CROSSED, *PAIRS, *TASKS, *TRUTH, *GROUPS]
AUDITS += [*COMPARED, *ASKED_AGAIN]
Frames = tuple[pd.DataFrame, pd.DataFrame]


def sweep(
    audit: Audit,
    levels: np.ndarray,
    slopes: np.ndarray,
    values: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """(photos, labels, K) latent answers, in units of the noise of one picture's.  slopes: (photos,), of the first."""
    moves = np.zeros((audit.photos, audit.labels, len(values)))
    moves[:, 0] = slopes[:, None] / 1.7 * values
    noise = rng.standard_normal(moves.shape)
    return levels + np.sqrt(0.4) * noise + moves


def joined(parts: list[Frames]) -> Frames:
    scores, questions = (
        pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)
    )
    return scores, questions


def tables_of(
    audit: Audit,
    rng: np.random.Generator,
    attribute: str = "gender",
    values: np.ndarray = VALUES,
    slopes: np.ndarray | None = None,
    classifier: str = "c",
) -> Frames:
    """Scores and asked.  slopes: (photos,), if they differ."""
    person = np.arange(audit.photos) % (audit.people or audit.photos)
    levels = np.sqrt(0.6) * rng.standard_normal((audit.photos, audit.labels, 1))[person]
    steep = np.full(audit.photos, audit.slope) if slopes is None else slopes
    moving = {attribute: steep}
    if audit.placebos:
        kinds = {kind: placebo.name(attribute, kind) for kind in placebo.KINDS}
        moving |= {name: steep * audit.light * (kind == "light") for kind, name in kinds.items()}
    names, parts = [f"label {number + 1}" for number in range(audit.labels)], []
    for name, slope in moving.items():
        latent = sweep(audit, levels, slope, values, rng)
        present = latent > special.ndtri(1 - audit.rate)
        if audit.by != "presence":
            present = np.full(latent.shape, True)
        scores, questions = build(present, values, names, classifier, name)
        if audit.by != "presence":
            numbers = special.expit(latent) if audit.by == "score" else 20 + np.exp(1.2 * latent)
            scores["score"] = numbers[np.nonzero(present)]
        lost = rng.random((audit.photos, len(values))) < audit.refused * (
            np.arange(len(values)) / (len(values) - 1)
        ) ** 3 * (present[:, 0] if audit.own else 1)
        questions.loc[lost.ravel(), ["status", "reason"]] = ["refused", "refused"]
        gone = pd.MultiIndex.from_frame(questions.loc[lost.ravel(), ["photo", "step"]])
        answered = ~pd.MultiIndex.from_frame(scores[["photo", "step"]]).isin(gone)
        parts.append((scores[answered], questions))
    return joined(parts)


def fitted(audit: Audit, frames: Frames, values: np.ndarray = VALUES, **more: object) -> FitTables:
    """The fit, of people where there are some.  more: as ``Study`` takes it."""
    scores, questions = frames
    photos = sorted(set(questions["photo"]))
    person = np.arange(audit.photos) % (audit.people or audit.photos)
    facts: dict[str, object] = {
        "person": person.astype(str),
        "group": np.where(np.arange(audit.photos) % 2, "old", "young"),
        "right": np.where(np.arange(audit.photos) % 3, "label 1", "label 2"),
    }
    about = pd.DataFrame(facts, index=photos)
    given = dict.fromkeys(set(questions["attribute"]), values.tolist())
    cluster = "person" * bool(audit.people)
    study = replace(Study(values=given, about=about, cluster=cluster), **more)  # type: ignore[arg-type]
    return analyse(scores, questions, study, options=OPTIONS)


def written(run: Path, frames: Frames, analysis: FitTables | None = None) -> Path:
    """The run with these tables."""
    named = [] if analysis is None else list(analysis.tables())
    if not (run / "run.json").exists():
        runfolder.write_json(run / "run.json", {})
    for table, frame in [*named, (tables.SCORES, frames[0]), (tables.ASKED, frames[1])]:
        tables.write(table, frame, run / f"{table.name}.parquet")
    return run


# -- what is said, by kind --------------------------------------------------------------------------------------------


def plain(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    frames = tables_of(audit, rng)
    analysis = fitted(audit, frames)
    return summary(written(run, frames, analysis), analysis.slopes)


def of_crossed(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    """slope, other: main slopes and the interaction in points."""
    still = dict.fromkeys(placebo.names(crossed.GRID.name), (0.0, 0.0))
    moving = {crossed.GRID.name: (audit.slope / 100, audit.other / 100)} | still
    parts = []
    for name, effects in moving.items():
        present = crossed.drawn(rng, audit.photos, audit.labels, *effects)
        parts.append(crossed.answered(present, name))
    frames = joined(parts)
    analysis = analyse(*frames, Study(values=crossed.GIVEN), options=OPTIONS)
    return summary(written(run, frames, analysis), analysis.slopes)


def pairs(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    frames = tables_of(audit, rng, "race: Asian − White", ENDS)
    analysis = fitted(audit, frames, ENDS)
    return summary(written(run, frames, analysis), analysis.slopes)


def of_tasks(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    """Two tasks of one model, each with two options, of which the first is its scale."""
    steep = {"hire": audit.slope, "trust": audit.other}
    names = {task: f"llm:model,prompt={task}" for task in steep}
    parts = [
        tables_of(replace(audit, slope=slope), rng, classifier=names[task])
        for task, slope in steep.items()
    ]
    frames = joined(parts)
    analysis = fitted(audit, frames)
    facts = {name: {"scale": "label 1", "task": task} for task, name in names.items()}
    runfolder.write_json(run / "run.json", {"classifiers": facts})
    written(run, frames, analysis)
    scales = []
    for classifier, attribute, rows, _ in decisions.by_pair(tables.reading(analysis.slopes)):
        one = loading.Finding("", classifier, attribute, VALUES, rows, pd.DataFrame())
        scales.append(tasks.scale_of(one, decisions.decide(rows), {"classifiers": facts}))
    return " ".join([summary(run, analysis.slopes), *tasks.sentences(scales)])


def truth(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    frames = tables_of(audit, rng)
    analysis = fitted(audit, frames, truth=("right",))
    rows = dict(named(analysis))["error_slopes"]
    rows = rows[rows["attribute"] == "gender"].drop(columns=["classifier", "attribute"])
    texts = [" | ".join(map(str, row)) for row in rows.head(2).round(3).to_numpy().tolist()]
    return " / ".join([summary(written(run, frames, analysis), analysis.slopes), *texts])


def groups(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    """The second group's photos have the slope ``other``."""
    slopes = np.where(np.arange(audit.photos) % 2, audit.slope, audit.other)
    frames = tables_of(audit, rng, slopes=slopes)
    analysis = fitted(audit, frames, groups=("group",))
    shown = ["group", "other", "label", "difference", "ci_low", "ci_high", "q", "note"]
    rows = dict(named(analysis))["differences"]
    rows = rows[(rows["attribute"] == "gender") & (rows["estimator"] == "photo-rate")][shown]
    texts = [" | ".join(map(str, row)) for row in rows.head(1).round(3).to_numpy().tolist()]
    return " / ".join([summary(written(run, frames, analysis), analysis.slopes), *texts])


def named(analysis: FitTables) -> list[tuple[str, pd.DataFrame]]:
    return [(table.name, frame) for table, frame in analysis.tables()]


def compare(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    """The photos are the same in both runs, and so are their inclinations and their noise."""
    seed, folders = int(rng.integers(1 << 30)), []
    for name, slope in (("before", audit.slope), ("after", audit.other)):
        again = np.random.default_rng(seed)
        folder = runfolder.make_folder(run / name) or run / name
        frames = tables_of(replace(audit, slope=slope, placebos=False), again)
        written(folder, frames)
        runfolder.write_json(folder / "run.json", {"values": {"gender": VALUES.tolist()}})
        folders.append(folder)
    return changes.headline(compare_runs(*folders))


def drift(audit: Audit, rng: np.random.Generator, run: Path) -> str:
    """Scores of pictures, one a photo, that move by ``other`` logits without noise; the first label's alone."""
    level = rng.standard_normal((audit.photos, audit.labels))
    moved = level + audit.other * (np.arange(audit.labels) == 0)
    names = [f"label {number + 1}" for number in range(audit.labels)]
    frames = [pd.DataFrame(special.expit(part), columns=names) for part in (level, moved)]
    rows = changes_of(*frames, np.arange(audit.photos))
    found = Drift("c", audit.photos, audit.photos, audit.photos, 1.0, ((), ()), rows)
    return print_drift(found).partition("\n")[2].partition("highest")[0]


KINDS: dict[str, Callable[[Audit, np.random.Generator, Path], str]] = {
    "plain": plain,
    "crossed": of_crossed,
    "pairs": pairs,
    "tasks": of_tasks,
    "truth": truth,
    "groups": groups,
    "compare": compare,
    "drift": drift,
}


def said(audit: Audit, seed: int) -> str:
    """The headline."""
    with tempfile.TemporaryDirectory() as folder:
        return KINDS[audit.kind](audit, np.random.default_rng([66, seed]), Path(folder))


if __name__ == "__main__":
    for number, audit in enumerate(AUDITS):
        facts = vars(audit).items()
        known = ", ".join(
            f"{name} {value}" for name, value in facts if value != getattr(Audit, name, None)
        )
        sentence = textwrap.fill(
            said(audit, number), 116, initial_indent="    ", subsequent_indent="    "
        )
        sys.stdout.write(f"{number + 1}. {known}\n{sentence}\n")
        sys.stdout.flush()
