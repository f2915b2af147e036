"""Asking one classifier without a run folder around it, as the tests of the client do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.core import tables
from gslopes.core.records import Classifier

PART = 32  # photos


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
    Raises: as ``Client.ask_parts``.
    """
    folder, scores, asked, done = Path(run_folder), [], [], 0
    for part in parts(edits):
        part_asked, part_scores = ask_part(part, folder, classifier, seed=seed)
        scores.append(part_scores)
        asked.append(part_asked)
        done += len(part)
        if progress is not None:
            progress(done, len(edits))
    return concat(tables.SCORES, scores), concat(tables.ASKED, asked)


def parts(edits: pd.DataFrame, photos: int = PART) -> Iterator[pd.DataFrame]:
    """The edits cut into parts of at most ``photos`` photos, in the order of the photos' identifiers."""
    names = sorted(edits["photo"].unique())
    for start in range(0, len(names), photos):
        yield edits[edits["photo"].isin(names[start : start + photos])]


def ask_part(
    edits: pd.DataFrame, run_folder: Path, classifier: Classifier, *, seed: int = 0, cache: AnswerCache | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask a classifier about the edits of one part, each distinct picture once.

    edits: rows of the edits table, in any order.  run_folder: what their ``file`` is relative to.
    classifier: any ``records.Classifier``.
    seed: with each photo's identifier it decides the order in which that photo's pictures are asked.
    Returns: rows of the asked table (one a picture) and of the scores table (one a label), sorted by their keys.
        A picture that cannot be read, or whose answer does not make sense, is ``failed`` with its reason there.
    Raises: as ``Client.ask_parts``.
    """
    found: list[tuple[pd.DataFrame, pd.DataFrame]] = []
    client = Client(classifier, cache=cache, seed=seed)
    client.ask_parts([(0, edits)], run_folder, lambda _, asked, scores, __: found.append((asked, scores)))
    return found[0]


def concat(table: tables.Table, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames of one table, one below the other."""
    full = [frame for frame in frames if len(frame)]
    return pd.concat(full, ignore_index=True) if full else table.empty()
