"""The gate: after the pictures are made, and before any classifier sees them, each photo's sweep is judged.

Everything is measured once and kept, part by part; other thresholds judge again, without measuring. A dropped sweep
keeps its pictures, but no classifier is asked about it, and its answers, if there are any, stay out of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.core import (
    Facts,
    JsonObject,
    PhotoError,
    SkipReason,
    Tick,
    hexdigest,
    placebo,
    runfolder,
    tables,
)
from gslopes.core.crossed import grid_of, split
from gslopes.core.records import doubles
from gslopes.faces.gate.verdict import GateConfig, Measured, verdict
from gslopes.faces.zoo.spec import identify, regions
from gslopes.photos.folder import open_photo

if TYPE_CHECKING:
    from gslopes.faces.gate.sweep_measurer import Sweep, SweepMeasurer

MEASURED = [field.name for field in fields(Measured)]
_FACE = ("box", "points")
Pair = tuple[str, str]  # a photo and an attribute
WHY = ("kept", "reason", "detail")


# -- verdicts ---------------------------------------------------------------------------------------------------------


def judge_all(measured: DataFrame, config: GateConfig, manifest: Facts) -> DataFrame:
    """The verdicts on all sweeps of a run.

    measured: a verdicts table with the measures of ``measure``.  manifest: the content of ``run.json``.
    """
    if not len(measured):
        return measured
    heads = heads_of(manifest)
    grid = grid_of(manifest["values"])
    names = set(grid.names if grid else ())
    parts = []
    for sweep, rows in measured.groupby("attribute", sort=False):
        edited = names | {str(sweep), placebo.attribute_of(str(sweep))}
        parts.append(judged(rows, config, neck=not heads.isdisjoint(edited)))
    verdicts = pd.concat(parts).sort_index()
    if not grid:
        return verdicts
    # a photo's pictures go, or stay, along both attributes
    worse = verdicts.sort_values("kept", kind="stable").drop_duplicates("photo").set_index("photo")
    detail = (worse["attribute"] + ": " + worse["detail"]).str.strip(": ")
    worse["detail"] = detail.mask(worse["kept"], "")
    columns = {name: worse.loc[verdicts["photo"], name].to_numpy() for name in WHY}
    return verdicts.assign(**columns)


def heads_of(manifest: Facts) -> set[str]:
    """The attributes of a run whose edits reach ears and neck, by its ``run.json``."""
    region = manifest["config"].get("compose", {}).get("region", "face")
    by_attribute = dict.fromkeys(manifest["values"], region)
    if region == "auto":
        by_attribute = regions(manifest["models"])
    return {attribute for attribute, region in by_attribute.items() if region == "head"}


def reader_digest() -> str:
    """The sha256 of who reads the pictures; needs no torch.  Raises: UnknownName, ModelError if it is not there."""
    return identify("judge")[1]


def judged(measured: DataFrame, config: GateConfig, *, neck: bool = False) -> DataFrame:
    """A verdicts table with its verdicts made again from its measures.  neck: as of ``verdict``."""
    rows = (Measured(*row) for row in measured[MEASURED].itertuples(index=False, name=None))
    whys = DataFrame(
        [verdict(row, config, neck=neck).columns for row in rows], columns=["reason", "detail"]
    )
    return measured.assign(**whys.set_index(measured.index), kept=(whys["reason"] == "").to_numpy())


def beards(readings: DataFrame) -> tuple[int, int]:
    """(photos that show a beard, those of them that still show one at the first value), as the tagger reads them."""
    read = readings.query("reading == 'beard'")
    read = read.pivot(index="photo", columns="step", values="score").reindex(columns=(-1, 0))
    bearded = read[read[-1] > 0.5]
    return len(bearded), len(bearded[bearded[0] > 0.3])


# -- measures ---------------------------------------------------------------------------------------------------------


def measure(
    measurer: SweepMeasurer,
    run: Path,
    source: Path,
    part: Mapping[str, DataFrame],
    tick: Tick,
) -> dict[str, list[JsonObject]]:
    """Measure the sweeps of one part: rows of the tables readings and verdicts, each kept until it is judged.

    source: the folder of the unedited photos.  part: its rows of the tables photos and edits.

    Raises: TableError, PhotoError.
    """
    verdicts = []
    readings = []
    for sweep, key in _sweeps(run, source, part, tick):
        measured, read = measurer(sweep)
        empty = {"kept": True, **SkipReason().columns, "mask_area": sweep.mask_area}
        verdicts.append(key | asdict(measured) | empty)
        readings += [
            key | {"reading": name, "step": step - 1, "score": score}
            for name, scores in read.items()
            for step, score in enumerate(scores.tolist())
            if np.isfinite(score)
        ]
    return {"readings": readings, "verdicts": verdicts}


def _sweeps(
    run: Path, source: Path, part: Mapping[str, DataFrame], tick: Tick
) -> Iterator[tuple[Sweep, JsonObject]]:
    from gslopes.faces.gate.sweep_measurer import Sweep

    manifest = runfolder.read_manifest(run)
    grid = grid_of(manifest["values"])
    asked = bool(manifest["editor"])
    edits = part["edits"]
    for row in part["photos"].to_dict("records"):
        if row["status"] == "used":
            original = None
            with suppress(PhotoError):  # no longer there: only summaries miss it
                original = open_photo(source / row["path"]).pixels
            box, points = (doubles([] if row[name] is None else row[name]) for name in _FACE)
            points = points.reshape(-1, 2)
            for name, unedited in edits[edits["photo"] == row["photo"]].groupby("attribute"):
                if placebo.is_placebo(str(name)):
                    continue  # it is asked about together with its sweep
                steps = unedited.sort_values("step")
                pictures = [open_photo(file, run).pixels for file in steps["file"]]
                area = float(steps["mask_area"].iloc[0])
                axes = grid.axes if grid else {str(name): steps["value"].tolist()}
                for turn, (attribute, values) in enumerate(axes.items()):
                    # along the second attribute the other corners of a grid are first and last
                    present = np.flatnonzero(np.isfinite(values)).tolist()
                    order = sorted(present, key=lambda k: (values[k], (-1) ** turn * k))
                    swept = [values[k] for k in order], [pictures[k] for k in order]
                    sweep = Sweep(attribute, *swept, original, box, points, area, asked)
                    yield sweep, {"photo": row["photo"], "attribute": attribute}
        tick(1)


# -- what follows from it ---------------------------------------------------------------------------------------------


class SweepSelection:
    """Which edits a classifier is asked about: all of them, or the edits of sweeps that the gate kept and of a sample
    of the dropped ones; placebo sweeps of all photos, or of a sample.

    gate: whether verdicts count, if the run has any.
    dropped: how many of an attribute's dropped sweeps are also asked about; without their placebos.
    placebos: of how many photos an attribute's placebo sweeps are asked about; all if None.
    seed: of both samples.
    """

    def __init__(
        self,
        run: Path,
        gate: bool = True,
        *,
        dropped: int = 0,
        placebos: int | None = None,
        seed: int = 0,
    ) -> None:
        self.judged = (run / "verdicts.parquet").exists()
        verdicts = tables.read_rows(tables.VERDICTS, run)
        out = verdicts[~verdicts["kept"] & gate]
        self._dropped = set(zip(out["photo"], out["attribute"], strict=True))
        self._sampled = {
            (photo, attribute)
            for attribute, rows in out.groupby("attribute")
            for photo in _sample(rows["photo"], dropped, seed)
        }
        self._placebos: set[Pair] | None = None
        if placebos is not None:
            photos = tables.read(tables.PHOTOS, run / "photos.parquet")
            used = set(photos.query("status == 'used'")["photo"])
            sweeps = {placebo.split(name)[0] for name in runfolder.read_manifest(run)["values"]}
            self._placebos = set()
            for name in sweeps:
                kept = (photo for photo in used if (photo, name) not in self._dropped)
                self._placebos |= {(photo, name) for photo in _sample(kept, placebos, seed)}

    def keep(self, rows: DataFrame) -> DataFrame:
        """The rows of any table with a photo and an attribute whose sweeps were kept: what goes into the tables."""
        if self._dropped:
            return _where(rows, lambda pair, _: pair not in self._dropped)
        return rows

    def sampled(self, rows: DataFrame) -> DataFrame:
        """The rows of the dropped sweeps that are asked about nevertheless."""
        return _where(rows, lambda pair, kind: pair in self._sampled and not kind)

    @property
    def all(self) -> bool:
        """Whether they are all."""
        return not self._dropped and self._placebos is None

    def of(self, edits: DataFrame) -> DataFrame:
        """The rows of a table of edits that are asked about."""

        def wanted(pair: Pair, kind: str) -> bool:
            if pair in self._dropped:
                return pair in self._sampled and not kind
            return not kind or self._placebos is None or pair in self._placebos

        if self.all:
            return edits
        return _where(edits, wanted)

    def covered(self, edits: DataFrame, asked: DataFrame) -> bool:
        """Whether all of these edits that are wanted are among those asked about."""
        key = ["photo", "attribute", "step"]
        return set(self.of(edits)[key].itertuples(index=False, name=None)) <= set(
            asked[key].itertuples(index=False, name=None)
        )


def _where(rows: DataFrame, is_wanted: Callable[[Pair, str], bool]) -> DataFrame:
    """The rows that are wanted by their (photo, attribute) and kind of placebo."""
    kinds = {name: placebo.split(name) for name in rows["attribute"].unique()}
    wanted = []
    for photo, name in zip(rows["photo"], rows["attribute"], strict=True):
        attribute, kind = kinds[name]
        # both of a grid alike
        wanted.append(is_wanted((photo, split(attribute)[0]), kind))
    return rows[np.array(wanted, bool)]


def _sample(photos: Iterable[str], most: int, seed: int) -> list[str]:
    """At most this many of the photos, drawn at random, the same ones whenever they are asked for."""
    return sorted(photos, key=lambda photo: hexdigest(f"{seed}:sample:{photo}"))[:most]
