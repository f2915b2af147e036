"""The audit of contexts: people before stereotyped backgrounds, described by taggers with and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers import Given, split_classifiers
from gslopes.contexts import lead, page
from gslopes.contexts.analysis import analyse_run
from gslopes.contexts.asking import NAME, PART, ask, check_before, estimates, is_asked, names_of, taggers_of
from gslopes.contexts.config import ContextOptions, ContextsConfig
from gslopes.contexts.stimuli import PICTURES, check_anybody, compose, cut_out, decide, files_of, items_of, look, read
from gslopes.contexts.tables import TABLES
from gslopes.core import tables
from gslopes.core.executor import Executor
from gslopes.core.reasons import Reason
from gslopes.core.runfolder import SYNTHESIS
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.result import Result
from gslopes.frame.run import Run, carry_out
from gslopes.frame.spec import Audit, Made, Stage, Tables

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
            ("report/tables/", "report/figures/", "report/cutouts.html", "report/rating.html"), page.write_sheets,
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
    data=page.said,
)  # fmt: skip
