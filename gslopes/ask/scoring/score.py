"""The score stage: several classifiers side by side, each part's tables written as soon as its last answer is there."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.ask.answers import ClassifierCache, PartProgress, is_cached
from gslopes.ask.cache import AnswerCache, writable_cache
from gslopes.ask.classifiers import new_notes, prepare_classifier
from gslopes.ask.client import Client
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget, UsageStats, limits_of
from gslopes.ask.scoring.cost import confirm_cost, estimate_parts
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import read_json
from gslopes.core.killpoints import kill_point
from gslopes.core.progress import is_shown, progress_line
from gslopes.core.records import Classifier
from gslopes.core.runfolder import part_path
from gslopes.core.text import many
from gslopes.faces.gate.judge import SweepSelection

REFRESH = 0.2  # seconds between updates of the progress lines


def score_stage(classifier: str) -> str:
    """The folder of a classifier's parts, below RUN/parts."""
    return f"score/{runfolder.slug(classifier)}"


def finished_stages(run: Path, classifiers: Iterable[str], parts: int) -> list[str]:
    """Stages of the classifiers that are done: one that was stopped half way stays out of the tables."""
    stages = [score_stage(name) for name in sorted(classifiers)]
    return [name for name in stages if not runfolder.missing_parts(run, name, tables.ASKED, parts)]


DROPPED = {tables.ASKED.name: "dropped-asked", tables.SCORES.name: "dropped-scores"}  # apart from the tables


def wanted_of(run: Path, classifier: Classifier, config: ScoreConfig, gate: bool, seed: int) -> SweepSelection:
    """Which edits a classifier is asked about: only a sample of the placebo sweeps where asking costs money."""
    placebos = None if limits_of(classifier).free else config.placebo_sample
    return SweepSelection(run, gate, dropped=config.dropped_sample, placebos=placebos, seed=seed)


def missing_of(run: Path, classifier: Classifier, parts: int, config: ScoreConfig, wanted: SweepSelection) -> list[int]:
    """Parts that a classifier has still to be asked about; with ``retry_failed`` those with failures as well.

    A part without any answer is one of them: a server that answers nothing may be mended meanwhile. So is a part that
    was asked about while the gate kept fewer sweeps than are wanted now.
    """
    stage = score_stage(classifier.name)
    missing = set(runfolder.missing_parts(run, stage, tables.ASKED, parts))
    for part in set(range(parts)) - missing:
        path = part_path(run, stage, tables.ASKED, part)
        statuses = set(tables.read_columns(tables.ASKED, path, ["status"])["status"])
        if statuses == {"failed"} or (config.retry_failed and "failed" in statuses):
            missing.add(part)
    if wanted.judged:
        for part in set(range(parts)) - missing:
            asked = tables.read(tables.ASKED, part_path(run, stage, tables.ASKED, part))
            if not wanted.covered(part, asked):
                missing.add(part)
    return sorted(missing)


class Scoring:
    """One command's questions to any number of classifiers about one run folder, which this process has locked.

    parts: of the run.  seed: of the order of the questions, and of samples.  gate: whether verdicts count.
    budget: of the command; None for a new one, of what the configuration says.
    """

    def __init__(
        self,
        run: Path,
        classifiers: Sequence[Classifier],
        parts: int,
        seed: int,
        config: ScoreConfig,
        executor: Executor,
        gate: bool = True,
        budget: Budget | None = None,
    ) -> None:
        self._run = run
        self._parts = parts
        self._seed = seed
        self._config = config
        self._executor = executor
        self._wanted = {classifier.name: wanted_of(run, classifier, config, gate, seed) for classifier in classifiers}
        for classifier in classifiers:
            runfolder.discard_damaged(run, score_stage(classifier.name), (tables.SCORES, tables.ASKED), parts)
        self._missing = {
            classifier.name: missing_of(run, classifier, parts, config, self._wanted[classifier.name])
            for classifier in classifiers
        }
        self._due = [classifier for classifier in classifiers if self._missing[classifier.name]]
        self._budget = budget or Budget(config.budget)
        self._usages = {classifier.name: UsageStats() for classifier in self._due}
        self._warned: set[str] = set()

    def ask(self) -> None:
        """Ask what has not been asked yet.

        Raises: UsageError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError;
            KeyboardInterrupt after the requests in flight are finished.
        """
        if not self._due:
            return
        with ExitStack() as stack:
            cache = None
            if any(is_cached(classifier) for classifier in self._due):
                cache = stack.enter_context(AnswerCache(writable_cache(self._config.cache)))
            estimates = []
            for classifier in self._due:
                missing, wanted = self._missing[classifier.name], self._wanted[classifier.name]
                before = sum(wanted.count(part) for part in range(self._parts) if part not in set(missing))
                due = map(wanted.edits, missing)
                estimates.append(estimate_parts(self._run, classifier, due, ClassifierCache(classifier, cache), before))
            self._budget.agree(confirm_cost(estimates, self._config, self._executor))
            for classifier in self._due:
                prepare_classifier(classifier)
            clients = [
                Client(
                    classifier,
                    cache=cache,
                    journal=None
                    if is_cached(classifier)
                    else stack.enter_context(AnswerCache(self._journal(classifier))),
                    budget=self._budget,
                    usage=self._usages[classifier.name],
                    seed=self._seed,
                )
                for classifier in self._due
            ]
            self._side_by_side(clients)
        for classifier in self._due:
            shutil.rmtree(self._journal(classifier), ignore_errors=True)

    def _journal(self, classifier: Classifier) -> Path:
        """Where the answers of parts that are not finished are kept, if no cache keeps them."""
        return self._run / "parts" / score_stage(classifier.name) / "journal"

    def _side_by_side(self, clients: Sequence[Client]) -> None:
        """A thread a classifier; this one watches, shows progress and takes Ctrl-C."""
        errors: list[BaseException] = []
        stop: KeyboardInterrupt | None = None
        pool = ThreadPoolExecutor(max(1, len(clients)), "score")
        counts = [self._wanted[asking.classifier.name].count(part) for asking in clients for part in range(self._parts)]
        due = sum(self._wanted[name].count(part) for name, parts in self._missing.items() for part in parts)
        names = "score      " + ", ".join(asking.classifier.name for asking in clients)
        before, line = sum(counts) - due, is_shown(self._executor)
        with progress_line(line, {0: due}, names[:40], "pictures", before) as tick:
            counted = 0

            def update() -> None:
                nonlocal counted
                done = sum(usage.pictures for usage in self._usages.values())
                tick(done - counted)
                counted = done

            left = {pool.submit(self._drive, client, clients, errors) for client in clients}
            pool.shutdown(wait=False)
            while left:  # not join: an interrupt within Thread.join marks the thread as ended (Python 3.11)
                try:
                    left = wait(left, timeout=REFRESH).not_done
                    update()
                    self._warn()
                except KeyboardInterrupt as interrupt:
                    for client in clients:
                        client.halt()
                    if stop is not None:  # the user does not want to wait
                        raise
                    stop = interrupt
                    self._executor.note(
                        "\nStopping: the requests in flight are finished first. Ctrl-C again ends at once."
                    )
            update()
        self._report(clients)
        if stop is not None or errors:
            raise stop or errors[0]

    def _drive(self, client: Client, clients: Sequence[Client], errors: list[BaseException]) -> None:
        """One classifier, in its thread; its error stops the others as well."""
        name = client.classifier.name
        stage = score_stage(name)

        def done(part: int, asked: pd.DataFrame, scores: pd.DataFrame, progress: PartProgress) -> None:
            models = part_path(self._run, stage, tables.ASKED, part).with_name(f"models-{part:06d}.json")
            if progress.models() or models.exists():
                runfolder.write_json(models, {"models": progress.models()})
            runfolder.write_table(tables.SCORES, scores, part_path(self._run, stage, tables.SCORES, part))
            kill_point("part:scores")
            runfolder.write_table(tables.ASKED, asked, part_path(self._run, stage, tables.ASKED, part))

        try:
            runfolder.make_folder(self._run / "parts" / stage)
            edits = ((part, self._wanted[name].edits(part)) for part in self._missing[name])
            client.ask_parts(edits, self._run, done)
        except BaseException as error:
            errors.append(error)
            for other in clients:
                other.halt()

    # -- what a user should know --------------------------------------------------------------------------------------

    def _warn(self) -> None:
        """Warn once: what a classifier has to say, or that a service answers with another model than before."""
        for classifier in self._due:
            for text in new_notes(classifier):
                self._executor.note(f"Warning: {text}")
        for name, usage in self._usages.items():
            with usage.lock:
                versions = list(usage.models)
            if len(versions) > 1 and name not in self._warned:
                self._warned.add(name)
                changed = " and then ".join(versions[:2])
                self._executor.note(f"Warning: {name} changed its model in the middle: {changed}.")

    def _report(self, clients: Sequence[Client]) -> None:
        self._warn()
        for client in clients:
            name, usage = client.classifier.name, client.usage
            if usage.refitted:
                how = "; ".join(sorted(client.refits))
                note = f"{name}: {many(usage.refitted, 'picture')} encoded again: too large, or of another format"
                self._executor.note(f"score      {note} ({how}), all of a photo alike.")
            if str(usage):
                self._executor.note(f"score      {name}: {many(usage.requests, 'call')}, {usage}.")
        if (given := self._budget.usd) is not None:
            spent, total, left = map(self._budget.shown, (self._budget.spent, given, self._budget.left(given)))
            self._executor.note(f"score      budget: {spent} of {total} USD spent, {left} USD left.")


def models_of(run: Path, name: str) -> dict[str, Any]:
    """Which model versions a service answered with, from the parts that are done; empty if it does not say.

    Returns: ``models``, version to pictures.
    """
    models: Counter[str] = Counter()
    for path in sorted((run / "parts" / score_stage(name)).glob("models-*.json")):
        try:
            content = read_json(path)
            models.update({str(version): int(count) for version, count in content["models"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            hint = "Delete it, and repeat the command: its part is counted as one whose model is not known."
            raise UsageError(f"{runfolder.show(path)} is damaged.", hint) from error
    return {"models": dict(sorted(models.items()))} if models else {}
