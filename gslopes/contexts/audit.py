"""The audit of contexts: people before stereotyped backgrounds, described by taggers with and without."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.ask.classifiers import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.scoring.cost import worst_parts
from gslopes.ask.scoring.trial import compare_alone, first_pictures
from gslopes.contexts import HOME, TABLES
from gslopes.contexts.config import ContextsConfig
from gslopes.contexts.measures import analysis, describe, ratings
from gslopes.contexts.page import sections, sections as page
from gslopes.contexts.stimuli import stages
from gslopes.core import Executor, JsonObject, dropped, tables, text, with_options
from gslopes.core.records import Classifier
from gslopes.frame.ask import (
    ANSWERS,
    Most,
    ask,
    asked_before,
    check_models,
    check_versions,
    counted,
    prices_of,
)
from gslopes.frame.brought import planned
from gslopes.frame.result import Result
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Made, Plan, Run, Stage, Tables, declared_stages

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
        classifier.name: classifier
        for classifier in (
            *load_classifiers(names, config.device, plan.trust, config.score.batch),
            *(plan.given or ()),
        )
    }


def asked_at_most(run: Run, classifier: Classifier) -> Most:
    """Every picture of every person."""
    material = run.inputs
    parts = -(-len([*material.files, *material.used]) // PART)
    return worst_parts(material.pictures(run.config.pictures.kinds), parts), 0


def check_before(run: Run, executor: Executor) -> None:
    """Before pictures are made: versions, credentials, price, training mode.

    Raises: as ``frame.ask.check_models`` and ``ask.scoring.trial.compare_alone``.
    """
    check_versions(run.folder, run.models.values())
    if not run.has("photos"):  # later what is due is confirmed when it is asked
        check_models(run, prices_of(run), executor)
        first = first_pictures(run.inputs.files)
        for model in run.models.values():
            compare_alone(model, first)


STAGES = declared_stages(HOME)
WALK = ("edits", "verdicts", "photos")
ALL_TABLES = TABLES | {name: tables.TABLES[name] for name in WALK} | ANSWERS


@with_options(ContextsConfig)
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
    ready = objects if objects or (isinstance(classifier, Sequence) and not names) else None
    plan = planned(
        CONTEXTS, photos, out, {**options, "classifier": names}, trust=trust, given=ready
    )
    return carry_out(plan, executor, progress)


def outline(planned: Plan) -> tuple[list[str], JsonObject]:
    """What an audit would do."""
    material = planned.inputs.content
    facts = {
        "photos": len(material.files),
        "people known": len(material.who),
        "backgrounds": len(material.used),
        "pictures": material.pictures(planned.config.pictures.kinds),
    }
    return [f"{name:<13}{count:,}" for name, count in facts.items()], facts


def measure(run: Run) -> Made:
    """Every table that the answers allow.

    Raises: UsageError if no person has a composite; UsageError, ConfigError of typologies and ratings.
    """
    stages.check_anybody(run)
    options = run.config.analysis
    scores = run.table("scores")
    people = run.table("people")
    backgrounds = run.table("backgrounds")
    tables = {}
    if options.ratings:
        tables["ratings"] = ratings.ratings_of(options, backgrounds, run.note)
        backgrounds = ratings.rated(backgrounds, tables["ratings"])
    used = backgrounds.query("status == 'used'")
    described = []
    tagged = {}
    for classifier, questions in run.table("asked").groupby("classifier", sort=True):
        name = str(classifier)
        typology = analysis.typology_of(name, options, used)
        answers = describe.answered_tags(scores.query("classifier == @name"), questions)
        tagged[name] = frozenset(key for key, tags in typology.contexts.items() if tags)
        for note in analysis.notes_of(name, answers, typology, questions):
            run.note(note)
        described.append(describe.describe_all(name, answers, used, typology, options))
    sweep = None
    if run.config.pictures.sweep:
        assert run.plan
        values = np.array(next(iter(run.plan.facts["values"].values())), float)
        sweep = run.config.pictures.sweep, values
    tables["described"] = pd.concat(described, ignore_index=True)
    tables |= analysis.analyse(tables["described"], people, used, tagged, options, sweep)
    _note_gate(run)
    return {name: frame[TABLES[name].columns] for name, frame in tables.items()}


def _note_gate(run: Run) -> None:
    """How many sweeps the gate dropped, and why."""
    verdicts = run.table("verdicts").drop_duplicates("photo")
    if verdicts.empty:
        return  # nothing was judged
    judged = text.many(len(verdicts), "person", "people")
    why = "".join(
        f"; {count} dropped: {reason}" for reason, count in dropped(verdicts["reason"]).items()
    )
    run.note(f"The gate kept the sweeps of {int(verdicts['kept'].sum()):,} of {judged}{why}.")


def counts(results: Tables) -> tuple[int, int, int]:
    """Photos of people, those before a background; those that cannot be read, and questions that failed."""
    photos = results["photos"]
    people = photos[~photos["path"].str.startswith("background ")]
    return counted(people, results.get("asked", tables.ASKED.empty()))


CONTEXTS = Audit(
    name="contexts",
    home=HOME,
    config=ContextsConfig,
    tables=ALL_TABLES,
    inputs=lambda plan: stages.look(plan.source, plan.config),
    looked_at=("table", "group_column"),
    fixed=stages.identity,
    outline=outline,
    stages=(
        Stage(**STAGES["read"], work=stages.read),
        Stage(
            **STAGES["cutout"],
            work=stages.cut_out,
            items=lambda run: run.inputs.files,
            part=PART,
            join=stages.decide,
        ),
        Stage(
            **STAGES["synthesise"],
            work=stages.compose,
            items=lambda run: [*run.inputs.files, *run.inputs.used],
            part=PART,
        ),
        ask(**STAGES["score"], most=asked_at_most),
        Stage(
            **STAGES["measure"],
            work=measure,
            when=lambda run: bool(asked_before(run.folder) or run.models),
        ),
        Stage(**STAGES["sheets"], work=page.write_sheets),
    ),
    judged=sections.judged,
    headline=sections.headline_of,
    counts=counts,
    shown=("inferred", "recognised", "accuracy", "congruence", "changes"),
    page=page.SECTIONS,
    models=taggers,
    more=True,
    before=check_before,
)
