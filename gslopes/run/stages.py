"""The walk as one tuple of stages on a run folder: synthesise, score, fit, report. Each can be stopped and resumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Unpack

import pandas as pd
import pyarrow.parquet as pq

from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import from_dict
from gslopes.core.errors import RunFolderMismatch, UsageError
from gslopes.core.records import Classifier
from gslopes.core.runfolder import show
from gslopes.executors import Executor, OneProcess
from gslopes.executors.engines import engine
from gslopes.run import stamps, synthesis
from gslopes.run.components import Components, default_components, model_records
from gslopes.run.config import Options, configure
from gslopes.run.fitting import FitConfig, fit_folder
from gslopes.run.gate.judge import Wanted, dropped, judge_folder, load_reader, reader_digest
from gslopes.run.gate.thresholds import GateConfig
from gslopes.run.plan import IDENTITY, Plan, count_parts, make_plan, manifest
from gslopes.run.scoring.config import ScoreConfig
from gslopes.run.scoring.score import Scoring, models_of, score_stage
from gslopes.run.sources import keep_sources
from gslopes.score.limits import limits_of

QUIET = OneProcess()
DEFAULT_CLASSIFIER = "celeba-tagger"


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What a walk found.

    run: the run folder.  slopes: as in core.tables.SLOPES; None before the fit.  page: the report, None before it.
    photos: how many were looked at.  used: how many have counterfactuals.
    skipped: reason to number of photos.  errors: how many of them could not be read.
    dropped: reason to number of sweeps that the gate kept from the classifiers; a photo has one for each attribute.
    """

    run: Path
    photos: int
    used: int
    skipped: dict[str, int]
    errors: int
    slopes: pd.DataFrame | None = None
    page: Path | None = None
    dropped: dict[str, int] = field(default_factory=dict)


# -- the walk, as functions -------------------------------------------------------------------------------------------


def audit(
    photos: str | Path | None,
    out: str | Path,
    *,
    components: Components | None = None,
    classifiers: Sequence[Classifier] = (),
    executor: Executor = QUIET,
    **options: Unpack[Options],
) -> Audit:
    """The whole walk: counterfactual photos, the classifiers' answers, slopes, report. Called again, it resumes.

    What is done is not done again: no picture, no question, nor slopes and a report that would come out the same.

    photos: the folder.  out: the run folder, made if missing.
    components: instead of those that the options name.
    classifiers: ready objects, beside those named by ``classifier``.
    executor: carries out the parts, unless the option ``engine`` says who does.
    options: see ``run.config.Options``; attribute is ``gender`` by default, and the classifier ``celeba-tagger`` if
        none is given.

    Raises: UsageError, ModelError, ClassifierError, StorageError; all that can be known beforehand before any work.
    """
    plan = plan_walk(photos, out, options) if classifiers else plan_audit(photos, out, options)
    executor = engine(executor, plan.config.engine, plan.config.workers, plan.config.device)
    ready = [*_load(plan.classifiers, plan.config.device), *classifiers]
    _check_versions(plan.run, ready)
    gate = plan.config.gate.judges(plan.config.find.landmarks)
    if gate:
        load_reader() if plan.done < plan.parts else reader_digest()
    terms = _agreed(plan, ready, executor)
    run_synthesise(plan, components, executor)
    if gate:
        run_gate(plan.run, executor, plan.config.gate, device=plan.config.device)
    run_score(plan.run, ready, executor, terms, gate=gate)
    slopes = run_fit(plan.run, plan.config.fit, executor, again=False)
    return run_report(plan.run, slopes, executor, again=False)


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
    executor = engine(executor, plan.config.engine, plan.config.workers, plan.config.device)
    return run_synthesise(plan, components, executor)


def score_photos(
    run: str | Path,
    classifier: str | Classifier | Sequence[str | Classifier] = DEFAULT_CLASSIFIER,
    *,
    device: str = "auto",
    executor: Executor = QUIET,
    gate: bool = True,
    **terms: Any,
) -> Path:
    """Ask classifiers, side by side, about every picture of a run folder; returns the path of the ``scores`` table.

    classifier: a name with its parameters, an object as in core.records, or several of either.
    gate: leave out the sweeps that the gate dropped, if the run has verdicts.
    terms: fields of ``run.plan.ScoreConfig``: cache, budget, max_calls, confirm_above, yes, retry_failed.

    Raises: UsageError if the pictures are not complete, or if it would cost more than was agreed to; UnknownName,
        ModelError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError.
    """
    run = Path(run)
    _parts(run)
    several: Sequence[Any] = classifier if isinstance(classifier, (list, tuple)) else [classifier]
    runtime.check_device(device)  # it is looked for when somebody needs it
    ready: list[Classifier] = [_load([one], device)[0] if isinstance(one, str) else one for one in several]
    _check_versions(run, ready)
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


# -- the stages -------------------------------------------------------------------------------------------------------


def run_synthesise(plan: Plan, components: Components | None, executor: Executor) -> Audit:
    """Photos to counterfactual photos.  Raises: RunFolderMismatch, ModelError, StorageError."""
    if components is None and plan.done < plan.parts:
        components = default_components(plan.config, plan.device)
    new = manifest(plan, model_records(plan.config) if components is None else components.records())
    with runfolder.locked(plan.run):
        runfolder.compare(plan.run, new, IDENTITY)
        _begin(plan.run, new, executor)
        with runfolder.storage(plan.run):
            for attribute in plan.values:
                (plan.run / "edits" / attribute).mkdir(parents=True, exist_ok=True)
        missing = runfolder.missing_parts(plan.run, synthesis.STAGE, tables.PHOTOS, plan.parts)
        sizes = {part: len(plan.files_of(part)) for part in missing}
        if missing:
            ready = components or default_components(plan.config, plan.device)
            work = synthesis.Synthesis(plan, ready, synthesis.same_bytes(plan.files))
            executor(work, sizes, label="synthesise", unit="photos", done=len(plan.files) - sum(sizes.values()))
        for table in (tables.EDITS, tables.PHOTOS):
            runfolder.merge(plan.run, table, [synthesis.STAGE], plan.parts)
    keep_sources(plan.config.photos, plan.run)
    return summary(plan.run)


def run_gate(run: Path, executor: Executor, config: GateConfig | None = None, *, device: str = "cpu") -> pd.DataFrame:
    """Pictures to verdicts, see ``run.gate.judge``.  Raises: UsageError, UnknownName, ModelError, StorageError."""
    parts = _parts(run)
    with runfolder.locked(run):
        verdicts = judge_folder(run, parts, config or GateConfig(), device, executor)
    kept = int(verdicts["kept"].sum())
    executor.note(
        f"gate       {kept:,} of {len(verdicts):,} sweeps kept" + (" (see gslopes validate)" * (kept < len(verdicts)))
    )
    return verdicts


def run_score(
    run: Path,
    classifiers: Sequence[Classifier],
    executor: Executor,
    terms: ScoreConfig | None = None,
    *,
    gate: bool = True,
) -> Path:
    """Pictures to answers.  Raises: as ``score_photos``; KeyboardInterrupt after what is in flight."""
    parts, seed = _parts(run), int(_content(run)["seed"])
    with runfolder.locked(run):
        _check_versions(run, classifiers)
        content = _content(run)
        known = content.setdefault("classifiers", {})
        wanted = Wanted(run, gate)
        content["gate"] = {**content.get("gate", {}), "applied": gate and wanted.judged}
        for one in classifiers:
            known[one.name] = {**known.get(one.name, {}), "version": one.version}
        runfolder.write_json(run / runfolder.MANIFEST, content)
        try:
            Scoring(run, classifiers, parts, seed, terms or ScoreConfig(), executor, wanted).ask()
        finally:
            for one in classifiers:
                known[one.name] |= models_of(run, one.name)
            runfolder.write_json(run / runfolder.MANIFEST, content)
        # a classifier that was stopped half way stays out of the tables until it is finished
        stages = [score_stage(name) for name in sorted(known)]
        stages = [name for name in stages if not runfolder.missing_parts(run, name, tables.ASKED, parts)]
        runfolder.merge(run, tables.ASKED, stages, parts, wanted.keep)
        return runfolder.merge(run, tables.SCORES, stages, parts, wanted.keep)


def run_fit(
    run: Path, config: FitConfig | None = None, executor: Executor = QUIET, *, again: bool = True
) -> pd.DataFrame:
    """Answers to slopes and the tables beside them, see ``run.fitting``; returns the slopes.

    again: also if they would come out the same; see ``run.stamps``.

    Raises: UsageError if there are no answers yet or the CSV does not fit the run; ConfigError, TableError,
        StorageError.
    """
    content = _content(run)
    _need(run, tables.SCORES, "has no answers of a classifier yet", "gslopes score RUN --classifier NAME")
    config, values, seed = config or FitConfig(), content["values"], int(content["seed"])
    with runfolder.locked(run):
        reads = stamps.fit_reads(run, config, values, seed)
        if not again and stamps.is_current(run, "fit", reads):
            executor.note("fit        up to date")
            return tables.read(tables.SLOPES, run / "slopes.parquet")
        slopes = fit_folder(run, config, values, seed).slopes
        stamps.stamp(run, "fit", reads, stamps.fit_made(run))
        return slopes


def run_report(
    run: Path,
    slopes: pd.DataFrame | None,
    executor: Executor,
    *,
    p: float = 0.001,
    slope: float = 0.03,
    embed: Literal["full", "thumbs", "none"] = "thumbs",
    again: bool = True,
) -> Audit:
    """Tables to a page.  Raises: UsageError if there are no slopes yet; StorageError.

    slopes: the table, if it is at hand.  p, slope: thresholds of the tables of the paper.
    embed: which pictures the report has; see ``report.write_report``.
    again: also if it would come out the same; see ``run.stamps``.
    """
    from gslopes.report import write_report

    _content(run)
    _need(run, tables.SLOPES, "has no slopes yet", "gslopes fit RUN")
    with runfolder.locked(run), runfolder.storage(run):
        reads = stamps.report_reads(run, {"p": p, "slope": slope, "embed": embed})
        if not again and stamps.is_current(run, "report", reads):
            executor.note("report     up to date")
            page = run / "report" / "index.html"
        else:
            executor.note("report     writing the page")
            page = write_report(run, p=p, slope=slope, embed=embed)
            stamps.stamp(run, "report", reads, stamps.report_made(run))
    found = tables.read(tables.SLOPES, run / "slopes.parquet") if slopes is None else slopes
    return replace(summary(run), slopes=found, page=page, dropped=dropped(run))


def summary(run: Path) -> Audit:
    """How many photos were used, and why the others were not."""
    path = run / "photos.parquet"
    columns = pq.read_table(path, columns=["status", "reason"]).to_pydict()
    reasons = [reason for status, reason in zip(columns["status"], columns["reason"], strict=True) if status != "used"]
    errors = sum(reason.startswith(synthesis.UNREADABLE) for reason in reasons)
    kinds = Counter(map(_kind, reasons))
    return Audit(run, len(columns["status"]), len(columns["status"]) - len(reasons), dict(kinds.most_common()), errors)


def answers(run: Path) -> dict[str, dict[str, int]]:
    """Classifier to status to number of pictures."""
    rows = pq.read_table(run / "asked.parquet", columns=["classifier", "status"])
    counts: dict[str, dict[str, int]] = {}
    for row in rows.group_by(["classifier", "status"]).aggregate([([], "count_all")]).to_pylist():
        counts.setdefault(row["classifier"], {})[row["status"]] = row["count_all"]
    return counts


# -- helpers ----------------------------------------------------------------------------------------------------------


def _load(names: Sequence[str], device: str) -> list[Classifier]:
    from gslopes.score.classifiers import load_classifier

    return [load_classifier(name, device, prepare=False) for name in names]


def _agreed(plan: Plan, ready: Sequence[Classifier], executor: Executor) -> ScoreConfig:
    """Before pictures are made for hours: credentials that are missing, a price that is too high."""
    from gslopes.run.scoring.cost import confirm_cost, estimate_walk
    from gslopes.score.classifiers import prepare_classifier

    terms = plan.config.score
    if plan.done == plan.parts:
        return terms
    for one in ready:
        prepare_classifier(one)
    part = plan.config.part * sum(len(values) for values in plan.values.values())
    confirm_cost([estimate_walk(one, plan.images, part) for one in ready if not limits_of(one).free], terms, executor)
    return replace(terms, yes=True)


def _begin(run: Path, new: dict[str, Any], executor: Executor) -> None:
    """Write the manifest of a new run; say so if an old one was begun with other versions."""
    now = {"gslopes": runtime.gslopes_version(), **runtime.versions()}
    if not (run / runfolder.MANIFEST).exists():
        head = {"gslopes": now.pop("gslopes"), "created": datetime.now(UTC).isoformat(timespec="seconds")}
        runfolder.write_json(run / runfolder.MANIFEST, {**head, **new, "classifiers": {}, "versions": now})
        return
    old = runfolder.read_manifest(run)
    differing = runfolder.differences({"gslopes": old.get("gslopes"), **old.get("versions", {})}, now)
    if differing:
        executor.note(f"Note: {show(run)} was begun with other versions: {'; '.join(differing)}.")


def _content(run: Path) -> dict[str, Any]:
    """``run.json``.  Raises: UsageError unless it is there and is that of a run."""
    content = runfolder.read_manifest(run)
    try:
        numbers = content["inputs"]["photos"], content["config"]["part"], content["seed"]
        list(map(int, numbers)), content["values"].items()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{show(run / runfolder.MANIFEST)} is damaged: it lacks what every run has."
        raise UsageError(message, "Make the run again in a new folder.") from error
    return content


def _parts(run: Path) -> int:
    """How many parts the run has.  Raises: UsageError unless the pictures of all of them are there."""
    content = _content(run)
    parts = count_parts(int(content["inputs"]["photos"]), int(content["config"]["part"]))
    missing = len(runfolder.missing_parts(run, synthesis.STAGE, tables.PHOTOS, parts))
    if missing:
        hint = "Finish it first: repeat the command that began it."
        raise UsageError(f"{show(run)} is not complete: {missing} of its {parts} parts have no pictures yet.", hint)
    return parts


def _check_versions(run: Path, classifiers: Sequence[Classifier]) -> None:
    """Raises: RunFolderMismatch if one of them was asked before in another version: answers of two are not one."""
    if not (run / runfolder.MANIFEST).exists():
        return
    known = runfolder.read_manifest(run).get("classifiers", {})
    for classifier in classifiers:
        old = known.get(classifier.name, {}).get("version", classifier.version)
        if old != classifier.version:
            raise RunFolderMismatch(
                f"{show(run)} has answers of {classifier.name} in version {old or 'unknown'}; "
                f"it is {classifier.version or 'unknown'} now.",
                "Choose a new folder with --out.",
            )


def _need(run: Path, table: tables.Table, what: str, command: str) -> None:
    if not (run / f"{table.name}.parquet").exists():
        raise UsageError(f"{show(run)} {what}.", f"Run: {command.replace('RUN', show(run))}.")


def _kind(reason: str) -> str:
    """A reason without what is particular to one photo."""
    return "same bytes as another photo" if reason.startswith("same bytes as ") else reason.split(" (")[0]
