"""The walk as functions: ``audit``, its stages, and the plan before them. Each can be stopped, and resumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import pandas as pd

from gslopes.ask.answers import is_cached
from gslopes.ask.config import CostOptions, ScoreConfig
from gslopes.ask.cost import Budget, limits_of
from gslopes.ask.given import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.scoring.cost import confirm_cost, estimate_walk
from gslopes.ask.scoring.first_pictures import FIRST
from gslopes.ask.trust import Trust, writable_cache
from gslopes.core import runtime
from gslopes.core.executor import Executor
from gslopes.core.options import build
from gslopes.core.records import Classifier
from gslopes.faces.components import Components
from gslopes.faces.gate.judge import reader_digest
from gslopes.faces.gate.verdict import GateConfig
from gslopes.frame import manifest
from gslopes.frame.asking import run_score
from gslopes.frame.executors import OneProcess
from gslopes.frame.executors.engines import engine
from gslopes.photos.people import check_about
from gslopes.slopes import outcome, stages, unedited
from gslopes.slopes.config import RunConfig, RunOptions, configure
from gslopes.slopes.outcome import Audit
from gslopes.slopes.plan import Plan, make_plan

if TYPE_CHECKING:
    from gslopes.slopes.validation import Summary


def audit(
    photos: str | Path | None,
    out: str | Path,
    *,
    classifier: Given | Sequence[Given] | None = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Unpack[RunOptions],
) -> Audit:
    """Measure how a classifier's labels change with the look of the faces in a folder of photos.

    Called again with the same arguments, it resumes where it was stopped, and does nothing twice.

    photos: the folder.  out: the run folder, made if missing.
    classifier: a name such as ``celeba-tagger`` (the default) or ``onnx:model.onnx``, a function, a transformers
        pipeline, what ``gslopes.as_classifier`` makes of a torch module, an object as in core.records, or several.
        A function takes a list of pictures, (H, W, 3) uint8 RGB arrays of any sizes, and returns for each a mapping of
        label to score in [0, 1], or None where it will not answer.
    progress: show lines of progress on stderr.
    trust: a classifier in a file that is a program, ``torchscript:FILE``, may run with your rights; remembered for this
        run folder and file, see ``gslopes.ask.trust``.
    executor, components: who does the work, and with what, instead of what the options say.
    options: as of ``gslopes audit --help-all``, with underscores; ``config`` is a TOML file with more.

    Returns an ``Audit``: folder, page, summary, findings, tables, photos, used, skipped, dropped; a notebook shows its
    findings. ``findings`` has one row a classifier, attribute and label: slope, interval, q, decision, reason.
    ``tables["slopes"]`` has one row a classifier, attribute, label and estimator; its columns: core.tables.SLOPES.

    Raises: UsageError, ModelError, ClassifierError, StorageError; all that can be known beforehand before any work.

        def brightness(pictures):
            return [{"bright": float(picture.mean() / 255)} for picture in pictures]

        audit = gslopes.audit("photos", "run", attribute="gender", classifier=brightness)
    """
    names, ready = split_classifiers(classifier)
    planned = PlannedAudit(configure(photos, {**options, "classifier": names}), Path(out), ready)
    return planned.carry_out(executor or OneProcess(progress=progress), trust=trust, components=components)


def synthesise(
    photos: str | Path | None,
    out: str | Path,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Unpack[RunOptions],
) -> Audit:
    """Make the counterfactual photos of a folder and the tables ``photos`` and ``edits``; no classifier is asked.

    Arguments, result and errors as ``audit``.
    """
    plan = make_plan(configure(photos, options), Path(out))
    return make_pictures(plan, executor=executor or OneProcess(progress=progress), components=components)


def score_photos(
    run: str | Path,
    classifier: Given | Sequence[Given] | None = None,
    *,
    device: str = "auto",
    gate: bool = True,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    config: str | Path | None = None,
    **limits: Unpack[CostOptions],
) -> Audit:
    """Ask classifiers, concurrently, about every picture of a run folder; see ``tables["scores"]`` of the result.

    classifier, trust: as of ``audit``.  gate: leave out the sweeps that the gate dropped, if the run has verdicts.
    limits: fields of ``ask.config.CostLimits``.  config: a TOML file with those of ``ask.config.ScoreConfig``.

    Raises: UsageError if the pictures are not complete, or if it would cost more than was agreed to; UnknownName,
        ModelError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError.
    """
    run = Path(run)
    manifest.complete_parts(run)
    names, ready = split_classifiers(classifier)
    settings = build(ScoreConfig, {"config": config, **limits, "classifier": names})
    runtime.check_device(device)  # resolved lazily
    if not ready:
        settings = _with_default(settings)
    ready = (*load_classifiers(settings.classifiers, device, Trust(trust, run)), *ready)
    manifest.check_versions(run, ready)
    executor, budget = executor or OneProcess(progress=progress), Budget(settings.budget, settings.max_calls)
    run_score(run, ready, executor, settings, gate=gate, budget=budget)
    if settings.unedited:
        unedited.ask(run, ready, settings, executor, budget)
    return outcome.of_photos(run)


def validate_run(
    run: str | Path,
    *,
    photos_csv: str | Path | None = None,
    groups: Sequence[str] = (),
    device: str = "cpu",
    progress: bool = False,
) -> pd.DataFrame:
    """Judge the sweeps of a run folder, if that was not done: do they move their target, and what else?

    photos_csv, groups: a CSV about the photos, and those of its columns that make groups.

    Returns one row an attribute and measure: attribute, measure (``kept``, ``shift``, ``monotone``, ``leakage``,
    ``shift by <column>``), name, value, low, high (95 % interval over photos).

    Raises: UsageError, ModelError, TableError, StorageError.
    """
    csv = None if photos_csv is None else Path(photos_csv)
    executor = OneProcess(progress=progress)
    found = judge_run(Path(run), GateConfig(), csv, groups, device=device, executor=executor)
    rows = [(one.attribute, *row) for one in found for row in one.rows()]
    return pd.DataFrame(rows, columns=["attribute", "measure", "name", "value", "low", "high"])


def judge_run(
    run: Path,
    config: GateConfig,
    photos_csv: Path | None = None,
    groups: Sequence[str] = (),
    *,
    device: str,
    executor: Executor,
) -> list[Summary]:
    """Judge the sweeps of a run folder; their summaries, an attribute each, which are kept in the folder."""
    from gslopes.slopes.validation import check_inputs, keep_summaries, summarise

    check_inputs(run, photos_csv, groups)
    stages.run_gate(run, executor, config, device=runtime.pick_device(device))
    summaries = summarise(run, photos_csv, groups)
    keep_summaries(run, summaries)
    return summaries


# -- from a plan ------------------------------------------------------------------------------------------------------


class PlannedAudit:
    """An audit that is planned and not done yet: ``plan`` says what it will do, ``carry_out`` does it.

    config: its configuration; the default classifier is asked where neither it nor ``ready`` has one.
    out: the run folder.  ready: classifiers as objects, in addition to those that the configuration names.

    Raises: as ``slopes.plan.make_plan``; UsageError for a table of photos without what the fit needs.
    """

    def __init__(self, config: RunConfig, out: Path, ready: Sequence[Classifier] = ()) -> None:
        if config.fit.photos_csv is not None:
            check_about(config.fit.photos_csv, config.fit.columns)
        self.plan = make_plan(config if ready else replace(config, score=_with_default(config.score)), out)
        self.out, self.ready = out, ready

    def carry_out(self, executor: Executor, *, trust: bool = False, components: Components | None = None) -> Audit:
        """Do each stage unless it would come out the same.  Raises: as ``audit``."""
        run = self._prepared(_engine(self.plan, executor), trust, components)
        for stage in run.stages:
            if stage.done(run):
                run.executor.note(f"{stage.name:<10} up to date")
            else:
                stage.run(run)
        return outcome.of_audit(self.out)

    def _prepared(self, executor: Executor, trust: bool, components: Components | None) -> stages.AuditRun:
        """With all checked that can be known beforehand."""
        plan, config = self.plan, self.plan.config
        classifiers = (*load_classifiers(plan.classifiers, config.device, Trust(trust, self.out)), *self.ready)
        manifest.check_versions(self.out, classifiers)
        if any(is_cached(one) for one in classifiers):
            writable_cache(config.score.cache)
        run = stages.AuditRun(plan, executor, components, classifiers, config.score)
        if plan.done == plan.parts:
            return run
        if run.gated:
            reader_digest()
        budget = Budget(config.score.budget, config.score.max_calls)
        return replace(run, cost_limits=_confirmed(run, budget), budget=budget)


def make_pictures(plan: Plan, *, executor: Executor, components: Components | None = None) -> Audit:
    """The first stage alone.  Raises: as ``synthesise``."""
    return stages.run_synthesise(plan, components, _engine(plan, executor))


def _with_default(config: ScoreConfig) -> ScoreConfig:
    return config if config.classifiers else replace(config, classifiers=(DEFAULT_CLASSIFIER,))


def _engine(plan: Plan, given: Executor) -> Executor:
    return engine(given, plan.config.engine, plan.config.workers, plan.config.device)


def _confirmed(run: stages.AuditRun, budget: Budget) -> ScoreConfig:
    """Before pictures are made for hours: credentials that are missing, a price that is too high, a wrong answer."""
    from gslopes.ask.classifiers import new_notes, prepare_classifier
    from gslopes.ask.scoring.first_pictures import ask_first

    for one in run.classifiers:
        prepare_classifier(one)
        for text in new_notes(one):
            run.executor.note(f"Warning: {text}")
    confirm_walk(run.plan, run.classifiers, run.cost_limits, run.executor)
    ask_first(run.classifiers, run.plan.files, run.cost_limits, budget, run.executor)
    return replace(run.cost_limits, yes=True)


def confirm_walk(plan: Plan, classifiers: Sequence[Classifier], config: ScoreConfig, executor: Executor) -> None:
    """``confirm_cost`` of a whole audit, before its pictures are made; says how many of them are placebos'.

    Raises: as ``confirm_cost``.
    """
    paid = [one for one in classifiers if not limits_of(one).free]
    images, placebos = plan.pictures_asked(config.placebo_sample)
    part = plan.config.part * sum(len(values) for values in plan.values.values())
    if placebos and paid:
        sample = f"of placebo sweeps, of {min(config.placebo_sample, len(plan.files)):,} photos"
        executor.note(f"score      {placebos:,} of the pictures are {sample} (--no-placebo leaves them out)")
    images += min(FIRST, len(plan.files)) + (len(plan.files) if config.unedited else 0)
    confirm_cost([estimate_walk(one, images, part) for one in paid], config, executor)
