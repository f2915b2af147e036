"""The stage that asks: classifiers about every picture of a run folder, whichever audit made it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget
from gslopes.ask.scoring.first_pictures import raise_if_all_failed
from gslopes.ask.scoring.score import DROPPED, Scoring, finished_stages, missing_of, models_of, wanted_of
from gslopes.core import runfolder, tables
from gslopes.core.executor import Executor
from gslopes.core.records import Classifier
from gslopes.core.text import many
from gslopes.faces.gate.judge import SweepSelection
from gslopes.frame import manifest
from gslopes.frame.stamps import is_current, score_reads, stamp


def is_scored(run: Path, classifiers: Sequence[Classifier], cost_limits: ScoreConfig, *, gate: bool) -> bool:
    """Whether the tables hold the answers of all these classifiers about every picture that is wanted."""
    parts, seed = manifest.complete_parts(run), int(manifest.read(run)["seed"])
    for one in classifiers:
        if missing_of(run, one, parts, cost_limits, wanted_of(run, one, cost_limits, gate, seed)):
            return False
    reads = score_reads(run, gate=gate and SweepSelection(run, gate).judged, dropped=cost_limits.dropped_sample)
    return is_current(run, "score", reads)


def run_score(
    run: Path,
    classifiers: Sequence[Classifier],
    executor: Executor,
    cost_limits: ScoreConfig | None = None,
    *,
    gate: bool = True,
    budget: Budget | None = None,
) -> Path:
    """Pictures to answers.  Raises: as ``score_photos``; KeyboardInterrupt after what is in flight.

    budget: of the command, of which a part may be spent; None for a new one.
    """
    parts, seed = manifest.complete_parts(run), int(manifest.read(run)["seed"])
    with runfolder.locked(run):
        manifest.check_versions(run, classifiers)
        content = manifest.read(run)
        known = content.setdefault("classifiers", {})
        cost_limits = cost_limits or ScoreConfig()
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
        dropped = [(table, wanted.sampled, DROPPED[table.name]) for table in (tables.ASKED, tables.SCORES)]
        merged = [*dropped, *((table, wanted.keep, "") for table in (tables.ASKED, tables.SCORES))]
        made = [runfolder.merge(run, table, stages, parts, keep, name) for table, keep, name in merged]
        reads = score_reads(run, gate=gate and wanted.judged, dropped=cost_limits.dropped_sample)
        stamp(run, "score", reads, made)
        asked = tables.read(tables.ASKED, run / f"{tables.ASKED.name}.parquet")
        for _, answered in asked.groupby("classifier"):
            hint = "Mend it and run the same command again with --retry-failed (retry_failed=True in Python)."
            raise_if_all_failed(answered, f"all {many(len(answered), 'picture')}", hint)
        return made[-1]
