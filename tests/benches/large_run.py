"""Run folders of any size, drawn: the tables that a walk leaves behind, without photos and without asking anybody.

A plain audit, two attributes that are crossed, a set of pairs, an editor that others made. Written part by part, as a
run does, so that drawing one takes little memory. Each photo has labels of its own, which come and go along the sweep;
every tenth label leans.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gslopes.core import placebo, tables
from gslopes.core.crossed import Grid

KINDS = ("audit", "crossed", "pairs", "outside")
AT_ONCE = 2000  # photos
SAMPLE = 200  # photos whose placebos are asked about
GENDER = np.linspace(-2, 2, 7)
GRID = Grid(("gender", "race"), ((-2.0, -1.0, 0.0, 1.0, 2.0), (-2.0, 0.0, 2.0)))
PAIR = "gender: male − female"
GROUPS = ("north", "east", "south", "west")


def sweeps_of(kind: str) -> dict[str, np.ndarray[Any, Any]]:
    """Sweep to its values, placebos aside."""
    if kind == "crossed":
        return {GRID.name: np.arange(len(GRID.axes["gender"]), dtype=float)}
    if kind == "pairs":
        return {PAIR: np.array([0.0, 1.0])}
    return {"gender": GENDER}


def write(
    run: Path,
    kind: str,
    photos: int,
    answers: int,
    labels: int,
    classifiers: int = 1,
    files: Sequence[Sequence[str]] = (),
) -> None:
    """Draw a run folder.

    answers: rows of the table scores, about, placebos aside.  files: of pictures, K a photo, used again and again.
    """
    run.mkdir(parents=True)
    rng = np.random.default_rng(0)
    ids = np.array(sorted(sha256(str(index).encode()).hexdigest() for index in range(photos)))
    sweeps = sweeps_of(kind)
    values = GRID.sweeps if kind == "crossed" else {name: v.tolist() for name, v in sweeps.items()}
    names = [f"classifier-{index}" for index in range(classifiers)]
    width = len(next(iter(sweeps.values())))
    returned = max(1, round(answers / photos / width / classifiers))
    config: dict[str, Any] = {"pairs": "set.csv"} if kind == "pairs" else {}
    manifest = {
        "gslopes": "bench",
        "seed": 0,
        "values": values | ({GRID.name: sweeps[GRID.name].tolist()} if kind == "crossed" else {}),
        "classifiers": {name: {} for name in names},
        "config": config,
        "editor": {"gender": {"name": "python:edit"}} if kind == "outside" else {},
        "gate": {"applied": kind != "pairs"},
    }
    (run / "run.json").write_text(json.dumps(manifest))
    people = [f"{one},{GROUPS[index % 4]}" for index, one in enumerate(ids)]
    (run / "people.csv").write_text("photo,region\n" + "\n".join(people) + "\n")
    placebos = {placebo.name(name, one): v for name, v in sweeps.items() for one in placebo.KINDS}
    photo_rows(run, rng, ids)
    lean = np.where(np.arange(labels) % 10 == 0, rng.normal(0, 0.4, labels), 0)
    popular = 1 / np.arange(10, labels + 10)
    with Writers(run) as writers:
        for classifier in names:
            for start in range(0, photos, AT_ONCE):
                some = ids[start : start + AT_ONCE]
                parts = dict(sweeps)
                if start < SAMPLE:
                    parts |= placebos
                for sweep, along in parts.items():
                    asked = some[: SAMPLE - start] if sweep in placebos else some
                    slope = np.zeros(labels) if sweep in placebos else lean
                    ours = np.array(GRID.axes["gender"]) if kind == "crossed" else along
                    answered(
                        writers,
                        rng,
                        classifier,
                        sweep,
                        asked,
                        along,
                        slope,
                        popular,
                        returned,
                        ours,
                    )
                    if classifier == names[0]:
                        edited(writers, rng, kind, sweep, asked, along, files, start)


def photo_rows(run: Path, rng: np.random.Generator, ids: np.ndarray[Any, Any]) -> None:
    """Photos, and as many again of a tenth that were skipped."""
    skipped = len(ids) // 10
    lost = [sha256(f"lost {index}".encode()).hexdigest() for index in range(skipped)]
    every = [*ids.tolist(), *lost]
    count = len(every)
    used = np.arange(count) < len(ids)
    box = [128.0, 100.0, 384.0, 400.0]
    columns = {
        "photo": every,
        "path": [f"people/{index:07d}.jpg" for index in range(count)],
        "width": np.full(count, 512),
        "height": np.full(count, 512),
        "status": np.where(used, "used", "skipped"),
        "reason": np.where(used, "", "no-face"),
        "detail": np.full(count, ""),
        "faces": used.astype(int),
        "box": [box if one else None for one in used],
        "points": pa.nulls(count),
        "detection": pa.nulls(count),
    }
    with Writers(run) as writers:
        writers(tables.PHOTOS, columns)


def answered(
    writers: Writers,
    rng: np.random.Generator,
    classifier: str,
    sweep: str,
    photos: np.ndarray[Any, Any],
    values: np.ndarray[Any, Any],
    lean: np.ndarray[Any, Any],
    popular: np.ndarray[Any, Any],
    returned: int,
    along: np.ndarray[Any, Any],
) -> None:
    """What a classifier says of a sweep of some photos: twice as many labels come and go as a picture has."""
    n, width = len(photos), len(values)
    many = min(2 * returned, len(popular))
    own = rng.choice(len(popular), (n, 2 * many + 8), p=popular / popular.sum())
    order = np.argsort(own, axis=1, kind="stable")
    new = np.diff(np.take_along_axis(own, order, axis=1), axis=1, prepend=-1) > 0
    first = np.empty_like(new)  # each label once
    np.put_along_axis(first, order, new, axis=1)
    first &= np.cumsum(first, axis=1) <= many
    score = rng.random((n, own.shape[1], 1)) + rng.normal(0, 0.15, (n, own.shape[1], width))
    score += lean[own][..., None] * along / 2
    has = (score > 0.5) & first[..., None]
    photo, place, step = np.nonzero(has)
    order = np.lexsort((own[photo, place], step, photo))
    photo, place, step = photo[order], place[order], step[order]
    rows = len(photo)
    writers(
        tables.SCORES,
        {
            "photo": photos[photo],
            "attribute": np.full(rows, sweep),
            "step": step,
            "value": values[step],
            "classifier": np.full(rows, classifier),
            "label": np.array([f"label {index:04d}" for index in range(len(popular))])[
                own[photo, place]
            ],
            "score": np.clip(score[photo, place, step], 0, 1),
        },
    )
    writers(
        tables.ASKED,
        {
            **_keys(photos, sweep, width),
            "classifier": np.full(n * width, classifier),
            "status": np.full(n * width, "answered"),
            "reason": np.full(n * width, ""),
            "detail": np.full(n * width, ""),
        },
    )


def edited(
    writers: Writers,
    rng: np.random.Generator,
    kind: str,
    sweep: str,
    photos: np.ndarray[Any, Any],
    values: np.ndarray[Any, Any],
    files: Sequence[Sequence[str]],
    start: int,
) -> None:
    """A sweep of some photos, what a reader sees in it, and what the gate says of it."""
    n, width = len(photos), len(values)
    keys = _keys(photos, sweep, width)
    used = [files[(start + index) % len(files)] for index in range(n)] if files else []
    names = [name for one in used for name in one] or [
        f"edits/{sweep}/{photo[:16]}-{step}.jpg" for photo in photos for step in range(width)
    ]
    more = {"value": np.tile(values, n), "file": names, "mask_area": np.full(n * width, 0.2)}
    writers(tables.EDITS, keys | more)
    if kind == "outside" and sweep == "gender":
        lost = rng.random(n) < 0.05
        status = np.where(lost, "failed", "answered").repeat(width)
        blank = dict.fromkeys(("detail", "model"), np.full(n * width, ""))
        facts = {"wording": np.full(n * width, -1), "status": status, **blank}
        facts |= {"reason": np.where(status == "failed", "server", "")}
        nothing = dict.fromkeys(("moved", "background", "clothes"), pa.nulls(n * width))
        writers(tables.EDITING, {**keys, "value": np.tile(values, n), **facts, **nothing})
    if placebo.is_placebo(sweep):
        return
    readings = ["gender", "race", "young", "smiling", "luminance", "sharpness"]
    readings += {"pairs": ["background", "identity"], "outside": ["background"]}.get(kind, [])
    axes = dict(zip(GRID.names, map(np.array, GRID.values), strict=True))
    for name, along in (axes if kind == "crossed" else {sweep: values}).items():
        own = [f"{name}" if one == "gender" and kind != "crossed" else one for one in readings]
        for reading in sorted(own):
            read = rng.normal(0, 0.05, (n, 1 + len(along))) + rng.random((n, 1)) * 0.3 + 0.3
            read[:, 1:] += 0.1 * along * (reading == name)
            times = 60 if reading == "luminance" else 1
            keys = _keys(photos, name, 1 + len(along))
            keys["step"] = keys["step"] - 1
            rows = n * (1 + len(along))
            facts = {
                "reading": np.full(rows, reading),
                "score": times * np.clip(read, 0, 1).ravel(),
            }
            writers(tables.READINGS, keys | facts)
        if kind != "pairs":
            kept = rng.random(n) > 0.03
            numbers = dict.fromkeys(
                ("tau", "shift", "off_target", "mask_share", "change", "identity")
            )
            facts = {name: pa.nulls(n) for name in numbers} | {"off_target_reading": np.full(n, "")}
            facts |= {"looked": np.full(n, 3), "found": np.full(n, 3), "mask_area": np.full(n, 0.2)}
            said = {
                "kept": kept,
                "reason": np.where(kept, "", "not-monotone"),
                "detail": np.full(n, ""),
            }
            writers(
                tables.VERDICTS, {"photo": photos, "attribute": np.full(n, name), **said, **facts}
            )


def _keys(photos: np.ndarray[Any, Any], sweep: str, width: int) -> dict[str, Any]:
    return {
        "photo": np.repeat(photos, width),
        "attribute": np.full(len(photos) * width, sweep),
        "step": np.tile(np.arange(width), len(photos)),
    }


class Writers:
    """Tables that are written part by part."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.open: dict[str, pq.ParquetWriter] = {}

    def __enter__(self) -> Writers:
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self.open.values():
            writer.close()

    def __call__(self, table: tables.Table, columns: Mapping[str, Any]) -> None:
        """Write a part of a table."""
        schema = table.schema.remove_metadata()
        if table.name not in self.open:
            file = self.run / f"{table.name}.parquet"
            self.open[table.name] = pq.ParquetWriter(file, schema, compression="zstd")
        arrays = [pa.array(columns[field.name]).cast(field.type) for field in schema]
        self.open[table.name].write_table(pa.Table.from_arrays(arrays, schema=schema))
