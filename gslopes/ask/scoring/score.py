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

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.cache import AnswerCache, writable_cache
from gslopes.ask.classifiers import new_notes, prepare_classifier
from gslopes.ask.client import Client
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.questions import PartProgress, about_edits
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
from gslopes.core.traits import traits_of
from gslopes.faces.gate.judge import SweepSelection

REFRESH = 0.2  # seconds between updates of the progress lines


def score_stage(classifier: str) -> str:
    """The folder of a classifier's parts, below RUN/parts."""
    return f"score/{runfolder.slug(classifier)}"


def finished_stages(run: Path, classifiers: Iterable[str], parts: int) -> list[str]:
    """Stages of the classifiers that are done: one that was stopped half way stays out of the tables."""
    stages = [score_stage(name) for name in sorted(classifiers)]
    return [name for name in stages if not runfolder.missing_parts(run, name, tables.ASKED, parts)]


DROPPED = {
    tables.ASKED.name: "dropped-asked",
    tables.SCORES.name: "dropped-scores",
}  # apart from the tables


@dataclass(eq=False)
class Scoring:
    """One command's questions to any number of classifiers about one run folder, which this process has locked.

    parts: of the run.  seed: of the order of the questions, and of samples.  gate: whether verdicts count.
    """

    run: Path
    classifiers: Sequence[Classifier]
    parts: int
    seed: int
    config: ScoreConfig
    executor: Executor
    gate: bool
    budget: Budget

    def __post_init__(self) -> None:
        self._wanted = {
            classifier.name: self._wanted_of(classifier) for classifier in self.classifiers
        }
        self._missing = {
            classifier.name: self._missing_of(classifier.name) for classifier in self.classifiers
        }
        self._due = [
            classifier for classifier in self.classifiers if self._missing[classifier.name]
        ]
        self._usages = {classifier.name: UsageStats() for classifier in self._due}
        self._warned: set[str] = set()

    def _wanted_of(self, classifier: Classifier) -> SweepSelection:
        """Which edits a classifier is asked about: only a sample of the placebo sweeps where asking costs money."""
        placebos = None if traits_of(classifier).limits.free else self.config.placebo_sample
        dropped = self.config.dropped_sample
        return SweepSelection(
            self.run, self.gate, dropped=dropped, placebos=placebos, seed=self.seed
        )

    def _missing_of(self, name: str) -> list[int]:
        """Parts that a classifier has still to be asked about; with ``retry_failed`` those with failures as well.

        A part without any answer is one of them: a server that answers nothing may be mended meanwhile. So is a part
        that was asked about while the gate kept fewer sweeps than are wanted now.
        """
        stage = score_stage(name)
        wanted = self._wanted[name]
        runfolder.discard_damaged(self.run, stage, (tables.SCORES, tables.ASKED), self.parts)
        missing = set(runfolder.missing_parts(self.run, stage, tables.ASKED, self.parts))
        for part in set(range(self.parts)) - missing:
            asked = tables.read(tables.ASKED, part_path(self.run, stage, tables.ASKED, part))
            statuses = set(asked["status"])
            all_failed = statuses == {"failed"}
            retried = self.config.retry_failed and "failed" in statuses
            if all_failed or retried or (wanted.judged and not wanted.covered(part, asked)):
                missing.add(part)
        return sorted(missing)

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
            estimates = []
            for classifier in self._due:
                missing = self._missing[classifier.name]
                wanted = self._wanted[classifier.name]
                before = sum(
                    wanted.count(part) for part in range(self.parts) if part not in set(missing)
                )
                due = map(wanted.edits, missing)
                estimates.append(
                    estimate_parts(
                        self.run, classifier, due, ClassifierCache(classifier, cache), before
                    )
                )
            self.budget.agree(confirm_cost(estimates, self.config, self.executor))
            for classifier in self._due:
                prepare_classifier(classifier)
            clients = []
            for classifier in self._due:
                own = (
                    None
                    if traits_of(classifier).kept
                    else stack.enter_context(AnswerCache(self._journal(classifier)))
                )
                client = Client(
                    classifier,
                    cache=cache,
                    journal=own,
                    budget=self.budget,
                    usage=self._usages[classifier.name],
                )
                clients.append(client)
            self._side_by_side(clients)
        for classifier in self._due:
            shutil.rmtree(self._journal(classifier), ignore_errors=True)

    def _journal(self, classifier: Classifier) -> Path:
        """Where the answers of parts that are not finished are kept, if no cache keeps them."""
        return self.run / "parts" / score_stage(classifier.name) / "journal"

    def _side_by_side(self, clients: Sequence[Client]) -> None:
        """A thread a classifier; this one watches, shows progress and takes Ctrl-C."""
        errors: list[BaseException] = []
        stop: KeyboardInterrupt | None = None
        pool = ThreadPoolExecutor(max(1, len(clients)), "score")
        counts = [
            self._wanted[asking.classifier.name].count(part)
            for asking in clients
            for part in range(self.parts)
        ]
        due = sum(
            self._wanted[name].count(part)
            for name, parts in self._missing.items()
            for part in parts
        )
        names = "score      " + ", ".join(asking.classifier.name for asking in clients)
        before = sum(counts) - due
        line = is_shown(self.executor)
        with progress_line(line, {0: due}, names[:40], "pictures", before) as tick:
            counted = 0

            def update() -> None:
                nonlocal counted
                done = sum(usage.pictures for usage in self._usages.values())
                tick(done - counted)
                counted = done

            left = {pool.submit(self._drive, client, clients, errors) for client in clients}
            pool.shutdown(wait=False)
            while (
                left
            ):  # not join: an interrupt within Thread.join marks the thread as ended (Python 3.11)
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
                    note = "\nStopping: the requests in flight are finished first. Ctrl-C again ends at once."
                    self.executor.note(note)
            update()
        self._report(clients)
        if stop is not None or errors:
            raise stop or errors[0]

    def _drive(
        self, client: Client, clients: Sequence[Client], errors: list[BaseException]
    ) -> None:
        """One classifier, in its thread; its error stops the others as well."""
        name = client.classifier.name
        stage = score_stage(name)

        def done(progress: PartProgress) -> None:
            part = progress.number
            asked, scores = progress.rows(name)
            models = part_path(self.run, stage, tables.ASKED, part).with_name(
                f"models-{part:06d}.json"
            )
            if progress.models() or models.exists():
                runfolder.write_json(
                    models, {"models": progress.models(), "order_effects": progress.orders()}
                )
            runfolder.write_table(
                tables.SCORES, scores, part_path(self.run, stage, tables.SCORES, part)
            )
            kill_point("part:scores")
            runfolder.write_table(
                tables.ASKED, asked, part_path(self.run, stage, tables.ASKED, part)
            )

        try:
            runfolder.make_folder(self.run / "parts" / stage)
            wanted = self._wanted[name]
            parts = (
                (part, about_edits(wanted.edits(part), self.run, self.seed))
                for part in self._missing[name]
            )
            client.ask_parts(parts, done)
        except BaseException as error:
            errors.append(error)
            for other in clients:
                other.halt()

    # -- what a user should know --------------------------------------------------------------------------------------

    def _warn(self) -> None:
        """Warn once: what a classifier has to say, or that a service answers with another model than before."""
        for classifier in self._due:
            for text in new_notes(classifier):
                self.executor.note(f"Warning: {text}")
        for name, usage in self._usages.items():
            with usage.lock:
                versions = list(usage.models)
            if len(versions) > 1 and name not in self._warned:
                self._warned.add(name)
                changed = " and then ".join(versions[:2])
                self.executor.note(f"Warning: {name} changed its model in the middle: {changed}.")

    def _report(self, clients: Sequence[Client]) -> None:
        self._warn()
        for client in clients:
            name = client.classifier.name
            usage = client.usage
            if usage.refitted:
                how = "; ".join(sorted(client.refits))
                note = f"{name}: {many(usage.refitted, 'picture')} encoded again: too large, or of another format"
                self.executor.note(f"score      {note} ({how}), all of a photo alike.")
            if str(usage):
                self.executor.note(f"score      {name}: {many(usage.requests, 'call')}, {usage}.")
        if (given := self.budget.usd) is not None:
            spent, total, left = map(
                self.budget.shown, (self.budget.spent, given, self.budget.left(given))
            )
            self.executor.note(f"score      budget: {spent} of {total} USD spent, {left} USD left.")


def models_of(run: Path, name: str) -> dict[str, Any]:
    """Which model versions a service answered with, from the parts that are done; empty if it does not say.

    Returns: ``models``, version to pictures; ``orders``, by how much an option's score is higher where it is asked
        earlier, in words, of options that are asked in both orders; t intervals over photos.
    """
    models: Counter[str] = Counter()
    effects: dict[str, list[float]] = {}
    for path in sorted((run / "parts" / score_stage(name)).glob("models-*.json")):
        try:
            content = read_json(path)
            models.update(
                {str(version): int(count) for version, count in content["models"].items()}
            )
            for label, each in content.get("order_effects", {}).items():
                effects.setdefault(str(label), []).extend(map(float, each))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{runfolder.show(path)} is damaged.",
                "Delete it, and repeat the command: its part is counted as one whose model is not known.",
            ) from error
    found = {"models": dict(sorted(models.items()))} if models else {}
    return found | ({"orders": _in_words(effects)} if models and effects else {})


def _in_words(effects: Mapping[str, Sequence[float]]) -> str:
    """How much higher options score where they are asked earlier.  effects: option to a number a photo."""
    from gslopes.stats.intervals import mean_t  # asking alone needs no scipy

    means = {label: mean_t(100 * np.array(each, np.float64)) for label, each in effects.items()}
    largest = sorted(means.items(), key=lambda pair: (-abs(round(pair[1].value, 1)), pair[0]))
    shown = ", ".join(
        f"{label} {mean.value:+.1f}"
        + f" [{mean.low:+.1f}, {mean.high:+.1f}]" * (mean.low < mean.high)
        for label, mean in largest
    ).replace("-", "\u2212")
    return f"points more where an option is asked earlier: {shown}"
