"""The audit of slopes: photos of faces, edited step by step, shown to classifiers; and a function for each stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pandas import DataFrame

from gslopes.ask.classifiers import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.config import ScoreConfig
from gslopes.ask.editors import GIVEN, python
from gslopes.ask.scoring.cost import worst_parts
from gslopes.ask.scoring.trial import FIRST, ask_first
from gslopes.core import (
    Executor,
    Facts,
    build,
    counted,
    csv_bytes,
    runfolder,
    runtime,
    show,
    tables,
    text,
    to_dict,
    traits_of,
    with_options,
)
from gslopes.core.csv_table import read_csv
from gslopes.core.records import Classifier
from gslopes.faces.components import Components
from gslopes.faces.edit.protocol import PictureEditor
from gslopes.faces.gate.judge import beards, heads_of, judge_all, measure, reader_digest
from gslopes.faces.gate.verdict import VALIDITY
from gslopes.frame.ask import ANSWERS, Most, ask, check_models, check_versions, money, prices_of
from gslopes.frame.brought import planned
from gslopes.frame.parts import missing_parts
from gslopes.frame.plan import plan
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Inputs, Made, Plan, Run, Stage, Tables, declared_stages
from gslopes.photos.folder import BATCH_PIXELS, PhotoFile
from gslopes.photos.people import check_about, unmatched_rows
from gslopes.report.choices import SLOPES as PAPER, Choice
from gslopes.slopes import judged, method, outcome, outside
from gslopes.slopes.config import FitConfig, RunConfig, configure
from gslopes.slopes.fitting import UNEDITED, fit_folder
from gslopes.slopes.measures.options import LEAST_KEPT
from gslopes.slopes.originals import as_they_were, sources
from gslopes.slopes.outcome import Walked
from gslopes.slopes.page import decisions, sections
from gslopes.slopes.plan import Walk, look_at, outline
from gslopes.slopes.stimuli import synthesis

if TYPE_CHECKING:
    from gslopes.faces.gate.sweep_measurer import SweepMeasurer

ASKS = {"score", UNEDITED}
HOME = Path(__file__).parent
STAGES = declared_stages(HOME)
TABLES = tables.TABLES | ANSWERS
TABLES |= {  # about the unedited photos, about texts, and a judge's marks of these
    f"{folder}/{name}": replace(TABLES[name], name=f"{folder}/{name}")
    for name in ("edits", "scores", "asked")
    for folder in (UNEDITED, judged.FOLDER, judged.MARKED)
}


@dataclass(frozen=True)
class Ready:
    """Ready objects in place of what options name: classifiers to ask, what finds, edits and composes, an editor."""

    classifiers: Sequence[Classifier] = ()
    components: Components | None = None
    editor: PictureEditor | None = None


@with_options(RunConfig)
def audit(
    photos: Any = None,
    out: str | Path | None = None,
    *,
    classifier: Given | Sequence[Given] | None = None,
    editor: Any = None,
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
        if it will not answer; ``ask.classifiers.python`` has the other forms.
    editor: a name as of ``--editor``, a function of a picture and a value that gives a picture, see
        ``ask.editors.python``, or an object as in faces.edit.protocol.
    progress: show lines of progress on stderr.
    trust: a classifier in a file that is a program, ``torchscript:FILE``, may run with your rights, and so may what the
        run folder alone names, such as ``python:FILE.py:f``, or be sent photos and keys.  It holds for this call.
    executor, components: who does the work, and with what, instead of what the options name.
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
    named, given = _editor(editor)
    options = {**options, **named, "classifier": names}
    walk_plan = _plan(photos, out, options, Ready(objects, components, given), trust=trust)
    return cast("Walked", carry_out(walk_plan, executor, progress))


@with_options(RunConfig)
def synthesise(
    photos: Any,
    out: str | Path | None = None,
    *,
    editor: Any = None,
    progress: bool = False,
    executor: Executor | None = None,
    components: Components | None = None,
    **options: Any,
) -> Walked:
    """Make the counterfactual photos of a folder and the tables ``photos`` and ``edits``; no classifier is asked.

    Arguments, result and errors as ``audit``.
    """
    named, given = _editor(editor)
    ready = Ready((), components, given)
    walk_plan = _plan(photos, out, {**options, **named}, ready, only=["synthesise"])
    return cast("Walked", carry_out(walk_plan, executor, progress))


@with_options(ScoreConfig)
def score_photos(
    run: str | Path,
    classifier: Given | Sequence[Given] | None = None,
    *,
    device: str = "auto",
    gate: bool = True,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    **limits: Any,
) -> Walked:
    """Ask classifiers, concurrently, about every picture of a run folder; see ``tables["scores"]`` of the result.

    classifier, trust: as of ``audit``.  gate: leave out the sweeps that the gate dropped, if the run has verdicts.
    limits: fields of ``ask.config.ScoreConfig``, such as ``budget``; ``config`` is a TOML file with more.

    Raises: UsageError if the pictures are not complete, or if it would cost more than was agreed to; UnknownName,
        ModelError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError.
    """
    names, objects = split_classifiers(classifier)
    score = build(ScoreConfig, {**limits, "classifier": names})
    if not objects and not score.classifiers:
        score = replace(score, classifiers=(DEFAULT_CLASSIFIER,))
    runtime.check_device(device)  # resolved lazily
    drawn = method.drawn(runfolder.read_manifest(Path(run))["config"])
    again = partial(
        plan, SLOPES, Path(run), None, trust=trust, given=Ready(objects), only=["score"]
    )
    options = {"score": score, "device": device}
    walk_plan = again(options)
    if gate == (walk_plan.config.gate.on is False):
        judged = replace(walk_plan.config.gate, on=None if gate else False)
        walk_plan = again(options | {"gate": judged})
    if (score.unedited or drawn) and not all(  # of an unedited photo there is one picture
        traits_of(model).pairs for model in walk_plan.models.values()
    ):
        walk_plan = replace(walk_plan, only=("score", UNEDITED))
    if score.judges:
        walk_plan = replace(walk_plan, only=(*walk_plan.only, "judge"))
    return cast("Walked", carry_out(walk_plan, executor, progress))


def _editor(editor: Any) -> tuple[dict[str, str], PictureEditor | None]:
    """(the option that names it, the object if it is none of a name's)."""
    given = python.given_editor(editor)
    if given is not None:
        return {"editor": GIVEN + given.name}, given
    return {"editor": editor} if editor else {}, None


def _plan(photos: Any, out: str | Path | None, options: Facts, ready: Ready, **about: Any) -> Plan:
    """Raises: UsageError, ConfigError, UnknownName, ModelError, RunFolderMismatch."""
    audit = SLOPES
    if ready.components is not None and not ready.components.named:
        # objects stay in this process, and in one thread
        first = replace(SLOPES.stages[0], threads=False, here=True)
        audit = replace(SLOPES, stages=(first, *SLOPES.stages[1:]))
    return planned(audit, photos, out, options, given=ready, **about)


# -- before any work --------------------------------------------------------------------------------------------------


def configured(
    photos: Path | None,
    options: Facts,
    only: Sequence[str] = (),
    ready: Ready | None = None,
    out: Path | None = None,
) -> RunConfig:
    """The configuration of a new run, with the default classifier if no other is named.

    Raises: ConfigError.
    """
    config = configure(photos, options, out)
    asks = not only or bool(ASKS & set(only))
    if asks and not (ready and ready.classifiers) and not config.score.classifiers:
        config = replace(config, score=replace(config.score, classifiers=(DEFAULT_CLASSIFIER,)))
    return config


def look(plan: Plan) -> Inputs:
    """The photos, and what the run is.  Raises: as ``slopes.plan.look_at``; UnknownName, ModelError, UsageError."""
    config: RunConfig = plan.config
    check_table(config.fit)
    if config.device != "auto":
        runtime.pick_device(config.device)
    ready = plan.given or Ready()
    config = replace(config, photos=plan.source)
    walk = look_at(config, ready.components, ready.editor, plan.trust)
    return Inputs(walk, walk.facts)


def check_table(fit: FitConfig) -> None:
    """Raises: UsageError if the table about photos lacks a column."""
    if fit.photos_csv is not None:
        check_about(fit.photos_csv, fit.columns)


def classifiers(plan: Plan) -> dict[str, Classifier]:
    """Those that are asked by this command.  Raises: as ``ask.classifiers.load_classifier``."""
    if plan.only and not ASKS & set(plan.only):
        return {}
    names = list(dict.fromkeys(plan.config.score.classifiers))
    models = [
        *load_classifiers(names, plan.config.device, plan.trust, plan.config.score.batch),
        *(plan.given or Ready()).classifiers,
    ]
    judged.check_about(models, "picture")
    return {classifier.name: classifier for classifier in models}


def check_before(run: Run, executor: Executor) -> None:
    """Before pictures are made for hours: credentials that are missing, a price that is too high, a wrong answer.

    Raises: as ``frame.ask.check_models`` and ``ask.scoring.trial.ask_first``.
    """
    check_table(run.config.fit)
    check_versions(run.folder, run.models.values())
    missing, parts = missing_parts(run.folder, run.audit, tables.PHOTOS.name)
    if parts and not missing:
        return
    walk: Walk = run.inputs
    if not run.models and walk.editor is None:
        return
    if run.models and is_gated(run):
        reader_digest()
    models = tuple(run.models.values())
    prices = prices_of(run)
    more = [*run.once(judged.judges).values()]
    if walk.editor is not None:
        more.append(walk.asked_of_editor())
    check_models(run, prices, executor, more)
    ask_first(models, walk.files, run.config.score, run.once(money), executor, prices)


def asked_at_most(run: Run, classifier: Classifier) -> Most:
    """The edits, with the placebo sweeps that it is asked about, and the first photos, a part of their own."""
    walk: Walk = run.inputs
    sample = len(walk.files)
    if not traits_of(classifier).limits.free:
        sample = walk.config.score.placebo_sample
    images, placebos = walk.pictures_asked(sample)
    return worst_parts(images + min(FIRST, len(walk.files)), walk.parts + 1), placebos


# -- stages -----------------------------------------------------------------------------------------------------------


def make_pictures(run: Run, files: Sequence[PhotoFile]) -> Made:
    """Photos of one part to their counterfactual photos.  Raises: as ``stimuli.synthesis``, ``RemoteEditor.ask``."""
    kind = outside.drawing if run.config.outside else synthesis
    rows = run.once(kind)(files, run.tick)
    # what small photos leave is at once used again: to get it anew took 7 % of their time
    if sum(row["width"] * row["height"] for row in rows["photos"]) > BATCH_PIXELS:
        runtime.trim_heap()
    return rows


def are_of_photos(run: Run) -> bool:
    """Whether pictures are made from photos alone."""
    config: RunConfig = run.config
    named = config.pairs, config.find.landmarks, config.compose.masks, config.compose.parser
    return not (config.outside or any(named))


def keep_pictures(run: Run, table: str) -> Callable[[DataFrame], DataFrame] | None:
    """All rows; the table editing only with an editor of others."""
    if table == tables.EDITING.name and not run.config.outside:
        return None
    return lambda rows: rows


def begin_pictures(run: Run, missing: Mapping[str | None, int]) -> None:
    """Before any picture is made: versions, and the groups of a set that others made."""
    walk: Walk = run.inputs
    content = runfolder.read_manifest(run.folder)
    now = runtime.versions()
    if differing := runfolder.differences(content.get("versions", now), now):
        run.executor.note(
            f"Note: {show(run.folder)} was started with other versions: {'; '.join(differing)}."
        )
    if walk.editor is not None:
        content["editor"] = content["editor"] or outside.about(walk)
    runfolder.write_json(run.folder / runfolder.MANIFEST, {"versions": now, **content})
    if walk.pairs is None:
        if any(missing.values()):
            _ = walk.same  # once, for workers elsewhere too
    else:
        about = walk.pairs.units[["photo", "group", "cluster"]]
        about = about.loc[:, (about != "").any()]
        if len(about.columns) > 1:
            runfolder.write_changed(run.folder / runfolder.GIVEN_TABLE, csv_bytes(about))


def fitted_by(run: Run) -> FitConfig:
    """The options of the fit: by the set's groups and clusters unless a table of photos is named."""
    config: FitConfig = run.config.fit
    table = run.folder / runfolder.GIVEN_TABLE
    if run.config.pairs is None or config.photos_csv is not None or not table.is_file():
        return config
    columns = read_csv(table).columns
    groups = ("group",) * ("group" in columns)
    cluster = "cluster" * ("cluster" in columns)
    return replace(config, photos_csv=table, groups=groups, cluster=cluster)


def is_gated(run: Run) -> bool:
    """Whether sweeps are judged before anybody is asked about them."""
    return bool(run.config.gate.judges(run.config.find.landmarks))


def measurer(run: Run) -> SweepMeasurer:
    """What measures sweeps, its network loaded.  Raises: UnknownName, ModelError."""
    from gslopes.faces.gate.sweep_measurer import SweepMeasurer
    from gslopes.faces.zoo.reader import FaceReader

    device = runtime.pick_device(run.config.device)
    find = run.config.find
    return SweepMeasurer(FaceReader.load(device), device, find.min_face, find.landmarks is None)


def judge(run: Run, parts: Tables) -> Made:
    """Measures of all sweeps to verdicts."""
    config = run.config.gate
    manifest = runfolder.read_manifest(run.folder)
    verdicts = judge_all(parts["verdicts"], config, manifest)
    thresholds = {name: value for name, value in to_dict(config).items() if name != "on"}
    manifest["gate"] |= {
        "thresholds": thresholds,
        "reader": reader_digest(),
        "heads": sorted(heads_of(manifest)),
    }
    runfolder.write_json(run.folder / runfolder.MANIFEST, manifest)
    if run.config.outside and verdicts["identity"].isna().all():
        missing = "pip install 'gslopes[identity]', and run it in a new folder"
        run.note(f"Whether a picture shows the same person was not judged: {missing}.")
    bearded, still = beards(parts["readings"])
    if still:
        run.note(
            f"A beard stays at the feminine end: on {still:,} of {text.many(bearded, 'bearded face')}."
        )
    passed = int(verdicts["kept"].sum())
    if passed < LEAST_KEPT * len(verdicts):
        run.executor.note(
            f"gate       fewer than {LEAST_KEPT:.0%} are kept: compare with the ungated slopes in gating.parquet"
        )
    run.executor.note(
        f"gate       {passed:,} of {text.many(len(verdicts), 'sweep')} kept"
        + (f" (see gslopes audit {show(run.folder)} --only gate)" * (passed < len(verdicts)))
    )
    return {"verdicts": verdicts}


def check_groups(run: Run, missing: Mapping[str | None, int]) -> None:
    """Raises: UsageError if the CSV about the photos does not fit the run."""
    from gslopes.slopes.validation import about_photos

    config = fitted_by(run)
    about_photos(run.folder, config.photos_csv, config.groups)


def summarise(run: Run) -> Made:
    """Write what the gate saw, from which the page tells what else moves.  Raises: as ``validation.summarise``."""
    from gslopes.slopes import validation

    config = fitted_by(run)
    summaries = validation.summarise(run.folder, config.photos_csv, config.groups)
    attributes = [summary.facts() for summary in summaries]
    runfolder.write_json(run.folder / VALIDITY, {"attributes": attributes})
    return {}


def observers(run: Run) -> dict[str, Classifier]:
    """The classifiers that are asked about the unedited photos: all of them if faces are drawn, for groups
    only those that cost nothing; none about two people, since there is one unedited picture.
    """
    if run.config.pairs is not None:  # its pictures are all that there is
        return {}
    every = run.config.score.unedited or method.drawn(to_dict(run.config))
    grouped = bool(run.config.fit.groups)
    return {
        name: model
        for name, model in run.models.items()
        if (every or (grouped and traits_of(model).limits.free)) and not traits_of(model).pairs
    }


def fit(run: Run) -> Made:
    """Answers to slopes and the tables next to them, see ``slopes.fitting``.

    Raises: UsageError if the CSV does not fit the run; ConfigError, TableError, StorageError.
    """
    config = fitted_by(run)
    content = runfolder.read_manifest(run.folder)
    if config.photos_csv is not None and (absent := unmatched_rows(config.photos_csv, run.folder)):
        run.executor.note(absent)
    watch = counted(run.executor, "fit", "sweeps")
    fitted = fit_folder(run.folder, config, content["values"], int(content["seed"]), watch=watch)
    return {table.name: frame for table, frame in fitted.tables()}


def differences(run: Path | None, options: Facts) -> tuple[str, list[Choice]]:
    """The paper, and the list for the run in a folder; of a folder without one, and without a folder, for options."""
    if run is not None and (run / runfolder.MANIFEST).is_file():
        return PAPER, method.of_run(run)
    return PAPER, method.choices(to_dict(configure("PHOTOS", options)))


ABOUT_ORIGINALS = ask(
    **STAGES[UNEDITED],
    gate=None,
    whom=observers,
    most=lambda run, classifier: (worst_parts(len(run.inputs.files), run.inputs.parts), 0),
)

JUDGED = ask(
    **STAGES["judge"],
    gate=None,
    whom=lambda run: run.once(judged.judges),
    most=lambda run, judge: ([judged.texts_at_most(run, asked_at_most)], 0),
)

SLOPES = Audit(
    name="audit",
    home=HOME,
    config=RunConfig,
    tables=TABLES,
    inputs=look,
    photos=lambda config: config.pairs is None,  # units of a set may share pictures
    outline=outline,
    configure=configured,
    fixed=lambda config: {"identity": config.identity(), "seed": config.seed},
    models=classifiers,
    more=True,
    before=check_before,
    stages=(
        Stage(
            **STAGES["synthesise"],
            work=make_pictures,
            items=lambda run: run.inputs.files,
            part=lambda run: run.config.part,
            threads=lambda run: not run.config.outside,  # an editor of others is asked part by part
            begin=begin_pictures,
            sends=are_of_photos,
            keep=keep_pictures,
            check=outside.conclude,
            prices=outside.prices,
            due=lambda run: run.config.outside and run.config.score.retry_failed,
        ),
        Stage(**STAGES["sources"], work=sources),
        Stage(
            **STAGES["gate"],
            work=lambda run, part: measure(
                run.once(measurer), run.folder, run.config.photos, part, run.tick
            ),
            join=judge,
            when=is_gated,
            begin=check_groups,
            uses=lambda run: reader_digest(),
            sends=are_of_photos,
        ),
        Stage(**STAGES["validity"], work=summarise, when=lambda run: run.has("verdicts")),
        ask(
            **STAGES["score"], gate=lambda run: run.config.gate.on is not False, most=asked_at_most
        ),
        Stage(
            **STAGES["originals"],
            work=as_they_were,
            when=ABOUT_ORIGINALS.when,
            sends=are_of_photos,
        ),
        ABOUT_ORIGINALS,
        Stage(**STAGES["texts"], work=judged.write_texts, here=True, when=JUDGED.when),
        JUDGED,
        Stage(**STAGES["agreement"], work=judged.agree, when=JUDGED.when),
        Stage(**STAGES["fit"], work=fit),
    ),
    page=sections.SECTIONS,
    assets=sections.ASSETS,
    alone=outcome.ALONE,
    judged=outcome.judged,
    headline=outcome.headline,
    counts=outcome.counts,
    terminal=outcome.terminal,
    shown=("slopes",),
    result=Walked,
    form=decisions.FINDINGS,
    differences=differences,
)
