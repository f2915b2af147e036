"""From raw answers to checked ones, the place where they are kept, and the worker that asks for them."""

import math
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import cast

import numpy as np
from pandas import DataFrame

from gslopes.ask.cache import AnswerCache, CachedAnswer, Claim
from gslopes.ask.retry import RETRYABLE, Encoded, RequestSender, Responses, RetryPolicy, Stopped
from gslopes.ask.secrets import scrub, scrub_error, scrub_json
from gslopes.core import (
    AnswerError,
    ClassifierError,
    GslopesError,
    PhotoError,
    Reason,
    Refused,
    ServiceError,
    SkipReason,
    StorageError,
    Throttled,
    Unavailable,
    gslopes_version,
    is_out_of_memory,
    kill_point,
    traits_of,
)
from gslopes.core.records import ABSTAINS, Able, Answer, Classifier, Files

STOPPED = "Nothing more was asked. Mend it and run the same command again."
Answers = dict[bytes, Answer]  # by the sha256 of their pictures
# Requests given up one after the other, with no answer in between: the service is down.
MAX_OUTAGES = 2

# -- answers -----------------------------------------------------------------------------------------------------------


def check_answer(answer: Answer, *, numbers: bool = False) -> Answer:
    """The answer itself, with plain numbers in it.

    numbers: whether scores may be numbers in a unit, beyond [0, 1].

    Raises: AnswerError if its status is unknown, a score is not in [0, 1], or a label is empty, no text or there twice.
    """
    if getattr(answer, "status", None) not in ("answered", "refused", "failed"):
        raise AnswerError(f"The answer is {str(answer)[:80]!r}, not an Answer with a known status.")
    if answer.status != "answered" and {label for label, _ in answer.labels} - {ABSTAINS}:
        raise AnswerError(f"It gave labels with the status {answer.status}.")
    pairs = tuple(_checked(label, score, numbers) for label, score in answer.labels)
    labels = [label for label, _ in pairs]
    if len(set(labels)) < len(labels):
        raise AnswerError(
            f"The classifier returned the label {Counter(labels).most_common(1)[0][0]!r} twice."
        )
    version = str(answer.version)
    if answer.status == "answered":
        return replace(answer, labels=pairs, reason="", version=version, map=None)
    return Answer(answer.status, pairs, scrub(str(answer.reason)) or "no reason given", version)


def parse_answer(classifier: Classifier, raw: object) -> Answer:
    """The checked answer that a raw one holds, or a ``failed`` one with the reason.

    Raises: what ``raise_if_fatal`` raises.
    """
    try:
        traits = traits_of(classifier)
        answer = check_answer(classifier.parse(raw), numbers=traits.numbers)
        if traits.pictures and answer.status == "answered" and not answer.picture:
            raise AnswerError("The editor gave no picture.")
        return answer
    except Exception as error:
        raise_if_fatal(error)
        return failed_answer(error)


def failed_answer(error: Exception) -> Answer:
    """What goes into the tables if asking about one picture ends in this error."""
    if isinstance(error, Refused | PhotoError):
        return Answer(
            "refused" if isinstance(error, Refused) else "failed", (), scrub(error.reason)
        )
    text = error.message if isinstance(error, GslopesError) else f"{type(error).__name__}: {error}"
    kinds = {
        AnswerError: Reason.INVALID_ANSWER,
        Throttled: Reason.UNAVAILABLE,
        Unavailable: Reason.UNAVAILABLE,
    }
    reason = kinds.get(type(error))
    return Answer("failed", (), SkipReason(reason, scrub(text)) if reason else scrub(text))


def raise_if_fatal(error: Exception) -> None:
    """Raise again what concerns every picture, without its chain: a library's error may hold credentials."""
    if isinstance(error, GslopesError) and not isinstance(error, ClassifierError | PhotoError):
        raise scrub_error(error) from None


def raise_if_all_failed(rows: DataFrame, extent: str, hint: str) -> None:
    """Raises: ClassifierError if there are failures for one reason, no outage, and nothing else.

    asked: rows of one classifier, cropper or editor, with status, reason and detail.  extent: which pictures, in words.
    hint: what to do.
    """
    reasons = set(rows["reason"])
    if set(rows["status"]) != {"failed"} or len(reasons) > 1 or Reason.UNAVAILABLE in reasons:
        return
    first = rows.iloc[0]
    why = SkipReason(Reason(first["reason"]), first["detail"])
    kind = next(name for name in ("cropper", "editor", "classifier") if name in rows)
    if why.reason is Reason.INVALID_ANSWER and kind == "classifier":
        hint = f"An answer is one mapping a picture of label to score, such as {{'smile': 0.8}}. {hint}"
    raise ClassifierError(f"The {kind} {first[kind]} failed on {extent}: {why.rstrip('.')}.", hint)


def _checked(label: object, score: object, numbers: bool) -> tuple[str, float]:
    if not isinstance(label, str) or not label.strip():
        raise AnswerError(f"The classifier returned {label!r} as a label.")
    try:
        label.encode("utf-8")
    except UnicodeEncodeError:
        raise AnswerError(
            f"The classifier returned a label that is not valid Unicode: {label!a}."
        ) from None
    if isinstance(score, bool | np.bool_) or not isinstance(score, Real):
        raise AnswerError(
            f"The classifier's score of {label!r} is {score}, not a number in [0, 1]."
        )
    value = float(score) + 0.0  # -0.0 is 0
    finite = math.isfinite(np.float32(value))
    if finite if numbers else 0 <= value <= 1:
        return label, value
    remedy = "; percentages are divided by 100, logits need a softmax or sigmoid first"
    if value != value:
        remedy = "; a picture that cannot be judged is answered with None"
    elif not 0 <= value <= 100:
        remedy = "; logits need a softmax or sigmoid first"
    if numbers:
        raise AnswerError(
            f"The classifier's number of {label!r} is {score}, not a finite number{remedy}."
        )
    raise AnswerError(
        f"The classifier's score of {label!r} is {score}, not a number in [0, 1]{remedy}."
    )


# -- what is kept of them ----------------------------------------------------------------------------------------------


class ClassifierCache:
    """The answers of one classifier so far, and the place in which new ones are kept at once.

    cache: of all runs, for classifiers whose version identifies their answers, which are kept as they were sent.
    journal: of one run, for the others, so that a run that is killed asks nothing again; it holds parsed answers,
        since what such a classifier returns need not be JSON, but of an editor the pictures, as they were sent.
    """

    def __init__(
        self, classifier: Classifier, cache: AnswerCache | None, journal: AnswerCache | None = None
    ) -> None:
        self.classifier = classifier
        traits = traits_of(classifier)
        self._raw = traits.kept or traits.pictures
        self._cache = cache if traits.kept else journal
        version = classifier.version if traits.kept_under is None else traits.kept_under
        if not traits.limits.remote:  # our own version belongs to it (preprocessing)
            version += f" gslopes {gslopes_version()}"
        self._number = self._cache.classifier_id(classifier.name, version) if self._cache else 0

    @property
    def empty(self) -> bool:
        """Whether it holds no answer at all."""
        return not self._cache or not self._cache.count(self._number)

    def count(self, keys: Iterable[bytes]) -> int:
        """How many of these pictures have an answer."""
        if self._cache:
            return len(self._cache.has(self._number, keys))
        return 0

    def find(self, keys: Files) -> Answers:
        """The answers that there are; a reply that was kept once and holds none, as we read it now, is forgotten."""
        if not self._cache or not keys:
            return {}
        answers = self._answers(self.raw(keys))
        if unusable := [key for key, answer in answers.items() if answer.status == "failed"]:
            self._cache.forget(self._number, unusable)
        return {key: answer for key, answer in answers.items() if answer.status != "failed"}

    def raw(self, keys: Files) -> dict[bytes, CachedAnswer]:
        """The answers that there are as they were sent."""
        return self._cache.find(self._number, keys) if self._cache else {}

    def claim(self, keys: Files) -> tuple[set[bytes], Answers, set[bytes]]:
        """Which ones this process asks about, the answers there are, and which ones others ask about."""
        claim = self._cache.claim(self._number, keys) if self._cache else Claim(to_ask=set(keys))
        return claim.to_ask, self._answers(claim.cached), claim.in_progress

    def put(self, responses: Responses, answers: Answers) -> None:
        """Keep the valid answers; release all claims."""
        sound = {}
        for key, response in responses.items():
            answer = answers[key]
            if answer.status == "failed":
                continue
            if not self._raw:
                sound[key] = CachedAnswer(
                    answer.status, answer.reason or answer.labels, answer.version
                )
            elif isinstance(response, Refused):
                sound[key] = CachedAnswer("refused", answer.reason)
            else:
                sound[key] = CachedAnswer("answered", response, answer.version)
        if self._cache:
            self._cache.put(self._number, sound)
            self.release([key for key in responses if key not in sound])

    def begun(self, key: bytes) -> object:
        """What earlier requests about a picture without an answer have brought; None if nothing."""
        if self._cache:
            return self._cache.begun(self._number, key)
        return None

    def keep_begun(self, key: bytes, raw: object) -> None:
        """Keep what the requests about a picture have brought so far."""
        if self._cache:
            self._cache.keep_begun(self._number, key, raw)

    def release(self, keys: Files) -> None:
        """Release claims without an answer."""
        if self._cache and keys:
            self._cache.release(self._number, keys)

    def _answers(self, cached: dict[bytes, CachedAnswer]) -> Answers:
        answers = {}
        for key, entry in cached.items():
            if entry.status == "refused":
                answers[key] = Answer("refused", (), str(entry.raw))
            elif self._raw:
                answers[key] = parse_answer(self.classifier, entry.raw)
            else:
                pairs = cast("list[tuple[str, float]]", entry.raw)
                labels = tuple((label, score) for label, score in pairs)
                answers[key] = Answer("answered", labels, version=entry.model)
        return answers


# -- asking ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Worker:
    """Asks batches; its methods may run in any number of threads.

    halt: set as soon as an error concerns every picture, so that no request that waits is sent any more.
    """

    cache: ClassifierCache
    sender: RequestSender
    halt: threading.Event
    retry: RetryPolicy
    _down: int = 0

    def ask(self, pictures: Encoded) -> Answers:
        """sha256 to bytes of one batch to answers, all in the cache before this returns, even if it raises.

        Returns: fewer answers if the walk was stopped meanwhile.
        Raises: whatever concerns every picture; see ``Client.ask_parts``.
        """
        answers: Answers = {}
        if traits_of(self.cache.classifier).resumes:
            resuming = cast("Able", self.cache.classifier)
            for key, data in pictures.items():
                resuming.resume(data, self.cache.begun(key), partial(self.cache.keep_begun, key))
        try:
            self._ask(dict(pictures), answers, self.retry)
        except Stopped:  # its claims end with the walk
            return answers
        except BaseException:
            self.halt.set()
            with suppress(StorageError):
                self.cache.release([key for key in pictures if key not in answers])
            raise
        return answers

    def _ask(self, pictures: Encoded, answers: Answers, retry: RetryPolicy) -> None:
        """One batch; if it fails, its halves, so that one bad picture costs only itself."""

        def put(responses: Responses) -> None:
            # tables get what the cache will give; what is not JSON fails when it is kept, if it is kept
            responses = {key: scrub_json(raw) for key, raw in responses.items()}
            parsed = {
                key: failed_answer(raw)
                if isinstance(raw, Exception)
                else parse_answer(self.cache.classifier, raw)
                for key, raw in responses.items()
            }
            kill_point("answers:asked")
            self.cache.put(responses, parsed)
            kill_point("answers:kept")
            answers.update(parsed)

        before = self.sender.answered
        try:
            self.sender.send(pictures, put, retry)
            self._down = 0
            return
        except Stopped:
            raise
        except Exception as error:
            raise_if_fatal(error)
            if isinstance(error, RETRYABLE):
                self._down = self._down + 1 if self.sender.answered == before else 0
                if self._down >= MAX_OUTAGES:
                    raise ServiceError(
                        f"{self.cache.classifier.name} does not answer: {scrub(error.message).rstrip('.')}.",
                        "Answers so far are kept: run the same command again later.",
                    ) from None
                retry = retry.short()
            if len(pictures) == 1:
                if not isinstance(error, GslopesError) and is_out_of_memory(error):
                    raise MemoryError from None
                ours = (
                    error
                    if isinstance(error, GslopesError)
                    else ClassifierError(failed_answer(error).reason)
                )
                put(dict.fromkeys(pictures, ours))
                return
        keys = list(pictures)
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            self._ask({key: pictures[key] for key in half}, answers, retry)
