"""The audit of slopes: photos of faces, edited step by step, shown to classifiers; and a function for each stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.config import ScoreConfig
from gslopes.ask.scoring.cost import Price, estimate_walk
from gslopes.ask.scoring.score import DROPPED
from gslopes.ask.scoring.trial import FIRST, ask_first
from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import to_dict
from gslopes.core.executor import Executor
from gslopes.core.files import csv_bytes
from gslopes.core.options import build
from gslopes.core.progress import counted
from gslopes.core.records import Classifier
from gslopes.core.runfolder import SYNTHESIS, show
from gslopes.core.text import many
from gslopes.core.traits import traits_of
from gslopes.faces.components import Components
from gslopes.faces.gate.judge import judge_folder, reader_digest
from gslopes.faces.gate.verdict import VALIDITY
from gslopes.frame.ask import Questions, ask, check_models, check_versions, money
from gslopes.frame.brought import planned
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.run import Run, carry_out
from gslopes.frame.sources import keep_sources
from gslopes.frame.spec import Audit, Inputs, Made, Stage
from gslopes.photos.folder import passed_over, same_bytes
from gslopes.photos.people import check_about, unmatched_rows
from gslopes.report.choices import SLOPES as PAPER
from gslopes.report.choices import Choice
from gslopes.slopes import method, outcome
from gslopes.slopes import stimuli as synthesis
from gslopes.slopes.asking import as_they_were
from gslopes.slopes.config import FitConfig, RunConfig, configure
from gslopes.slopes.fitting import UNEDITED, fit_folder
from gslopes.slopes.measures.options import LEAST_KEPT
from gslopes.slopes.method import PRESENCE
from gslopes.slopes.outcome import Walked
from gslopes.slopes.page.decisions import CONDITION
from gslopes.slopes.page.sections import ASSETS, SECTIONS
from gslopes.slopes.plan import Walk, complete_parts, look_at, missing_parts, outline, read_manifest

ASKS = {"score", UNEDITED}
FITTED = (
    *("slopes", "groups", "differences", "balance", "placebos", "reach", "gating"),
    *("error_rates", "error_slopes", "observed", "drawing", "explained"),
)
DROPPED_FILES = tuple(f"{name}.parquet" for name in DROPPED.values())
UNEDITED_FILES = tuple(f"{UNEDITED}/{name}.parquet" for name in ("asked", "scores"))


@dataclass(frozen=True)
class Ready:
    """Ready objects in place of what options name: classifiers to ask, and what finds, edits and composes."""

    classifiers: Sequence[Classifier] = ()
    components: Components | None = None


def audit(
    photos: Any = None,
    out: str | Path | None = None,
    *,
    classifier: Given | Sequence[Given] | None = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Any,
) -> Walked:
    """Measure how a classifier's labels change with the look of the faces in a folder of photos.

    Called again with the same arguments, it resumes where it was stopped, and does nothing twice.

    photos: a folder, paths, a data frame, arrays, PIL images, a torch Dataset; see ``frame.brought.planned``; None with
        ``pairs``, a set of counterfactuals that others made, see ``slopes.pairs``.
    out: the run folder, made if missing; if left out, one is named by date and attribute in the current folder.
    classifier: a name such as ``celeba-tagger`` (the default) or ``onnx:model.onnx``, a function, a transformers
        pipeline, what ``gslopes.as_classifier`` makes of a torch module, an object as in core.records, or several.
        A function takes a picture, (H, W, 3) uint8 RGB, and returns a mapping of label to score in [0, 1], or None
        where it will not answer; ``ask.classifiers.python`` has the other forms.
    progress: show lines of progress on stderr.
    trust: a classifier in a file that is a program, ``torchscript:FILE``, may run with your rights.
    executor, components: who does the work, and with what, instead of what the options say.
    options: as of ``gslopes audit --help-all``, with underscores; ``config`` is a TOML file with more.

    Returns: folder, page, summary, findings, tables, photos, used, skipped, dropped; a notebook shows its
    findings. ``findings`` has one row a classifier, attribute and label: slope, interval, q, decision, reason.
    ``tables["slopes"]`` has one row a classifier, attribute, label and estimator; its columns: core.tables.SLOPES.

    Raises: UsageError, ModelError, ClassifierError, StorageError; all that can be known beforehand before any work.

        def brightness(pictures):
            return [{"bright": float(picture.mean() / 255)} for picture in pictures]

        audit = gslopes.audit("photos", "run", attribute="gender", classifier=brightness)
    """
    names, objects = split_classifiers(classifier)
    made = _plan(
        photos, out, {**options, "classifier": names}, Ready(objects, components), trust=trust
    )
    return _carried_out(made, executor, progress)


def synthesise(
    photos: Any,
    out: str | Path | None = None,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Any,
) -> Walked:
    """Make the counterfactual photos of a folder and the tables ``photos`` and ``edits``; no classifier is asked.

    Arguments, result and errors as ``audit``.
    """
    made = _plan(photos, out, options, Ready((), components), only=[SYNTHESIS])
    return _carried_out(made, executor, progress)


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
) -> Walked:
    """Ask classifiers, concurrently, about every picture of a run folder; see ``tables["scores"]`` of the result.

    classifier, trust: as of ``audit``.  gate: leave out the sweeps that the gate dropped, if the run has verdicts.
    limits: fields of ``ask.config.CostLimits``.  config: a TOML file with those of ``ask.config.ScoreConfig``.

    Raises: UsageError if the pictures are not complete, or if it would cost more than was agreed to; UnknownName,
        ModelError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError.
    """
    names, objects = split_classifiers(classifier)
    score = build(ScoreConfig, {"config": config, **limits, "classifier": names})
    if not objects and not score.classifiers:
        score = replace(score, classifiers=(DEFAULT_CLASSIFIER,))
    runtime.check_device(device)  # resolved lazily
    drawn = method.drawn(runfolder.read_manifest(Path(run)).get("config") or {})
    only = ["score", *([UNEDITED] if score.unedited or drawn else [])]
    about: dict[str, Any] = {"trust": trust, "given": Ready(objects), "only": only}
    made = _plan_again(run, {"score": score, "device": device}, **about)
    if gate == (made.config.gate.on is False):
        judged = replace(made.config.gate, on=None if gate else False)
        made = _plan_again(run, {"score": score, "device": device, "gate": judged}, **about)
    return _carried_out(made, executor, progress)


def _plan(
    photos: Any, out: str | Path | None, options: Mapping[str, Any], ready: Ready, **about: Any
) -> Plan:
    """Raises: UsageError, ConfigError, UnknownName, ModelError, RunFolderMismatch."""
    components = ready.components
    audit = (
        SLOPES
        if components is None
        else replace(SLOPES, inputs=partial(look, components=components))
    )
    return planned(audit, photos, out, options, given=ready, **about)


def _plan_again(run: str | Path, options: Mapping[str, Any], **about: Any) -> Plan:
    """The plan of a run folder with other options.  Raises: UsageError, ConfigError, RunFolderMismatch."""
    read_manifest(Path(run))
    return plan(SLOPES, Path(run), None, options, **about)


def _carried_out(made: Plan, executor: Executor | None, progress: bool = False) -> Walked:
    result = carry_out(made, executor or OneProcess(progress=progress))
    assert isinstance(result, Walked)
    return result


# -- before any work --------------------------------------------------------------------------------------------------


def configured(
    photos: Path | None,
    options: Mapping[str, Any],
    only: Sequence[str] = (),
    ready: Ready | None = None,
    out: Path | None = None,
) -> RunConfig:
    """The configuration of a new run, with the default classifier where no one is named to be asked.

    Raises: ConfigError.
    """
    config = configure(photos, options, out)
    asks = not only or bool(ASKS & set(only))
    if asks and not (ready and ready.classifiers) and not config.score.classifiers:
        config = replace(config, score=replace(config.score, classifiers=(DEFAULT_CLASSIFIER,)))
    return config


def look(photos: Path, config: RunConfig, components: Components | None = None) -> Inputs:
    """The photos, and what the run is.  Raises: as ``slopes.plan.look_at``; UnknownName, ModelError, UsageError."""
    if config.fit.photos_csv is not None:
        check_about(config.fit.photos_csv, config.fit.columns)
    if config.device != "auto":
        runtime.pick_device(config.device)
    walk = look_at(replace(config, photos=photos), components)
    return Inputs(walk, walk.facts)


def of_photos(config: RunConfig) -> bool:
    """Those of a set of pairs are in the run folder, and its units may share them."""
    return config.pairs is None


def classifiers(plan: Plan) -> dict[str, Classifier]:
    """Those that are asked by this command.  Raises: as ``ask.classifiers.load_classifier``."""
    if plan.only and not ASKS & set(plan.only):
        return {}
    names = list(dict.fromkeys(plan.config.score.classifiers))
    asked = [
        *load_classifiers(names, plan.config.device, plan.trust),
        *(plan.given or Ready()).classifiers,
    ]
    return {classifier.name: classifier for classifier in asked}


def check_before(run: Run, executor: Executor) -> None:
    """Before pictures are made for hours: credentials that are missing, a price that is too high, a wrong answer.

    Raises: as ``frame.ask.check_models`` and ``ask.scoring.trial.ask_first``.
    """
    is_new = not (run.folder / runfolder.MANIFEST).is_file()
    check_versions(run.folder, run.models.values())
    if not is_new and not missing_parts(run.folder):
        return
    if not run.models:
        return
    walk: Walk = run.inputs
    if is_gated(run):
        reader_digest()
    check_models(run, estimates(walk, tuple(run.models.values()), executor), executor)
    ask_first(tuple(run.models.values()), walk.files, run.config.score, run.once(money), executor)


def estimates(walk: Walk, classifiers: Sequence[Classifier], executor: Executor) -> list[Price]:
    """What asking costs at most; says how many of the pictures are placebos'."""
    config = walk.config.score
    paid = [classifier for classifier in classifiers if not traits_of(classifier).limits.free]
    images, placebos = walk.pictures_asked(config.placebo_sample)
    part = walk.config.part * sum(len(values) for values in walk.values.values())
    if placebos and paid:
        sample = f"of placebo sweeps, of {min(config.placebo_sample, len(walk.files)):,} photos"
        executor.note(
            f"score      {placebos:,} of the pictures are {sample} (--no-placebo leaves them out)"
        )
    unedited = walk.pairs is None and (config.unedited or bool(method.drawn(to_dict(walk.config))))
    images += min(FIRST, len(walk.files)) + (len(walk.files) if unedited else 0)
    return [estimate_walk(classifier, images, part) for classifier in paid]


# -- stages -----------------------------------------------------------------------------------------------------------


def make_pictures(run: Run) -> Made:
    """Photos to counterfactual photos.  Raises: ModelError, StorageError."""
    walk: Walk = run.inputs
    content = runfolder.read_manifest(run.folder)
    now = runtime.versions()
    if differing := runfolder.differences(content.get("versions", now), now):
        run.executor.note(
            f"Note: {show(run.folder)} was started with other versions: {'; '.join(differing)}."
        )
    runfolder.write_json(run.folder / runfolder.MANIFEST, {"versions": now, **content})
    if walk.pairs is None and (others := passed_over(walk.config.photos)):
        run.executor.note(others)
    missing = synthesis.missing_parts(run.folder, walk.parts)
    sizes = {part: len(walk.files_of(part)) for part in missing}
    if missing:
        kind, unit = (
            (synthesis.Synthesis, "photos") if walk.pairs is None else (synthesis.Reading, "units")
        )
        same = same_bytes(walk.files if walk.pairs is None else ())
        work = kind(run.folder, walk, walk.ready(), same)
        run.executor(
            work, sizes, label=SYNTHESIS, unit=unit, done=len(walk.files) - sum(sizes.values())
        )
    if walk.pairs is not None and walk.pairs.units["group"].any():
        runfolder.write_changed(
            run.folder / runfolder.GIVEN_TABLE, csv_bytes(walk.pairs.units[["photo", "group"]])
        )
    for table in (tables.EDITS, tables.PHOTOS):
        runfolder.merge(run.folder, table, [SYNTHESIS], walk.parts)
    keep_sources(walk.config.photos, run.folder)
    return {}


def fitted_by(run: Run) -> FitConfig:
    """The options of the fit: by the set's groups unless a table of photos is named."""
    config: FitConfig = run.config.fit
    table = run.folder / runfolder.GIVEN_TABLE
    if run.config.pairs is None or config.photos_csv is not None or not table.is_file():
        return config
    return replace(config, photos_csv=table, groups=("group",))


def is_gated(run: Run) -> bool:
    """Whether sweeps are judged before anybody is asked about them."""
    return bool(run.config.gate.judges(run.config.find.landmarks))


def judge(run: Run) -> Made:
    """Pictures to verdicts, see ``faces.gate.judge``.  Raises: UsageError, UnknownName, ModelError, StorageError."""
    parts = complete_parts(run.folder)
    from gslopes.slopes import validation

    config = fitted_by(run)
    about = config.photos_csv, config.groups
    validation.about_photos(run.folder, *about)
    verdicts = judge_folder(run.folder, parts, run.config.gate, run.config.device, run.executor)
    summaries = [summary.facts() for summary in validation.summarise(run.folder, *about)]
    runfolder.write_json(
        run.folder / VALIDITY, {"attributes": summaries}
    )  # from which the page says what else moves
    passed = int(verdicts["kept"].sum())
    if passed < LEAST_KEPT * len(verdicts):
        few = f"gate       fewer than {LEAST_KEPT:.0%} are kept: compare with the ungated slopes in gating.parquet"
        run.executor.note(few)
    run.executor.note(
        f"gate       {passed:,} of {many(len(verdicts), 'sweep')} kept"
        + (f" (see gslopes audit {show(run.folder)} --only gate)" * (passed < len(verdicts)))
    )
    return {}


def edited(run: Run) -> Questions:
    """The edited pictures.  Raises: UsageError if they are not complete."""
    parts = complete_parts(run.folder)
    gated = run.config.gate.on is not False
    return Questions(run.folder, parts, run.config.seed, run.config.score, gated)


def observers(run: Run) -> dict[str, Classifier]:
    """The classifiers that are asked about the photos as they were: where faces are drawn all of them, for groups
    those that cost nothing.
    """
    if run.config.pairs is not None:  # its pictures are all that there is
        return {}
    if run.config.score.unedited or method.drawn(to_dict(run.config)):
        return dict(run.models)
    grouped = bool(run.config.fit.groups)
    return {
        name: model
        for name, model in run.models.items()
        if grouped and traits_of(model).limits.free
    }


def fit(run: Run) -> Made:
    """Answers to slopes and the tables next to them, see ``slopes.fitting``.

    Raises: UsageError if the CSV does not fit the run; ConfigError, TableError, StorageError.
    """
    config = fitted_by(run)
    content = read_manifest(run.folder)
    if config.photos_csv is not None and (absent := unmatched_rows(config.photos_csv, run.folder)):
        run.executor.note(absent)
    watch = counted(run.executor, "fit", "sweeps")
    fit_folder(run.folder, config, content["values"], int(content["seed"]), watch=watch)
    return {}


def differences(run: Path | None, options: Mapping[str, Any]) -> tuple[str, list[Choice]]:
    """The paper, and the list for the run in a folder; of a folder without one, and without a folder, for options."""
    if run is not None and (run / runfolder.MANIFEST).is_file():
        return PAPER, method.of_run(run)
    return PAPER, method.choices(to_dict(configure("PHOTOS", options)))


SLOPES = Audit(
    name="audit",
    home=Path(__file__).parent,
    config=RunConfig,
    tables=tables.TABLES,
    inputs=look,
    photos=of_photos,
    outline=outline,
    configure=configured,
    fixed=lambda config: {"identity": config.identity(), "seed": config.seed},
    models=classifiers,
    more=True,
    before=check_before,
    stages=(
        Stage(SYNTHESIS, ("inputs",), ("edits", "photos", "edits/", "sources.parquet"), make_pictures, options=()),
        Stage(
            "gate", ("edits", "photos"), ("readings", "verdicts"), judge,
            when=is_gated, uses=lambda run: reader_digest(), options=("gate", "fit.photos_csv", "fit.groups"),
        ),
        ask(
            "score", ("edits", "photos", "verdicts"), ("asked", "scores", *DROPPED_FILES), edited, needed=True,
            options=("gate.on", "score.placebo_sample", "score.dropped_sample"),
        ),
        ask(UNEDITED, ("edits", "photos"), UNEDITED_FILES, as_they_were, whom=observers, folder=UNEDITED),
        Stage(
            "fit",
            ("scores", "asked", "photos", "verdicts", "readings", *DROPPED_FILES, *UNEDITED_FILES),
            (*FITTED, PRESENCE), fit,
            options=("fit", "seed", "edit", "compose.placebo"),
        ),
    ),
    page=SECTIONS,
    assets=ASSETS,
    alone=outcome.ALONE,
    judged=outcome.judged,
    headline=outcome.headline,
    counts=outcome.counts,
    terminal=outcome.terminal,
    shown=("slopes",),
    result=Walked,
    condition=CONDITION,
    differences=differences,
)  # fmt: skip
