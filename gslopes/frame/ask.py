"""Asking classifiers about every picture of a run folder, whichever audit made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gslopes.ask.answers import raise_if_all_failed
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget
from gslopes.ask.scoring.score import DROPPED, Scoring, finished_stages
from gslopes.core import runfolder, tables
from gslopes.core.executor import Executor
from gslopes.core.records import Classifier
from gslopes.core.text import many
from gslopes.faces.gate.judge import SweepSelection


def ask(
    run: Path,
    classifiers: Sequence[Classifier],
    parts: int,
    seed: int,
    limits: ScoreConfig,
    executor: Executor,
    *,
    known: Iterable[str],
    gate: bool = True,
    budget: Budget | None = None,
) -> None:
    """Pictures to answers: RUN/asked.parquet and RUN/scores.parquet, and next to them those about dropped sweeps.

    run: a folder that this process holds.  parts: of its pictures.  known: names of all that were asked, earlier ones
    too.  gate: leave out the sweeps that the gate dropped, if the run has verdicts.  budget: of the command.

    Raises: as ``Scoring.ask``; ClassifierError if all pictures failed.
    """
    Scoring(run, classifiers, parts, seed, limits, executor, gate, budget).ask()
    wanted = SweepSelection(run, gate, dropped=limits.dropped_sample, seed=seed)
    stages = finished_stages(run, known, parts)
    for table in (tables.ASKED, tables.SCORES):
        if wanted.judged:
            runfolder.merge(run, table, stages, parts, wanted.sampled, DROPPED[table.name])
        else:
            (run / f"{DROPPED[table.name]}.parquet").unlink(missing_ok=True)
        runfolder.merge(run, table, stages, parts, wanted.keep)
    asked = tables.read(tables.ASKED, run / f"{tables.ASKED.name}.parquet")
    for _, answered in asked.groupby("classifier"):
        hint = "Mend it and run the same command again with --retry-failed (retry_failed=True in Python)."
        raise_if_all_failed(answered, f"all {many(len(answered), 'picture')}", hint)
