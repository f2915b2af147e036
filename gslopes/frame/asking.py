"""Asking classifiers about every picture of a run folder, whichever audit made it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gslopes.ask.answers import raise_if_all_failed
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget
from gslopes.ask.scoring.score import DROPPED, Scoring, finished_stages, models_of
from gslopes.core import runfolder, tables
from gslopes.core.executor import Executor
from gslopes.core.records import Classifier
from gslopes.core.text import many
from gslopes.faces.gate.judge import SweepSelection
from gslopes.frame import manifest


def ask_all(
    run: Path,
    classifiers: Sequence[Classifier],
    executor: Executor,
    cost_limits: ScoreConfig,
    *,
    gate: bool,
    budget: Budget,
) -> None:
    """Pictures to answers: RUN/asked.parquet and RUN/scores.parquet, and next to them those about dropped sweeps.

    run: a folder that this process holds.  gate: leave out the sweeps that the gate dropped, if the run has verdicts.

    Raises: as ``Scoring.ask``; UsageError if the pictures are not complete; RunFolderMismatch.
    """
    parts, content = manifest.complete_parts(run), manifest.read(run)
    manifest.check_versions(run, classifiers)
    seed, known = int(content["seed"]), content.setdefault("classifiers", {})
    wanted = SweepSelection(run, gate, dropped=cost_limits.dropped_sample, seed=seed)
    content["gate"] = {**content.get("gate", {}), "applied": gate and wanted.judged}
    for one in classifiers:
        known[one.name] = {**known.get(one.name, {}), "version": one.version}
    runfolder.write_json(run / runfolder.MANIFEST, content)
    try:
        Scoring(run, classifiers, parts, seed, cost_limits, executor, gate, budget).ask()
    finally:
        for one in classifiers:
            known[one.name] |= models_of(run, one.name)
        runfolder.write_json(run / runfolder.MANIFEST, content)
    stages = finished_stages(run, known, parts)
    for table in (tables.ASKED, tables.SCORES):
        runfolder.merge(run, table, stages, parts, wanted.sampled, DROPPED[table.name])
        runfolder.merge(run, table, stages, parts, wanted.keep)
    asked = tables.read(tables.ASKED, run / f"{tables.ASKED.name}.parquet")
    for _, answered in asked.groupby("classifier"):
        hint = "Mend it and run the same command again with --retry-failed (retry_failed=True in Python)."
        raise_if_all_failed(answered, f"all {many(len(answered), 'picture')}", hint)
