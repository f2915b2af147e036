"""What happens in the threads that ask: one batch, until each of its pictures has an outcome."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress

from gslopes.core.errors import ClassifierError, GslopesError, Refused, ServiceError, StorageError
from gslopes.core.records import Answer, Classifier
from gslopes.core.runtime import gslopes_version
from gslopes.score.answers import failure, parsed, raise_if_general
from gslopes.score.budget import Purse, Tally
from gslopes.score.cache import Claim, Kept, Store
from gslopes.score.limits import limits_of
from gslopes.score.patience import AGAIN, Line, Patience, Stopped
from gslopes.score.scrub import scrub, scrub_json

DOWN = 2  # requests given up one after the other, with no answer in between: the service is down


class Shelf:
    """The answers of one classifier in a cache; without a cache it holds nothing and all is ours to ask."""

    def __init__(self, classifier: Classifier, store: Store | None) -> None:
        self.classifier = classifier
        self._store = store if is_cached(classifier) else None
        self._number = self._store.shelf(classifier.name, shelf_version(classifier)) if self._store else 0

    @property
    def empty(self) -> bool:
        """Whether it holds no answer at all."""
        return not self._store or not self._store.count(self._number)

    def count(self, keys: Iterable[bytes]) -> int:
        """How many of these pictures have an answer."""
        return len(self._store.has(self._number, keys)) if self._store else 0

    def find(self, keys: list[bytes]) -> dict[bytes, Answer]:
        """The answers that there are."""
        return self._answers(self._store.find(self._number, keys)) if self._store and keys else {}

    def claim(self, keys: list[bytes]) -> tuple[set[bytes], dict[bytes, Answer], set[bytes]]:
        """Which are ours to ask, the answers that there are, and which others are asking."""
        claim = self._store.claim(self._number, keys) if self._store else Claim(mine=set(keys))
        return claim.mine, self._answers(claim.kept), claim.others

    def keep(self, brought: dict[bytes, object], answers: dict[bytes, Answer]) -> None:
        """Keep what makes sense; end the claims of all."""
        if self._store:
            sound = {key: _kept(raw, answers[key]) for key, raw in brought.items() if answers[key].status != "failed"}
            self._store.keep(self._number, sound)
            self.release([key for key in brought if key not in sound])

    def release(self, keys: list[bytes]) -> None:
        """End claims without an answer."""
        if self._store and keys:
            self._store.release(self._number, keys)

    def _answers(self, kept: dict[bytes, Kept]) -> dict[bytes, Answer]:
        return {key: self._answer(one) for key, one in kept.items()}

    def _answer(self, kept: Kept) -> Answer:
        return Answer("refused", (), str(kept.raw)) if kept.status == "refused" else parsed(self.classifier, kept.raw)


class Worker:
    """Asks batches; its methods may run in any number of threads.

    halt: set as soon as an error concerns every picture, so that nothing that waits leaves any more.
    """

    def __init__(self, shelf: Shelf, purse: Purse, tally: Tally, halt: threading.Event, patience: Patience) -> None:
        self._classifier = shelf.classifier
        self._shelf = shelf
        self._halt = halt
        self._patience = patience
        self._line = Line(shelf.classifier, purse, tally, halt)
        self._down = 0

    def ask(self, pictures: dict[bytes, bytes]) -> dict[bytes, Answer]:
        """sha256 to bytes of one batch to answers, all in the cache before this returns, even if it raises.

        Returns: fewer answers if the walk was stopped meanwhile.
        Raises: whatever concerns every picture; see ``client.ask_part``.
        """
        answers: dict[bytes, Answer] = {}
        try:
            self._ask(dict(pictures), answers, self._patience)
        except Stopped:
            self._give_back(pictures, answers)
        except BaseException:
            self._halt.set()
            self._give_back(pictures, answers)
            raise
        return answers

    def _ask(self, pictures: dict[bytes, bytes], answers: dict[bytes, Answer], patience: Patience) -> None:
        """One batch; if it fails, its halves, so that one bad picture costs only itself."""

        def keep(brought: dict[bytes, object]) -> None:
            brought = {key: _clean(raw) for key, raw in brought.items()}  # tables get what the cache will give
            found = {key: self._answer(raw) for key, raw in brought.items()}
            self._shelf.keep(brought, found)
            answers.update(found)

        before = self._line.answered
        try:
            self._line.send(pictures, keep, patience)
            self._down = 0
            return
        except Stopped:
            raise
        except Exception as error:
            raise_if_general(error)
            if isinstance(error, AGAIN):
                self._require_service(error, before)
                patience = patience.short()
            if len(pictures) == 1:
                keep({key: error if isinstance(error, GslopesError) else _ours(error) for key in pictures})
                return
        keys = list(pictures)
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            self._ask({key: pictures[key] for key in half}, answers, patience)

    def _answer(self, raw: object) -> Answer:
        return failure(raw) if isinstance(raw, Exception) else parsed(self._classifier, raw)

    def _require_service(self, error: ClassifierError, before: int) -> None:
        """Stop where nothing has been answered since the first attempt, twice in a row."""
        self._down = self._down + 1 if self._line.answered == before else 0
        if self._down >= DOWN:
            message = f"{self._classifier.name} does not answer: {scrub(error.message).rstrip('.')}."
            raise ServiceError(message, "Answers so far are kept: run the same command again later.")

    def _give_back(self, pictures: dict[bytes, bytes], answers: dict[bytes, Answer]) -> None:
        with suppress(StorageError):
            self._shelf.release([key for key in pictures if key not in answers])


def shelf_version(classifier: Classifier) -> str:
    """The version under which answers are kept: for a model on this machine, ours belongs to it (preprocessing)."""
    if limits_of(classifier).remote:
        return classifier.version
    return f"{classifier.version} gslopes {gslopes_version()}"


def is_cached(classifier: Classifier) -> bool:
    """Services always; a model on this machine if it says so, since only it knows whether its version tells all."""
    return limits_of(classifier).remote or bool(getattr(classifier, "cached", False))


def _clean(raw: object) -> object:
    """A raw answer without credentials; one that is no JSON fails where it is kept, or never is."""
    try:
        return raw if isinstance(raw, Exception) else scrub_json(raw)
    except (TypeError, ValueError):
        return raw


def _ours(error: Exception) -> ClassifierError:
    return ClassifierError(failure(error).reason)


def _kept(raw: object, answer: Answer) -> Kept:
    if isinstance(raw, Refused):
        return Kept("refused", answer.reason)
    return Kept("answered", raw, answer.version)
