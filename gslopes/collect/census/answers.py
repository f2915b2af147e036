"""What people answered about photos, and what follows from it: shares, labels, what is still to be reviewed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core.csv_table import read_csv
from gslopes.core.files import without_guard
from gslopes.core.tables import COMPOSITION
from gslopes.stats.intervals import estimate_share

DECISIONS = ("accept", "correct", "exclude", "undecided")
VALUES = {
    "gender": ("female", "male", "non-binary", "unknown"),
    "race": ("white", "black", "asian", "indian", "other", "unknown"),
    "age": ("under 35", "35 or older", "unknown"),
}
COLUMNS = ("photo", "path", "decision", *VALUES)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person decided about a photo: a word of DECISIONS, and of VALUES as far as they said."""

    path: str
    decision: str
    said: dict[str, str]

    @property
    def excluded(self) -> bool:
        """The photo does not count."""
        return self.decision == "exclude"

    @property
    def answers(self) -> bool:
        """What it says stands in the place of the reader's."""
        return self.decision in ("accept", "correct")

    def done(self, unsure: Sequence[str] = ("gender",)) -> bool:
        """The photo needs no further review about these readings."""
        return self.excluded or self.decision == "accept" or (self.answers and set(unsure) <= self.said.keys())


@dataclass(frozen=True, slots=True)
class Answers:
    """By the photo's id; photos of equal bytes share one."""

    by_photo: dict[str, Answer] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str]]:
        """As the review's CSV has them."""
        return [
            {"photo": photo, "path": one.path, "decision": one.decision, **dict.fromkeys(VALUES, ""), **one.said}
            for photo, one in self.by_photo.items()
        ]


@dataclass(frozen=True, slots=True)
class Sets:
    """Which photos belong together.

    occupations: path to its occupation, empty for none.
    searches: (path, occupation, keyword) of every search that found it, ``none`` for that without a keyword; none if
    the photos are no collection.
    """

    occupations: dict[str, str]
    searches: tuple[tuple[str, str, str], ...]

    def members(self) -> Iterator[tuple[str, str, set[str]]]:
        """(occupation, keyword, paths) of every line of the composition; empty and ``any`` stand for all."""
        found: dict[tuple[str, str], set[str]] = {}
        pairs = [(path, name, "any") for path, name in self.occupations.items()]
        for path, name, keyword in [*pairs, *self.searches, *((path, name, "any") for path, name, _ in self.searches)]:
            for occupation in {name, ""}:
                found.setdefault((occupation, keyword), set()).add(path)
        for (occupation, keyword), paths in sorted(found.items()):
            yield occupation, keyword, paths


def read_answers(path: Path, *, required: bool) -> Answers:
    """The CSV that the review page saves.

    required: whether a missing file is an error.

    Raises: UsageError, with the line, if it is missing, has other columns, names a photo twice, or has a decision or
    an answer that there is not.
    """
    if not path.exists() and not required:
        return Answers()
    values = {"decision": DECISIONS, **{name: ("", *known) for name, known in VALUES.items()}}
    hint = f"Save it from review.html: its columns are {', '.join(COLUMNS)}."
    table = read_csv(path, ("photo", "decision"), unique=("photo",), values=values, hint=hint)
    found: dict[str, Answer] = {}
    for _, row in table.rows():
        said = {name: row[name] for name in VALUES if row.get(name)}
        found[row["photo"]] = Answer(without_guard(row.get("path", "")), row["decision"], said)
    return Answers(found)


def chances(row: Any) -> dict[str, dict[str, float]]:
    """What the reader says of one row of the census: reading to value to probability.

    Each reading's probabilities sum to 1; a binary reader gives nothing to non-binary and unknown, people do.
    """
    return {
        "gender": {"female": 1 - row["masculine"], "male": row["masculine"]},
        "race": {name: row[name] for name in ("white", "black", "asian", "indian", "other")},
        "age": {"under 35": row["young"], "35 or older": 1 - row["young"]},
    }


def queue(table: pd.DataFrame, answers: Answers, confidence: float, unsure: Sequence[str] = ("gender",)) -> pd.Series:
    """Which rows a person should still look at: one of these readings has less confidence, and is undecided."""
    sure = {
        "gender": np.maximum(table["masculine"], 1 - table["masculine"]),
        "race": table[[*VALUES["race"][:-1]]].max(axis=1),
        "age": np.maximum(table["young"], 1 - table["young"]),
    }
    doubtful = pd.concat([sure[name] < confidence for name in unsure], axis=1).any(axis=1)
    done = {photo for photo, one in answers.by_photo.items() if one.done(unsure)}
    return (table["status"] == "read") & doubtful & ~table["photo"].isin(done)


def compose(table: pd.DataFrame, sets: Sets, answers: Answers) -> pd.DataFrame:
    """core.tables.COMPOSITION: every share of every occupation and keyword."""
    excluded = [photo for photo, answer in answers.by_photo.items() if answer.excluded]
    counted = table[(table["status"] == "read") & ~table["photo"].isin(excluded)].to_dict("records")
    by_path = {row["path"]: _reading(row, answers) for row in counted}
    rows = []
    for occupation, keyword, paths in sets.members():
        members = [by_path[path] for path in sorted(paths) if path in by_path]
        for reading, values in VALUES.items():
            for value in values:
                chance = np.array([one[reading][0].get(value, 0.0) for one in members])
                answered = np.array([one[reading][1] for one in members], bool)
                if value in ("non-binary", "unknown") and not chance.any():
                    continue
                share = estimate_share(chance, answered)
                numbers = share.n, share.answered, share.share, share.low, share.high
                rows.append((occupation, keyword, reading, value, *numbers))
    return pd.DataFrame(rows, columns=COMPOSITION.columns)


def labels(table: pd.DataFrame, answers: Answers, confidence: float) -> pd.DataFrame:
    """A row a photo for ``gslopes fit --photos-csv``: perceived gender, race and age; empty where it is not known.

    A reading below the confidence without an answer is not known, and neither is a photo that was excluded.
    """
    rows = []
    for row in table[table["status"] == "read"].to_dict("records"):
        answer = answers.by_photo.get(row["photo"])
        known = {"photo": row["photo"], "path": row["path"], "occupation": row["occupation"]}
        for reading, (chance, answered) in _reading(row, answers).items():
            value, p = max(chance.items(), key=lambda pair: pair[1])
            sure = (answered or p >= confidence) and not (answer and answer.excluded) and value != "unknown"
            known[f"perceived_{reading}"] = value if sure else ""
        known["by"] = "person" if answer and answer.answers else "excluded" if answer and answer.excluded else "reader"
        rows.append(known)
    return pd.DataFrame(rows, columns=["photo", "path", "occupation", *(f"perceived_{name}" for name in VALUES), "by"])


def _reading(row: Mapping[Any, Any], answers: Answers) -> dict[str, tuple[dict[str, float], bool]]:
    """Reading to (value to chance, whether a person answered)."""
    answer, read = answers.by_photo.get(row["photo"]), chances(row)
    found = {}
    for name in VALUES:
        said = answer.said.get(name, "") if answer and answer.answers else ""
        if said == "" and answer and answer.decision == "accept":
            said = max(read[name].items(), key=lambda pair: pair[1])[0]
        found[name] = ({said: 1.0}, True) if said else (read[name], False)
    return found
