"""The only road to a classifier: each distinct picture is asked once, and every outcome is written down.

The unit of work is a *part*: the edits of a few photos.  Within it the pictures of one photo are asked one after the
other, in an order shuffled per photo, so that a classifier that drifts cannot pose as an effect; and in batches of one
fixed size, so that a part asked again gives the same floating-point numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.core.errors import AnswerError, ClassifierError, GslopesError, PhotoError, TableError
from gslopes.core.records import Answer, Classifier
from gslopes.score.scrub import scrub

PART = 32  # photos; what is in memory at a time is one batch of encoded pictures and one part's answers
BROKEN = 8  # photos; from this many on, a part in which no picture gets an answer is the classifier's fault

_STATUSES = ("answered", "refused", "failed")


@dataclass(frozen=True, slots=True)
class _Question:
    """One row of the edits table."""

    photo: str
    attribute: str
    step: int
    value: float
    file: str


def score_photos(
    edits: pd.DataFrame,
    run_folder: Path | str,
    classifier: Classifier,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask the classifier about every edited photo, part by part.

    edits: rows of the edits table.  run_folder: what their ``file`` is relative to.
    classifier: any ``records.Classifier``.  seed: of the order of the questions.
    progress: called after each part with the number of pictures done and of all pictures.
    Returns: the scores table and the asked table.
    Raises: as ``ask_part``.
    """
    folder, scores, asked, done = Path(run_folder), [], [], 0
    for part in parts(edits):
        part_asked, part_scores = ask_part(part, folder, classifier, seed=seed)
        scores.append(part_scores)
        asked.append(part_asked)
        done += len(part)
        if progress is not None:
            progress(done, len(edits))
    return _joined(tables.SCORES, scores), _joined(tables.ASKED, asked)


def parts(edits: pd.DataFrame, photos: int = PART) -> Iterator[pd.DataFrame]:
    """The edits cut into parts of at most ``photos`` photos, in the order of the photos' identifiers."""
    names = sorted(edits["photo"].unique())
    for start in range(0, len(names), photos):
        yield edits[edits["photo"].isin(names[start : start + photos])]


def ask_part(
    edits: pd.DataFrame, run_folder: Path, classifier: Classifier, *, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask a classifier about the edits of one part, each distinct picture once.

    edits: rows of the edits table, in any order.  run_folder: what their ``file`` is relative to.
    classifier: any ``records.Classifier``.
    seed: with each photo's identifier it decides the order in which that photo's pictures are asked.
    Returns: rows of the asked table (one a picture) and of the scores table (one a label), sorted by their keys.
        A picture that cannot be read, or whose answer does not make sense, is ``failed`` with its reason there.
    Raises: TableError if the edits are no such table or hold a row twice; ClassifierError if the part has at least
        ``BROKEN`` photos and the classifier failed on every picture; any other GslopesError that the classifier raises,
        since it concerns every picture (its files, its configuration, its credentials).
    """
    questions = _ordered(edits, seed)
    digests: dict[int, str] = {}  # place among the questions to sha256 of its picture
    answers: dict[str, Answer] = {}  # sha256 of a picture to its answer
    unread: dict[int, Answer] = {}
    pending: dict[str, bytes] = {}
    for place, question in enumerate(questions):
        try:
            data = _read(run_folder / question.file)
        except PhotoError as error:
            unread[place] = Answer("failed", (), scrub(error.reason))
            continue
        digest = digests[place] = hashlib.sha256(data).hexdigest()
        if digest not in answers and digest not in pending:
            pending[digest] = data
        if len(pending) >= max(1, classifier.batch):
            answers |= _ask(classifier, pending)
            pending = {}
    answers |= _ask(classifier, pending)
    _require_life(classifier, questions, answers)
    outcomes = [unread[place] if place in unread else answers[digests[place]] for place in range(len(questions))]
    return _asked(questions, outcomes, classifier.name), _scores(questions, outcomes, classifier.name)


def check_answer(answer: Answer) -> Answer:
    """The answer itself, with plain numbers in it.

    Raises: AnswerError if its status is unknown, a score is not in [0, 1], or a label is empty, no text or there twice.
    """
    if getattr(answer, "status", None) not in _STATUSES:
        raise AnswerError(f"The classifier's answer is {str(answer)[:80]!r}, not an Answer with a known status.")
    if answer.labels and answer.status != "answered":
        raise AnswerError(f"The classifier gave labels with the status {answer.status}.")
    pairs = tuple((_checked_label(label), _checked_score(label, score)) for label, score in answer.labels)
    labels = [label for label, _ in pairs]
    if len(set(labels)) < len(labels):
        double = next(label for label in labels if labels.count(label) > 1)
        raise AnswerError(f"The classifier returned the label {double!r} twice.")
    if answer.status == "answered":
        return Answer("answered", pairs)
    return Answer(answer.status, (), scrub(str(answer.reason)) or "no reason given")


# --- order ---


def _ordered(edits: pd.DataFrame, seed: int) -> list[_Question]:
    """Photos by identifier; within one, a shuffle that depends on the seed and that photo alone."""
    columns = tables.check(tables.EDITS, edits).to_pydict()
    names = ("photo", "attribute", "step", "value", "file")
    rows = sorted(zip(*(columns[name] for name in names), strict=True), key=lambda row: row[:3])
    if len({row[:3] for row in rows}) < len(rows):
        raise TableError("The edits table holds two rows of one photo, attribute and step.")
    groups: dict[str, list[_Question]] = {}
    for row in rows:
        groups.setdefault(row[0], []).append(_Question(*row))
    return [question for photo, group in groups.items() for question in _shuffled(group, f"{seed} {photo}")]


def _shuffled(group: list[_Question], key: str) -> list[_Question]:
    entropy = int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()[:16])
    return [group[place] for place in np.random.default_rng(entropy).permutation(len(group))]


# --- asking ---


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        # Not str(error): it holds this machine's path, and the same run elsewhere would give another table.
        why = (isinstance(error, OSError) and error.strerror) or "bad name"
        raise PhotoError(path, f"the edited photo cannot be read: {why}") from error
    if not data:
        raise PhotoError(path, "the edited photo is empty")
    return data


def _ask(classifier: Classifier, pictures: dict[str, bytes]) -> dict[str, Answer]:
    """One batch; if it fails, each picture alone, so that one bad picture costs only itself."""
    if not pictures:
        return {}
    try:
        raws = _raw_answers(classifier, list(pictures.values()))
    except Exception as error:
        _reraise_if_general(error)
        if len(pictures) == 1:
            return dict.fromkeys(pictures, _failure(error))
        return {digest: _ask(classifier, {digest: data})[digest] for digest, data in pictures.items()}
    return {digest: _parse(classifier, raw) for digest, raw in zip(pictures, raws, strict=True)}


def _raw_answers(classifier: Classifier, pictures: list[bytes]) -> list[object]:
    raws = list(classifier.ask(pictures))
    if len(raws) != len(pictures):
        raise AnswerError(f"The classifier gave {len(raws)} answers to {len(pictures)} pictures.")
    return raws


def _parse(classifier: Classifier, raw: object) -> Answer:
    try:
        return check_answer(classifier.parse(raw))
    except Exception as error:
        _reraise_if_general(error)
        return _failure(error)


def _reraise_if_general(error: Exception) -> None:
    """Raise again what concerns every picture, without its chain: a library's error may hold credentials."""
    if isinstance(error, GslopesError) and not isinstance(error, (ClassifierError, PhotoError)):
        error.message, error.hint = scrub(error.message), scrub(error.hint)
        error.args = (error.message,)
        raise error from None


def _failure(error: Exception) -> Answer:
    if isinstance(error, PhotoError):
        return Answer("failed", (), scrub(error.reason))
    text = error.message if isinstance(error, GslopesError) else f"{type(error).__name__}: {error}"
    return Answer("failed", (), scrub(text))


def _require_life(classifier: Classifier, questions: list[_Question], answers: dict[str, Answer]) -> None:
    """Stop a walk that would only collect failures: a service that is down, scores in percent, a wrong model."""
    broken = answers and all(answer.status == "failed" for answer in answers.values())
    if broken and len({question.photo for question in questions}) >= BROKEN:
        first = next(iter(answers.values()))
        message = f"The classifier {classifier.name} failed on all {len(answers)} pictures of a part, first with"
        raise ClassifierError(f"{message}: {first.reason.rstrip('.')}.", "Earlier answers are kept.")


# --- answers ---


def _checked_label(label: object) -> str:
    if not isinstance(label, str) or not label.strip():
        raise AnswerError(f"The classifier returned {label!r} as a label.")
    try:
        label.encode("utf-8")
    except UnicodeEncodeError:
        raise AnswerError(f"The classifier returned a label that is no Unicode text: {label!a}.") from None
    return label


def _checked_score(label: object, score: object) -> float:
    if isinstance(score, (bool, np.bool_)) or not isinstance(score, Real) or not 0 <= float(score) <= 1:
        raise AnswerError(f"The classifier's score of {label!r} is {score}, not a number in [0, 1].")
    return float(score)


def _asked(questions: list[_Question], outcomes: list[Answer], name: str) -> pd.DataFrame:
    rows = [(q.photo, q.attribute, q.step, name, a.status, a.reason) for q, a in zip(questions, outcomes, strict=True)]
    return _frame(tables.ASKED, rows)


def _scores(questions: list[_Question], outcomes: list[Answer], name: str) -> pd.DataFrame:
    pairs = zip(questions, outcomes, strict=True)
    rows = [(q.photo, q.attribute, q.step, q.value, name, *label) for q, a in pairs for label in a.labels]
    return _frame(tables.SCORES, rows)


def _frame(table: tables.Table, rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    if not rows:
        return table.empty()
    frame = pd.DataFrame(rows, columns=pd.Index(table.columns)).sort_values(list(table.key), ignore_index=True)
    return tables.check(table, frame).to_pandas()


def _joined(table: tables.Table, frames: list[pd.DataFrame]) -> pd.DataFrame:
    full = [frame for frame in frames if len(frame)]
    return pd.concat(full, ignore_index=True) if full else table.empty()
