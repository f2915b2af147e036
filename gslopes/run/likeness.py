"""Is it still the same person? A run's edited faces next to their own centre picture, and next to other people's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.records import ByteArray, FloatArray
from gslopes.core.runfolder import part_path
from gslopes.datasets.folder import open_photo
from gslopes.executors import Executor, Tick
from gslopes.validate.estimates import Estimate, mean
from gslopes.validate.identity import FaceEmbedding, cosine

MOST = 100  # photos an attribute; an embedding takes a tenth of a second on a CPU
_PART = 10

Embed = Callable[[Sequence[ByteArray], FloatArray], FloatArray]


def recogniser() -> Embed | None:
    """The third party's face embedding, if the extra ``identity`` is installed."""
    try:
        return FaceEmbedding()
    except UsageError:
        return None


def compare_faces(run: Path, embed: Embed, executor: Executor, most: int = MOST) -> Path | None:
    """Write RUN/likeness.parquet: cosines of each face at every value, and of the next person's, with a centre picture.

    At most ``most`` photos an attribute, in the order of their ids; what an earlier call compared is not done again.
    Two photos are taken to be of two people: the floor against which a cosine means something.

    Returns: the table's path; None if no attribute has two photos with a face.

    Raises: TableError, StorageError; PhotoError if a picture of the run is damaged.
    """
    parts = _parts(run, most)
    if not parts:
        return None
    stage = f"likeness/{most}"
    with runfolder.locked(run):
        missing = runfolder.missing_parts(run, stage, tables.LIKENESS, len(parts))
        sizes = [len(part.photos) * len(part.values) for part in parts]
        due = {index: sizes[index] for index in missing}
        done = sum(sizes) - sum(due.values())
        executor(_Comparing(run, stage, parts, embed), due, label="likeness", unit="faces", done=done)
        return runfolder.merge(run, tables.LIKENESS, [stage], len(parts))


def likeness(run: Path, attribute: str) -> dict[str, Estimate]:
    """Mean cosines with their intervals: of the first and the last value with the centre, and of two people's centres.

    Empty if the run has no likeness table, see ``compare_faces``. Read a cosine against that of two people.
    """
    path = run / "likeness.parquet"
    if not path.exists():
        return {}
    rows = tables.read(tables.LIKENESS, path)
    rows = rows[rows["attribute"] == attribute]
    same = rows["photo"] == rows["other"]
    if rows.empty:
        return {}
    wanted = {
        "first value and centre": same & (rows["step"] == rows["step"].min()),
        "last value and centre": same & (rows["step"] == rows["step"].max()),
        "two people": ~same,
    }
    return {name: mean(rows.loc[here, "cosine"].to_numpy()) for name, here in wanted.items() if here.any()}


@dataclass(frozen=True, slots=True)
class _Part:
    """A few photos of one attribute: their ids, whose centre each is compared with, points, K values, picture files."""

    attribute: str
    photos: tuple[str, ...]
    others: tuple[str, ...]
    points: dict[str, FloatArray]
    values: tuple[float, ...]
    files: dict[tuple[str, int], str]


@dataclass(frozen=True, slots=True)
class _Comparing:
    """The work of the stage: compare the faces of one part."""

    run: Path
    stage: str
    parts: Sequence[_Part]
    embed: Embed

    def __call__(self, index: int, tick: Tick) -> None:
        part = self.parts[index]
        centre = len(part.values) // 2
        asked = list(dict.fromkeys([*part.photos, *part.others]))
        centres = dict(zip(asked, self._embed(part, asked, centre), strict=True))
        rows = []
        for step, value in enumerate(part.values):
            faces = self._embed(part, part.photos, step) if step != centre else [centres[one] for one in part.photos]
            pairs = zip(part.photos, part.photos, faces, strict=True)
            if step == centre:
                pairs = zip(part.photos * 2, part.photos + part.others, [*faces, *faces], strict=True)
            for photo, other, face in pairs:
                rows.append((photo, part.attribute, step, value, other, float(cosine(face, centres[other]))))
            tick(len(part.photos))
        frame = pd.DataFrame(rows, columns=tables.LIKENESS.columns).dropna()
        runfolder.write_table(tables.LIKENESS, frame, part_path(self.run, self.stage, tables.LIKENESS, index))

    def _embed(self, part: _Part, photos: Sequence[str], step: int) -> list[FloatArray]:
        pictures = [open_photo(part.files[photo, step], self.run).pixels for photo in photos]
        return list(self.embed(pictures, np.stack([part.points[photo] for photo in photos])))


def _parts(run: Path, most: int) -> list[_Part]:
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    found = zip(photos["photo"], photos["points"], strict=True)
    points = {photo: np.asarray(sweeps, np.float32).reshape(5, 2) for photo, sweeps in found if sweeps is not None}
    parts: list[_Part] = []
    for name, sweeps in edits[edits["photo"].isin(list(points))].groupby("attribute", sort=True):
        chosen = sorted(sweeps["photo"].unique())[:most]
        if placebo.is_placebo(str(name)) or len(chosen) < 2:
            continue
        values = tuple(sweeps.drop_duplicates("step").sort_values("step")["value"].tolist())
        files = dict(zip(zip(sweeps["photo"], sweeps["step"], strict=True), sweeps["file"], strict=True))
        after = [*chosen[1:], chosen[0]]
        for start in range(0, len(chosen), _PART):
            here = slice(start, start + _PART)
            few, others = tuple(chosen[here]), tuple(after[here])
            need = {photo: points[photo] for photo in (*few, *others)}
            named = {(photo, step): file for (photo, step), file in files.items() if photo in need}
            parts.append(_Part(str(name), few, others, need, values, named))
    return parts
