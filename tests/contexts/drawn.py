"""Drawn people before two walls, a tagger with a planted effect, and their audit in small parts."""

from __future__ import annotations

import io
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.contexts import stimuli
from gslopes.contexts.audit import audit_contexts
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.pictures import composing
from gslopes.core.reasons import listed
from gslopes.core.records import Answer, Detections, EditedChips
from gslopes.faces.gate.verdict import Measured
from tests.frame.audits import in_small_parts

PEOPLE = 24
CANVAS = (192, 128)
QUICK = ContextOptions(permutations=299)
COLOURS = {"bridal": (250, 200, 210), "garage": (120, 120, 130)}


class Finder:
    """The face of a drawn person is where it was drawn."""

    def __call__(self, photos):
        box = np.array([[58, 40, 102, 100]], np.float32)
        there = [photo.pixels.shape[:2] == (180, 160) for photo in photos]
        return [
            Detections(box[: int(face)], np.zeros((int(face), 5, 2), np.float32), np.ones(int(face), np.float32))
            for face in there
        ]


class Tagger:
    """Reads the shirt (women red, men blue) and the room; before the bridal room it also takes every second man,
    by the shirt's green level, for a woman.
    """

    name, version, batch = "planted", "1", 8

    def ask(self, pictures):
        return [self._tags(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)) for data in pictures]

    def parse(self, raw):
        return Answer("answered", tuple((tag, 0.9) for tag in raw))

    def _tags(self, pixels):
        height, width = pixels.shape[:2]
        shirt = pixels[int(0.93 * height) : int(0.98 * height), int(0.46 * width) : int(0.54 * width)]
        red, green, blue = shirt.mean(axis=(0, 1))
        corner = pixels[2:8, 2:8].mean(axis=(0, 1))
        bridal = np.abs(corner - COLOURS["bridal"]).max() < 12
        tags = ["veil"] if bridal else ["car"] if np.abs(corner - COLOURS["garage"]).max() < 12 else []
        if red > blue + 40:
            return [*tags, "woman", "shirt"]
        if blue > red + 40:
            return [*tags, "woman" if bridal and green > 60 else "man", "shirt"]
        return tags


def draw(root: Path, people: int = PEOPLE) -> Path:
    """People, their CSV, and two backgrounds with their records, in a folder."""
    (root / "people").mkdir(parents=True)
    rows = ["id,gender,ethnicity"]
    y, x = np.mgrid[0:180, 0:160]
    person = ((x - 80) / 26) ** 2 + ((y - 68) / 36) ** 2 < 1
    person |= (np.abs(x - 80) < 15) & (y > 90)
    shirt = ((x - 80) / 62) ** 2 + ((y - 195) / 78) ** 2 < 1
    for index in range(people):
        woman = index % 2 == 0
        pixels = np.full((180, 160, 3), 200, np.uint8)
        pixels[person] = (130 + index, 105, 80)  # no two composites alike
        green = 80 if index % 4 == 1 else 40
        pixels[shirt] = (190, green, 40) if woman else (40, green, 190)
        pixels[0, 0] = 200 - index % 3  # no two files alike
        pixels[0, 1] = 195 + index // 3
        Image.fromarray(pixels).save(root / f"people/{index:02d}.png")
        rows.append(f"{index:02d},{'Female' if woman else 'Male'},{'AB'[index % 4 // 2]}")
    (root / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")
    (root / "backgrounds").mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (400, 300), colour).save(root / f"backgrounds/{name}.png")
    (root / "backgrounds/contexts.toml").write_text(
        '[bridal]\nlabel = "feminine"\nrating = 0\ntags = ["veil"]\n[garage]\nrating = 9\ntags = ["car"]\n', "utf-8"
    )
    return root


def audit(folder: Path, out: Path, *, finder=None, **more):
    options = {"canvas": CANVAS, "cutout": "eraser", "analysis": QUICK, **more}
    options.setdefault("people", folder / "people.csv")
    options.setdefault("backgrounds", (str(folder / "backgrounds"),))
    options.setdefault("classifier", Tagger())
    with small(finder or Finder()):
        return audit_contexts(folder / "people", out, **options)


@contextmanager
def small(finder, part=7):
    """Parts of so many photos, pictures as they were drawn, and this finder."""
    with pytest.MonkeyPatch.context() as patch:
        in_small_parts(patch, "contexts", part)
        patch.setattr(composing, "FORMAT", "png")
        patch.setattr(stimuli, "mtcnn", lambda least: finder)
        yield


def again(run: Path, **more):
    """The run done again, with other options."""
    with small(Finder()):
        return audit_contexts(run, **more)


def skipped(found) -> dict[str, int]:
    """Reason to photos of people that are left out."""
    photos = found.tables["photos"]
    out = photos[(photos["status"] != "used") & ~photos["path"].str.startswith("background ")]
    return pd.Series(list(map(listed, out["reason"], out["detail"])), dtype=object).value_counts().to_dict()


# -- a sweep of the face ----------------------------------------------------------------------------------------------


class Aligned(Finder):
    """The drawn faces with five points."""

    def __call__(self, photos):
        points = np.array([[68, 66], [92, 66], [80, 76], [70, 86], [90, 86]], np.float32)
        return [
            Detections(found.boxes, np.repeat(points[None], len(found.boxes), 0), found.scores)
            for found in super().__call__(photos)
        ]


class Lighter:
    """Values lighten the face."""

    size, blend, border = 128, "difference", None
    region = "face"

    def sweep(self, chips, values):
        shades = 15 * np.asarray(values, np.float32)[None, :, None, None, None]
        edited = np.clip(chips[:, None].astype(np.float32) + shades, 0, 255)
        return EditedChips(np.rint(edited).astype(np.uint8), chips)


class Measurer:
    """Finds the face again in all portraits but the darkest."""

    def __call__(self, sweep):
        red = float(sweep.original[60:80, 70:90, 0].mean())
        more = {"off_target": 0.0, "off_target_reading": "", "mask_share": 0.5, "change": 9.0}
        return Measured(looked=3, found=0 if red < 130.5 else 3, tau=1.0, shift=0.5, **more), {}


def masker(photos, faces, chips, border=None):
    y, x = np.mgrid[0:128, 0:128]
    return np.repeat((np.hypot(x - 64, y - 64) < 30).astype(np.float32)[None], len(chips), 0)
