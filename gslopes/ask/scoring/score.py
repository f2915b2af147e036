"""The score stage: several classifiers side by side, each part's tables written as soon as its last answer is there."""

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.cache import AnswerCache, writable_cache
from gslopes.ask.classifiers import prepare_classifier, warn_of
from gslopes.ask.client import Client
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget, UsageStats, said
from gslopes.ask.questions import Effects, PartProgress, about_edits
from gslopes.ask.scoring.cost import Price, confirm_cost, estimate_parts
from gslopes.core import (
    Executor,
    JsonObject,
    UsageError,
    progress_line,
    read_json,
    runfolder,
    traits_of,
)
from gslopes.core.progress import is_shown
from gslopes.core.records import Classifier
from gslopes.core.storage import raise_if_refused
from gslopes.faces.gate.judge import SweepSelection

REFRESH = 0.2  # seconds between updates of the progress lines


@dataclass(eq=False)
class Scoring:
    """One command's questions to any number of classifiers about one run folder, which this process has locked.

    parts: those that are missing, a ``frame.parts.Missing``.  pictures: the table in which their pictures are.
    makes: the tables of scores and of what was asked.  wanted: of each classifier, the edits that it is asked about.
    seed: of the order of the questions.
    """

    run: Path
    classifiers: Sequence[Classifier]
    parts: Any
    pictures: str
    makes: Sequence[str]
    wanted: Mapping[str, SweepSelection]
    seed: int
    config: CostLimits
    executor: Executor
    budget: Budget

    def __post_init__(self) -> None:
        self._due = [
            classifier for classifier in self.classifiers if self.parts.missing[classifier.name]
        ]
        self._usages = {classifier.name: UsageStats() for classifier in self._due}
        self._warned: set[str] = set()

    def _edits(self, name: str, part: int) -> DataFrame:
        """The edits of a part that a classifier is asked about."""
        return self.wanted[name].of(self.parts.of(name).piece(part)[self.pictures])

    def _count(self, name: str, parts: Iterable[int]) -> int:
        """How many they are in several parts."""
        if self.wanted[name].all:
            return sum(self.parts.sizes[part] for part in parts)
        return sum(len(self._edits(name, part)) for part in parts)

    def ask(self) -> None:
        """Ask what has not been asked yet.

        Raises: UsageError, CredentialsError, ServiceError, ClassifierError, BudgetReached, StorageError;
            KeyboardInterrupt after the requests in flight are finished.
        """
        if not self._due:
            return
        with ExitStack() as stack:
            cache = None
            if any(traits_of(classifier).kept for classifier in self._due):
                cache = stack.enter_context(AnswerCache(writable_cache(self.config.cache)))
            self.budget.agree(confirm_cost(self.prices(cache), self.config, self.executor))
            clients = []
            for classifier in self._due:
                prepare_classifier(classifier)
                journal = None
                if not traits_of(classifier).kept:
                    journal = stack.enter_context(AnswerCache(self._journal(classifier)))
                usage = self._usages[classifier.name]
                clients.append(
                    Client(
                        classifier, cache=cache, journal=journal, budget=self.budget, usage=usage
                    )
                )
            self._side_by_side(clients)
        for classifier in self._due:
            shutil.rmtree(self._journal(classifier), ignore_errors=True)

    def prices(self, cache: AnswerCache | None) -> list[Price]:
        """What is left to ask of each classifier, and what that costs at most.  cache: of earlier answers."""
        prices = []
        for classifier in self._due:
            name = classifier.name
            missing = self.parts.missing[name]
            before = self._count(name, self.parts.sizes.keys() - missing.keys())
            due = (self._edits(name, part) for part in missing)
            answers = ClassifierCache(classifier, cache)
            prices.append(estimate_parts(self.run, classifier, due, answers, before))
        return prices

    def _journal(self, classifier: Classifier) -> Path:
        """Keeps the answers of unfinished parts, if no cache keeps them."""
        return self.parts.of(classifier.name).folder / "journal"

    def _side_by_side(self, clients: Sequence[Client]) -> None:
        """A thread a classifier; this one watches, shows progress and takes Ctrl-C."""
        errors: list[BaseException] = []
        stop: KeyboardInterrupt | None = None
        pool = ThreadPoolExecutor(len(clients), "score")
        due = sum(self._count(name, self.parts.missing[name]) for name in self._usages)
        total = sum(self._count(name, self.parts.sizes) for name in self._usages)
        names = f"score      {', '.join(self._usages)}"
        line = is_shown(self.executor)
        with progress_line(line, {0: due}, names[:40], "pictures", total - due) as tick:
            counted = 0

            def update() -> None:
                nonlocal counted
                done = sum(usage.pictures for usage in self._usages.values())
                tick(done - counted)
                counted = done

            running = {pool.submit(self._drive, client, clients, errors) for client in clients}
            pool.shutdown(wait=False)
            while (
                running
            ):  # not join: an interrupt within Thread.join marks the thread as ended (Python 3.11)
                try:
                    running = wait(running, timeout=REFRESH).not_done
                    update()
                    self._warn()
                except KeyboardInterrupt as interrupt:
                    for client in clients:
                        client.halt()
                    if stop is not None:  # the user does not want to wait
                        raise
                    stop = interrupt
                    note = "\nStopping: the requests in flight are finished first. Ctrl-C again ends at once."
                    self.executor.note(note)
            update()
        self._warn()
        for text in said("done.txt.j2", clients=clients, budget=self.budget).splitlines():
            self.executor.note(f"score      {text}")
        if stop is not None or errors:
            raise stop or errors[0]

    def _drive(
        self, client: Client, clients: Sequence[Client], errors: list[BaseException]
    ) -> None:
        """One classifier, in its thread; its error stops the others as well."""
        name = client.classifier.name
        parts = self.parts.of(name)

        def done(progress: PartProgress) -> None:
            part = progress.number
            asked, scores = progress.rows(name)
            models = parts.folder / f"models-{part:06d}.json"
            if progress.models() or models.exists():
                runfolder.write_json(
                    models, {"models": progress.models(), "order_effects": progress.orders()}
                )
            parts.commit(part, dict(zip(self.makes, (scores, asked), strict=True)))

        try:
            runfolder.make_folder(parts.folder)
            questions = (
                (
                    part,
                    about_edits(
                        self._edits(name, part),
                        self.run,
                        self.seed,
                        client.classifier,
                    ),
                )
                for part in self.parts.missing[name]
            )
            client.ask_parts(questions, done)
        except BaseException as error:
            errors.append(error)
            for other in clients:
                other.halt()

    # -- what a user should know --------------------------------------------------------------------------------------

    def _warn(self) -> None:
        """Warn once: what a classifier warns of, or that a service answers with another model than before."""
        for classifier in self._due:
            warn_of(classifier, self.executor)
        for name, usage in self._usages.items():
            with usage.lock:
                models = dict(usage.models)
            if len(models) > 1 and name not in self._warned:
                self._warned.add(name)
                self.executor.note(
                    f"Warning: {name} answers with more than one model, so far "
                    f"{said('models.txt.j2', models=models)}."
                )


def models_of(folder: Path) -> JsonObject:
    """Which model versions a service answered with, from the parts that are done; empty if it does not tell.

    folder: of its parts.

    Returns: ``models``, version to pictures; ``orders``, by how much an option's score is higher if it is asked
        earlier, in words, of options that are asked in both orders; t intervals over photos; ``order_points``, the
        largest of these.
    """
    models: Counter[str] = Counter()
    effects: Effects = {}
    for path in sorted(folder.glob("models-*.json")):
        try:
            content = read_json(path)
            models.update(
                {str(version): int(count) for version, count in content["models"].items()}
            )
            for label, numbers in content.get("order_effects", {}).items():
                effects.setdefault(str(label), []).extend(map(float, numbers))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise_if_refused(error, path)
            raise UsageError(
                f"{runfolder.show(path)} is damaged.",
                "Delete it, and repeat the command: its part is counted as one whose model is not known.",
            ) from error
    versions = {"models": dict(sorted(models.items()))} if models else {}
    return versions | (_of_orders(effects) if models and effects else {})


def _of_orders(effects: Mapping[str, Sequence[float]]) -> JsonObject:
    """How much higher options score if they are asked earlier.  effects: option to a number a photo."""
    from gslopes.stats.intervals import mean_t  # asking needs no scipy

    means = {
        label: mean_t(100 * np.array(numbers, np.float64), (-100, 100))
        for label, numbers in effects.items()
    }
    largest = sorted(means.items(), key=lambda pair: (-abs(round(pair[1].value, 1)), pair[0]))
    return {
        "orders": said("orders.txt.j2", means=largest),
        "order_points": round(abs(largest[0][1].value), 1),
    }
