"""An editor on held-out faces: does it move its target, what else, who is it then, and does it look like a photo?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from gslopes.core.errors import DataMissing, UsageError
from gslopes.core.geometry import warp
from gslopes.core.records import ByteArray, Face, FloatArray
from gslopes.faces.edit.editors import FaceEditor, PhotoValues, editor_of
from gslopes.faces.gate import manipulation
from gslopes.faces.gate.manipulation import mean
from gslopes.faces.gate.sweep_measurer import luminance, sharpness
from gslopes.faces.networks.mtcnn import Mtcnn
from gslopes.faces.zoo import load, reader
from gslopes.faces.zoo.loading import LoadedModel
from gslopes.photos.folder import open_photo
from training.chips import find_points
from training.evaluation import measures
from training.evaluation.composites import PUBLISHED, SIZE, VALUES, HeldOut, Way, sets, swept, ways
from training.measure import cell, thirds

Table = dict[str, dict[str, Any]]  # row to column to a number with its interval, a number or a word
Readings = dict[str, NDArray[np.float64]]
Groups = dict[str, NDArray[np.object_]]

OTHERS = {
    "gender": ("race", "young", "smiling"),
    "race": ("gender", "young", "smiling"),
    "age": ("gender", "race", "smiling"),
}
TARGETS = {"gender": "P(masculine)", "race": "P(White)", "age": "P(35 or over)"}
TAGGED = (("glasses", ("glasses", "no glasses")), ("beard", ("beard", "no beard")))
GALLERY = 200  # faces among which the recogniser looks for each
SIDE = 64  # pixels of the two-sample test's chips
TESTED = 600  # faces in one draw of that test: with more of them its network sees more
CENTRE = VALUES.index(0.0)


class Judges:
    """The networks that read composites: the judge, which shares no photo and no weight with the editors, and MTCNN.

    The judge learned from the judges' fold of UTKFace and from CelebA's first 10,000 pictures, whose identities are not
    among the editors' wide portraits.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.judge = reader.FaceReader.load(device)
        self.detector = Mtcnn(30).to(device)

    def read(
        self, pictures: list[list[ByteArray]], faces: list[Face], masks: FloatArray
    ) -> tuple[Readings, ByteArray]:
        """({reading: (B, K)}, chips (B, K, S, S, 3)) of B photos at K values.

        pictures: B lists of K photos, (H, W, 3) uint8 RGB.  masks: (B, S, S), for luminance and sharpness.

        Probabilities in [0, 1]; race is White among White and Black, age what is not young. Luminance is mean L* in 0
        to 100, sharpness the logarithm of the Laplacian's variance, both within the mask.
        """
        size = masks.shape[1]
        chips = np.stack(
            [
                [warp(picture, face.matrix, size) for picture in row]
                for row, face in zip(pictures, faces, strict=True)
            ]
        )
        count, steps = chips.shape[:2]
        flat = chips.reshape(-1, size, size, 3)
        read = self.judge(flat)
        within = np.repeat(masks, steps, 0)
        columns = {
            **{
                name: reader.attribute(read, name)
                for name in ("gender", "race", "age", "young", "smiling")
            },
            "luminance": luminance(flat, within),
            "sharpness": sharpness(flat, within),
        }
        return {
            name: np.asarray(v, np.float64).reshape(count, steps) for name, v in columns.items()
        }, chips

    def found(self, pictures: list[list[ByteArray]]) -> NDArray[np.bool_]:
        """(B, K) whether MTCNN still finds a face."""
        flat = [picture for row in pictures for picture in row]
        return np.array([len(d.scores) > 0 for d in self.detector(flat)]).reshape(len(pictures), -1)


@dataclass
class Composites:
    """Everything that was read from composites.

    readings: way to reading to (n, K).  plain: reading to (n,), of the unedited photos.
    chips: way to (n, K, S, S, 3), of the default region with both blends.
    masks: region to (n, S, S).  found: (m, K) whether a face is found again, default way, in the
        photos in which it is found unedited.
    photos: of the first m faces the composites at every value, default way.
    default: the way of an audit.
    """

    default: Way
    readings: dict[Way, Readings] = field(default_factory=dict)
    plain: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    chips: dict[Way, ByteArray] = field(default_factory=dict)
    masks: dict[str, FloatArray] = field(default_factory=dict)
    found: NDArray[np.bool_] | None = None
    photos: list[list[ByteArray]] = field(default_factory=list)


def evaluate_editor(
    model: LoadedModel, data: Path, most: int | None, device: str
) -> tuple[str, dict[str, Table]]:
    """The tables of an editor's card.  Raises: DataMissing, ModelError."""
    attribute = model.spec.labels[0]
    if model.spec.name.startswith("drawn-"):
        raise UsageError(
            f"{model.spec.name} edits drawn faces.",
            "python -m training calibrate holds it against the truth.",
        )
    editor = editor_of(model, device)
    judges = Judges(device)
    tables: dict[str, Table] = {}
    counts = []
    for held in sets(data, attribute, most, device, "card"):
        composites = look(held, editor, judges, device)
        found = {
            "what it edits": edited_table(composites, attribute),
            "what else moves": leakage_table(composites, attribute),
            "for whom": group_table(composites, held, attribute, tagged(held, device)),
            "how natural": realism_table(composites, held),
        }
        found |= identity_tables(held, composites, data)
        tables |= {f"{title}, {held.name}": table for title, table in found.items()}
        counts.append(f"{len(held)} of {held.name}")
    note = (
        f"Measured on the half of the held-out people that nothing is chosen on, {' and '.join(counts)}, composited "
        "into their photos at full size as an audit does. The judge shares no photo or weight with the editor, nor "
        "with what labelled its training photos or reads a face's own values. In brackets 95 % bootstrap intervals "
        "over photos."
    )
    return note, {
        "reached": reached(attribute, f"{editor.region}, {editor.blend}", tables),
        **tables,
    }


def reached(attribute: str, way: str, tables: dict[str, Table]) -> Table:
    """The rows of the card, of each set of faces that was measured.  way: of an audit, such as ``face, ratio``."""
    target = TARGETS[attribute]
    rows: dict[str, Any] = {}
    for name in ("UTKFace", "London"):
        of_set = {
            title.removesuffix(f", {name}"): table
            for title, table in tables.items()
            if title.endswith(name)
        }
        if "what it edits" not in of_set:
            continue
        edits = of_set["what it edits"]
        natural = of_set["how natural"]
        shift = edits[f"{way}: reader"]
        published = edits.get("skin, paste: reader")
        found = {
            f"shift of {target} from -2 to 2": shift["shift"],
            f"shift of {target} from -1 to 1": shift["shift, -1 to 1"],
            "faces whose reading follows the values (tau 0.8)": shift["monotone"],
        }
        for value in ("-2", "-1", "+1", "+2"):
            found[f"two-sample AUC at {value}"] = natural[f"{way} at {value}"]["two-sample AUC"]
        for reading, row in of_set["what else moves"].items():
            if reading != "sharpness" and (
                reading != "luminance" or attribute != "race"
            ):  # race moves it by design
                found[f"{reading}, share of the target's slope"] = row[way]
        for group, row in of_set["for whom"].items():
            if group in ("gap by gender", "gap by race", "gap by age", "gap by skin tone"):
                found[f"{group} of the shift"] = row["shift"]
        if published and way != "skin, paste":
            found[f"as published: shift of {target} from -2 to 2"] = published["shift"]
            for value in ("-2", "+2"):
                test = natural[f"skin, paste at {value}"]["two-sample AUC"]
                found[f"as published: two-sample AUC at {value}"] = test
        worst = {
            "face still found, worst value": [
                row["face found"] for row in natural.values() if "face found" in row
            ]
        }
        identity = of_set.get("who it is", {}).values()
        worst["nearer to its own photo than to anyone else's, worst value"] = [
            row["nearest to itself"] for row in identity if "nearest to itself" in row
        ]
        found |= {
            what: min(numbers, key=lambda n: n["value"])
            for what, numbers in worst.items()
            if numbers
        }
        rows |= {f"{what}, {name}": {"number": number} for what, number in found.items()}
    return rows


def look(held: HeldOut, editor: FaceEditor, judges: Judges, device: str) -> Composites:
    """Composite every face in every way and read it."""
    composites = Composites(ways(editor)[0])
    parts = defaultdict[tuple[Any, ...], list[Any]](list)
    for batch in tqdm(
        swept(held, editor, device), total=-(-len(held) // 16), desc="composites", unit="batch"
    ):
        faces = held.faces[batch.rows]
        unedited = [[photo.pixels] for photo in held.photos[batch.rows]]
        plain, _ = judges.read(unedited, faces, batch.masks["face"])
        for way, pictures in batch.pictures.items():
            readings, chips = judges.read(pictures, faces, batch.masks[way[0]])
            for name, values in readings.items():
                parts["readings", way, name].append(values)
            if way in (composites.default, PUBLISHED):
                parts["chips", way].append(chips)
        for name, values in plain.items():
            parts["plain", name].append(values[:, 0])
        for region in batch.masks:
            parts["masks", region].append(batch.masks[region])
        default = batch.pictures[composites.default]
        parts["found",].append(
            judges.found([[*a, *b] for a, b in zip(unedited, default, strict=True)])
        )
        if len(composites.photos) < GALLERY:
            composites.photos += default
    for (what, *key), pieces in parts.items():
        joined = np.concatenate(pieces)
        match what:
            case "readings":
                composites.readings.setdefault(key[0], {})[key[1]] = joined
            case "found":
                composites.found = joined[joined[:, 0], 1:]
            case _:
                getattr(composites, what)[key[0]] = joined
    composites.photos = composites.photos[:GALLERY]
    return composites


def edited_table(composites: Composites, attribute: str) -> Table:
    """Mean reading of the target at every value, the shift, the share of faces that follow."""
    table: Table = {}
    for way, readings in composites.readings.items():
        target = readings[attribute]
        row = {f"{v:+g}": cell(n) for v, n in zip(VALUES, manipulation.means(target), strict=True)}
        row["shift"] = cell(manipulation.shift(target))
        row["shift, -1 to 1"] = cell(manipulation.shift(target[:, 1:-1]))
        row["monotone"] = cell(manipulation.share_monotone(target, VALUES))
        table[f"{way[0]}, {way[1]}: reader"] = row
    return table


def leakage_table(composites: Composites, attribute: str) -> Table:
    """Slopes of other readings as a share of the target's, way by way."""
    table: Table = {}
    for name in (*OTHERS[attribute], "luminance", "sharpness"):
        row = {}
        for way, readings in composites.readings.items():
            share = manipulation.share_of_target(
                readings[name],
                readings[attribute],
                VALUES,
                other_unedited=composites.plain[name],
                target_unedited=composites.plain[attribute],
            )
            row[f"{way[0]}, {way[1]}"] = cell(share)
        table[name] = row
    return table


def group_table(
    composites: Composites, held: HeldOut, attribute: str, more: Groups | None = None
) -> Table:
    """The shift by group, default way.  more: kind to (n,) names of groups."""
    table: Table = {}
    target = composites.readings[composites.default][attribute]
    tones = {"skin tone": thirds(composites.plain["luminance"])}
    for kind, names in (held.groups() | tones | (more or {})).items():
        groups = manipulation.shift_by_group(target, names)
        for name, group in groups.each.items():
            if group.n >= 20:
                table[name] = {"faces": group.n, "shift": cell(group.number)}
        if groups.gap is not None:
            table[f"gap by {kind}"] = {"faces": len(held), "shift": cell(groups.gap)}
    return table


@torch.inference_mode()
def tagged(held: HeldOut, device: str) -> Groups:
    """(n,) whether each face has glasses and a beard, as celeba-tagger reads the unedited photos."""
    read = PhotoValues(
        load("labeller", device), ("eyeglasses", "beard", "young"), load("celeba-tagger", device)
    )
    chips = torch.from_numpy(held.chips(SIZE)).permute(0, 3, 1, 2)
    values = (
        torch.cat([read(part.to(device).float() / 255) for part in chips.split(64)]).cpu().numpy()
    )
    return {
        kind: np.where(column > 0, *names).astype(object)
        for (kind, names), column in zip(TAGGED, values.T[:2], strict=True)
    }


def realism_table(composites: Composites, held: HeldOut) -> Table:
    """Are composites and photos distinguishable, and is a face still found?"""

    def small(chips: ByteArray) -> ByteArray:
        return np.stack([cv2.resize(c, (SIDE, SIDE), interpolation=cv2.INTER_AREA) for c in chips])

    table: Table = {}
    photos = small(held.chips(composites.masks["face"].shape[1]))
    for way, chips in composites.chips.items():
        for k, value in enumerate(tqdm(VALUES, desc="two-sample tests", unit="value")):
            tested = measures.two_sample_auc(photos, small(chips[:, k]), most=TESTED)
            row = {"two-sample AUC": cell(tested)}
            if way == composites.default and composites.found is not None:
                row["face found"] = cell(mean(composites.found[:, k].astype(float)))
            table[f"{way[0]}, {way[1]} at {value:+g}"] = row
    return table


def identity_tables(held: HeldOut, composites: Composites, data: Path) -> dict[str, Table]:
    """Cosines of a third party's face embedding, next to real pairs; empty without the extra or the set."""
    try:
        embed = reader.face_embedder()
        pairs = london_pairs(data)
    except (UsageError, DataMissing) as error:
        return {"who it is": {"not measured": {"why": str(error).split("\n")[0]}}}
    first, second = (embed(photos, points) for photos, points in pairs)
    points = np.stack([face.points for face in held.faces[: len(composites.photos)]])
    unedited = embed([photo.pixels for photo in held.photos[: len(composites.photos)]], points)
    centre = embed([row[CENTRE] for row in composites.photos], points)
    cosines = {
        "London, one person neutral and smiling": reader.cosine(first, second),
        "London, two persons": reader.cosine(first, np.roll(first, 1, 0)),
        f"{held.name}, two of the faces": reader.cosine(unedited, np.roll(unedited, 1, 0)),
    }
    table: Table = {name: {"cosine": cell(mean(values))} for name, values in cosines.items()}
    for k, value in enumerate(VALUES):
        if k != CENTRE:
            edited = embed([row[k] for row in composites.photos], points)
            table[f"at {value:+g} and at 0"] = {
                "cosine": cell(mean(reader.cosine(edited, centre))),
                "nearest to itself": cell(measures.nearest_itself(edited, unedited)),
            }
    return {"who it is": table}


def london_pairs(data: Path) -> list[tuple[list[ByteArray], FloatArray]]:
    """The London set's neutral and smiling photos in one order, with MTCNN's five points.  Raises: DataMissing."""
    sides = {
        kind: {path.name: path for path in (data / kind).glob("*.jpg")}
        for kind in ("neutral", "smiling")
    }
    names = sorted(set.intersection(*map(set, sides.values())))
    if not names:
        raise DataMissing(
            f"The London set (neutral/ and smiling/) is not below {data}.",
            "Unpack it there, or name another folder with --data.",
        )
    paths = [tuple(side[name] for name in names) for side in sides.values()]
    points = [find_points(photos, "cpu") for photos in paths]
    good = [i for i in range(len(names)) if all(landmarks[i] is not None for landmarks in points)]
    return [
        (
            [open_photo(landmarks[i]).pixels for i in good],
            np.stack([np.asarray(known[i], np.float32) for i in good]),
        )
        for landmarks, known in zip(paths, points, strict=True)
    ]
