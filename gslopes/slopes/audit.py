"""The walk as an audit: its stages, what is checked before them, and a function for the whole and for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from gslopes.ask.answers import is_cached
from gslopes.ask.cache import writable_cache
from gslopes.ask.classifiers import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget, limits_of
from gslopes.ask.scoring.cost import confirm_cost, estimate_walk
from gslopes.ask.scoring.score import DROPPED
from gslopes.ask.scoring.trial import FIRST, ask_first
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.options import build
from gslopes.core.progress import counted
from gslopes.core.records import Classifier
from gslopes.core.runfolder import SYNTHESIS, show
from gslopes.core.text import many
from gslopes.faces.components import Components
from gslopes.faces.gate.judge import judge_folder, reader_digest
from gslopes.faces.gate.verdict import GateConfig
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.run import Run, do
from gslopes.frame.sources import keep_sources
from gslopes.frame.spec import Inputs, Made, Stage, Staged
from gslopes.photos.folder import passed_over
from gslopes.photos.people import check_about, unmatched_rows
from gslopes.slopes import manifest, outcome, synthesis
from gslopes.slopes.asking import ask_all, ask_unedited, asked_unedited
from gslopes.slopes.config import FitConfig, ReportConfig, RunConfig, configure
from gslopes.slopes.fit.options import LEAST_KEPT
from gslopes.slopes.fitting import PRESENCE, UNEDITED, fit_folder
from gslopes.slopes.outcome import Audit
from gslopes.slopes.plan import Walk, check_folders, look_at

QUIET = OneProcess()
FITTED = (
    *(tables.SLOPES, tables.GROUPS, tables.DIFFERENCES, tables.BALANCE, tables.PLACEBOS),
    *(tables.REACH, tables.GATING, tables.ERROR_RATES, tables.ERROR_SLOPES, tables.OBSERVED),
)
DROPPED_FILES = tuple(f"{name}.parquet" for name in DROPPED.values())
UNEDITED_FILES = tuple(f"{UNEDITED}/{name}.parquet" for name in ("asked", "scores"))


def audit(
    photos: str | Path | None,
    out: str | Path,
    *,
    classifier: Given | Sequence[Given] | None = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Any,
) -> Audit:
    """Measure how a classifier's labels change with the look of the faces in a folder of photos.

    Called again with the same arguments, it resumes where it was stopped, and does nothing twice.

    photos: the folder.  out: the run folder, made if missing.
    classifier: a name such as ``celeba-tagger`` (the default) or ``onnx:model.onnx``, a function, a transformers
        pipeline, what ``gslopes.as_classifier`` makes of a torch module, an object as in core.records, or several.
        A function takes a list of pictures, (H, W, 3) uint8 RGB arrays of any sizes, and returns for each a mapping of
        label to score in [0, 1], or None where it will not answer.
    progress: show lines of progress on stderr.
    trust: a classifier in a file that is a program, ``torchscript:FILE``, may run with your rights.
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
    made = plan_walk(photos, Path(out), {**options, "classifier": names}, asks=not ready, components=components)
    return walk(made, executor or OneProcess(progress=progress), trust=trust, ready=ready)


def synthesise(
    photos: str | Path | None,
    out: str | Path,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Any,
) -> Audit:
    """Make the counterfactual photos of a folder and the tables ``photos`` and ``edits``; no classifier is asked.

    Arguments, result and errors as ``audit``.
    """
    made = plan_walk(photos, Path(out), options, asks=False, components=components)
    return walk(made, executor or OneProcess(progress=progress), [SYNTHESIS])


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
    **limits: Any,
) -> Audit:
    """Ask classifiers, concurrently, about every picture of a run folder; see ``tables["scores"]`` of the result.

    classifier, trust: as of ``audit``.  gate: leave out the sweeps that the gate dropped, if the run has verdicts.
    limits: fields of ``ask.config.CostLimits``.  config: a TOML file with those of ``ask.config.ScoreConfig``.

    Raises: UsageError if the pictures are not complete, or if it would cost more than was agreed to; UnknownName,
        ModelError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError.
    """
    names, ready = split_classifiers(classifier)
    score = build(ScoreConfig, {"config": config, **limits, "classifier": names})
    score = score if ready else with_default(score)
    runtime.check_device(device)  # resolved lazily
    made = plan_again(Path(run), score=score, device=device)
    if gate == (made.config.gate.on is False):
        gated = replace(made.config.gate, on=None if gate else False)
        made = plan_again(Path(run), score=score, device=device, gate=gated)
    executor = executor or OneProcess(progress=progress)
    return walk(made, executor, ["score", *([UNEDITED] if score.unedited else [])], trust=trust, ready=ready)


def run_gate(
    run: Path, executor: Executor = QUIET, config: GateConfig | None = None, *, device: str = "cpu"
) -> pd.DataFrame:
    """Judge the sweeps of a run folder, see ``faces.gate.judge``; the verdicts.

    Raises: UsageError, UnknownName, ModelError, StorageError.
    """
    do(plan_again(run, gate=config or GateConfig(), device=device), executor, only=["gate"])
    return tables.read(tables.VERDICTS, run / "verdicts.parquet")


def run_fit(run: Path, config: FitConfig | None = None, executor: Executor = QUIET) -> pd.DataFrame:
    """Fit the answers of a run folder; the slopes, next to which lie the other tables of ``slopes.fitting``.

    Raises: UsageError if there are no answers yet or the CSV does not fit the run; ConfigError, TableError,
        StorageError.
    """
    do(plan_again(run, fit=config or FitConfig()), executor, only=["fit"])
    return tables.read(tables.SLOPES, run / "slopes.parquet")


def run_report(
    run: Path,
    executor: Executor = QUIET,
    *,
    p: float = 0.001,
    slope: float = 0.03,
    embed: Literal["thumbs", "none"] = "thumbs",
    labels: Sequence[str] = (),
) -> Audit:
    """Write the page of a fitted run folder.  Arguments as of ``slopes.report.write_report``.

    Raises: UsageError if there are no slopes yet; StorageError.
    """
    do(plan_again(run, report=ReportConfig(embed, p, slope, tuple(labels))), executor, only=["report"])
    return outcome.of_audit(run)


# -- before any work --------------------------------------------------------------------------------------------------


def look(photos: Path, config: RunConfig, components: Components | None = None) -> Inputs:
    """The photos, and what the run is.  Raises: as ``slopes.plan.look_at``; UnknownName, ModelError."""
    made = look_at(replace(config, photos=photos), components)
    return Inputs(made, made.facts)


def plan_walk(
    photos: str | Path | None,
    out: Path | None,
    options: Mapping[str, Any],
    *,
    asks: bool = True,
    components: Components | None = None,
) -> Plan:
    """What an audit will do; nothing is written.

    photos: a folder, or a run of an audit: what depends on the options is done again there.
    asks: whether a classifier is asked where the options name none.

    Raises: UsageError, ConfigError, UnknownName, ModelError, RunFolderMismatch.
    """
    if isinstance(photos, (str, Path)) and (Path(photos) / runfolder.MANIFEST).is_file():
        return _again(Path(photos), out, options)
    config = configure(photos, options)
    if config.fit.photos_csv is not None:
        check_about(config.fit.photos_csv, config.fit.columns)
    if asks:
        config = replace(config, score=with_default(config.score))
    staged = SLOPES if components is None else replace(SLOPES, inputs=partial(look, components=components))
    if out is not None:
        check_folders(config.photos, out)
    made = Plan(staged, config, config.photos, out)
    if made.inputs.content.done(out) < made.inputs.content.parts:
        _ = made.inputs.content.device
    made.check()
    return made


def plan_again(run: Path, **options: Any) -> Plan:
    """The plan of a run folder with other options.  Raises: UsageError, ConfigError, RunFolderMismatch."""
    manifest.read(run)
    return _again(run, None, options)


def _again(run: Path, out: Path | None, options: Mapping[str, Any]) -> Plan:
    """The plan.  Raises: RunFolderMismatch if its options would make other pictures than the run has."""
    once = {"score.yes": False, "score.retry_failed": False}  # what holds for one command alone
    made = plan(SLOPES, run, out, {**once, **options})
    now = {"identity": made.config.identity(), "seed": made.config.seed}
    runfolder.compare(run, now, now)
    return made


def with_default(config: ScoreConfig) -> ScoreConfig:
    """With a classifier, if there is none."""
    return config if config.classifiers else replace(config, classifiers=(DEFAULT_CLASSIFIER,))


def walk(
    made: Plan,
    executor: Executor,
    only: Sequence[str] = (),
    *,
    trust: bool = False,
    ready: Sequence[Classifier] = (),
) -> Audit:
    """Do each stage of a plan, or some of them, unless it would come out the same.

    ready: classifiers as objects, in addition to those that the configuration names.

    Raises: as ``audit``.
    """
    run, config = made.folder, made.config
    if run is None:
        raise UsageError("No run folder is given.", "Write --out RUN.")
    _note_versions(run, executor)
    asked: list[Classifier] = []
    if not only or {"score", UNEDITED} & set(only):
        names = list(dict.fromkeys(config.score.classifiers))
        asked = [*load_classifiers(names, config.device, trust), *ready]
        manifest.check_versions(run, asked)
        if any(map(is_cached, asked)):
            writable_cache(config.score.cache)
    if made.again and not only and not asked:  # by objects that are not here: their answers stay
        judged = ["gate"] if config.gate.judges(config.find.landmarks) else []
        only = [SYNTHESIS, *judged, "fit", "report"]
        do(made, executor, only=only)
        return outcome.of_audit(run)
    do(made, executor, {one.name: one for one in asked}, only)
    return outcome.of_photos(run) if only else outcome.of_audit(run)


def _note_versions(run: Path, executor: Executor) -> None:
    """A sentence if the pictures were first made with other versions."""
    if (run / runfolder.MANIFEST).is_file():
        now = runtime.versions()
        if differing := runfolder.differences(runfolder.read_manifest(run).get("versions", now), now):
            executor.note(f"Note: {show(run)} was started with other versions: {'; '.join(differing)}.")


@dataclass
class Money:
    """What may be spent, by all stages together.  agreed: whether the price of the audit was confirmed."""

    budget: Budget
    agreed: bool = False


def money(run: Run) -> Money:
    """Of this command."""
    return Money(Budget(run.config.score.budget))


def check_before(run: Run, executor: Executor) -> None:
    """Before pictures are made for hours: credentials that are missing, a price that is too high, a wrong answer."""
    from gslopes.ask.classifiers import new_notes, prepare_classifier

    is_new = not (run.folder / runfolder.MANIFEST).is_file()
    if not run.models or not (is_new or manifest.missing_parts(run.folder)):
        return
    if is_gated(run):
        reader_digest()
    for one in run.models.values():
        prepare_classifier(one)
        for text in new_notes(one):
            executor.note(f"Warning: {text}")
    config, classifiers = run.config.score, tuple(run.models.values())
    confirm_walk(run.inputs, classifiers, config, executor)
    ask_first(classifiers, run.inputs.files, config, run.once(money).budget, executor)
    run.once(money).agreed = True


def confirm_walk(walk: Walk, classifiers: Sequence[Classifier], config: ScoreConfig, executor: Executor) -> None:
    """``confirm_cost`` of a whole audit, before its pictures are made; says how many of them are placebos'.

    Raises: as ``confirm_cost``.
    """
    paid = [one for one in classifiers if not limits_of(one).free]
    images, placebos = walk.pictures_asked(config.placebo_sample)
    part = walk.config.part * sum(len(values) for values in walk.values.values())
    if placebos and paid:
        sample = f"of placebo sweeps, of {min(config.placebo_sample, len(walk.files)):,} photos"
        executor.note(f"score      {placebos:,} of the pictures are {sample} (--no-placebo leaves them out)")
    images += min(FIRST, len(walk.files)) + (len(walk.files) if config.unedited else 0)
    confirm_cost([estimate_walk(one, images, part) for one in paid], config, executor)


# -- stages -----------------------------------------------------------------------------------------------------------


def make_pictures(run: Run) -> Made:
    """Photos to counterfactual photos.  Raises: ModelError, StorageError."""
    made: Walk = run.inputs
    content = runfolder.read_manifest(run.folder)
    runfolder.write_json(run.folder / runfolder.MANIFEST, {"versions": runtime.versions(), **content})
    for attribute in made.values:
        runfolder.make_folder(run.folder / "edits" / attribute)
    if others := passed_over(made.config.photos):
        run.executor.note(others)
    missing = synthesis.missing_parts(run.folder, made.parts)
    sizes = {part: len(made.files_of(part)) for part in missing}
    if missing:
        work = synthesis.Synthesis(run.folder, made, made.ready(), synthesis.same_bytes(made.files))
        run.executor(work, sizes, label=SYNTHESIS, unit="photos", done=len(made.files) - sum(sizes.values()))
    for table in (tables.EDITS, tables.PHOTOS):
        runfolder.merge(run.folder, table, [SYNTHESIS], made.parts)
    keep_sources(made.config.photos, run.folder)
    return {}


def is_gated(run: Run) -> bool:
    """Whether sweeps are judged before anybody is asked about them."""
    return bool(run.config.gate.judges(run.config.find.landmarks))


def reader(run: Run) -> str:
    """Who reads the pictures."""
    return reader_digest()


def columns(config: FitConfig) -> list[str]:
    """The groups along which the gate's shifts are summed up: single columns."""
    return [name for name in config.groups if "+" not in name]


def judge(run: Run) -> Made:
    """Pictures to verdicts, see ``faces.gate.judge``.  Raises: UsageError, UnknownName, ModelError, StorageError."""
    parts = manifest.complete_parts(run.folder)
    from gslopes.slopes import validation

    about = run.config.fit.photos_csv, columns(run.config.fit)
    validation.about_photos(run.folder, *about)
    verdicts = judge_folder(run.folder, parts, run.config.gate, run.config.device, run.executor)
    validation.keep_summaries(run.folder, validation.summarise(run.folder, *about))
    kept = int(verdicts["kept"].sum())
    if kept < LEAST_KEPT * len(verdicts):
        few = f"gate       fewer than {LEAST_KEPT:.0%} are kept: compare with the ungated slopes in gating.parquet"
        run.executor.note(few)
    run.executor.note(
        f"gate       {kept:,} of {many(len(verdicts), 'sweep')} kept"
        + (f" (see gslopes audit {show(run.folder)} --only gate)" * (kept < len(verdicts)))
    )
    return {}


def versions(run: Run) -> dict[str, str]:
    """Who is asked."""
    return {name: one.version for name, one in run.models.items()}


def limits(run: Run) -> ScoreConfig:
    """What asking may cost; the price that was confirmed is not asked about again."""
    config: ScoreConfig = run.config.score
    return replace(config, yes=config.yes or run.once(money).agreed)


def ask(run: Run) -> Made:
    """Pictures to answers.  Raises: as ``score_photos``; KeyboardInterrupt after what is in flight."""
    classifiers, gate = tuple(run.models.values()), run.config.gate.on is not False
    ask_all(run.folder, classifiers, run.executor, limits(run), gate=gate, budget=run.once(money).budget)
    return {}


def retries(run: Run) -> bool:
    """Whether questions that failed are to be asked again."""
    return bool(run.config.score.retry_failed and run.models)


def observed(run: Run) -> tuple[Classifier, ...]:
    """The classifiers that are asked about the photos as they were, too."""
    return asked_unedited(tuple(run.models.values()), run.config.score, run.config.fit.groups)


def is_observed(run: Run) -> bool:
    """Whether there are any."""
    return bool(observed(run))


def ask_as_they_were(run: Run) -> Made:
    """Photos as they were to answers.  Raises: as ``ask``."""
    ask_unedited(run.folder, observed(run), limits(run), run.executor, run.once(money).budget)
    return {}


def fit(run: Run) -> Made:
    """Answers to slopes and the tables next to them, see ``slopes.fitting``.

    Raises: UsageError if the CSV does not fit the run; ConfigError, TableError, StorageError.
    """
    config: FitConfig = run.config.fit
    content = manifest.read(run.folder)
    if config.photos_csv is not None and (absent := unmatched_rows(config.photos_csv, run.folder)):
        run.executor.note(absent)
    watch = counted(run.executor, "fit", "sweeps")
    fit_folder(run.folder, config, content["values"], int(content["seed"]), watch=watch)
    return {}


def report(run: Run) -> Made:
    """Tables to a page.  Raises: StorageError."""
    from gslopes.slopes.report import write_report

    config: ReportConfig = run.config.report
    with runfolder.storage(run.folder):
        watch = counted(run.executor, "report", "steps")
        write_report(run.folder, p=config.p, slope=config.slope, embed=config.embed, labels=config.labels, watch=watch)
        outcome.write_summary(outcome.of_audit(run.folder))
    return {}


SLOPES = Staged(
    name="audit",
    home=Path(__file__).parent,
    source="PHOTOS",
    config=RunConfig,
    tables=tables.TABLES,
    inputs=look,
    before=check_before,
    load=outcome.load_audit,
    stages=(
        Stage(SYNTHESIS, ("inputs",), ("edits", "photos", "edits/", "sources.parquet"), make_pictures, options=()),
        Stage(
            "gate", ("edits", "photos"), ("readings", "verdicts"), judge,
            when=is_gated, uses=reader, options=("gate", "fit.photos_csv", "fit.groups"),
        ),
        Stage(
            "score", ("edits", "photos", "verdicts"), ("asked", "scores", *DROPPED_FILES), ask,
            uses=versions, due=retries, options=("gate.on", "score.placebo_sample", "score.dropped_sample"),
        ),
        Stage(
            UNEDITED, ("edits", "photos"), UNEDITED_FILES, ask_as_they_were,
            when=is_observed, uses=versions, due=retries, options=(),
        ),
        Stage(
            "fit",
            ("scores", "asked", "photos", "verdicts", "readings", *DROPPED_FILES, *UNEDITED_FILES),
            (*(table.name for table in FITTED), PRESENCE), fit,
            options=("fit", "seed", "edit", "compose.placebo"),
        ),
        Stage(
            "report",
            (
                *("edits", "photos", "verdicts", "readings", "asked", "scores", "sources.parquet", "edits/"),
                *(table.name for table in FITTED), *DROPPED_FILES, PRESENCE,
                *("run.json", "validity.json"),
            ),
            ("summary.json", "report/"), report,
            options=("report",),
        ),
    ),
)  # fmt: skip
"""What ``gslopes audit`` does on a run folder; its result is ``outcome.Audit``, its page ``slopes.report``."""
