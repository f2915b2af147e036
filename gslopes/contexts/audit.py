"""The audit of contexts: people before stereotyped backgrounds, described by taggers with and without."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.cost import limits_of
from gslopes.ask.scoring.cost import Estimate, estimate_walk
from gslopes.ask.scoring.trial import compare_alone, first_pictures
from gslopes.contexts.analysis import analyse_run
from gslopes.contexts.config import ContextsConfig
from gslopes.contexts.page import lead
from gslopes.contexts.page import sections as page
from gslopes.contexts.stimuli import stages as stimuli
from gslopes.contexts.stimuli.stages import check_anybody, compose, cut_out, decide, look, read
from gslopes.contexts.tables import TABLES
from gslopes.core import tables
from gslopes.core.executor import Executor
from gslopes.core.reasons import Reason
from gslopes.core.records import Classifier
from gslopes.frame.ask import ANSWERS, ask, asked_before, check_models, check_versions
from gslopes.frame.brought import planned
from gslopes.frame.executors import OneProcess
from gslopes.frame.result import Result
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Made, Plan, Run, Stage, Tables

PART = 16  # photos whose pictures are made, and asked about, together


def taggers(plan: Plan) -> dict[str, Classifier]:
    """Those that are named, or were given; celeba-tagger for a new run without either.

    Raises: as ``ask.classifiers.load_classifier``.
    """
    config = plan.config
    names = config.classifiers or (
        (DEFAULT_CLASSIFIER,) if plan.given is None and not plan.again else ()
    )
    return {
        one.name: one
        for one in (*load_classifiers(names, config.device, plan.trust), *(plan.given or ()))
    }


def estimates(classifiers: Iterable[Classifier], pictures: int, photos: int) -> list[Estimate]:
    """Upper bounds of the cost of asking each of them about every picture."""
    each = PART * max(1, pictures // max(1, photos))
    return [estimate_walk(one, pictures, each) for one in classifiers]


def check_before(run: Run, executor: Executor) -> None:
    """Before pictures are made: versions, credentials, price, training mode.

    Raises: as ``frame.ask.check_models`` and ``ask.scoring.trial.compare_alone``.
    """
    check_versions(run.folder, run.models.values())
    if not run.has("photos"):  # later what is due is confirmed when it is asked
        paid = [one for one in run.models.values() if not limits_of(one).free]
        pictures = run.inputs.pictures(run.config.pictures.kinds)
        check_models(run, estimates(paid, pictures, len(run.inputs.files)), executor)
        first = first_pictures(run.inputs.files)
        for one in run.models.values():
            compare_alone(one, first)


MEASURED = (
    *(
        "described",
        "inferred",
        "recognised",
        "accuracy",
        "distances",
        "anova",
        "tukey",
        "changes",
        "congruence",
    ),
    *("interaction", "ratings"),
)
WALK = ("edits", "verdicts", "photos")
ALL_TABLES = TABLES | {name: tables.TABLES[name] for name in WALK} | ANSWERS


def audit_contexts(
    photos: Any,
    out: str | Path | None = None,
    *,
    classifier: Given | Sequence[Given] | None = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    **options: Any,
) -> Result:
    """Put people in front of stereotyped backgrounds and compare how taggers describe them.  Called again, it resumes.

    photos: portraits as ``gslopes.audit`` takes them, or a run: then what depends on the options given is done again.
    out: as of ``gslopes.audit``.
    classifier: as ``gslopes.audit`` takes it; an empty list only makes the pictures.  More may be asked later.
    progress, trust, executor: as of ``gslopes.audit``.
    options: as of ``gslopes contexts --help-all``, with underscores; ``people`` is the CSV with self-reported gender.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, ClassifierError, StorageError; what can be known
        beforehand before any work.
    """
    names, objects = split_classifiers(classifier)
    given = objects if objects or (isinstance(classifier, Sequence) and not names) else None
    made = planned(
        CONTEXTS, photos, out, {**options, "classifier": names}, trust=trust, given=given
    )
    return carry_out(made, executor or OneProcess(progress=progress))


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """What an audit would do, and what asking each tagger would take."""
    material = planned.inputs.content
    pictures = material.pictures(planned.config.pictures.kinds)
    due = estimates(planned.models.values(), pictures, len(material.files))
    facts = {
        "photos": len(material.files),
        "people known": len(material.who),
        "backgrounds": len(material.used),
        "pictures": pictures,
        "questions": pictures * len(due),
    }
    lines = [
        *(f"{name:<13}{count:,}" for name, count in facts.items()),
        *(f"ask          {one}" for one in due),
    ]
    return lines, {**facts, "usd": {one.name: one.usd for one in due}}


def measure(run: Run) -> Made:
    """All tables of the answers.  Raises: UsageError if there is no person with a composite."""
    check_anybody(run)
    return analyse_run(run)


def counts(found: Tables) -> tuple[int, int, int]:
    """Photos of people, those before a background; those that cannot be read, and questions that failed."""
    photos = found["photos"]
    people = photos[~photos["path"].str.startswith("background ")]
    unreadable = int(people["reason"].str.startswith(Reason.UNREADABLE).sum())
    failed = int((found["asked"]["status"] == "failed").sum()) if "asked" in found else 0
    return len(people), int((people["status"] == "used").sum()), unreadable + failed


CONTEXTS = Audit(
    name="contexts",
    home=page.HOME,
    config=ContextsConfig,
    tables=ALL_TABLES,
    inputs=look,
    looked_at=("table", "group_column"),
    fixed=stimuli.identity,
    outline=outline,
    stages=(
        Stage("read", ("inputs",), ("people", "backgrounds"), read, options=("pictures",)),
        Stage(
            "cutout", ("inputs",), ("cutouts/", "cutouts"), cut_out,
            items=lambda run: run.inputs.files, part=PART, join=decide, merging=("review",), threads=True, here=True,
            options=("review", "pictures.cutout", "pictures.landmarks"),
        ),
        Stage(
            "synthesise", ("inputs", "cutouts"), ("edits/", "edits", "composites", "verdicts", "photos"), compose,
            items=lambda run: [*run.inputs.files, *run.inputs.used],
            part=PART, threads=True, here=True, options=("pictures",),
        ),
        ask("score", ("edits", "verdicts"), options=("seed",)),
        Stage(
            "measure", ("scores", "asked", "people", "backgrounds", "verdicts", "photos"), MEASURED, measure,
            when=lambda run: bool(asked_before(run.folder) or run.models), options=("analysis", "pictures.sweep"),
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
    shown=("inferred", "recognised", "accuracy", "congruence", "changes"),
    page=page.SECTIONS,
    models=taggers,
    more=True,
    before=check_before,
)  # fmt: skip
