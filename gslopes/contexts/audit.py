"""The audit of contexts: people before stereotyped backgrounds, described by taggers with and without."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import limits_of
from gslopes.ask.scoring.cost import Estimate, confirm_cost, estimate_walk
from gslopes.contexts import lead, page
from gslopes.contexts.analysis import analyse_run
from gslopes.contexts.config import ContextOptions, ContextsConfig
from gslopes.contexts.stimuli import PICTURES, check_anybody, compose, cut_out, decide, files_of, items_of, look, read
from gslopes.contexts.tables import TABLES
from gslopes.core import runfolder, tables
from gslopes.core.errors import RunFolderMismatch
from gslopes.core.executor import Executor
from gslopes.core.files import read_json, sha256_of, show
from gslopes.core.reasons import Reason
from gslopes.core.records import Classifier
from gslopes.core.runfolder import SYNTHESIS
from gslopes.frame.ask import ask as frame_ask
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.result import Result
from gslopes.frame.run import Run, carry_out
from gslopes.frame.spec import Audit, Made, Stage, Tables
from gslopes.photos.folder import count_parts

NAME = "taggers"
PART = 16  # photos whose pictures are made, and asked about, together
_KEPT = "asked.json"  # next to the answers: the pictures that they are about, and each tagger's version


@dataclass
class Taggers:
    """Those that one command asks.  More may be asked about the pictures of a run later, so they do not identify it.

    limits: what asking may cost; ``yes`` once the user has confirmed it.  executor: says what users should know.
    """

    classifiers: Sequence[Classifier]
    limits: ScoreConfig
    executor: Executor = field(default_factory=OneProcess)
    version: str = ""


def taggers_of(plan: Plan) -> Mapping[str, Taggers]:
    """Those that are named, or were given; celeba-tagger for a new run without either.

    Raises: as ``ask.classifiers.load_classifier``.
    """
    config = plan.config
    names = config.classifiers or ((DEFAULT_CLASSIFIER,) if plan.given is None and not plan.again else ())
    ready = [*load_classifiers(names, config.device, plan.trust), *(plan.given or ())]
    return {NAME: Taggers(ready, ScoreConfig(**asdict(config.score), dropped_sample=0))}


def taggers(run: Run) -> Taggers:
    """Those of this command."""
    assert run.plan is not None
    found: Taggers = run.plan.models[NAME]
    return found


def estimates(classifiers: Sequence[Classifier], pictures: int, photos: int) -> list[Estimate]:
    """Upper bounds of the cost of asking each of them about every picture."""
    each = PART * max(1, pictures // max(1, photos))
    return [estimate_walk(one, pictures, each) for one in classifiers]


def check_before(run: Run, executor: Executor) -> None:
    """Before pictures are made: versions, credentials, and whether the user agrees to the price.

    Raises: RunFolderMismatch, CredentialsError, UsageError, ConfigError.
    """
    from gslopes.ask.classifiers import prepare_classifier

    asked, versions = taggers(run), _kept(run)["versions"]
    asked.executor = executor
    for one in asked.classifiers:
        if (old := versions.get(one.name, one.version)) != one.version:
            problem = f"{show(run.folder)} has answers of {one.name} in version {old or 'unknown'}"
            hint = "Make the pictures again in a new folder, or restore that version of the tagger."
            raise RunFolderMismatch(f"{problem}; it is {one.version or 'unknown'} now.", hint)
    if run.has("photos"):
        return  # what is still due is confirmed when it is asked
    for one in asked.classifiers:
        prepare_classifier(one)
    paid, material = [one for one in asked.classifiers if not limits_of(one).free], run.inputs
    due = estimates(paid, material.pictures(run.config.pictures.kinds), len(material.files))
    confirm_cost(due, asked.limits, executor)
    asked.limits = replace(asked.limits, yes=True)


def is_asked(run: Run) -> bool:
    """Whether there are answers, or somebody to give them."""
    return bool(_versions(run))


def names_of(run: Run) -> list[str]:
    """Name and version of each tagger, those of earlier commands too."""
    return sorted(f"{name} {version}" for name, version in _versions(run).items())


def _versions(run: Run) -> dict[str, str]:
    return {**_kept(run)["versions"], **{one.name: one.version for one in taggers(run).classifiers}}


def _kept(run: Run) -> dict[str, Any]:
    file = run.folder / "parts" / "score" / _KEPT
    return dict(read_json(file)) if file.is_file() else {"edits": "", "versions": {}}


def ask(run: Run) -> Made:
    """The tables ``asked`` and ``scores``.  Raises: as ``frame.ask.ask``."""
    assert run.plan is not None
    asked, folder, seed = taggers(run), run.folder, run.config.seed
    home, edits = folder / "parts" / "score", sha256_of(folder / "edits.parquet")
    if _kept(run)["edits"] not in ("", edits):
        shutil.rmtree(home)
    runfolder.make_folder(home)
    versions = _versions(run)
    runfolder.write_json(home / _KEPT, {"edits": edits, "versions": versions})
    size = next(stage.part for stage in run.audit.stages if stage.name == runfolder.SYNTHESIS)
    parts = count_parts(run.plan.facts["inputs"]["photos"], size)
    frame_ask(folder, asked.classifiers, parts, seed, asked.limits, asked.executor, known=versions)
    return {}


MEASURED = (
    *("described", "inferred", "recognised", "accuracy", "distances", "anova", "tukey", "changes", "congruence"),
    *("interaction", "ratings"),
)
ANALYSIS = tuple(f"analysis.{one.name}" for one in fields(ContextOptions))
WALK = (tables.EDITS, tables.VERDICTS, tables.PHOTOS, tables.ASKED, tables.SCORES)
ALL_TABLES = TABLES | {table.name: table for table in WALK}


def audit_contexts(
    photos: str | Path,
    out: str | Path | None = None,
    *,
    classifier: Given | Sequence[Given] | None = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    **options: Any,
) -> Result:
    """Put people in front of stereotyped backgrounds and compare how taggers describe them.  Called again, it resumes.

    photos: a folder of portraits, or a run of this audit: then what depends on the options given is done again.
    out: the run folder.
    classifier: as ``gslopes.audit`` takes it; an empty list only makes the pictures.  More may be asked later.
    progress, trust, executor: as of ``gslopes.audit``.
    options: as of ``gslopes contexts --help-all``, with underscores; ``people`` is the CSV with self-reported gender.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, ClassifierError, StorageError; what can be known
        beforehand before any work.
    """
    names, objects = split_classifiers(classifier)
    given = objects if objects or (isinstance(classifier, Sequence) and not names) else None
    folder = None if out is None else Path(out)
    made = plan(CONTEXTS, Path(photos), folder, {**options, "classifier": names}, trust=trust, given=given)
    return carry_out(made, executor or OneProcess(progress=progress))


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """What an audit would do, and what asking each tagger would take."""
    material = planned.inputs.content
    pictures = material.pictures(planned.config.pictures.kinds)
    due = estimates(planned.models[NAME].classifiers, pictures, len(material.files))
    facts = {
        "photos": len(material.files),
        "people known": len(material.who),
        "backgrounds": len(material.used),
        "pictures": pictures,
        "questions": pictures * len(due),
    }
    lines = [*(f"{name:<13}{count:,}" for name, count in facts.items()), *(f"ask          {one}" for one in due)]
    return lines, {**facts, "usd": {one.name: one.usd for one in due}}


def measure(run: Run) -> Made:
    """All tables of the answers.  Raises: UsageError if there is no person with a composite."""
    check_anybody(run)
    return analyse_run(run)


def counts(found: Tables) -> tuple[int, int, int]:
    """Photos of people, those before a background, those that cannot be read."""
    photos = found["photos"]
    people = photos[~photos["path"].str.startswith("background ")]
    unreadable = int((people["reason"] == Reason.UNREADABLE.value).sum())
    return len(people), int((people["status"] == "used").sum()), unreadable


CONTEXTS = Audit(
    name="contexts",
    home=page.HOME,
    question="Does the background decide who is seen?",
    source="PEOPLE",
    about="""Put people in front of stereotyped backgrounds and compare how taggers describe them.

    PEOPLE is a folder of portraits before a plain backdrop, or the run folder of an earlier context audit: then what
    depends on the options that are given is done again. To resume, run the same command again.
    """,
    examples=(
        "gslopes contexts PEOPLE --people people.csv --backgrounds rendered --classifier celeba-tagger --out run",
        "gslopes contexts PEOPLE --people people.csv --backgrounds backgrounds -c rekognition --budget 10 --out run",
        "gslopes contexts PEOPLE --people people.csv --sweep gender --classifier celeba-tagger --out run",
        "gslopes contexts run --fail-if 'finding and abs(value) > 5'",
        "gslopes contexts run --typology mine.toml --ratings ratings.csv",
        "gslopes contexts run --typology starter --typology todo.csv",
    ),
    config=ContextsConfig,
    tables=ALL_TABLES,
    inputs=look,
    outline=outline,
    stages=(
        Stage("read", ("inputs",), ("people", "backgrounds"), read, options=PICTURES),
        Stage(
            "cutout", ("inputs",), ("cutouts/", "cutouts"), cut_out,
            items=files_of, part=PART, join=decide, merging=("review",), threads=True,
            options=("review", "pictures.cutout", "pictures.landmarks"),
        ),
        Stage(
            SYNTHESIS, ("inputs", "cutouts"), ("edits/", "edits", "composites", "verdicts", "photos"), compose,
            items=items_of, part=PART, threads=True, options=PICTURES,
        ),
        Stage(
            "score", ("edits", "verdicts"), ("asked", "scores"), ask,
            each=names_of, when=is_asked, options=("seed", "score.retry_failed"),
        ),
        Stage(
            "measure", ("scores", "asked", "people", "backgrounds", "verdicts", "photos"), MEASURED, measure,
            when=is_asked, options=(*ANALYSIS, "pictures.sweep"),
        ),
        Stage(
            "sheets", ("backgrounds", "people", "cutouts", "composites", "photos", *MEASURED),
            ("report/tables/", "report/figures/", "report/cutouts.html"), page.write_sheets,
            options=(),
        ),
    ),
    judged=lead.judged,
    headline=lead.headline_of,
    counts=counts,
    terminal=page.text_table,
    shown=("inferred", "recognised", "accuracy", "congruence", "changes"),
    page=page.SECTIONS,
    models=taggers_of,
    before=check_before,
)  # fmt: skip
