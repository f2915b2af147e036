"""An editor's own value at each step: at 0 neutral, and equal steps of the value are equal steps of readings."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from scipy.special import logit

from gslopes.core.errors import ModelError
from gslopes.core.files import read_json
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import Face, Photo
from gslopes.core.runfolder import write_bytes
from gslopes.faces.edit.editors import FaderEditor, editor_of
from gslopes.faces.gate.manipulation import means
from gslopes.faces.zoo import LoadedModel, load
from gslopes.faces.zoo.framing import CHIP
from gslopes.faces.zoo.reader import FaceReader, cropped, normalised
from gslopes.faces.zoo.spec import FILE, folder_of, read_spec
from training.editor_sets import GROWN, OLD
from training.evaluation.composites import PUBLISHED, SIZE, Half, HeldOut, sets, swept, ways
from training.evaluation.models import fill
from training.measure import cell
from training.weights import write_weights

VALUES = np.linspace(-2, 2, 7)
TAGGED = {"gender": ("Male", 1), "age": ("Young", -1)}  # what celeba-tagger reads of them
FINE = np.linspace(-1, 1, 13)  # curves are read at FINE times the end
Floats = NDArray[np.float64]


def find_steps(
    model: str, data: Path, most: int = 60, *, end: float = 2, write: bool = True
) -> dict[str, Any]:
    """The table of an editor, chosen on one half of the held-out people and judged on the other.

    most: faces of either end of the attribute, of each set.  end: its value at 2, in the unit of own values; a
        Fader Network has seen none beyond 1.  write: into spec, weights and card as well.

    Raises: UnknownName, DataMissing; ModelError if no table serves, see ``solve``.
    """
    loaded = load(model)
    unit = (
        tuple((FINE[::2] * 2).tolist()) if loaded.spec.own_zero else ()
    )  # as it is, but with its zeros
    plain = replace(loaded, spec=replace(loaded.spec, steps=unit))
    chosen = read(plain, data, "choose", end * FINE, ("labeller", "celeba-tagger"), most)
    curves = np.array([logit(readings).mean(0) for readings in chosen.values()]).mean(0)
    table = solve(curves[:-1] - curves[-1], end)
    seen = read(plain, data, "card", np.array([*VALUES * end / 2, *table]), ("judge",), most)
    tables = {}
    for name, readings in (seen | {"both": np.concatenate([*seen.values()])}).items():
        photos = cell(means(readings[:, -1:])[0])
        for when, part in (("evenly spaced", readings[:, :7]), ("by the table", readings[:, 7:-1])):
            rows = {
                f"{value:+.2f}": {"mean reading": cell(n)}
                for value, n in zip(VALUES, means(part), strict=True)
            }
            for row, n in zip([*rows.values()][1:], means(np.diff(logit(part))), strict=True):
                row["step of log-odds"] = cell(n)
            tables[f"{name}, {len(part)} faces, {when}"] = {
                "photos": {"mean reading": photos},
                **rows,
            }
    if write:
        write_steps(model, table)
    return {"note": f"steps = {list(table)}", "tables": tables}


def read(
    model: LoadedModel, data: Path, half: Half, values: Floats, readers: tuple[str, ...], most: int
) -> dict[str, Floats]:
    """Readings (readers x faces, K + 1), 0.001 to 0.999, of composites and of the photo, set by set.

    As many faces of either end: what their photos read on average is neutral, whatever a reader leans to.
    Ages at the ends are those of the training. Sets without faces of both ends are left out. A Fader Network's are as
    published. Race is not read by ``celeba-tagger``.
    """
    editor = editor_of(model)
    attribute = model.spec.labels[0]
    curves = {}
    way = PUBLISHED if isinstance(editor, FaderEditor) else ways(editor)[0]
    for held in sets(data, attribute, None, "cpu", half):
        ends = faces_of_both_ends(held, attribute)
        count = min(most, *(int(end.sum()) for end in ends))
        if not count:
            continue
        drawn = [np.random.default_rng(0).permutation(np.flatnonzero(end))[:count] for end in ends]
        few = held.take(np.sort(np.concatenate(drawn)))
        photos, faces = zip(*map(small, few.photos, few.faces), strict=True)
        few = replace(few, photos=list(photos), faces=list(faces))
        parts = []
        for batch in swept(few, editor, "cpu", values.tolist(), way):
            rows = zip(
                batch.pictures[way], few.photos[batch.rows], few.faces[batch.rows], strict=True
            )
            readings = [
                warp(picture, f.matrix, SIZE)
                for row, photo, f in rows
                for picture in (*row, photo.pixels)
            ]
            x = torch.from_numpy(np.stack(readings)).permute(0, 3, 1, 2).float() / 255
            for reader in map(load, readers):
                if reader.spec.name != "celeba-tagger":
                    reading = FaceReader(reader).attributes(x, (attribute,))[:, 0]
                elif attribute in TAGGED:
                    label, sign = TAGGED[attribute]
                    faces_seen = normalised(reader, cropped(x, reader.spec.crop, reader.spec.size))
                    logits = reader.module(faces_seen)[:, reader.spec.labels.index(label)]
                    reading = (sign * logits).sigmoid()
                else:
                    continue
                parts.append(
                    reading.double().numpy().reshape(-1, len(values) + 1).clip(0.001, 0.999)
                )
        curves[held.name] = np.concatenate(parts)
    return curves


def faces_of_both_ends(held: HeldOut, attribute: str) -> tuple[NDArray[np.bool_], ...]:
    """(n,) which faces are annotated as of the first end, and of the second."""
    if attribute == "age":
        years = held.labels["age"]
        return years < GROWN[1], years >= OLD
    first, second = {
        "gender": (("masculine", 0), ("masculine", 1)),
        "race": (("black", 1), ("white", 1)),
    }[attribute]
    return held.labels[first[0]] == first[1], held.labels[second[0]] == second[1]


def small(photo: Photo, face: Face) -> tuple[Photo, Face]:
    """A photo at no more than twice the chip's resolution, of which nothing more is read."""
    scale = 2 * float(np.hypot(*face.matrix[0, :2]))
    points = (face.points + 0.5) * scale - 0.5
    matrix = similarity(points, CHIP * SIZE - 0.5)
    if scale >= 1 or matrix is None:
        return photo, face
    pixels = cv2.resize(photo.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return replace(photo, pixels=np.asarray(pixels, np.uint8)), replace(
        face, box=face.box * scale, points=points, matrix=matrix
    )


def solve(curve: Floats, end: float = 2) -> tuple[float, ...]:
    """The table for mean log-odds above the photos' own, at ``end * FINE``: neutral at 0, even steps, the same ends.

    A step is a third of the way from the middle to the nearer end, so that on the farther side the last step is longer.

    Raises: ModelError if the nearer end is not a quarter of the whole way from the middle.
    """
    rising = np.maximum.accumulate(curve) + 1e-6 * np.arange(len(curve))
    step = min(-rising[0], rising[-1]) / 3
    if 12 * step < rising[-1] - rising[0]:
        message = f"Log-odds run from {rising[0]:.2f} to {rising[-1]:+.2f} of photos'"
        message += " own: no value is neutral between."
        raise ModelError(message, "Train it for longer, or leave steps out of its spec.")
    targets = [rising[0], -2 * step, -step, 0, step, 2 * step, rising[-1]]
    return tuple(round(float(value), 3) for value in np.interp(targets, rising, end * FINE))


def write_steps(model: str, table: tuple[float, ...]) -> None:
    """Put a table into an editor's spec, its weights' own, with their new sha256, and the card."""
    folder = folder_of(model)
    path = folder.parents[1] / "models" / model / "spec.toml"
    text = re.sub(r"^steps = .*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    write_bytes(path, f"{text}steps = {list(table)}\n".encode())
    digest = write_weights(folder, read_spec(path), load_file(folder / FILE))
    metrics = {**read_json(folder / "metrics.json"), "sha256": digest}
    write_bytes(folder / "metrics.json", (json.dumps(metrics, indent=2) + "\n").encode())
    write_bytes(path.with_name("card.md"), fill(folder.parents[1], model).encode())
