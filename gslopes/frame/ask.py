"""Asking classifiers about a table of pictures: one stage for all audits, and one budget for a command.

Who was asked, and in which version, is in ``run.json``; more may be asked later, and the answers of earlier commands
stay in the tables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from pandas import DataFrame

from gslopes.ask.answers import raise_if_all_failed
from gslopes.ask.cache import FILE, AnswerCache, cache_folder, writable_cache
from gslopes.ask.classifiers import prepare_classifier, warn_of
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget
from gslopes.ask.ledger import spendable
from gslopes.ask.scoring.cost import Price, confirm_cost, estimate, total_of
from gslopes.ask.scoring.score import Scoring, models_of
from gslopes.core import (
    Executor,
    JsonObject,
    Names,
    Reason,
    RunFolderMismatch,
    UsageError,
    frozen,
    many,
    runfolder,
    tables,
    traits_of,
    twins,
)
from gslopes.core.records import Classifier
from gslopes.faces.gate.judge import SweepSelection
from gslopes.frame.parts import Missing, missing_of, missing_parts
from gslopes.frame.spec import Made, Plan, Run, Stage, Tables
from gslopes.report.inline import plain

Most = tuple[list[int], int]  # pictures of each part, and how many of all are of placebo sweeps
ASKED = "classifiers"  # in run.json: name to version, and the models that a service names
STOPPED = "stopped"  # in the same entry, if it was not asked about every picture yet
DROPPED = {"dropped-scores": "scores", "dropped-asked": "asked"}  # answers apart from the tables
# What the stage makes, for the tables of an audit.
ANSWERS = {name: tables.TABLES[name] for name in ("scores", "asked")}
ANSWERS |= {name: replace(tables.TABLES[source], name=name) for name, source in DROPPED.items()}


def money(run: Run) -> Budget:
    """What all stages of this command may spend together."""
    return Budget.of(run.config.score)


def ask(
    name: str,
    reads: Names,
    *,
    pictures: str = "edits",
    gate: Callable[[Run], bool] | None = lambda run: True,
    whom: Callable[[Run], Mapping[str, Classifier]] = lambda run: run.models,
    folder: str = "",
    needed: bool = False,
    options: Names = (),
    most: Callable[[Run, Classifier], Most] = lambda run, model: ([], 0),
) -> Stage:
    """The stage that asks classifiers about the pictures of a table, part by part of the stage that makes it.

    The tables that it makes are ``ANSWERS``, with those for a sample of the sweeps that verdicts drop.

    pictures: the table, with the columns of core.tables.EDITS.
    gate: whether sweeps that verdicts drop are left out, if the run has verdicts; None if they are about others.
    whom: the classifiers that are asked, by default all of this command.
    folder: for the tables of scores and of what was asked, without others; run.json names who was asked by it.
    needed: whether it is an error if no one is asked; else the stage is left out.
    most: about how many pictures a classifier is asked at most, before they are made; else they have no price yet.
    """
    makes = (f"{folder}/scores", f"{folder}/asked") if folder else tuple(ANSWERS)
    asking = _Asking(pictures, makes, gate, whom, folder or ASKED, most)
    others = (table for table in reads if table != pictures)
    return Stage(
        name,
        reads,
        makes,
        asking.work,
        along=pictures,
        each=lambda run: sorted(asking.versions(run)),
        streams=True,
        here=True,
        splits=asking.splits,
        keep=asking.keep,
        merging=(*others, *options),
        when=None if needed else lambda run: bool(asking.versions(run)),
        uses=asking.versions,
        due=lambda run: bool(run.config.score.retry_failed and whom(run)),
        lacks=asking.lacks,
        prices=asking.prices,
        begin=asking.begin,
        check=asking.check,
        options=options,
    )


@frozen
class _Asking:
    """The functions of the stage; fields as of ``ask``.  record: under which run.json names who was asked."""

    pictures: str
    makes: Names
    gate: Callable[[Run], bool] | None
    whom: Callable[[Run], Mapping[str, Classifier]]
    record: str
    most: Callable[[Run, Classifier], Most]

    @property
    def splits(self) -> dict[str, str]:
        """Tables of answers about dropped sweeps, to those that they are split from."""
        return {table: DROPPED[table] for table in self.makes[2:]}

    def versions(self, run: Run) -> dict[str, str]:
        """Of those that are asked now, or were asked about everything before.  Raises: as ``check_versions``."""
        models = self.whom(run)
        check_versions(run.folder, models.values(), self.record)
        recorded = asked_before(run.folder, self.record).items()
        earlier = {
            name: str(facts.get("version", "")) for name, facts in recorded if STOPPED not in facts
        }
        return earlier | {name: model.version for name, model in models.items()}

    def selected(self, run: Run, placebos: int | None = None) -> SweepSelection:
        """What goes into the tables.  placebos: as of ``SweepSelection``."""
        dropped = getattr(run.config.score, "dropped_sample", 0) if self.splits else 0
        gated = self.gate is not None and self.gate(run)
        seed = run.config.seed
        return SweepSelection(run.folder, gated, dropped=dropped, placebos=placebos, seed=seed)

    def wanted(self, run: Run) -> dict[str, SweepSelection]:
        """What each classifier is asked about: only a sample of the placebo sweeps if asking costs money."""
        sample = None
        if self.gate is not None:
            sample = getattr(run.config.score, "placebo_sample", None)
        return {
            name: self.selected(run, None if traits_of(model).limits.free else sample)
            for name, model in self.whom(run).items()
        }

    def lacks(
        self,
        run: Run,
        name: str | None,
        part: Tables,
        answers: DataFrame,
    ) -> bool:
        """Whether a part was asked about while the gate kept fewer sweeps than are wanted now."""
        selection = run.once(self.wanted).get(str(name))
        if selection is None or not selection.judged:
            return False
        return not selection.covered(part[self.pictures], answers)

    def keep(self, run: Run, table: str) -> Callable[[DataFrame], DataFrame] | None:
        """Which rows of the parts go into a table."""
        selection = run.once(self.selected)
        if table not in self.splits:
            return selection.keep
        return selection.sampled if selection.judged else None

    def begin(self, run: Run, missing: Mapping[str | None, int]) -> None:
        """Raises: UsageError if no one is asked, nor was before."""
        if not self.versions(run):
            raise UsageError(
                "No classifier is named.",
                "Name one with --classifier NAME; gslopes list classifiers.",
            )

    def work(self, run: Run, parts: Missing) -> Made:
        """Ask about all parts that are missing.  Raises: as ``Scoring.ask``."""
        models = tuple(self.whom(run).values())
        content = runfolder.read_manifest(run.folder)
        entries = content.setdefault(self.record, {})
        for model in models:
            if why := traits_of(model).unknown:
                run.note(why)
            facts = {**entries.get(model.name, {}), **traits_of(model).facts}
            entries[model.name] = {**facts, "version": model.version, STOPPED: True}
        if self.gate is not None:
            applied = self.gate(run) and run.has("verdicts")
            content["gate"] = {**content.get("gate", {}), "applied": applied}
        runfolder.write_json(run.folder / runfolder.MANIFEST, content)
        try:
            self._scoring(run, parts).ask()
            for model in models:
                del entries[model.name][STOPPED]
        finally:
            for model in models:
                entries[model.name] |= models_of(parts.of(model.name).folder)
                if orders := entries[model.name].get("orders"):
                    run.executor.note(f"score      {model.name}: {orders}.")
            runfolder.write_json(run.folder / runfolder.MANIFEST, content)
        return {}

    def prices(self, run: Run, stage: Stage) -> list[Price]:
        """What is still to be asked and costs: by the pictures, or by what the audit declares if they are not made."""
        models = self.whom(run)
        missing, _ = missing_parts(run.folder, run.audit, self.pictures)
        if missing or not run.has(self.pictures):
            return [
                estimate(model, *self.most(run, model), stage=stage.name)
                for model in models.values()
            ]
        parts = missing_of(run, stage, [*models])
        kept = cache_folder(run.config.score.cache)
        with AnswerCache(kept) if (kept / FILE).is_file() else nullcontext() as cache:
            return self._scoring(run, parts).prices(cache)

    def _scoring(self, run: Run, parts: Missing) -> Scoring:
        budget = run.once(money)
        limits = run.config.score
        limits = replace(limits, yes=limits.yes or budget.confirmed)
        about = self.pictures, self.makes[:2], run.once(self.wanted), run.config.seed, limits
        models = tuple(self.whom(run).values())
        return Scoring(run.folder, models, parts, *about, run.executor, budget)

    def check(self, run: Run) -> None:
        """Raises: ClassifierError if all pictures of a classifier failed."""
        columns = ["classifier", "label"]
        scored, answered = self.makes[:2]
        path = run.folder / f"{scored}.parquet"
        scores = tables.read_columns(run.audit.tables[scored], path, columns)
        for name, labels in scores.groupby("classifier")["label"]:
            if sentence := twins(labels.unique()):
                run.note(f"{name}: {sentence}")
        answers = run.table(answered)
        raise_if_no_use(answers, "classifier")
        if failed := int((answers["status"] == "failed").sum()):
            again = "the same command with --retry-failed asks again"
            run.note(f"Asking about {many(failed, 'picture')} failed: {again}.")


def prices_of(run: Run) -> list[Price]:
    """What the stages of this command still ask, of whom, and what that costs at most."""
    only = run.plan.only if run.plan else ()
    return [
        price
        for stage in run.audit.stages
        if not only or stage.name in only
        if stage.when is None or stage.when(run)
        for price in stage.prices(run, stage) or ()
        if price.pictures
    ]


def outline_of_prices(planned: Plan) -> tuple[str, JsonObject]:
    """The prices of a plan, as text and as JSON."""
    folder = planned.folder or Path("/dev/null")
    prices = prices_of(Run(planned.audit, folder, planned.config, planned))
    config = planned.config
    limits: Any = getattr(config, "score", None) or getattr(config, "cost_limits", CostLimits())
    left = spendable(limits)
    usd, lost = total_of(prices)
    about = {"prices": prices, "usd": usd, "lost": lost, "limits": limits}
    text = plain("prices.txt.j2", __file__, budget=left, **about)
    calls = sum(price.calls for price in prices if price.remote)
    facts = [price.facts for price in prices]
    return text, {"calls": calls, "usd": usd, "usd_if_lost": lost, "left": left, "prices": facts}


def check_models(
    run: Run, prices: Iterable[Price], executor: Executor, more: Sequence[Classifier] = ()
) -> None:
    """Before pictures are made for hours: versions, credentials, and whether the user agrees to the price.

    more: who is asked, too, such as an editor.

    Raises: RunFolderMismatch, CredentialsError, UsageError, ConfigError, StorageError.
    """
    classifiers = (*more, *run.models.values())
    limits = run.config.score
    if any(traits_of(model).kept for model in classifiers):
        writable_cache(limits.cache)
    for model in classifiers:
        prepare_classifier(model)
        warn_of(model, executor)
    paid = [price for price in prices if price.usd != 0]
    run.once(money).agree(confirm_cost(paid, limits, executor))
    run.once(money).confirmed = True


def check_versions(folder: Path, classifiers: Iterable[Classifier], record: str = ASKED) -> None:
    """Raises: RunFolderMismatch if one was asked in another version before: answers of two cannot be mixed."""
    earlier = asked_before(folder, record)
    for model in classifiers:
        if traits_of(model).unknown:
            continue
        old = earlier.get(model.name, {}).get("version", model.version)
        if old != model.version:
            answered = f"{runfolder.show(folder)} has answers of {model.name} in version {old or 'unknown'}"
            raise RunFolderMismatch(
                f"{answered}; it is {model.version or 'unknown'} now.",
                "Make the pictures again in a new folder, or restore that version of the classifier.",
            )


def asked_before(folder: Path, record: str = ASKED) -> JsonObject:
    """Name to what run.json tells of each classifier that was asked."""
    if (folder / runfolder.MANIFEST).is_file():
        return dict(runfolder.read_manifest(folder).get(record) or {})
    return {}


def counted(photos: DataFrame, asked: DataFrame) -> tuple[int, int, int]:
    """Photos found, photos used, and what failed: files that cannot be read, and pictures that were asked about.

    Both have the column status, and photos the reason.
    """
    unreadable = photos["reason"].str.startswith(Reason.UNREADABLE)
    failed = asked.query("status == 'failed'")
    used = photos.query("status == 'used'")
    return len(photos), len(used), int(unreadable.sum()) + len(failed)


def raise_if_no_use(answers: DataFrame, of: str) -> None:
    """Raises: ClassifierError for one whose pictures all failed.  of: the column with their names."""
    for _, answered in answers.groupby(of):
        hint = "Mend it and run the same command again"
        hint += " with --retry-failed (retry_failed=True in Python)." if of == "cropper" else "."
        raise_if_all_failed(answered, f"all {many(len(answered), 'picture')}", hint)
