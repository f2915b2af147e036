"""The walk as one tuple of stages on a run folder: synthesise, gate, score, fit, report. Each stops and resumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack

import pandas as pd

from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import from_dict
from gslopes.core.records import Classifier
from gslopes.core.trust import Trust
from gslopes.executors import Executor, OneProcess
from gslopes.executors.engines import engine
from gslopes.executors.progress import counted
from gslopes.fit.options import LEAST_KEPT
from gslopes.run import manifest, outcome, stamps, synthesis
from gslopes.run.components import Components, default_components, load_classifiers, model_records
from gslopes.run.config import FitConfig, GateConfig, Options, ScoreConfig, configure
from gslopes.run.fitting import fit_folder
from gslopes.run.gate.judge import Wanted, judge_folder, load_reader, reader_digest
from gslopes.run.outcome import Audit, answers
from gslopes.run.plan import IDENTITY, SYNTHESIS, Plan, identity, make_plan
from gslopes.run.scoring.score import DROPPED, Scoring, missing_of, models_of, score_stage, wanted_of
from gslopes.run.sources import keep_sources

__all__ = ["DEFAULT_CLASSIFIER", "QUIET", "STAGES", "Audit", "answers", "audit", "score_photos", "synthesise"]

QUIET = OneProcess()
DEFAULT_CLASSIFIER = "celeba-tagger"


@dataclass(frozen=True, slots=True)
class Walk:
    """One audit: what is done, and by whom.

    components: None stands for those that the plan's configuration names.  terms: what the questions may cost.
    """

    plan: Plan
    executor: Executor
    components: Components | None
    classifiers: tuple[Classifier, ...]
    terms: ScoreConfig

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.plan.run

    @property
    def gated(self) -> bool:
        """Whether sweeps are judged before anybody is asked about them."""
        return self.plan.config.gate.judges(self.plan.config.find.landmarks)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All of them, without the gate if it is off."""
        return tuple(stage for stage in STAGES if self.gated or stage.name != "gate")


@dataclass(frozen=True, slots=True)
class Stage:
    """name: as notes have it.  done: whether all would come out the same if it were done again.  run: does it."""

    name: str
    done: Callable[[Walk], bool]
    run: Callable[[Walk], object]


STAGES = (
    Stage(
        SYNTHESIS,
        lambda walk: is_synthesised(walk.plan, walk.components),
        lambda walk: run_synthesise(walk.plan, walk.components, walk.executor),
    ),
    Stage(
        "gate",
        lambda walk: is_judged(walk.run, walk.plan.config.gate),
        lambda walk: run_gate(walk.run, walk.executor, walk.plan.config.gate, device=walk.plan.config.device),
    ),
    Stage(
        "score",
        lambda walk: is_scored(walk.run, walk.classifiers, walk.terms, gate=walk.gated),
        lambda walk: run_score(walk.run, walk.classifiers, walk.executor, walk.terms, gate=walk.gated),
    ),
    Stage(
        "fit",
        lambda walk: is_fitted(walk.run, walk.plan.config.fit),
        lambda walk: run_fit(walk.run, walk.plan.config.fit, walk.executor),
    ),
    Stage(
        "report",
        lambda walk: is_reported(walk.run),
        lambda walk: run_report(walk.run, walk.executor),
    ),
)


# -- the walk, as functions -------------------------------------------------------------------------------------------


def audit(
    photos: str | Path | None,
    out: str | Path,
    *,
    components: Components | None = None,
    classifiers: Sequence[Classifier] = (),
    executor: Executor = QUIET,
    trust: bool = False,
    **options: Unpack[Options],
) -> Audit:
    """The whole walk: counterfactual photos, the classifiers' answers, slopes, report. Called again, it resumes.

    What is done is not done again: no picture, no question, nor slopes and a report that would come out the same.

    photos: the folder.  out: the run folder, made if missing.
    components: instead of those that the options name.
    classifiers: ready objects, beside those named by ``classifier``.
    executor: carries out the parts, unless the option ``engine`` says who does.
    trust: classifiers in files that are programs may run, see ``core.trust``; without it the user is asked.
    options: see ``run.config.Options``; attribute is ``gender`` by default, and the classifier ``celeba-tagger`` if
        none is given.

    Raises: UsageError, ModelError, ClassifierError, StorageError; all that can be known beforehand before any work.
    """
    walk = prepare(photos, out, options, components, classifiers, executor, trust)
    for stage in walk.stages:
        if stage.done(walk):
            walk.executor.note(f"{stage.name:<10} up to date")
        else:
            stage.run(walk)
    return outcome.of_audit(walk.run)


def synthesise(
    photos: str | Path | None,
    out: str | Path,
    *,
    components: Components | None = None,
    executor: Executor = QUIET,
    **options: Unpack[Options],
) -> Audit:
    """Make the counterfactual photos and the tables ``photos`` and ``edits``. Arguments and errors as ``audit``."""
    plan = plan_walk(photos, out, options)
    return run_synthesise(plan, components, _executor(plan, executor))


def score_photos(
    run: str | Path,
    classifier: str | Classifier | Sequence[str | Classifier] = DEFAULT_CLASSIFIER,
    *,
    device: str = "auto",
    executor: Executor = QUIET,
    gate: bool = True,
    trust: bool = False,
    **terms: Any,
) -> Path:
    """Ask classifiers, side by side, about every picture of a run folder; returns the path of the ``scores`` table.

    classifier: a name with its parameters, an object as in core.records, or several of either.
    gate: leave out the sweeps that the gate dropped, if the run has verdicts.
    trust: as of ``audit``.
    terms: fields of ``run.config.ScoreConfig``: cache, budget, max_calls, confirm_above, yes, retry_failed.

    Raises: UsageError if the pictures are not complete, or if it would cost more than was agreed to; UnknownName,
        ModelError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError.
    """
    run = Path(run)
    manifest.complete_parts(run)
    several: Sequence[Any] = classifier if isinstance(classifier, (list, tuple)) else [classifier]
    runtime.check_device(device)  # it is looked for when somebody needs it
    ready = load_classifiers(several, device, Trust(trust, run))
    manifest.check_versions(run, ready)
    given = {key: value for key, value in terms.items() if value is not None}
    return run_score(run, ready, executor, from_dict(ScoreConfig, given), gate=gate)


def plan_walk(photos: str | Path | None, out: str | Path, options: Mapping[str, Any]) -> Plan:
    """What ``synthesise`` would do.  Raises: as ``audit``, except what loading a model shows."""
    return make_plan(configure(photos, options), Path(out))


def plan_audit(photos: str | Path | None, out: str | Path, options: Mapping[str, Any]) -> Plan:
    """What ``audit`` would do: the same, with the classifier that is asked if none is named."""
    config = configure(photos, options)
    if not config.score.classifiers:
        config = replace(config, score=replace(config.score, classifiers=(DEFAULT_CLASSIFIER,)))
    return make_plan(config, Path(out))


def prepare(
    photos: str | Path | None,
    out: str | Path,
    options: Mapping[str, Any],
    components: Components | None,
    classifiers: Sequence[Classifier],
    executor: Executor,
    trust: bool = False,
) -> Walk:
    """All that can be known beforehand, checked: the arguments and errors of ``audit``."""
    plan = plan_walk(photos, out, options) if classifiers else plan_audit(photos, out, options)
    executor = _executor(plan, executor)
    ready = (*load_classifiers(plan.classifiers, plan.config.device, Trust(trust, plan.run)), *classifiers)
    manifest.check_versions(plan.run, ready)
    walk = Walk(plan, executor, components, ready, plan.config.score)
    if plan.done == plan.parts:
        return walk
    if walk.gated:
        load_reader()
    return replace(walk, terms=_confirmed(walk))


# -- the stages -------------------------------------------------------------------------------------------------------


def is_synthesised(plan: Plan, components: Components | None) -> bool:
    """Whether all pictures are there, and the tables that go with them."""
    reads = stamps.synthesis_reads(plan, _models(plan, components))
    there = plan.done == plan.parts and synthesis.pictures_are_there(plan.run)
    return there and stamps.is_current(plan.run, SYNTHESIS, reads)


def run_synthesise(plan: Plan, components: Components | None, executor: Executor) -> Audit:
    """Photos to counterfactual photos.  Raises: RunFolderMismatch, ModelError, StorageError."""
    if components is None and plan.done < plan.parts:
        components = default_components(plan.config, plan.device)
    models = _models(plan, components)
    with runfolder.locked(plan.run):
        runfolder.compare(plan.run, identity(plan, models), IDENTITY)
        manifest.begin(plan.run, identity(plan, models), executor)
        with runfolder.storage(plan.run):
            for attribute in plan.values:
                (plan.run / "edits" / attribute).mkdir(parents=True, exist_ok=True)
        missing = synthesis.missing_parts(plan.run, plan.parts)
        sizes = {part: len(plan.files_of(part)) for part in missing}
        if missing:
            ready = components or default_components(plan.config, plan.device)
            work = synthesis.Synthesis(plan, ready, synthesis.same_bytes(plan.files))
            executor(work, sizes, label=SYNTHESIS, unit="photos", done=len(plan.files) - sum(sizes.values()))
        made = [runfolder.merge(plan.run, table, [SYNTHESIS], plan.parts) for table in (tables.EDITS, tables.PHOTOS)]
        sources = keep_sources(plan.config.photos, plan.run)
        made += [sources] if sources else []
        stamps.stamp(plan.run, SYNTHESIS, stamps.synthesis_reads(plan, models), made)
    return outcome.of_photos(plan.run)


def is_judged(run: Path, config: GateConfig) -> bool:
    """Whether every sweep was judged by these thresholds and this reader."""
    return stamps.is_current(run, "gate", stamps.gate_reads(run, config, reader_digest()))


def run_gate(run: Path, executor: Executor, config: GateConfig | None = None, *, device: str = "cpu") -> pd.DataFrame:
    """Pictures to verdicts, see ``run.gate.judge``.  Raises: UsageError, UnknownName, ModelError, StorageError."""
    from gslopes.run.validation import check_inputs, keep_summaries, summarise

    parts, config = manifest.complete_parts(run), config or GateConfig()
    check_inputs(run)
    with runfolder.locked(run):
        verdicts = judge_folder(run, parts, config, device, executor)
        made = [run / f"{table.name}.parquet" for table in (tables.VERDICTS, tables.READINGS)]
        stamps.stamp(run, "gate", stamps.gate_reads(run, config, reader_digest()), made)
        keep_summaries(run, summarise(run))
    kept = int(verdicts["kept"].sum())
    if kept < LEAST_KEPT * len(verdicts):
        few = f"gate       fewer than {LEAST_KEPT:.0%} are kept: compare with the ungated slopes in gating.parquet"
        executor.note(few)
    executor.note(
        f"gate       {kept:,} of {len(verdicts):,} sweeps kept" + (" (see gslopes validate)" * (kept < len(verdicts)))
    )
    return verdicts


def is_scored(run: Path, classifiers: Sequence[Classifier], terms: ScoreConfig, *, gate: bool) -> bool:
    """Whether the tables hold the answers of all these classifiers about every picture that is wanted."""
    parts, seed = manifest.complete_parts(run), int(manifest.read(run)["seed"])
    for one in classifiers:
        if missing_of(run, one, parts, terms, wanted_of(run, one, terms, gate, seed)):
            return False
    reads = stamps.score_reads(run, gate=gate and Wanted(run, gate).judged, dropped=terms.dropped_sample)
    return stamps.is_current(run, "score", reads)


def run_score(
    run: Path,
    classifiers: Sequence[Classifier],
    executor: Executor,
    terms: ScoreConfig | None = None,
    *,
    gate: bool = True,
) -> Path:
    """Pictures to answers.  Raises: as ``score_photos``; KeyboardInterrupt after what is in flight."""
    parts, seed = manifest.complete_parts(run), int(manifest.read(run)["seed"])
    with runfolder.locked(run):
        manifest.check_versions(run, classifiers)
        content = manifest.read(run)
        known = content.setdefault("classifiers", {})
        terms = terms or ScoreConfig()
        wanted = Wanted(run, gate, dropped=terms.dropped_sample, seed=seed)
        content["gate"] = {**content.get("gate", {}), "applied": gate and wanted.judged}
        for one in classifiers:
            known[one.name] = {**known.get(one.name, {}), "version": one.version}
        runfolder.write_json(run / runfolder.MANIFEST, content)
        try:
            Scoring(run, classifiers, parts, seed, terms, executor, gate).ask()
        finally:
            for one in classifiers:
                known[one.name] |= models_of(run, one.name)
            runfolder.write_json(run / runfolder.MANIFEST, content)
        # a classifier that was stopped half way stays out of the tables until it is finished
        stages = [score_stage(name) for name in sorted(known)]
        stages = [name for name in stages if not runfolder.missing_parts(run, name, tables.ASKED, parts)]
        beside = [(table, wanted.sampled, DROPPED[table.name]) for table in (tables.ASKED, tables.SCORES)]
        merged = [*beside, *((table, wanted.keep, "") for table in (tables.ASKED, tables.SCORES))]
        made = [runfolder.merge(run, table, stages, parts, keep, name) for table, keep, name in merged]
        reads = stamps.score_reads(run, gate=gate and wanted.judged, dropped=terms.dropped_sample)
        stamps.stamp(run, "score", reads, made)
        return made[-1]


def is_fitted(run: Path, config: FitConfig) -> bool:
    """Whether the slopes are those of these answers and this configuration."""
    content = manifest.read(run)
    return stamps.is_current(run, "fit", stamps.fit_reads(run, config, content["values"], int(content["seed"])))


def run_fit(run: Path, config: FitConfig | None = None, executor: Executor = QUIET) -> pd.DataFrame:
    """Answers to slopes and the tables beside them, see ``run.fitting``; returns the slopes.

    Raises: UsageError if there are no answers yet or the CSV does not fit the run; ConfigError, TableError,
        StorageError.
    """
    content = manifest.read(run)
    manifest.require(run, tables.SCORES, "has no answers of a classifier yet", "gslopes score RUN --classifier NAME")
    config = config or FitConfig()
    with runfolder.locked(run):
        reads = stamps.fit_reads(run, config, content["values"], int(content["seed"]))
        watch = counted(executor, "fit", "sweeps")
        slopes = fit_folder(run, config, content["values"], int(content["seed"]), watch=watch).slopes
        stamps.stamp(run, "fit", reads, stamps.fit_made(run))
        return slopes


# The page of an audit: the thresholds of the paper's tables, and which pictures it has.
PAGE: dict[str, Any] = {"p": 0.001, "slope": 0.03, "embed": "thumbs"}


def is_reported(run: Path) -> bool:
    """Whether the page of an audit is that of these tables and pictures."""
    return stamps.is_current(run, "report", stamps.report_reads(run, PAGE))


def run_report(
    run: Path,
    executor: Executor,
    *,
    p: float = PAGE["p"],
    slope: float = PAGE["slope"],
    embed: Literal["full", "thumbs", "none"] = PAGE["embed"],
) -> Audit:
    """Tables to a page.  Raises: UsageError if there are no slopes yet; StorageError.

    p, slope: thresholds of the tables of the paper.
    embed: which pictures the report has; see ``report.write_report``.
    """
    from gslopes.report import write_report

    manifest.read(run)
    manifest.require(run, tables.SLOPES, "has no slopes yet", "gslopes fit RUN")
    with runfolder.locked(run), runfolder.storage(run):
        reads = stamps.report_reads(run, {"p": p, "slope": slope, "embed": embed})
        write_report(run, p=p, slope=slope, embed=embed, watch=counted(executor, "report", "steps"))
        stamps.stamp(run, "report", reads, stamps.report_made(run))
    return outcome.of_audit(run)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _executor(plan: Plan, given: Executor) -> Executor:
    return engine(given, plan.config.engine, plan.config.workers, plan.config.device)


def _models(plan: Plan, components: Components | None) -> dict[str, dict[str, str]]:
    return model_records(plan.config) if components is None else components.records()


def _confirmed(walk: Walk) -> ScoreConfig:
    """Before pictures are made for hours: credentials that are missing, a price that is too high."""
    from gslopes.run.scoring.cost import confirm_walk
    from gslopes.score.classifiers import prepare_classifier

    for one in walk.classifiers:
        prepare_classifier(one)
    confirm_walk(walk.plan, walk.classifiers, walk.terms, walk.executor)
    return replace(walk.terms, yes=True)
