"""What is asked, in which order, and the rows of the tables that come of it."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from pandas import DataFrame

from gslopes.ask.pictures import beside
from gslopes.core import (
    PhotoError,
    SkipReason,
    TableError,
    UsageError,
    frozen_identity,
    inside,
    raise_if_refused,
    read_regular,
    tables,
    traits_of,
)
from gslopes.core.placebo import CROSS
from gslopes.core.records import ABSTAINS, ABSTENTIONS, Answer
from gslopes.photos.decode import LARGEST_FILE

Effects = dict[str, list[float]]  # of the order of options: option to a number a photo


@frozen_identity
class Question:
    """One picture that is asked about.

    photo: that it shows: the pictures of one photo are encoded alike.
    read: gives the bytes of the file, the same at each call.  Raises: PhotoError.
    attribute, step, value: of an edited photo, as in the edits table.
    """

    photo: str
    read: Callable[[], bytes]
    attribute: str = ""
    step: int = 0
    value: float = 0.0


def about_edits(
    edits: DataFrame, folder: Path, seed: int, classifier: Any = None
) -> list[Question]:
    """Photos by identifier; the pictures of one photo together, in an order that depends on the seed and that photo.

    Together and shuffled, so that a classifier that drifts with time cannot pose as an effect of the edit.

    edits: rows of the edits table, in any order.  folder: what their ``file`` is relative to.
    classifier: who is asked. If by its traits about two, each picture is shown beside the one at the opposite step of
        its sweep, which must be whole: the last one beside the first, a cell of a grid beside the opposite cell, the
        one in the middle beside itself.
    Raises: TableError if they lack its columns or hold a row twice; UsageError for pairs if a sweep lacks a picture,
        or has but one, or if a grid compares several names with a baseline.
    """
    key = ["photo", "attribute", "step"]
    frame = tables.check(tables.EDITS, edits).to_pandas().sort_values(key, ignore_index=True)
    if frame.duplicated(key).any():
        raise TableError("The edits table has two rows for one photo, attribute and step.")
    frame["other"] = ""
    if traits_of(classifier).pairs:
        last = frame.groupby("attribute")["step"].transform("max")
        count = frame.groupby(["photo", "attribute"])["step"].transform("size")
        names = frame["attribute"].str.contains(CROSS) & (count > 4)
        if (names & (count % 2 == 0) | (count <= last.clip(1))).any():
            raise UsageError(
                "A question about two people needs pictures of each photo at opposite values.",
                "Ask it of gslopes audit: of whole sweeps, or of a grid of values or of two names.",
            )
        frame["other"] = frame.sort_values(key, ascending=[True, True, False])["file"].to_numpy()
    questions = []
    for photo, group in frame.groupby("photo"):
        text = f"{seed} {photo}".encode("utf-8", "surrogateescape")
        entropy = int.from_bytes(digest(text)[:16])
        order = np.random.default_rng(entropy).permutation(len(group))
        questions += [
            Question(
                row.photo,
                partial(read_picture, folder, row.file, row.other),
                row.attribute,
                row.step,
                row.value,
            )
            for row in group.iloc[order].itertuples()
        ]
    return questions


def read_picture(folder: Path, file: str, other: str = "") -> bytes:
    """The bytes of an edited photo, or of a picture with two of them side by side.

    folder: the run folder, which nothing in its tables may leave: they may be untrusted.  file, other: below it.

    Raises: PhotoError if one is missing, empty or not inside the folder; StorageError if the disk does not give it.
    """
    if other:
        return beside(read_picture(folder, file), read_picture(folder, other))
    path = folder / file
    if not inside(folder, path):
        raise PhotoError(path, "the edited photo lies outside the run folder")
    try:
        data = read_regular(path, LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise_if_refused(error, path)
        # Not str(error): it holds this machine's path, and the same run elsewhere would give another table.
        why = getattr(error, "strerror", "bad name")
        raise PhotoError(path, f"the edited photo cannot be read: {why}") from error
    if not data:
        raise PhotoError(path, "the edited photo is empty")
    return data


def digest(data: bytes) -> bytes:
    """sha256 of a picture, 32 bytes."""
    return hashlib.sha256(data).digest()


class PartProgress:
    """The questions of one part and their answers; used by one thread.

    number: of the part.  questions: in the order in which they are asked.  all_added: whether all were looked at.
    answers: to the distinct pictures, by their sha256.
    """

    def __init__(self, number: int, questions: list[Question]) -> None:
        self.number = number
        self.questions = questions
        self.all_added = False
        self.answers: dict[bytes, Answer] = {}
        self._answered: dict[Question, Answer] = {}
        self._showing: dict[bytes, list[Question]] = defaultdict(list)  # by sha256 of the picture

    def photos(self) -> list[list[Question]]:
        """The questions of each photo, in their order."""
        return [
            list(group) for _, group in groupby(self.questions, key=lambda question: question.photo)
        ]

    def expect(self, key: bytes, question: Question) -> Answer | None:
        """Note which picture a question shows; its answer, if there is one already."""
        self._showing[key].append(question)
        if key in self.answers:
            self.put(question, self.answers[key])
        return self.answers.get(key)

    def put(self, question: Question, answer: Answer) -> None:
        """Take the answer to one question."""
        self._answered[question] = answer

    def put_picture(self, key: bytes, answer: Answer) -> int:
        """Take the answer to a picture; returns how many questions show it."""
        self.answers[key] = answer
        self._answered |= dict.fromkeys(self._showing[key], answer)
        return len(self._showing[key])

    @property
    def complete(self) -> bool:
        """Whether every question has its answer."""
        return self.all_added and len(self._answered) == len(self.questions)

    def answered(self) -> list[tuple[Question, Answer]]:
        """The questions in their order, each with its answer."""
        return [(question, self._answered[question]) for question in self.questions]

    def models(self) -> dict[str, int]:
        """Model version that the service returned, to pictures."""
        return dict(Counter(answer.version for _, answer in self.answered() if answer.version))

    def orders(self) -> Effects:
        """Option to one number a photo: how much higher it scores if it is asked earlier, a mean over the photo."""
        effects: dict[tuple[str, str], list[float]] = defaultdict(list)
        for question, answer in self.answered():
            for label, early, late in answer.orders:
                effects[label, question.photo].append(early - late)
        by_label: Effects = defaultdict(list)
        for (label, _), differences in effects.items():
            by_label[label].append(fmean(differences))
        return by_label

    def rows(self, name: str) -> tuple[DataFrame, DataFrame]:
        """Rows of the asked table, one a picture, and of the scores table, one a label; sorted by their keys.

        name: of the classifier.
        """
        asked_rows = []
        score_rows = []
        for question, answer in self.answered():
            key = (question.photo, question.attribute, question.step)
            why = SkipReason.of(answer.reason, answer.status)
            asked_rows.append((*key, name, answer.status, why.reason.value, why.detail))
            for label, score in answer.labels:
                whose = name
                if label == ABSTAINS:  # counted by itself: of refused pictures, too
                    whose = f"{name},{ABSTENTIONS}"
                    asked_rows.append((*key, whose, "answered", "", ""))
                score_rows.append((*key, question.value, whose, label, score))
        asked, scores = (
            tables.typed(
                table, tables.frame_of(table, rows).sort_values([*table.key], ignore_index=True)
            )
            for table, rows in ((tables.ASKED, asked_rows), (tables.SCORES, score_rows))
        )
        return asked, scores
