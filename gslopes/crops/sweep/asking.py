"""What one part of a sweep asks: each photo at every value next to its opponents, and next to itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core import tables
from gslopes.core.progress import Tick
from gslopes.core.reasons import Reason
from gslopes.crops.asking.asker import Asker
from gslopes.crops.sweep.duels import value_pairs
from gslopes.crops.tables import DUELS, OPPONENTS
from gslopes.frame.parts import Stage

FAVOURED = "favoured"
PHOTOS_A_PART = 16
Array = NDArray[np.float64]
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """A person's picture at a step next to another one: an opponent's, or the person's own at ``low``."""

    person: int
    step: int
    opponent: int | None = None
    low: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SweepWork:
    """Asks about the photos of a part; the asked table is the commit marker.

    photos: ids.  files: (n, K) numbers in the scaled photos.  pairs: (P, 2) photo and opponent.
    """

    stage: Stage
    attribute: str
    photos: Sequence[str]
    values: Sequence[float]
    files: NDArray[np.int64]
    pairs: NDArray[np.int64]
    asker: Asker

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        people = range(part * PHOTOS_A_PART, min((part + 1) * PHOTOS_A_PART, len(self.photos)))
        questions = [question for person in people for question in self._questions(person)]
        numbers = self._shares(questions, tick)
        labels = [FAVOURED, *(f"kept@{ratio:g}" for ratio in self.asker.config.ratios)]
        name = self.asker.model.name
        duels: Rows = []
        opponents: Rows = []
        for question, shares in zip(questions, numbers, strict=True):
            photo = self.photos[question.person]
            if question.opponent is None:
                key = {"cropper": name, "attribute": f"{photo} {self.attribute}", "persons": 1, "p": float(shares[0])}
                duels.append(key | {"low": question.low, "high": question.step, "ci_low": None, "ci_high": None})
                continue
            key = {"classifier": f"crop:{name}", "attribute": self.attribute, "photo": photo, "step": question.step}
            key |= {"opponent": self.photos[question.opponent]}
            opponents += [
                {**key, "label": label, "share": float(share)} for label, share in zip(labels, shares, strict=True)
            ]
        asked, scores = self._means(people, questions, numbers, labels)
        self.stage.write(part, (DUELS, duels), (OPPONENTS, opponents), (tables.SCORES, scores), (tables.ASKED, asked))

    def _questions(self, person: int) -> list[Question]:
        met, steps = self.pairs[self.pairs[:, 0] == person, 1], len(self.values)
        facing = [Question(person, step, opponent=int(other)) for step in range(steps) for other in met]
        return facing + [Question(person, high, low=low) for low, high in value_pairs(steps)]

    def _shares(self, questions: Sequence[Question], tick: Tick) -> Array:
        """(n, 1 + ratios) of each question: being favoured, and kept at each ratio, over both orders; NaN: unknown."""
        centre, config = len(self.values) // 2, self.asker.config
        pictures = []
        for question in questions:
            one = self.files[question.person, question.step]
            two = self.files[question.person, question.low] if question.opponent is None else (
                self.files[question.opponent, centre]
            )  # fmt: skip
            pictures += [(one, two), (two, one)]
        favoured = np.full(len(pictures), np.nan)
        kept = np.full((len(pictures), len(config.ratios), 2), np.nan)
        for answer in self.asker.answers(np.array(pictures), self.stage.out, tick, config.ratios):
            if answer.plan is None or answer.main is None:
                continue
            favoured[answer.row] = answer.main.shares[0]
            for place, (crop, _) in enumerate(answer.main.crops.values()):
                inside = self.asker.kept(answer.photos, answer.plan, crop)
                kept[answer.row, place] = [np.nan if share is None else share >= config.inside for share in inside]
        h = (favoured[0::2] + 1 - favoured[1::2]) / 2
        return np.column_stack([h, (kept[0::2, :, 0] + kept[1::2, :, 1]) / 2])

    def _means(
        self, people: Sequence[int], questions: Sequence[Question], numbers: Array, labels: Sequence[str]
    ) -> tuple[Rows, Rows]:
        """Rows of ASKED and SCORES: of each photo at each value the means over its opponents."""
        asked: Rows = []
        scores: Rows = []
        classifier = f"crop:{self.asker.model.name}"
        places: dict[tuple[int, int], list[int]] = {(p, step): [] for p in people for step in range(len(self.values))}
        for index, question in enumerate(questions):
            if question.opponent is not None:
                places[question.person, question.step].append(index)
        for (person, step), chosen in places.items():
            key = {"photo": self.photos[person], "attribute": self.attribute, "step": step, "classifier": classifier}
            means = numbers[chosen].mean(axis=0)
            status = {"status": "answered", "reason": "", "detail": ""}
            if np.isnan(means[0]):
                status = {"status": "failed", "reason": Reason.FAILED, "detail": "the cropper gave no answer"}
            asked.append(key | status)
            value = np.float32(self.values[step])
            scores += [
                {**key, "value": value, "label": label, "score": np.float32(mean)}
                for label, mean in zip(labels, means, strict=True)
                if not np.isnan(mean)
            ]
        return asked, scores
