"""What the gate saw, summed up: does the edit move what it should, and little else, on whom, and what was dropped?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

from gslopes.core import JsonObject, UsageError, crossed, dropped, frozen, runfolder, tables
from gslopes.core.records import Array, doubles
from gslopes.faces.gate import manipulation, verdict
from gslopes.faces.gate.manipulation import Groups, Interval
from gslopes.photos.people import read_about
from gslopes.report.inline import plain
from gslopes.stats.clusters import normal_texts

# How the reader sees the unedited photo, by two of its readings: names of the groups below and above one half.
PERCEIVED = {
    "gender": ("read as feminine", "read as masculine"),
    "race": ("read as Black", "read as White"),
}


@frozen
class Summary:
    """One attribute's sweeps; every number is over all of them, kept or not, with a 95 % interval over photos.

    attribute: its name.  values: K.  sweeps, kept: how many.  dropped: reason to how many.
    means: the target's mean reading at each value.  shift: last minus first.
    monotone: share of sweeps whose reading rises, tau-b of 0.8 or more to two hundredths.
    groups: column to group to shift.
    leakage: other reading to its slope as a share of the target's, both in standard deviations of unedited photos.
    """

    attribute: str
    values: tuple[float, ...]
    sweeps: int
    kept: int
    dropped: Mapping[str, int]
    means: tuple[Interval, ...] = ()
    shift: Interval | None = None
    monotone: Interval | None = None
    groups: Mapping[str, Groups] = field(default_factory=dict)
    leakage: Mapping[str, Interval] = field(default_factory=dict)

    def facts(self) -> JsonObject:
        """As JSON has it: a number that could not be measured is null."""
        return json.loads(json.dumps(asdict(self)), parse_constant=lambda constant: None)


def summarise(
    run: Path, photos_csv: Path | None = None, groups: Sequence[str] = ()
) -> list[Summary]:
    """The summaries of a judged run folder, an attribute each.

    photos_csv, groups: a CSV about the photos, and its columns that make groups, as for the fit.

    Raises: TableError if the run was not judged; UsageError if the CSV does not fit.
    """
    verdicts = tables.read(tables.VERDICTS, run / "verdicts.parquet")
    values = _values_of(run, verdicts["attribute"])
    readings = tables.read(tables.READINGS, run / "readings.parquet")
    about = about_photos(run, photos_csv, groups)
    return [
        _one(str(name), values[str(name)], sweeps, readings.query("attribute == @name"), about)
        for name, sweeps in verdicts.groupby("attribute")
    ]


def summaries_of(run: Path) -> list[Summary]:
    """The summaries of a judged run folder, by the groups that its fit has.  Raises: as ``summarise``."""
    fit = runfolder.read_manifest(run)["config"]["fit"]
    return summarise(
        run, None if fit["photos_csv"] is None else Path(fit["photos_csv"]), fit["groups"]
    )


def _values_of(run: Path, attributes: pd.Series[str]) -> crossed.Values:
    values: crossed.Values = runfolder.read_manifest(run)["values"]
    unknown = sorted(set(attributes.astype(str)) - set(values))
    if unknown:
        raise UsageError(
            f"{runfolder.show(run / 'run.json')} is damaged: it has no values of {unknown[0]}, which was edited.",
            "Restore it, or make the run again in a new folder.",
        )
    return values


def about_photos(run: Path, photos_csv: Path | None, groups: Sequence[str]) -> DataFrame:
    """The columns of a CSV that make groups of the run's photos, but for crossed ones; none without a CSV.

    Raises: UsageError, UnknownName if it does not fit.
    """
    if photos_csv is None:
        return DataFrame()
    return read_about(photos_csv, run, groups)[[name for name in groups if "+" not in name]]


def _one(
    attribute: str,
    values: Sequence[float],
    verdicts: DataFrame,
    readings: DataFrame,
    about: DataFrame,
) -> Summary:
    passed = int(verdicts["kept"].sum())
    plain = Summary(attribute, tuple(values), len(verdicts), passed, dropped(verdicts["reason"]))
    wide = readings.pivot_table(index="photo", columns=["reading", "step"], values="score")
    steps = range(-1, len(values))  # the unedited photo first
    read = {
        str(name): doubles(DataFrame(wide[name]).reindex(columns=steps))
        for name in readings["reading"].unique()
    }
    if attribute not in read:
        return plain
    target = read[attribute]
    shift = manipulation.shift(target[:, 1:])
    moves = shift.low * shift.high > 0
    groups = _groups(wide.index, read, about)
    return replace(
        plain,
        means=manipulation.means(target[:, 1:]),
        shift=shift,
        monotone=manipulation.share_monotone(target[:, 1:], values, resolution=verdict.RESOLUTION),
        groups={
            name: manipulation.shift_by_group(target[grouped, 1:], names[grouped])
            for name, names in groups.items()
            if (grouped := names != "").any()
        },
        leakage={
            name: _share(other, target, values) if moves else manipulation.UNKNOWN
            for name, other in sorted(
                read.items(), key=lambda pair: (pair[0] not in verdict.JUDGED, pair[0])
            )
            if name != attribute
        },
    )


def _share(other: Array, target: Array, values: Sequence[float]) -> Interval:
    readable = np.isfinite(other[:, 0]) & np.isfinite(target[:, 0])
    if readable.sum() < 2:
        return manipulation.UNKNOWN
    unedited = {"other_unedited": other[readable, 0], "target_unedited": target[readable, 0]}
    return manipulation.share_of_target(other[:, 1:], target[:, 1:], values, **unedited)


def _groups(
    photos: pd.Index[Any], read: Mapping[str, Array], about: DataFrame
) -> dict[str, NDArray[np.str_]]:
    """Column to the group of each photo; an empty name if it is not known."""
    groups = {}
    for name, (low, high) in PERCEIVED.items():
        if name in read:
            first = read[name][:, 0]
            groups[f"perceived {name}"] = np.where(
                np.isnan(first), "", np.where(first > 0.5, high, low)
            ).astype(str)
    for column in map(str, about):
        groups[column] = normal_texts(about[column].reindex(photos)).to_numpy(str)
    return groups


def format_summary(summary: Summary) -> str:
    """A summary as a few lines."""
    return plain("validation.txt.j2", Path(__file__).parent / "templates", s=summary)
