"""Asking classifiers about a table of pictures: one stage for all audits, and one budget for a command.

Who was asked, and in which version, is in ``run.json``; more may be asked later, and the answers of earlier commands
stay in the tables.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.ask.answers import raise_if_all_failed
from gslopes.ask.cache import writable_cache
from gslopes.ask.classifiers import new_notes, prepare_classifier
from gslopes.ask.cost import Budget
from gslopes.ask.scoring.cost import Price, confirm_cost
from gslopes.ask.scoring.score import Scoring, models_of
from gslopes.core import runfolder, tables
from gslopes.core.errors import RunFolderMismatch, UsageError
from gslopes.core.executor import Executor
from gslopes.core.records import Classifier
from gslopes.core.runfolder import show
from gslopes.core.text import many, twins
from gslopes.core.traits import traits_of
from gslopes.faces.gate.judge import SweepSelection
from gslopes.frame.parts import Missing
from gslopes.frame.spec import Made, Run, Stage, Tables

ASKED = "classifiers"  # in run.json: name to version, and the models that a service said it has
STOPPED = "stopped"  # in the same entry, if it was not asked about every picture yet
DROPPED = {"dropped-scores": "scores", "dropped-asked": "asked"}  # answers apart from the tables
# What the stage makes, for the tables of an audit.
ANSWERS = {name: tables.TABLES[name] for name in ("scores", "asked")}
ANSWERS |= {name: replace(tables.TABLES[source], name=name) for name, source in DROPPED.items()}


def money(run: Run) -> Budget:
    """What all stages of this command may spend together."""
    return Budget(run.config.score.budget)


def _always(run: Run) -> bool:
    return True


def _models(run: Run) -> Mapping[str, Classifier]:
    return run.models


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Questions about the pictures of a table, part by part of the stage that makes it.

    makes: the tables of scores and of what was asked, like ``scores`` and ``asked`` of core.tables; then those of
        ``DROPPED``, for a sample of sweeps that verdicts drop.
    pictures: the table, with the columns of core.tables.EDITS.
    gate: whether sweeps that verdicts drop are left out, if the run has verdicts; None if they are about others.
    whom: who is asked, by default all of this command.  record: where run.json tells who was asked.
    """

    makes: tuple[str, ...] = tuple(ANSWERS)
    pictures: str = "edits"
    gate: Callable[[Run], bool] | None = _always
    whom: Callable[[Run], Mapping[str, Classifier]] = _models
    record: str = ASKED

    @property
    def splits(self) -> dict[str, str]:
        """Tables of dropped sweeps to the table of which they are a part."""
        return {table: DROPPED[table] for table in self.makes[2:]}

    def versions(self, run: Run) -> dict[str, str]:
        """Name to version of all who were or are asked.  Raises: RunFolderMismatch for one in two versions."""
        models = self.whom(run)
        check_versions(run.folder, models.values(), self.record)
        recorded = asked_before(run.folder, self.record).items()
        earlier = {
            name: str(facts.get("version", "")) for name, facts in recorded if STOPPED not in facts
        }
        return earlier | {name: model.version for name, model in models.items()}

    def names(self, run: Run) -> list[str]:
        """All who were or are asked."""
        return sorted(self.versions(run))

    def due(self, run: Run) -> bool:
        """Whether failed questions are asked again."""
        return bool(run.config.score.retry_failed and self.whom(run))

    def selected(self, run: Run, placebos: int | None = None) -> SweepSelection:
        """The sweeps whose answers count.  placebos: of as many photos; all by default."""
        dropped = getattr(run.config.score, "dropped_sample", 0) if self.splits else 0
        gated = self.gate is not None and self.gate(run)
        seed = run.config.seed
        return SweepSelection(run.folder, gated, dropped=dropped, placebos=placebos, seed=seed)

    def wanted(self, run: Run) -> dict[str, SweepSelection]:
        """Of each classifier; only a sample of the placebo sweeps if asking costs money."""
        sample = getattr(run.config.score, "placebo_sample", None)
        return {
            name: self.selected(run, None if traits_of(model).limits.free else sample)
            for name, model in self.whom(run).items()
        }

    def lacks(self, run: Run, name: str | None, part: Tables, asked: pd.DataFrame) -> bool:
        """Whether a part that was asked about lacks questions that are wanted now."""
        selection = run.once(self.wanted).get(str(name))
        if selection is None or not selection.judged:
            return False
        return not selection.covered(part[self.pictures], asked)

    def keep(self, run: Run, table: str) -> Callable[[pd.DataFrame], pd.DataFrame] | None:
        """Which rows of all parts a table has; None if it is not made."""
        selection = run.once(self.selected)
        if table not in self.splits:
            return selection.keep
        return selection.sampled if selection.judged else None

    def begin(self, run: Run, missing: Mapping[str | None, int]) -> None:
        """Raises: UsageError if there is no one to ask."""
        if not self.versions(run):
            hint = "Name one with --classifier NAME; gslopes list classifiers."
            raise UsageError("No classifier is named.", hint)

    def ask(self, run: Run, parts: Missing) -> Made:
        """Ask all that is missing.  Raises: as ``Scoring.ask``."""
        models = tuple(self.whom(run).values())
        content = self._begun(run, models)
        entries = content[self.record]
        budget = run.once(money)
        limits = replace(run.config.score, yes=run.config.score.yes or budget.confirmed)
        about = self.pictures, self.makes[:2], run.once(self.wanted), run.config.seed, limits
        try:
            Scoring(run.folder, models, parts, *about, run.executor, budget).ask()
            for model in models:
                del entries[model.name][STOPPED]
        finally:
            for model in models:
                entries[model.name] |= models_of(parts.folder(model.name))
                if orders := entries[model.name].get("orders"):
                    run.executor.note(f"score      {model.name}: {orders}.")
            runfolder.write_json(run.folder / runfolder.MANIFEST, content)
        return {}

    def _begun(self, run: Run, models: Iterable[Classifier]) -> dict[str, Any]:
        """``run.json`` with those who are asked, written before the first question."""
        content = runfolder.read_manifest(run.folder)
        entries = content.setdefault(self.record, {})
        for model in models:
            traits = traits_of(model)
            if traits.unknown:
                run.note(traits.unknown)
            known = {**entries.get(model.name, {}), **traits.facts}
            entries[model.name] = {**known, "version": model.version, STOPPED: True}
        if self.gate is not None:
            applied = self.gate(run) and run.has("verdicts")
            content["gate"] = {**content.get("gate", {}), "applied": applied}
        runfolder.write_json(run.folder / runfolder.MANIFEST, content)
        return content

    def check(self, run: Run) -> None:
        """Note labels that differ only in writing and failures.  Raises: ClassifierError if all pictures failed."""
        columns = ["classifier", "label"]
        path = run.folder / f"{self.makes[0]}.parquet"
        scores = tables.read_columns(run.audit.tables[self.makes[0]], path, columns)
        for name, labels in scores.groupby("classifier")["label"]:
            if sentence := twins(labels.unique()):
                run.note(f"{name}: {sentence}")
        asked = run.table(self.makes[1])
        raise_if_no_use(asked, "classifier")
        if failed := int((asked["status"] == "failed").sum()):
            again = "the same command with --retry-failed asks again"
            run.note(f"Asking about {many(failed, 'picture')} failed: {again}.")

    def anyone(self, run: Run) -> bool:
        """Whether anyone was or is asked."""
        return bool(self.versions(run))


def ask(
    name: str,
    reads: tuple[str, ...],
    *,
    needed: bool = False,
    options: tuple[str, ...] = (),
    **about: Any,
) -> Stage:
    """The stage that asks classifiers.  about: see ``Questions``.

    needed: whether it is an error if there is no one to ask; else the stage is left out.
    """
    questions = Questions(**about)
    others = (table for table in reads if table != questions.pictures)
    return Stage(
        name,
        reads,
        questions.makes,
        questions.ask,
        along=questions.pictures,
        each=questions.names,
        streams=True,
        here=True,
        splits=questions.splits,
        keep=questions.keep,
        merging=(*others, *options),
        when=None if needed else questions.anyone,
        uses=questions.versions,
        due=questions.due,
        lacks=questions.lacks,
        begin=questions.begin,
        check=questions.check,
        options=options,
    )


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


def check_versions(folder: Path, classifiers: Iterable[Classifier], record: str = ASKED) -> None:
    """Raises: RunFolderMismatch if one was asked in another version before: answers of two cannot be mixed."""
    earlier = asked_before(folder, record)
    for model in classifiers:
        if traits_of(model).unknown:
            continue
        old = earlier.get(model.name, {}).get("version", model.version)
        if old != model.version:
            answered = f"{show(folder)} has answers of {model.name} in version {old or 'unknown'}"
            hint = "Make the pictures again in a new folder, or restore that version of the classifier."
            raise RunFolderMismatch(f"{answered}; it is {model.version or 'unknown'} now.", hint)


def asked_before(folder: Path, record: str = ASKED) -> dict[str, Any]:
    """Name to what run.json tells of each classifier that was asked."""
    if (folder / runfolder.MANIFEST).is_file():
        return dict(runfolder.read_manifest(folder).get(record) or {})
    return {}


def raise_if_no_use(answers: pd.DataFrame, of: str) -> None:
    """Raises: ClassifierError for one whose pictures all failed.  of: the column with their names."""
    for _, answered in answers.groupby(of):
        hint = "Mend it and run the same command again"
        hint += " with --retry-failed (retry_failed=True in Python)." if of == "cropper" else "."
        raise_if_all_failed(answered, f"all {many(len(answered), 'picture')}", hint)
