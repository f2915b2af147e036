"""Held-out faces and what an audit would make of them: the real rooms, on photos that no model has learned from."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gslopes.core.errors import DataMissing
from gslopes.core.geometry import outside, similarity, warp
from gslopes.core.records import ByteArray, EditedChips, Face, FloatArray, Photo
from gslopes.faces.compose.masks import heads_of
from gslopes.faces.compose.paste import compose
from gslopes.faces.compose.skin import ParserMasker
from gslopes.faces.edit.editors import FaceEditor, FaderEditor, editor_of
from gslopes.faces.zoo import load
from gslopes.faces.zoo.framing import CHIP, FRAMES
from gslopes.faces.zoo.loading import LoadedModel
from gslopes.faces.zoo.spec import Blend
from gslopes.photos.folder import open_photo
from training.chips import find_points
from training.sources import LabelledPhotos, read_london, read_utkface

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)
REGIONS = ("face", "skin")
MOST_OUTSIDE = 0.15  # of a tight chip's area beyond its picture: more of turned heads
BATCH = 16
SPLIT_SEED = 48
SIZE = 128
AGES = "under 35", "35 and over"
Half = Literal["choose", "card"]
Way = tuple[str, str]  # region, blend


PUBLISHED: tuple[str, Blend] = (
    "skin",
    "paste",
)  # the way of the paper, which has no table of steps


def ways(editor: FaceEditor) -> tuple[tuple[str, Blend], ...]:
    """(region, blend) of the composites that are judged, the editor's default first."""
    own: tuple[tuple[str, Blend], ...] = (
        (editor.region, editor.blend),
        ("skin", editor.blend),
        ("face", "paste"),
    )
    if isinstance(editor, FaderEditor):
        own = (*own, PUBLISHED)
    return tuple(dict.fromkeys(own))


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Held-out faces with what their annotators, or they themselves, said.

    name: of the set.  photos, faces: n of each.  labels: (n,) each: masculine and the races 0, 1 or NaN, age in years.
    """

    name: str
    photos: list[Photo]
    faces: list[Face]
    labels: dict[str, NDArray[np.float32]]

    def __len__(self) -> int:
        return len(self.photos)

    def chips(self, size: int) -> ByteArray:
        """(n, size, size, 3) uint8 RGB, aligned."""
        return np.stack(
            [warp(p.pixels, f.matrix, size) for p, f in zip(self.photos, self.faces, strict=True)]
        )

    def take(self, rows: NDArray[np.intp]) -> HeldOut:
        """Only these faces."""
        labels = {name: values[rows] for name, values in self.labels.items()}
        return HeldOut(
            self.name, [self.photos[i] for i in rows], [self.faces[i] for i in rows], labels
        )

    def half(self, which: Half) -> HeldOut:
        """The people of one half: ``choose`` for choosing settings and looking at sheets, ``card`` only for cards.

        Divided once, by a digest of seed and file name; UTKFace does not tell which photos show one person.
        """
        digests = (
            hashlib.sha256(f"{SPLIT_SEED} {photo.path.stem}".encode()).digest()[0]
            for photo in self.photos
        )
        chosen = np.array([digest % 2 == (which == "card") for digest in digests], bool)
        return self.take(np.flatnonzero(chosen))

    def groups(self) -> dict[str, NDArray[np.object_]]:
        """(n,) names of perceived gender, race, age and their combination, as annotated."""
        gender = np.where(self.labels["masculine"] > 0.5, "men", "women").astype(object)
        names = [name for name in self.labels if name not in ("masculine", "age")]
        shares = np.nan_to_num(np.stack([self.labels[name] for name in names], 1))
        race = np.where(
            shares.any(1), np.array(names, object)[np.argmax(shares, 1)], "race unknown"
        )
        age = np.where(self.labels["age"] < 35, *AGES).astype(object)
        return {
            "gender": gender,
            "race": race,
            "age": age,
            "gender, race and age": gender + ", " + race + ", " + age,
        }


def sets(data: Path, attribute: str, most: int | None, device: str, half: Half) -> list[HeldOut]:
    """One half of UTKFace's held-out faces, for race only White and Black people, and of London's, if it is there.

    most: of UTKFace's photos, chosen by seed; London's are the neutral portraits, with people's reports of themselves.

    Raises: DataMissing.
    """
    every = read_utkface(data)
    held = _aligned("UTKFace", every, every.held_out(), device, MOST_OUTSIDE)
    if attribute == "race":
        held = held.take(np.flatnonzero(held.labels["white"] + held.labels["black"] > 0))
    held = held.half(half)
    samples = [held.take(np.sort(np.random.default_rng(0).permutation(len(held))[:most]))]
    with contextlib.suppress(DataMissing):
        london = read_london(data, "neutral")
        samples.append(_aligned("London", london, np.ones(len(london), bool), device).half(half))
    return samples


def _aligned(
    name: str,
    every: LabelledPhotos,
    chosen: NDArray[np.bool_],
    device: str,
    beyond: float = 1.0,
) -> HeldOut:
    """Faces of these photos that can be aligned.  beyond: share of a tight chip outside its photo, at most."""
    rows = np.flatnonzero(chosen).tolist()
    points = find_points(tuple(every.paths[row] for row in rows), device)
    photos = []
    faces = []
    aligned = []
    for row, landmarks in zip(rows, points, strict=True):
        matrices = [
            None if landmarks is None else similarity(landmarks, frame * SIZE - 0.5)
            for frame in (CHIP, FRAMES["tight"])
        ]
        if landmarks is None or matrices[0] is None or matrices[1] is None:
            continue
        photo = open_photo(every.paths[row])
        height, width = photo.pixels.shape[:2]
        if outside(matrices[1], width, height, SIZE) <= beyond:
            photos.append(photo)
            faces.append(
                Face(np.array([0, 0, width, height], np.float32), landmarks, 1.0, 1, matrices[0])
            )
            aligned.append(row)
    return HeldOut(
        name, photos, faces, {column: every.column(column)[aligned] for column in every.names}
    )


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """One batch of faces at every value.

    rows: slice of the held-out faces.  masks: region to (B, S, S).
    pictures: (region, blend) to B lists of K photos, (H, W, 3) uint8 RGB.
    """

    rows: slice
    masks: dict[str, FloatArray]
    pictures: dict[tuple[str, str], list[list[ByteArray]]]


def edited(
    editor: FaderEditor, chips: ByteArray, values: FloatArray, blend: Blend, published: bool
) -> EditedChips:
    """The sweep of chips for a blend.  published: at the values themselves, whatever the spec's table says."""
    adjusted = copy(editor)
    adjusted.blend = blend
    adjusted.steps = () if published else editor.spec.steps
    return adjusted.sweep(chips, values)


def swept(
    held: HeldOut,
    editor: FaceEditor,
    device: str,
    at: Sequence[float] = VALUES,
    only: Way | None = None,
) -> Iterator[Swept]:
    """Composites of all faces at these values, batch by batch, in every way or in one."""
    maskers = {
        region: ParserMasker(load("face-parser", device), region, editor.size, device)
        for region in REGIONS
    }
    values = np.array(at, np.float32)
    chosen = [way for way in ways(editor) if only in (None, way)]
    for start in range(0, len(held), BATCH):
        rows = slice(start, start + BATCH)
        photos = held.photos[rows]
        faces = held.faces[rows]
        chips = HeldOut(held.name, photos, faces, {}).chips(editor.size)
        swept_by: dict[tuple[Blend, bool], EditedChips] = {}
        for way in chosen:  # of another editor than a Fader Network all share one edit
            key = way[1], way == PUBLISHED
            if isinstance(editor, FaderEditor):
                swept_by[key] = swept_by.get(key) or edited(editor, chips, values, *key)
            else:
                swept_by[key] = next(iter(swept_by.values()), None) or editor.sweep(chips, values)
        masks = {
            region: masker(photos, faces, chips, editor.border)
            for region, masker in maskers.items()
        }
        masks["head"] = masks["face"]  # what a judge looks at is the face
        heads = heads_of(maskers["face"], photos, faces, chips, editor.border)
        pictures: dict[tuple[str, str], list[list[ByteArray]]] = {}
        for region, blend in chosen:
            pictures[region, blend], edits = [], swept_by[blend, (region, blend) == PUBLISHED]
            for i, (photo, face) in enumerate(zip(photos, faces, strict=True)):
                head = heads[i] if region == "head" else None
                picture = compose(
                    photo.pixels,
                    photo.gray,
                    edits.of(i),
                    masks[region][i],
                    face.matrix,
                    blend,
                    head,
                )
                pictures[region, blend].append([picture.picture(k) for k in range(len(values))])
        yield Swept(rows, masks, pictures)


FACES = 12
MARGIN = 0.9  # around the box of the five points, in units of its longer side


def contact_sheets(
    model: LoadedModel, data: Path, device: str, folder: Path, side: int = 256
) -> None:
    """Write sheets of twelve faces of each set, chosen by seed from the half that may be looked at.

    A row is a face: the photo, then its composites at -2, -1, 0, 1, 2, cells of ``side`` pixels. One sheet in an
    editor's default way, and one as published if ``ways`` has it.

    Raises: DataMissing, ModelError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    editor = editor_of(model, device)
    sheets = {ways(editor)[0]: ""} | {
        way: "-as-published" for way in ways(editor)[1:] if way == PUBLISHED
    }
    for held in sets(data, model.spec.labels[0], None, device, "choose"):
        few = held.take(np.sort(np.random.default_rng(0).permutation(len(held))[:FACES]))
        batches = list(swept(few, editor, device))
        for way, name in sheets.items():
            rows = [
                np.concatenate(
                    [_cut(picture, face.points, side) for picture in (photo.pixels, *pictures)], 1
                )
                for batch in batches
                for photo, face, pictures in zip(
                    few.photos[batch.rows], few.faces[batch.rows], batch.pictures[way], strict=True
                )
            ]
            file = folder / f"{model.spec.name}-{held.name.lower()}{name}.png"
            Image.fromarray(np.concatenate(rows)).save(file)


def _cut(
    picture: ByteArray, points: np.ndarray[tuple[int, ...], np.dtype[np.float32]], side: int
) -> ByteArray:
    """The square around the face, (side, side, 3)."""
    middle = points.mean(0)
    half = float(np.ptp(points, axis=0).max()) * (0.5 + MARGIN)
    x0, y0 = np.maximum(np.floor(middle - half), 0).astype(int)
    x1, y1 = np.ceil(middle + half).astype(int)
    part = picture[y0:y1, x0:x1]
    longest = max(part.shape[:2])
    square = cv2.copyMakeBorder(
        part, 0, longest - part.shape[0], 0, longest - part.shape[1], cv2.BORDER_REPLICATE
    )
    return np.asarray(cv2.resize(square, (side, side), interpolation=cv2.INTER_AREA), np.uint8)
