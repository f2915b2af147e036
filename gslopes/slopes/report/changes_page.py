"""The page of two runs compared: slopes side by side, differences with intervals, the photos that changed most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder
from gslopes.report import numbers, units, words
from gslopes.report.inline import render
from gslopes.slopes.report import observed_changes, pictures
from gslopes.slopes.report.changes import PAIR, none_changed
from gslopes.slopes.report.pictures import Wanted
from gslopes.stats.multiplicity import LEVEL

HERE = Path(__file__).parents[1] / "templates"

MOST_LABELS = 40


@dataclass(frozen=True, slots=True, eq=False)
class ChangedPhoto:
    """One photo on which a label's slope changed much.

    name: as shown.  label: as returned.  values: (K,) of the second run.  first, second: the label's scores along the
    sweep in both runs, None where it was not returned.  sweep: the pictures of the second run.
    """

    name: str
    label: str
    values: Sequence[float]
    first: Sequence[float | None]
    second: Sequence[float | None]
    sweep: Wanted


@dataclass(frozen=True, slots=True)
class Pair:
    """One classifier and attribute on the page: its title, its sentence, its rows, and how many are left out."""

    title: str
    ends: tuple[str, str]
    sentence: str
    rows: tuple[dict[str, Any], ...]
    left: int


def write_changes(
    out: Path,
    run: Path,
    changes: pd.DataFrame,
    photos: Sequence[ChangedPhoto],
    names: tuple[str, str],
    observed: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write OUT/index.html with the pictures next to it; it opens from the disk and asks nothing of any server.

    run: the second run's folder.  changes: the columns of ``slopes.fit.compare.COLUMNS``.  names: of the two runs.
    observed: of ``slopes.compare_observed``.  notes: warnings.

    Returns the path of the page.

    Raises: StorageError.
    """
    runfolder.make_folder(out)
    with runfolder.storage(out):
        files = pictures.write(out, run, [one.sweep for one in photos], "thumbs")
    groups = changes.groupby(PAIR, sort=True)
    pairs = [_pair(words.both(str(old), str(new)), str(a), part) for (old, new, a), part in groups]
    strips = [(one, files[key][0]) for one in photos if (key := (one.sweep.photo, one.sweep.attribute)) in files]
    html = render(
        "changes.html.j2",
        house=HERE,
        scripts=("page-base.js", "page-plots.js", "page-changes.js"),
        data={"changes": [{"ends": pair.ends, "rows": pair.rows} for pair in pairs], "decisions": {}},
        plots=True,
        pairs=pairs,
        observed=observed_changes.panels(observed),
        notes=[words.printable(note) for note in notes],
        photos=[(one, file, _cells(one)) for one, file in strips],
        first=words.printable(names[0]),
        second=words.printable(names[1]),
        level=LEVEL,
        most=MOST_LABELS,
    )
    page = out / "index.html"
    runfolder.write_bytes(page, html.encode("utf-8", "backslashreplace"))
    return page


def _pair(classifiers: str, attribute: str, part: pd.DataFrame) -> Pair:
    judged = part[part["note"] == ""]
    order = judged.assign(_flat=-judged["difference"].abs()).sort_values(["q", "_flat", "label"])
    rows = tuple(_row(row) for _, row in order[:MOST_LABELS].iterrows())
    changed = order[order["q"] < LEVEL]
    perceived = words.perceived(attribute)
    if len(changed):
        first = changed.iloc[changed["difference"].abs().to_numpy().argmax()]
        write, measure = _writer(first)
        unit = {"presence": "points per unit", "log-odds": "of the odds per unit"}.get(measure, "per unit")
        size = f"{write(first['slope'])} to {write(first['other_slope'])} {unit}"
        interval = numbers.interval(first["ci_low"], first["ci_high"], write)
        sentence = (
            f"The slope of “{words.label(first['label'])}” went from {size}, a change of "
            f"{write(first['difference'])} {interval}; {len(changed):,} of {len(judged):,} labels changed."
        )
    else:
        sentence = none_changed(judged, perceived)
    title = f"{classifiers} along {perceived}"
    return Pair(title, words.ends(attribute), sentence, rows, len(part) - len(rows))


def _row(row: pd.Series) -> dict[str, Any]:
    slope, other, difference, low, high, q = numbers.rounded(
        [row[name] for name in ("slope", "other_slope", "difference", "ci_low", "ci_high", "q")], 8
    )
    write, measure = _writer(row)
    texts = [write(row["slope"]), write(row["other_slope"]), write(row["difference"])]
    return {
        "label": words.label(row["label"]),
        "slope": slope,
        "other": other,
        "difference": difference,
        "low": low,
        "high": high,
        "changed": bool(q is not None and q < LEVEL),
        "texts": texts,
        "interval": numbers.interval(row["ci_low"], row["ci_high"], write),
        "unit": units.UNITS[measure],
        "q": numbers.probability(row["q"]),
        "n": int(row["n"]),
    }


def _writer(row: pd.Series) -> tuple[numbers.Format, str]:
    measure = units.measure_of(row)
    return units.writer(measure), measure


def _cells(one: ChangedPhoto) -> list[tuple[str, str, str]]:
    """(value, score in the first run, score in the second) as texts."""
    values = [numbers.value(value, sign=True) for value in one.values]
    both = numbers.apart(math.nan if score is None else score for score in (*one.first, *one.second))
    return list(zip(values, both[: len(values)], both[len(values) :], strict=True))
