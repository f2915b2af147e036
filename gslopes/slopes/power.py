"""A fitted run as a pilot: how small a slope of each label would show, by the label's own measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import placebo, tables
from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.runfolder import show
from gslopes.report import numbers, units, words
from gslopes.report.terminal import Column, table, wrap
from gslopes.slopes.fit.power import Pilot, photos_needed, power, smallest_slope
from gslopes.slopes.report import decisions, loading
from gslopes.slopes.report.decisions import findings_table

COLUMNS = ("classifier", "attribute", "label", "measure", "unit", "n", "deviation", "photos", "slope", "power")
_KEY = ["classifier", "attribute", "label"]


def plan_from(
    run: Path,
    *,
    photos: int | None = None,
    slope: float | None = None,
    chance: float = 0.8,
    labels: Sequence[str] = (),
) -> pd.DataFrame:
    """One row a label that the run judges, columns ``COLUMNS``, in the order of its findings.

    photos, slope: what is planned, one of them or both; none: the number of photos of the run itself.
    slope: as pages show it: percentage points, per cent of the odds, or the number's own unit, per unit.
    labels: those that are wanted; all if empty.
    Returns: n, photos of the run in the slopes; deviation, standard deviation of their own slopes, and slope, both in
        the unit of the slopes table: log-odds where a page shows per cent of the odds.

    Raises: UsageError if no label is judged, or if a slope is given for labels that are judged in different units;
        UnknownName for a label that is not judged; ConfigError as ``slopes.fit.power``; TableError.
    """
    rows = _judged(loading.load(run).slopes, labels)
    if rows.empty:
        raise UsageError(
            f"{show(run)} judges no label, so it says nothing about one.", "gslopes power --rate 0.05 --slope 1"
        )
    shown = sorted({units.unit_of(row) for row in rows.to_dict("records")})
    if slope is not None and len(shown) > 1:
        hint = "Name labels of one unit with --label."
        raise UsageError(f"A slope has one unit, and the labels have {len(shown)}: {', '.join(shown)}.", hint)
    return pd.DataFrame([_row(row, photos, slope, chance) for row in rows.to_dict("records")], columns=COLUMNS)


def _judged(slopes: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """The rows to read of labels that are judged, placebo sweeps aside."""
    order = findings_table(slopes)
    order = order.loc[order["decision"] != decisions.UNJUDGED, _KEY]
    read = tables.reading(slopes)
    read = read[~placebo.among(read["attribute"])]
    rows = order.merge(read, on=_KEY, how="left")
    for name in labels:
        if name not in set(rows["label"]):
            raise UnknownName("label that is judged", name, sorted(set(rows["label"])))
    rows = rows[rows["label"].isin(labels)] if labels else rows
    return rows[(rows["se"] > 0) & (rows["n"] > 1)]


def _row(row: Mapping[Any, Any], photos: int | None, slope: float | None, chance: float) -> tuple[object, ...]:
    design = Pilot(float(row["se"]) * math.sqrt(row["n"]))
    measure = units.measure_of(row)
    wanted = None if slope is None else _unshown(slope, measure)
    if photos is None and wanted is None:
        photos = int(row["n"])
    if photos is None and wanted is not None:
        photos = photos_needed(design, wanted, chance)
    elif photos is not None and wanted is None:
        wanted = smallest_slope(design, photos, chance)
    elif photos is not None and wanted is not None:
        chance = power(design, photos, wanted)
    names = [str(row[name]) for name in _KEY]
    return (*names, measure, row["unit"], int(row["n"]), design.spread, photos, wanted, chance)


def _unshown(slope: float, measure: str) -> float:
    """A slope as pages show it, in the unit of the slopes table.

    >>> _unshown(1.5, "presence"), round(_unshown(20, "log-odds"), 4)
    (1.5, 0.1823)
    """
    if measure != "log-odds":
        return slope
    if slope <= -100:
        raise UsageError(f"The odds cannot change by {slope:g} %.", "Odds fall by less than 100 %.")
    return math.log1p(slope / 100)


def print_plan(plan: pd.DataFrame, *, asked: str, photos: int | None = None, most: int = 40) -> str:
    """The plan in lines of at most 100 columns.

    asked: the column that was asked for: photos, slope or power.  photos: as given to ``plan_from``.  most: rows.
    """
    first = plan.iloc[0].to_dict()
    chance, how = numbers.share(first["power"], 0), f"{photos:,} photos" if photos else "as many photos as here"
    question = {
        "slope": f"The smallest slope that {how} show with a chance of {chance}, by the measure of each label:",
        "photos": f"How many photos show a slope of {_size(first)} with a chance of {chance}:",
        "power": f"The chance that {how} show a slope of {_size(first)}:",
    }
    several = [name for name in ("classifier", "attribute") if plan[name].nunique() > 1]
    columns = [Column(name, number=False, fold=True) for name in (*several, "label")]
    columns += [Column({"power": "chance"}.get(asked, asked)), Column("photos here")]
    rows = [
        [
            *(words.printable(row[name]) for name in several),
            words.label(row["label"]),
            _cell(row, asked),
            f"{row['n']:,}",
        ]
        for row in plan[:most].to_dict("records")
    ]
    left = f"\n  and {words.many(len(plan) - most, 'label')} more, see --json" if len(plan) > most else ""
    note = (
        "Two-sided t of the photos' own slopes, with the standard deviation that they have in this run; "
        "at 5 %, for one label. A finding must also go further than the placebos."
    )
    return f"{wrap(question[asked])}\n\n{table(columns, rows)}{left}\n\n{wrap(note)}"


def _cell(row: Mapping[Any, Any], asked: str) -> str:
    if asked == "photos":
        return f"{row['photos']:,}"
    return numbers.share(row["power"]) if asked == "power" else _size(row)


def _size(row: Mapping[Any, Any]) -> str:
    """A slope without its sign, with its unit in words."""
    written = units.writer(row["measure"])(abs(row["slope"])).lstrip("+").removesuffix(" %")
    return f"{written} {units.unit_of(row)}"
