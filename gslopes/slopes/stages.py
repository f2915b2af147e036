"""The walk as one tuple of stages on a run folder: synthesise, gate, score, fit, report. Each stops and resumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget
from gslopes.core import runfolder, tables
from gslopes.core.executor import Executor
from gslopes.core.progress import counted
from gslopes.core.records import Classifier
from gslopes.core.runfolder import SYNTHESIS
from gslopes.core.text import many
from gslopes.faces.components import Components, default_components, model_records
from gslopes.faces.gate.judge import judge_folder, reader_digest
from gslopes.faces.gate.verdict import GateConfig
from gslopes.frame import manifest
from gslopes.frame.asking import is_scored, run_score
from gslopes.frame.executors import OneProcess
from gslopes.frame.sources import keep_sources
from gslopes.frame.stamps import is_current, stamp
from gslopes.photos.folder import passed_over
from gslopes.photos.people import unmatched_rows
from gslopes.slopes import outcome, stamps, synthesis, unedited
from gslopes.slopes.config import FitConfig
from gslopes.slopes.fit.options import LEAST_KEPT
from gslopes.slopes.fitting import fit_folder
from gslopes.slopes.outcome import Audit
from gslopes.slopes.plan import IDENTITY, Plan, identity

QUIET = OneProcess()


@dataclass(frozen=True, slots=True)
class AuditRun:
    """One audit: what is done, and by whom.

    components: None stands for those that the plan's configuration names.
    budget: what may still be spent; None for what the limits say.
    """

    plan: Plan
    executor: Executor
    components: Components | None
    classifiers: tuple[Classifier, ...]
    cost_limits: ScoreConfig
    budget: Budget | None = None

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.plan.run

    @property
    def gated(self) -> bool:
        """Whether sweeps are judged before anybody is asked about them."""
        return self.plan.config.gate.judges(self.plan.config.find.landmarks)

    @property
    def observed(self) -> tuple[Classifier, ...]:
        """The classifiers that are asked about the photos as they were, too."""
        return unedited.asked(self.classifiers, self.cost_limits, self.plan.config.fit.groups)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Those that have something to do: the gate may be off, and unedited photos may not be asked about."""
        left_out = {"gate"} if not self.gated else set()
        left_out |= set() if self.observed else {unedited.NAME}
        return tuple(stage for stage in STAGES if stage.name not in left_out)


@dataclass(frozen=True, slots=True)
class Stage:
    """name: as notes have audit.  done: whether all would come out the same if it were done again.  run: does audit."""

    name: str
    done: Callable[[AuditRun], bool]
    run: Callable[[AuditRun], object]


STAGES = (
    Stage(
        SYNTHESIS,
        lambda audit: is_synthesised(audit.plan, audit.components),
        lambda audit: run_synthesise(audit.plan, audit.components, audit.executor),
    ),
    Stage(
        "gate",
        lambda audit: is_judged(audit.run, audit.plan.config.gate),
        lambda audit: run_gate(audit.run, audit.executor, audit.plan.config.gate, device=audit.plan.config.device),
    ),
    Stage(
        "score",
        lambda audit: is_scored(audit.run, audit.classifiers, audit.cost_limits, gate=audit.gated),
        lambda audit: run_score(
            audit.run, audit.classifiers, audit.executor, audit.cost_limits, gate=audit.gated, budget=audit.budget
        ),
    ),
    Stage(
        unedited.NAME,
        lambda audit: unedited.is_asked(audit.run, audit.observed, audit.cost_limits),
        lambda audit: unedited.ask(audit.run, audit.observed, audit.cost_limits, audit.executor, audit.budget),
    ),
    Stage(
        "fit",
        lambda audit: is_fitted(audit.run, audit.plan.config.fit),
        lambda audit: run_fit(audit.run, audit.plan.config.fit, audit.executor),
    ),
    Stage(
        "report",
        lambda audit: is_reported(audit.run),
        lambda audit: run_report(audit.run, audit.executor),
    ),
)


# -- the stages -------------------------------------------------------------------------------------------------------


def is_synthesised(plan: Plan, components: Components | None) -> bool:
    """Whether all pictures are there, and the tables that go with them."""
    reads = stamps.synthesis_reads(plan, _models(plan, components))
    there = plan.done == plan.parts and synthesis.pictures_are_there(plan.run)
    return there and is_current(plan.run, SYNTHESIS, reads)


def run_synthesise(plan: Plan, components: Components | None, executor: Executor) -> Audit:
    """Photos to counterfactual photos.  Raises: RunFolderMismatch, ModelError, StorageError."""
    if components is None and plan.done < plan.parts:
        components = default_components(plan.config, plan.device)
    models = _models(plan, components)
    with runfolder.locked(plan.run):
        runfolder.compare(plan.run, identity(plan, models), IDENTITY)
        manifest.begin(plan.run, identity(plan, models), executor)
        for attribute in plan.values:
            runfolder.make_folder(plan.run / "edits" / attribute)
        if others := passed_over(plan.config.photos):
            executor.note(others)
        missing = synthesis.missing_parts(plan.run, plan.parts)
        sizes = {part: len(plan.files_of(part)) for part in missing}
        if missing:
            ready = components or default_components(plan.config, plan.device)
            work = synthesis.Synthesis(plan, ready, synthesis.same_bytes(plan.files))
            executor(work, sizes, label=SYNTHESIS, unit="photos", done=len(plan.files) - sum(sizes.values()))
        made = [runfolder.merge(plan.run, table, [SYNTHESIS], plan.parts) for table in (tables.EDITS, tables.PHOTOS)]
        sources = keep_sources(plan.config.photos, plan.run)
        made += [sources] if sources else []
        stamp(plan.run, SYNTHESIS, stamps.synthesis_reads(plan, models), made)
    return outcome.of_photos(plan.run)


def is_judged(run: Path, config: GateConfig) -> bool:
    """Whether every sweep was judged by these thresholds and this reader."""
    return is_current(run, "gate", stamps.gate_reads(run, config, reader_digest()))


def run_gate(run: Path, executor: Executor, config: GateConfig | None = None, *, device: str = "cpu") -> pd.DataFrame:
    """Pictures to verdicts, see ``faces.gate.judge``.  Raises: UsageError, UnknownName, ModelError, StorageError."""
    from gslopes.slopes.validation import check_inputs, keep_summaries, summarise

    parts, config = manifest.complete_parts(run), config or GateConfig()
    check_inputs(run)
    with runfolder.locked(run):
        verdicts = judge_folder(run, parts, config, device, executor)
        made = [run / f"{table.name}.parquet" for table in (tables.VERDICTS, tables.READINGS)]
        stamp(run, "gate", stamps.gate_reads(run, config, reader_digest()), made)
        keep_summaries(run, summarise(run))
    kept = int(verdicts["kept"].sum())
    if kept < LEAST_KEPT * len(verdicts):
        few = f"gate       fewer than {LEAST_KEPT:.0%} are kept: compare with the ungated slopes in gating.parquet"
        executor.note(few)
    executor.note(
        f"gate       {kept:,} of {many(len(verdicts), 'sweep')} kept"
        + (" (see gslopes validate)" * (kept < len(verdicts)))
    )
    return verdicts


def is_fitted(run: Path, config: FitConfig) -> bool:
    """Whether the slopes are those of these answers and this configuration."""
    content = manifest.read(run)
    return is_current(run, "fit", stamps.fit_reads(run, config, content["values"], int(content["seed"])))


def run_fit(run: Path, config: FitConfig | None = None, executor: Executor = QUIET) -> pd.DataFrame:
    """Answers to slopes and the tables next to them, see ``slopes.fitting``; returns the slopes.

    Raises: UsageError if there are no answers yet or the CSV does not fit the run; ConfigError, TableError,
        StorageError.
    """
    content = manifest.read(run)
    manifest.require(run, tables.SCORES, "has no answers of a classifier yet", "gslopes score RUN --classifier NAME")
    config = config or FitConfig()
    with runfolder.locked(run):
        reads = stamps.fit_reads(run, config, content["values"], int(content["seed"]))
        watch = counted(executor, "fit", "sweeps")
        if config.photos_csv is not None and (absent := unmatched_rows(config.photos_csv, run)):
            executor.note(absent)
        slopes = fit_folder(run, config, content["values"], int(content["seed"]), watch=watch).slopes
        stamp(run, "fit", reads, stamps.fit_made(run))
        return slopes


# The page of an audit: the thresholds of the paper's tables, and which pictures it has.
PAGE: dict[str, Any] = {"p": 0.001, "slope": 0.03, "embed": "thumbs", "labels": []}


def is_reported(run: Path) -> bool:
    """Whether the page of an audit is that of these tables and pictures."""
    return is_current(run, "report", stamps.report_reads(run, PAGE))


def run_report(
    run: Path,
    executor: Executor,
    *,
    p: float = PAGE["p"],
    slope: float = PAGE["slope"],
    embed: Literal["full", "thumbs", "none"] = PAGE["embed"],
    labels: Sequence[str] = (),
) -> Audit:
    """Tables to a page.  Raises: UsageError if there are no slopes yet; StorageError.

    p, slope: thresholds of the tables of the paper.
    embed: which pictures the report has, labels: of the paper's figures; see ``slopes.report.write_report``.
    """
    from gslopes.slopes.report import write_report

    manifest.read(run)
    manifest.require(run, tables.SLOPES, "has no slopes yet", "gslopes fit RUN")
    with runfolder.locked(run), runfolder.storage(run):
        reads = stamps.report_reads(run, {"p": p, "slope": slope, "embed": embed, "labels": list(labels)})
        write_report(run, p=p, slope=slope, embed=embed, labels=labels, watch=counted(executor, "report", "steps"))
        found = outcome.of_audit(run)
        outcome.write_summary(found)
        stamp(run, "report", reads, stamps.report_made(run))
    return found


# -- helpers ----------------------------------------------------------------------------------------------------------


def _models(plan: Plan, components: Components | None) -> dict[str, dict[str, str]]:
    return model_records(plan.config) if components is None else components.records()
