"""What the figures show, read from a run folder's tables: only the rows that they need, however long the tables are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core import tables
from gslopes.core.reasons import counted
from gslopes.report import words

LONGEST_REASON = 200  # characters: a service's own text may be a page


@dataclass(frozen=True, slots=True, eq=False)
class ChangedLabel:
    """A label whose score moves along one photo's sweep.

    scores: (K,) in [0, 1], NaN where the label was not returned.
    slope: of the line through them per unit of the attribute, a label not returned counting as 0.
    """

    label: str
    scores: NDArray[np.float64]
    slope: float


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """One photo along its sweep, with one classifier's scores.

    photo: its id.  name: its path, as in the photos table.  box: the face, x0 y0 x1 y1 in the photo frame, or None.
    files: K paths of pictures.  changed: the labels that grow most towards either end, the positive end first.
    """

    photo: str
    name: str
    box: tuple[float, float, float, float] | None
    files: tuple[Path, ...]
    changed: tuple[ChangedLabel, ...]


def read(table: tables.Table, run: Path, columns: list[str], where: pc.Expression | None = None) -> pd.DataFrame:
    """Some columns and rows of a table of the run folder; no row if it has no such table.

    Raises: TableError if the file is damaged or of another schema.
    """
    path = run / f"{table.name}.parquet"
    if not path.exists():
        return table.empty()[columns]
    return tables.read_columns(table, path, columns, where)


def statuses(run: Path) -> dict[tuple[str, str], dict[str, int]]:
    """For each classifier and attribute, how many pictures were answered, refused, failed."""
    asked = read(tables.ASKED, run, ["classifier", "attribute", "status"])
    result: dict[tuple[str, str], dict[str, int]] = {}
    counts = asked.value_counts(sort=False).sort_index()
    for (classifier, attribute, status), number in zip(counts.index.tolist(), counts.tolist(), strict=True):
        result.setdefault((classifier, attribute), {})[status] = number
    return result


def why(run: Path) -> dict[tuple[str, str], dict[str, str]]:
    """For each classifier and attribute, why pictures were refused, and why they failed, the most frequent first."""
    lost = read(
        tables.ASKED, run, ["classifier", "attribute", "status", "reason", "detail"], ~_is("status", "answered")
    )
    result: dict[tuple[str, str], dict[str, str]] = {}
    for key, rows in lost.groupby(["classifier", "attribute", "status"], sort=True):
        classifier, attribute, status = map(str, key)
        found = counted(zip(rows["reason"], rows["detail"], strict=True))
        result.setdefault((classifier, attribute), {})[status] = words.shorten(found, LONGEST_REASON)
    return result


def lost(run: Path) -> dict[str, str]:
    """Classifier to how many of its pictures were refused or failed and why; those that answered all are left out.

    'planted' to '5 refused (no face found) of 120 pictures'
    """
    asked = read(tables.ASKED, run, ["classifier", "status", "reason", "detail"])
    result = {}
    for name, rows in asked.groupby("classifier", sort=True):
        parts = []
        for status in ("refused", "failed"):
            here = rows[rows["status"] == status]
            if len(here):
                reasons = counted(zip(here["reason"], here["detail"], strict=True))
                parts.append(f"{len(here):,} {status} ({words.shorten(reasons, LONGEST_REASON)})")
        if parts:
            result[str(name)] = f"{' and '.join(parts)} of {words.many(len(rows), 'picture')}"
    return result


_ENDS = {"failed": "pictures failed", "refused": "pictures were refused"}


def unanswered(run: Path) -> list[str]:
    """A sentence for each classifier that answered no picture: how many were refused, and how many failed."""
    totals: dict[str, Counter[str]] = {}
    for (classifier, _), counts in statuses(run).items():
        totals.setdefault(classifier, Counter()).update(counts)
    found = []
    for name, total in totals.items():
        if not total["answered"]:
            ends = [f"{count:,} of {total.total():,} {_ENDS[status]}" for status, count in sorted(total.items())]
            found.append(f"{words.printable(name)}: {' and '.join(ends)}.")
    return found


def answered_everywhere(run: Path, classifier: str, attribute: str, steps: int) -> list[str]:
    """Photos, sorted, that the classifier answered at all K steps."""
    here = of_pair(classifier, attribute) & _is("status", "answered")
    asked = read(tables.ASKED, run, ["photo", "step"], here).drop_duplicates()
    counts = asked["photo"].value_counts()
    return sorted(counts[counts == steps].index)


def sheet(run: Path, classifier: str, attribute: str, steps: int, most: int = 4) -> list[str]:
    """The photos of Figure 3: spread evenly over those that were answered at all K steps."""
    photos = answered_everywhere(run, classifier, attribute, steps)
    positions = np.linspace(0, len(photos) - 1, most).round().astype(int)
    return [photos[place] for place in np.unique(positions)] if photos else []


def sweeps(
    run: Path, classifier: str, attribute: str, values: NDArray[np.float64], *, most: int = 4, labels: int = 3
) -> list[Sweep]:
    """A few photos, spread evenly over those answered everywhere (never picked for what they show), with their scores.

    values: (K,) of the attribute.  most: photos.  labels: how many that grow towards each end, for each photo the ones
    whose score has the steepest line.
    """
    chosen = sheet(run, classifier, attribute, len(values), most)
    of_attribute = _is("attribute", attribute) & _among("photo", chosen)
    edits = read(tables.EDITS, run, ["photo", "step", "file"], of_attribute)
    scores = read(tables.SCORES, run, ["photo", "step", "label", "score"], of_attribute & _is("classifier", classifier))
    known = read(tables.PHOTOS, run, ["photo", "path", "box"], _among("photo", chosen))
    result = []
    for photo in chosen:
        of_photo = edits[edits["photo"] == photo].drop_duplicates("step").sort_values("step")
        row = known[known["photo"] == photo]
        if len(of_photo) == len(values):
            name = str(row["path"].iloc[0]) if len(row) else photo[:16]
            box = face_box(row["box"].iloc[0]) if len(row) else None
            files = tuple(run / file for file in of_photo["file"])
            result.append(Sweep(photo, name, box, files, _movers(scores[scores["photo"] == photo], values, labels)))
    return result


def _movers(scores: pd.DataFrame, values: NDArray[np.float64], most: int) -> tuple[ChangedLabel, ...]:
    wide = scores.pivot_table(index="label", columns="step", values="score", aggfunc="max")
    wide = wide.reindex(columns=range(len(values))).sort_index()
    slopes = wide.fillna(0).to_numpy(float) @ (values - values.mean()) / np.square(values - values.mean()).sum()
    order = np.argsort(-slopes, kind="stable")
    # less than a hundredth over the whole sweep could not be seen in two decimals
    changed = order[np.abs(slopes[order]) * np.ptp(values) >= 0.01]
    rising, falling = changed[slopes[changed] > 0][:most], changed[slopes[changed] < 0][::-1][:most]
    chosen = [*rising, *falling]
    return tuple(
        ChangedLabel(str(wide.index[row]), wide.iloc[row].to_numpy(float), float(slopes[row])) for row in chosen
    )


def face_box(value: object) -> tuple[float, float, float, float] | None:
    """A box of the photos table as four numbers, or None if it is none."""
    numbers = [] if value is None else [float(number) for number in np.ravel(np.asarray(value, dtype=float))]
    if len(numbers) != 4 or not np.isfinite(numbers).all() or numbers[2] <= numbers[0] or numbers[3] <= numbers[1]:
        return None
    return numbers[0], numbers[1], numbers[2], numbers[3]


def of_pair(classifier: str, attribute: str) -> pc.Expression:
    """The rows of one classifier along one attribute."""
    return _is("classifier", classifier) & _is("attribute", attribute)


def _is(column: str, value: str) -> pc.Expression:
    return pc.field(column) == value


def _among(column: str, values: list[str]) -> pc.Expression:
    return pc.field(column).isin(pa.array(values, pa.string()))  # typed, because the list may be empty
