"""Asking classifiers about a table of pictures: one stage for all audits, and one budget for a command.

Who was asked, and in which version, is in the ``run.json`` of the folder of the pictures; more may be asked later, and
the answers of earlier commands stay in the tables.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.ask.answers import raise_if_all_failed
from gslopes.ask.cache import writable_cache
from gslopes.ask.classifiers import new_notes, prepare_classifier
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget
from gslopes.ask.scoring.cost import Price, confirm_cost
from gslopes.ask.scoring.score import DROPPED, Scoring, finished_stages, models_of, score_stage
from gslopes.core import runfolder, tables
from gslopes.core.errors import RunFolderMismatch, UsageError
from gslopes.core.executor import Executor
from gslopes.core.records import Classifier
from gslopes.core.runfolder import show
from gslopes.core.text import many, twins
from gslopes.core.traits import traits_of
from gslopes.faces.gate.judge import SweepSelection
from gslopes.frame.run import Run
from gslopes.frame.spec import Made, Stage

ASKED = "classifiers"  # in run.json: name to version, and the models that a service said it has
STOPPED = "stopped"  # there, of one that was not asked about every picture yet


@dataclass(frozen=True)
class Questions:
    """The pictures of a folder with the table edits, in as many parts, and the limits of what is asked about them.

    seed: of the order of the questions, and of samples.  gate: leave out the sweeps that verdicts drop, if there are
    any.
    """

    folder: Path
    parts: int
    seed: int
    limits: ScoreConfig
    gate: bool = True


def money(run: Run) -> Budget:
    """What all stages of this command may spend together."""
    return Budget(run.config.score.budget)


def ask(
    name: str,
    reads: tuple[str, ...],
    makes: tuple[str, ...],
    questions: Callable[[Run], Questions],
    *,
    whom: Callable[[Run], Mapping[str, Classifier]] = lambda run: run.models,
    folder: str = "",
    needed: bool = False,
    options: tuple[str, ...] = (),
) -> Stage:
    """The stage that asks classifiers about pictures: asked.parquet and scores.parquet in their folder.

    whom: those that are asked, by default all of this command.  folder: of the pictures, below the run folder.
    needed: whether it is an error if there is no one to ask; else the stage is left out.
    """

    def work(run: Run) -> Made:
        _ask(run, questions(run), tuple(whom(run).values()))
        return {}

    def versions(run: Run) -> dict[str, str]:
        check_versions(run.folder / folder, whom(run).values())
        recorded = asked_before(run.folder / folder).items()
        earlier = {
            name: str(facts.get("version", "")) for name, facts in recorded if STOPPED not in facts
        }
        return earlier | {name: model.version for name, model in whom(run).items()}

    def due(run: Run) -> bool:
        return bool(run.config.score.retry_failed and whom(run))

    when = None if needed else lambda run: bool(versions(run))
    return Stage(name, reads, makes, work, when=when, uses=versions, due=due, options=options)


def check_models(run: Run, estimates: Iterable[Price], executor: Executor) -> None:
    """Before pictures are made for hours: versions, credentials, and whether the user agrees to the price.

    Raises: RunFolderMismatch, CredentialsError, UsageError, ConfigError, StorageError.
    """
    classifiers = tuple(run.models.values())
    limits = run.config.score
    if any(traits_of(model).kept for model in classifiers):
        writable_cache(limits.cache)
    for model in classifiers:
        prepare_classifier(model)
        for text in new_notes(model):
            executor.note(f"Warning: {text}")
    run.once(money).agree(confirm_cost(list(estimates), limits, executor))
    run.once(money).confirmed = True


def check_versions(folder: Path, classifiers: Iterable[Classifier]) -> None:
    """Raises: RunFolderMismatch if one was asked in another version before: answers of two cannot be mixed."""
    earlier = asked_before(folder)
    for model in classifiers:
        if traits_of(model).unknown:
            continue
        old = earlier.get(model.name, {}).get("version", model.version)
        if old != model.version:
            answered = f"{show(folder)} has answers of {model.name} in version {old or 'unknown'}"
            hint = "Make the pictures again in a new folder, or restore that version of the classifier."
            raise RunFolderMismatch(f"{answered}; it is {model.version or 'unknown'} now.", hint)


def asked_before(folder: Path) -> dict[str, Any]:
    """Name to what run.json says of each classifier that was asked."""
    exists = (folder / runfolder.MANIFEST).is_file()
    if exists:
        return dict(runfolder.read_manifest(folder).get(ASKED) or {})
    return {}


def _ask(run: Run, questions: Questions, classifiers: tuple[Classifier, ...]) -> None:
    """Raises: as ``Scoring.ask``; ClassifierError if all pictures failed; UsageError if there is no one to ask."""
    folder = questions.folder
    parts = questions.parts
    gate = questions.gate
    check_versions(folder, classifiers)
    content = runfolder.read_manifest(folder)
    entries = content.setdefault(ASKED, {})
    if not classifiers and not finished_stages(
        folder, entries, parts
    ):  # nor has anyone answered about all before
        raise UsageError(
            "No classifier is named.", "Name one with --classifier NAME; gslopes list classifiers."
        )
    for model in classifiers:
        if why := traits_of(model).unknown:
            run.note(why)
            if entries.get(model.name, {}).get("version") != model.version:
                shutil.rmtree(folder / "parts" / score_stage(model.name), ignore_errors=True)
        known = {**entries.get(model.name, {}), **traits_of(model).facts}
        entries[model.name] = {**known, "version": model.version, STOPPED: True}
    content["gate"] = {
        **content.get("gate", {}),
        "applied": gate and (folder / "verdicts.parquet").exists(),
    }
    runfolder.write_json(folder / runfolder.MANIFEST, content)
    budget = run.once(money)
    limits = replace(questions.limits, yes=questions.limits.yes or budget.confirmed)
    try:
        Scoring(
            folder, classifiers, parts, questions.seed, limits, run.executor, gate, budget
        ).ask()
        for model in classifiers:
            del entries[model.name][STOPPED]
    finally:
        for model in classifiers:
            entries[model.name] |= models_of(folder, model.name)
            if orders := entries[model.name].get("orders"):
                run.executor.note(f"score      {model.name}: {orders}.")
        runfolder.write_json(folder / runfolder.MANIFEST, content)
    wanted = SweepSelection(folder, gate, dropped=limits.dropped_sample, seed=questions.seed)
    stages = finished_stages(folder, entries, parts)
    for table in (tables.ASKED, tables.SCORES):
        if wanted.judged:
            runfolder.merge(folder, table, stages, parts, wanted.sampled, DROPPED[table.name])
        else:
            (folder / f"{DROPPED[table.name]}.parquet").unlink(missing_ok=True)
        runfolder.merge(folder, table, stages, parts, wanted.keep)
    scores = tables.read_columns(
        tables.SCORES, folder / f"{tables.SCORES.name}.parquet", ["classifier", "label"]
    )
    for name, labels in scores.groupby("classifier")["label"]:
        if sentence := twins(labels.unique()):
            run.note(f"{name}: {sentence}")
    asked = tables.read(tables.ASKED, folder / f"{tables.ASKED.name}.parquet")
    raise_if_no_use(asked, "classifier")
    if failed := int((asked["status"] == "failed").sum()):
        run.note(
            f"Asking about {many(failed, 'picture')} failed: the same command with --retry-failed asks again."
        )


def raise_if_no_use(answers: pd.DataFrame, of: str) -> None:
    """Raises: ClassifierError for one whose pictures all failed.  of: the column with their names."""
    for _, answered in answers.groupby(of):
        hint = "Mend it and run the same command again"
        hint += " with --retry-failed (retry_failed=True in Python)." if of == "cropper" else "."
        raise_if_all_failed(answered, f"all {many(len(answered), 'picture')}", hint)
