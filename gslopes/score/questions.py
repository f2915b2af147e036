"""What is asked, and in which order: the pictures of the edits table, read and digested."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.core.errors import PhotoError, TableError
from gslopes.core.files import inside, read_regular
from gslopes.datasets.decode import LARGEST_FILE


@dataclass(frozen=True, slots=True)
class Question:
    """One row of the edits table."""

    photo: str
    attribute: str
    step: int
    value: float
    file: str


def ordered(edits: pd.DataFrame, seed: int) -> list[Question]:
    """Photos by identifier; the pictures of one photo together, in an order that depends on the seed and that photo.

    Together and shuffled, so that a classifier that drifts with time cannot pose as an effect of the edit.

    edits: rows of the edits table, in any order.
    Raises: TableError if they are no such table or hold a row twice.
    """
    columns = tables.check(tables.EDITS, edits).to_pydict()
    names = ("photo", "attribute", "step", "value", "file")
    rows = sorted(zip(*(columns[name] for name in names), strict=True), key=lambda row: row[:3])
    if len({row[:3] for row in rows}) < len(rows):
        raise TableError("The edits table has two rows for one photo, attribute and step.")
    questions = [Question(*row) for row in rows]
    groups = groupby(questions, key=lambda question: question.photo)
    return [question for photo, group in groups for question in _shuffled(list(group), f"{seed} {photo}")]


def by_photo(questions: list[Question]) -> Iterator[list[int]]:
    """Places of the questions of each photo, in their order."""
    for _, positions in groupby(range(len(questions)), key=lambda position: questions[position].photo):
        yield list(positions)


def read_picture(folder: Path, file: str) -> bytes:
    """The bytes of an edited photo.

    folder: the run folder, which nothing in its tables may leave: it can be a stranger's.  file: below it.

    Raises: PhotoError if there are none, or the file is not inside the folder.
    """
    path = folder / file
    if not inside(folder, path):
        raise PhotoError(path, "the edited photo lies outside the run folder")
    try:
        data = read_regular(path, LARGEST_FILE)
    except (OSError, ValueError) as error:
        # Not str(error): it holds this machine's path, and the same run elsewhere would give another table.
        why = (isinstance(error, OSError) and error.strerror) or "bad name"
        raise PhotoError(path, f"the edited photo cannot be read: {why}") from error
    if not data:
        raise PhotoError(path, "the edited photo is empty")
    return data


def digest(data: bytes) -> bytes:
    """sha256 of a picture, 32 bytes."""
    return hashlib.sha256(data).digest()


def _shuffled(group: list[Question], key: str) -> list[Question]:
    entropy = int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()[:16])
    return [group[position] for position in np.random.default_rng(entropy).permutation(len(group))]
