"""The state of one part: which picture stands at which place, and its answer."""

from __future__ import annotations

from gslopes.core.records import Answer
from gslopes.score.questions import Question, by_photo


class PartProgress:
    """The questions of one part and their outcomes; used by one thread.

    number: of the part.  questions: in the order in which they are asked.  all_added: whether all were looked at.
    """

    def __init__(self, number: int, questions: list[Question]) -> None:
        self.number = number
        self.questions = questions
        self.all_added = False
        self._positions: dict[bytes, list[int]] = {}  # sha256 of a picture to the places where it stands
        self._answers: dict[bytes, Answer] = {}
        self._keys: dict[int, bytes] = {}
        self._unreadable: dict[int, Answer] = {}

    def photos(self) -> list[list[int]]:
        """Places of the questions of each photo."""
        return list(by_photo(self.questions))

    def mark_unreadable(self, position: int, answer: Answer) -> None:
        """The picture at this place cannot be asked about."""
        self._unreadable[position] = answer

    def expect(self, key: bytes, position: int) -> Answer | None:
        """Note that a picture stands here; its answer, if there is one already."""
        self._keys[position] = key
        self._positions.setdefault(key, []).append(position)
        return self._answers.get(key)

    def photo_of(self, key: bytes) -> str:
        """The photo of the last question that shows this picture."""
        return self.questions[self._positions[key][-1]].photo

    def put(self, key: bytes, answer: Answer) -> int:
        """The answer to a picture; returns at how many places it stands."""
        self._answers[key] = answer
        return len(self._positions[key])

    @property
    def complete(self) -> bool:
        """Whether every question has its outcome."""
        return self.all_added and len(self._answers) == len(self._positions)

    def has(self, key: bytes) -> bool:
        """Whether this picture has an answer."""
        return key in self._answers

    def outcome(self, position: int) -> Answer:
        """What was said about the picture at this place."""
        return self._unreadable[position] if position in self._unreadable else self._answers[self._keys[position]]

    def outcomes(self) -> list[Answer]:
        """What was said, in the order of the questions."""
        return [self.outcome(position) for position in range(len(self.questions))]

    def distinct(self) -> list[Answer]:
        """One answer a distinct picture."""
        return list(self._answers.values())

    def count_photos(self) -> int:
        """How many photos the part has."""
        return len({question.photo for question in self.questions})

    def models(self) -> dict[str, int]:
        """Model version that the service returned, to pictures."""
        found: dict[str, int] = {}
        for outcome in self.outcomes():
            if outcome.version:
                found[outcome.version] = found.get(outcome.version, 0) + 1
        return found

    def mixed(self) -> int:
        """How many photos have answers of more than one model version: a change that could pose as an effect."""
        outcomes = self.outcomes()
        return sum(
            len({outcomes[position].version for position in positions} - {""}) > 1 for positions in self.photos()
        )
