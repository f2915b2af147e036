"""The answers of one classifier in the cache of all runs, or in the journal of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from gslopes.core.errors import Refused
from gslopes.core.records import Answer, Classifier
from gslopes.core.runtime import gslopes_version
from gslopes.score.answers import parse_answer
from gslopes.score.cache import AnswerCache, CachedAnswer, Claim
from gslopes.score.limits import limits_of


class ClassifierCache:
    """The answers of one classifier that are there already, and the place where new ones are kept at once.

    cache: of all runs, for classifiers whose version identifies their answers, which are kept as they were sent.
    journal: of one run, for the others, so that a run that is killed asks nothing again; it holds answers as they were
        understood, since what such a classifier returns need not be JSON.
    """

    def __init__(self, classifier: Classifier, cache: AnswerCache | None, journal: AnswerCache | None = None) -> None:
        self.classifier = classifier
        self._raw = is_cached(classifier)
        self._cache = cache if self._raw else journal
        key = cache_name(classifier), cache_version(classifier)
        self._number = self._cache.classifier_id(*key) if self._cache else 0

    @property
    def empty(self) -> bool:
        """Whether it holds no answer at all."""
        return not self._cache or not self._cache.count(self._number)

    def count(self, keys: Iterable[bytes]) -> int:
        """How many of these pictures have an answer."""
        return len(self._cache.has(self._number, keys)) if self._cache else 0

    def find(self, keys: list[bytes]) -> dict[bytes, Answer]:
        """The answers that there are."""
        return self._answers(self._cache.find(self._number, keys)) if self._cache and keys else {}

    def claim(self, keys: list[bytes]) -> tuple[set[bytes], dict[bytes, Answer], set[bytes]]:
        """Which ones this process asks about, the answers there are, and which ones others ask about."""
        claim = self._cache.claim(self._number, keys) if self._cache else Claim(to_ask=set(keys))
        return claim.to_ask, self._answers(claim.cached), claim.in_progress

    def put(self, responses: dict[bytes, object], answers: dict[bytes, Answer]) -> None:
        """Keep the valid answers; release all claims."""
        if self._cache:
            sound = {
                key: _cached_answer(raw, answers[key]) if self._raw else _journalled(answers[key])
                for key, raw in responses.items()
                if answers[key].status != "failed"
            }
            self._cache.put(self._number, sound)
            self.release([key for key in responses if key not in sound])

    def begun(self, key: bytes) -> object:
        """What earlier requests about a picture without an answer have brought; None if nothing."""
        return self._cache.begun(self._number, key) if self._cache else None

    def keep_begun(self, key: bytes, raw: object) -> None:
        """Keep what the requests about a picture have brought so far."""
        if self._cache:
            self._cache.keep_begun(self._number, key, raw)

    def release(self, keys: list[bytes]) -> None:
        """Release claims without an answer."""
        if self._cache and keys:
            self._cache.release(self._number, keys)

    def _answers(self, cached: dict[bytes, CachedAnswer]) -> dict[bytes, Answer]:
        return {key: self._answer(one) for key, one in cached.items()}

    def _answer(self, cached: CachedAnswer) -> Answer:
        if cached.status == "refused":
            return Answer("refused", (), str(cached.raw))
        if self._raw:
            return parse_answer(self.classifier, cached.raw)
        labels = cast("list[tuple[str, float]]", cached.raw)
        return Answer("answered", tuple((label, score) for label, score in labels), version=cached.model)


def cache_name(classifier: Classifier) -> str:
    """The name under which answers are kept: without the options that only decide how they are read."""
    return str(getattr(classifier, "asked_as", classifier.name))


def cache_version(classifier: Classifier) -> str:
    """The version under which answers are kept: for a model on this machine, ours belongs to it (preprocessing)."""
    version = str(getattr(classifier, "asked_version", classifier.version))
    if limits_of(classifier).remote:
        return version
    return f"{version} gslopes {gslopes_version()}"


def is_cached(classifier: Classifier) -> bool:
    """Services always; a model on this machine if it says that its version identifies its answers."""
    return limits_of(classifier).remote or bool(getattr(classifier, "cached", False))


def _cached_answer(raw: object, answer: Answer) -> CachedAnswer:
    if isinstance(raw, Refused):
        return CachedAnswer("refused", answer.reason)
    return CachedAnswer("answered", raw, answer.version)


def _journalled(answer: Answer) -> CachedAnswer:
    if answer.status == "refused":
        return CachedAnswer("refused", answer.reason, answer.version)
    return CachedAnswer("answered", [list(pair) for pair in answer.labels], answer.version)
