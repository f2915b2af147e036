"""From a classifier's raw answers to rows of the tables; invalid answers are found here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from gslopes.ask.cache import AnswerCache, CachedAnswer, Claim
from gslopes.ask.cost import limits_of
from gslopes.ask.secrets import scrub, scrub_error
from gslopes.core import tables
from gslopes.core.errors import AnswerError, ClassifierError, GslopesError, PhotoError, Refused, Throttled, Unavailable
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Answer, Classifier
from gslopes.core.runtime import gslopes_version

if TYPE_CHECKING:
    from gslopes.ask.questions import Question

STOPPED = "Nothing more was asked. Mend it and run the same command again."


def check_answer(answer: Answer, *, numbers: bool = False) -> Answer:
    """The answer itself, with plain numbers in it.

    numbers: whether scores may be numbers in a unit of their own, beyond [0, 1].

    Raises: AnswerError if its status is unknown, a score is not in [0, 1], or a label is empty, no text or there twice.
    """
    if getattr(answer, "status", None) not in ("answered", "refused", "failed"):
        raise AnswerError(f"The classifier's answer is {str(answer)[:80]!r}, not an Answer with a known status.")
    if answer.labels and answer.status != "answered":
        raise AnswerError(f"The classifier gave labels with the status {answer.status}.")
    pairs = tuple((_checked_label(label), _checked_score(label, score, numbers)) for label, score in answer.labels)
    labels = [label for label, _ in pairs]
    if len(set(labels)) < len(labels):
        double = Counter(labels).most_common(1)[0][0]
        raise AnswerError(f"The classifier returned the label {double!r} twice.")
    version = str(answer.version)
    if answer.status == "answered":
        return Answer("answered", pairs, version=version, box=tuple(map(int, answer.box)))
    return Answer(answer.status, (), scrub(str(answer.reason)) or "no reason given", version)


def parse_answer(classifier: Classifier, raw: object) -> Answer:
    """The checked answer that a raw one holds, ``failed`` with the reason if there is none.

    Raises: what ``raise_if_fatal`` raises.
    """
    try:
        return check_answer(classifier.parse(raw), numbers=bool(getattr(classifier, "numbers", False)))
    except Exception as error:
        raise_if_fatal(error)
        return failed_answer(error)


def failed_answer(error: Exception) -> Answer:
    """What goes into the tables if asking about one picture ends in this error."""
    if isinstance(error, (Refused, PhotoError)):
        return Answer("refused" if isinstance(error, Refused) else "failed", (), scrub(error.reason))
    text = error.message if isinstance(error, GslopesError) else f"{type(error).__name__}: {error}"
    kinds = {AnswerError: Reason.INVALID_ANSWER, Throttled: Reason.UNAVAILABLE, Unavailable: Reason.UNAVAILABLE}
    reason = kinds.get(type(error))
    return Answer("failed", (), SkipReason(reason, scrub(text)) if reason else scrub(text))


def raise_if_fatal(error: Exception) -> None:
    """Raise again what concerns every picture, without its chain: a library's error may hold credentials."""
    if isinstance(error, GslopesError) and not isinstance(error, (ClassifierError, PhotoError)):
        raise scrub_error(error) from None


def raise_if_all_failed(asked: pd.DataFrame, extent: str, hint: str) -> None:
    """Raises: ClassifierError if there are failures for one reason, no outage, and nothing else.

    asked: rows of the asked table, of one classifier.  extent: which pictures, in words.  hint: what to do.
    """
    reasons = set(asked["reason"])
    if set(asked["status"]) != {"failed"} or len(reasons) > 1 or Reason.UNAVAILABLE in reasons:
        return
    first = asked.iloc[0]
    why = SkipReason(Reason(first["reason"]), first["detail"])
    if why.reason is Reason.INVALID_ANSWER:
        hint = f"An answer is one mapping a picture of label to score, such as {{'smile': 0.8}}. {hint}"
    raise ClassifierError(f"The classifier {first['classifier']} failed on {extent}: {why.rstrip('.')}.", hint)


def asked_rows(questions: Sequence[Question], outcomes: Sequence[Answer], name: str) -> pd.DataFrame:
    """Rows of the asked table, sorted by their key."""
    rows = []
    for question, answer in zip(questions, outcomes, strict=True):
        why = SkipReason.of(answer.reason, answer.status)
        key = (question.photo, question.attribute, question.step, name)
        rows.append((*key, answer.status, why.reason.value, why.detail))
    return _sorted(tables.ASKED, rows)


def score_rows(questions: Sequence[Question], outcomes: Sequence[Answer], name: str) -> pd.DataFrame:
    """Rows of the scores table, one a label, sorted by their key."""
    pairs = zip(questions, outcomes, strict=True)
    rows = [(q.photo, q.attribute, q.step, q.value, name, *label) for q, a in pairs for label in a.labels]
    return _sorted(tables.SCORES, rows)


def _checked_label(label: object) -> str:
    if not isinstance(label, str) or not label.strip():
        raise AnswerError(f"The classifier returned {label!r} as a label.")
    try:
        label.encode("utf-8")
    except UnicodeEncodeError:
        raise AnswerError(f"The classifier returned a label that is not valid Unicode: {label!a}.") from None
    return label


def _checked_score(label: object, score: object, numbers: bool) -> float:
    if isinstance(score, (bool, np.bool_)) or not isinstance(score, Real):
        raise AnswerError(f"The classifier's score of {label!r} is {score}, not a number in [0, 1].")
    value = float(score)
    finite = math.isfinite(np.float32(value))
    if finite if numbers else 0 <= value <= 1:
        return value
    remedy = "; percentages are divided by 100, logits need a softmax or sigmoid first"
    if value != value:
        remedy = "; a picture that cannot be judged is answered with None"
    elif not 0 <= value <= 100:
        remedy = "; logits need a softmax or sigmoid first"
    if numbers:
        raise AnswerError(f"The classifier's number of {label!r} is {score}, not a finite number{remedy}.")
    raise AnswerError(f"The classifier's score of {label!r} is {score}, not a number in [0, 1]{remedy}.")


def _sorted(table: tables.Table, rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    frame = tables.frame_of(table, rows).sort_values(list(table.key), ignore_index=True)
    return tables.check(table, frame).to_pandas()


# -- what is kept of them ----------------------------------------------------------------------------------------------


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
        # for a model on this machine, our own version belongs to it (preprocessing)
        version = str(getattr(classifier, "asked_version", classifier.version))
        version += "" if limits_of(classifier).remote else f" gslopes {gslopes_version()}"
        self._number = self._cache.classifier_id(classifier.name, version) if self._cache else 0

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
        sound = {}
        for key, raw in responses.items():
            answer = answers[key]
            if answer.status == "failed":
                continue
            raw = raw if self._raw else [list(pair) for pair in answer.labels]
            if answer.status == "refused" and (isinstance(responses[key], Refused) or not self._raw):
                sound[key] = CachedAnswer("refused", answer.reason, "" if self._raw else answer.version)
            else:
                sound[key] = CachedAnswer("answered", raw, answer.version)
        if self._cache:
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
        answers = {}
        for key, one in cached.items():
            if one.status == "refused":
                answers[key] = Answer("refused", (), str(one.raw))
            elif self._raw:
                answers[key] = parse_answer(self.classifier, one.raw)
            else:
                labels = tuple((label, score) for label, score in cast("list[tuple[str, float]]", one.raw))
                answers[key] = Answer("answered", labels, version=one.model)
        return answers


def is_cached(classifier: Classifier) -> bool:
    """Services always; a model on this machine if it says that its version identifies its answers."""
    return limits_of(classifier).remote or bool(getattr(classifier, "cached", False))
