"""The gate: after the pictures are made, and before any classifier sees them, each photo's sweep is judged.

Everything is measured once and kept, part by part; other thresholds judge again, without measuring. A dropped sweep
keeps its pictures, but no classifier is asked about it, and its answers, if there are any, stay out of the tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from gslopes.core import placebo, runfolder, tables
from gslopes.core.arrays import doubles
from gslopes.core.config import to_dict
from gslopes.core.crossed import grid_of, split
from gslopes.core.errors import ModelError, PhotoError, UsageError
from gslopes.core.executor import Executor, RemoteTask
from gslopes.core.progress import Tick
from gslopes.core.reasons import SkipReason
from gslopes.core.runfolder import SYNTHESIS, part_path
from gslopes.core.runtime import pick_device
from gslopes.faces.gate.verdict import GateConfig, Measured, verdict
from gslopes.faces.zoo import identify
from gslopes.photos.folder import open_photo

if TYPE_CHECKING:
    from gslopes.faces.gate.sweep_measurer import Sweep, SweepMeasurer

MEASURED = [field.name for field in fields(Measured)]
Row = dict[str, Any]
_FACE = ("box", "points")
WHY = ("kept", "reason", "detail")


# -- the stage --------------------------------------------------------------------------------------------------------


def judge_folder(
    run: Path, parts: int, config: GateConfig, device: str, executor: Executor
) -> pd.DataFrame:
    """Measure what has not been measured, judge all of it, write RUN/readings.parquet and RUN/verdicts.parquet.

    The run folder is locked by this process.  parts: of the run.  Returns: the verdicts.

    Raises: UnknownName, ModelError if the reader is not there; TableError, StorageError.
    """
    digest = reader_digest()
    manifest = runfolder.read_manifest(run)
    made = manifest.get("config", {})
    if not isinstance(made.get("find"), dict) or not isinstance(made.get("photos"), str):
        message = f"{runfolder.show(run / runfolder.MANIFEST)} is damaged: it does not say where the photos are."
        raise UsageError(message, "Restore it, or make the run again in a new folder.")
    look = made["find"].get("landmarks") is None
    stage = (
        f"gate/{'ends' if look else 'none'}-{digest[:8]}"  # another reader reads everything again
    )
    missing = runfolder.missing_parts(run, stage, tables.VERDICTS, parts)
    if missing:
        work = _work(
            run,
            stage,
            int(made["find"]["min_face"]),
            look,
            Path(made["photos"]),
            config,
            pick_device(device),
        )
        sizes = {
            part: _rows(part_path(run, SYNTHESIS, tables.PHOTOS, part)) for part in range(parts)
        }
        due = {part: sizes[part] for part in missing}
        executor(
            work, due, label="gate", unit="photos", done=sum(sizes.values()) - sum(due.values())
        )
    runfolder.merge(run, tables.READINGS, [stage], parts)
    verdicts = runfolder.read_parts(run, tables.VERDICTS, [stage], parts)
    heads = heads_of(manifest)
    if len(verdicts):
        each = verdicts.groupby("attribute", sort=False)
        grid = grid_of(manifest.get("values"))
        necks = {name: not heads.isdisjoint(grid.names if grid else {name}) for name, _ in each}
        verdicts = pd.concat(
            [judged(rows, config, neck=necks[name]) for name, rows in each]
        ).sort_index()
        if grid:  # a photo's pictures go, or stay, along both
            worse = (
                verdicts.sort_values("kept", kind="stable")
                .drop_duplicates("photo")
                .set_index("photo")
            )
            worse["detail"] = (
                (worse["attribute"] + ": " + worse["detail"])
                .str.strip(": ")
                .mask(worse["kept"], "")
            )
            verdicts = verdicts.assign(
                **{name: worse.loc[verdicts["photo"], name].to_numpy() for name in WHY}
            )
    runfolder.write_table(tables.VERDICTS, verdicts, run / "verdicts.parquet")
    thresholds = {name: value for name, value in to_dict(config).items() if name != "on"}
    about = {"thresholds": thresholds, "reader": digest, "heads": sorted(heads)}
    manifest["gate"] = {**manifest.get("gate", {}), **about}
    runfolder.write_json(run / runfolder.MANIFEST, manifest)
    return verdicts


def heads_of(manifest: Mapping[str, Any]) -> set[str]:
    """The attributes of a run whose edits reach ears and neck, by its ``run.json``."""
    from gslopes.faces.zoo.spec import regions

    region = ((manifest.get("config") or {}).get("compose") or {}).get("region", "face")
    if region != "auto":
        if region == "head":
            return set(manifest.get("values") or ())
        return set()
    return {
        attribute
        for attribute, region in regions(manifest.get("models") or {}).items()
        if region == "head"
    }


def reader_digest() -> str:
    """The sha256 of who reads the pictures; needs no torch.  Raises: UnknownName, ModelError if it is not there."""
    return identify("judge")[1]


def judged(measured: pd.DataFrame, config: GateConfig, *, neck: bool = False) -> pd.DataFrame:
    """A verdicts table with its verdicts made again from its measures.  neck: as of ``verdict``."""
    rows = (Measured(*row) for row in measured[MEASURED].itertuples(index=False, name=None))
    whys = pd.DataFrame(
        [verdict(row, config, neck=neck).columns for row in rows], columns=["reason", "detail"]
    )
    return measured.assign(**whys.set_index(measured.index), kept=(whys["reason"] == "").to_numpy())


@dataclass(frozen=True, slots=True)
class Judging:
    """The work of the stage.  photos: the folder of the unedited ones."""

    run: Path
    stage: str
    measurer: SweepMeasurer
    photos: Path
    config: GateConfig
    in_threads: ClassVar[bool] = True

    def __call__(self, part: int, tick: Tick) -> None:
        """Measure the sweeps of one part.  Raises: TableError, StorageError."""
        verdicts: list[Row] = []
        readings: list[Row] = []
        for sweep, key in self._sweeps(part, tick):
            measured, read = self.measurer(sweep)
            numbers = {name: getattr(measured, name) for name in MEASURED}
            empty = {"kept": True, **SkipReason().columns, "mask_area": sweep.mask_area}
            verdicts.append(key | numbers | empty)
            readings += [
                key | {"reading": name, "step": step - 1, "score": score}
                for name, scores in read.items()
                for step, score in enumerate(scores.tolist())
                if np.isfinite(score)
            ]
        frame = tables.frame_of(tables.VERDICTS, verdicts)
        frame = judged(frame, self.config) if verdicts else frame
        for table, rows in (
            (tables.READINGS, tables.frame_of(tables.READINGS, readings)),
            (tables.VERDICTS, frame),
        ):
            runfolder.write_table(table, rows, part_path(self.run, self.stage, table, part))

    def remote_task(self) -> RemoteTask:
        """For workers elsewhere."""
        run = self.run.absolute()
        measurer = self.measurer
        facts = (run, self.stage, measurer.far.min_face, measurer.look, self.photos, self.config)
        needs = (run / runfolder.MANIFEST, self.photos)
        make = partial(_elsewhere, facts, measurer.reader.sha256)
        return RemoteTask(make, needs, lambda part: f"the sweeps of part {part}")

    def _sweeps(self, part: int, tick: Tick) -> Iterator[tuple[Sweep, Row]]:
        from gslopes.faces.gate.sweep_measurer import Sweep

        grid = grid_of(runfolder.read_manifest(self.run).get("values"))
        photos = tables.read(tables.PHOTOS, part_path(self.run, SYNTHESIS, tables.PHOTOS, part))
        edits = tables.read(tables.EDITS, part_path(self.run, SYNTHESIS, tables.EDITS, part))
        for row in photos.to_dict("records"):
            if row["status"] == "used":
                try:
                    original = open_photo(self.photos / row["path"]).pixels
                except PhotoError:  # no longer there: only summaries miss it
                    original = None
                box, points = (doubles([] if row[name] is None else row[name]) for name in _FACE)
                points = points.reshape(-1, 2)
                for attribute, unedited in edits[edits["photo"] == row["photo"]].groupby(
                    "attribute"
                ):
                    if placebo.is_placebo(str(attribute)):
                        continue  # it is asked about together with its sweep
                    steps = unedited.sort_values("step")
                    pictures = [open_photo(file, self.run).pixels for file in steps["file"]]
                    area = float(steps["mask_area"].iloc[0])
                    axes = grid.axes if grid else {}
                    for turn, (name, values) in enumerate(
                        (axes or {str(attribute): steps["value"].tolist()}).items()
                    ):
                        # along the second attribute the other corners of a grid are first and last
                        order = sorted(
                            range(len(values)), key=lambda k: (values[k], (-1) ** turn * k)
                        )
                        swept = [values[k] for k in order], [pictures[k] for k in order]
                        sweep = Sweep(name, *swept, original, box, points, area)
                        yield sweep, {"photo": row["photo"], "attribute": name}
            tick(1)


def _work(
    run: Path, stage: str, min_face: int, look: bool, photos: Path, config: GateConfig, device: str
) -> Judging:
    from gslopes.faces.gate.sweep_measurer import SweepMeasurer
    from gslopes.faces.zoo.reader import FaceReader

    return Judging(
        run, stage, SweepMeasurer(FaceReader.load(device), device, min_face, look), photos, config
    )


def _elsewhere(
    facts: tuple[Path, str, int, bool, Path, GateConfig], digest: str, device: str
) -> Judging:
    """The work in another process.  Raises: ModelError if another reader is there."""
    if reader_digest() != digest:
        raise ModelError(
            "A worker has another model named reader.", "Install the same models on every machine."
        )
    return _work(*facts, device)


def _rows(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)


# -- what follows from it ---------------------------------------------------------------------------------------------


class SweepSelection:
    """Which edits a classifier is asked about: all of them, or those of the sweeps that the gate kept and of a sample
    of those that it dropped; placebo sweeps of all photos, or of a sample.

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
        self._run = run
        path = run / "verdicts.parquet"
        self.judged = path.exists()
        out: pd.DataFrame = pd.DataFrame(columns=["photo", "attribute"])
        if gate and self.judged:
            frame = tables.read(tables.VERDICTS, path)
            out = frame.loc[~frame["kept"], ["photo", "attribute"]]
        self._dropped = set(zip(out["photo"], out["attribute"], strict=True))
        self._sampled = {
            (photo, attribute)
            for attribute, rows in out.groupby("attribute")
            for photo in _sample(rows["photo"], dropped, seed)
        }
        self._placebos: set[tuple[str, str]] | None = None
        if placebos is not None:
            photos = tables.read(tables.PHOTOS, run / "photos.parquet")
            used = photos.loc[photos["status"] == "used", "photo"].unique()
            self._placebos = {
                (photo, name)
                for name in {
                    placebo.split(name)[0] for name in runfolder.read_manifest(run)["values"]
                }
                for photo in _sample(
                    [photo for photo in used if (photo, name) not in self._dropped], placebos, seed
                )
            }

    def keep(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows of any table with a photo and an attribute whose sweeps were kept: what goes into the tables."""
        if self._dropped:
            return _where(rows, lambda pair, _: pair not in self._dropped)
        return rows

    def sampled(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows of the dropped sweeps that are asked about nevertheless."""
        return _where(rows, lambda pair, kind: pair in self._sampled and not kind)

    def edits(self, part: int) -> pd.DataFrame:
        """The wanted edits of one part."""

        def wanted(pair: tuple[str, str], kind: str) -> bool:
            if pair in self._dropped:
                return pair in self._sampled and not kind
            return not kind or self._placebos is None or pair in self._placebos

        rows = tables.read(tables.EDITS, part_path(self._run, SYNTHESIS, tables.EDITS, part))
        if not self._dropped and self._placebos is None:
            return rows
        return _where(rows, wanted)

    def covered(self, part: int, asked: pd.DataFrame) -> bool:
        """Whether all wanted edits of a part are among those asked about."""
        key = ["photo", "attribute", "step"]
        return set(self.edits(part)[key].itertuples(index=False, name=None)) <= set(
            asked[key].itertuples(index=False, name=None)
        )

    def count(self, part: int) -> int:
        """How many they are."""
        if self._dropped or self._placebos is not None:
            return len(self.edits(part))
        return _rows(part_path(self._run, SYNTHESIS, tables.EDITS, part))


def _where(rows: pd.DataFrame, wanted: Callable[[tuple[str, str], str], bool]) -> pd.DataFrame:
    """The rows that are wanted by their (photo, attribute) and kind of placebo."""
    kinds = {name: placebo.split(name) for name in rows["attribute"].unique()}
    judged = {
        name: (split(attribute)[0], kind) for name, (attribute, kind) in kinds.items()
    }  # both of a grid alike
    sweeps = (
        (photo, *judged[name]) for photo, name in zip(rows["photo"], rows["attribute"], strict=True)
    )
    return rows[
        np.array([wanted((photo, attribute), kind) for photo, attribute, kind in sweeps], bool)
    ]


def _sample(photos: Iterable[str], most: int, seed: int) -> list[str]:
    """At most this many of the photos, drawn at random, the same ones whenever they are asked for."""
    return sorted(
        photos, key=lambda photo: hashlib.sha256(f"{seed}:sample:{photo}".encode()).digest()
    )[:most]
