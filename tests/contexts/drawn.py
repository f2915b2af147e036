"""Drawn people before drawn walls, a tagger with a planted effect, and their audit in small parts."""

import io
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.contexts import audit as context_audit
from gslopes.contexts.audit import audit_contexts
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.stimuli import composing, stages as stimuli
from gslopes.contexts.stimuli.composing import Sweeper
from gslopes.core.reasons import listed
from gslopes.core.records import Answer, Detections, EditedChips
from gslopes.faces.components import Components
from gslopes.faces.gate.verdict import Measured

PEOPLE = 24
CANVAS = (192, 128)
QUICK = ContextOptions(permutations=299)
COLOURS = {"bridal": (250, 200, 210), "garage": (120, 120, 130), "field": (90, 160, 90)}


class Finder:
    """The face of a drawn person is where it was drawn, with five points; other pictures have none."""

    def __call__(self, photos):
        box = np.array([[58, 40, 102, 100]], np.float32)
        points = np.array([[[68, 66], [92, 66], [80, 76], [70, 86], [90, 86]]], np.float32)
        faces = [int(photo.pixels.shape[:2] == (180, 160)) for photo in photos]
        return [Detections(box[:face], points[:face], np.ones(face, np.float32)) for face in faces]


class Tagger:
    """Reads shirt (women red, men blue) and room; before the bridal room every second man, by the shirt's green level,
    is taken for a woman, and anywhere whoever's face is lighter than ``light``.
    """

    version, batch = "1", 8

    def __init__(self, name="planted", light=999):
        self.name, self.light = name, light

    def ask(self, pictures):
        return [
            self._tags(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int))
            for data in pictures
        ]

    def parse(self, raw):
        return Answer(
            "answered", tuple((tag, max(0.1, 0.9 - 0.1 * rank)) for rank, tag in enumerate(raw))
        )

    def _tags(self, pixels):
        height, width = pixels.shape[:2]
        shirt = pixels[
            int(0.93 * height) : int(0.98 * height), int(0.46 * width) : int(0.54 * width)
        ]
        red, green, blue = shirt.mean(axis=(0, 1))
        corner = pixels[2:8, 2:8].mean(axis=(0, 1))
        near = {name: np.abs(corner - colour).max() < 12 for name, colour in COLOURS.items()}
        tags = ["veil"] if near["bridal"] else ["car"] if near["garage"] else ["grass", "meadow"]
        middle = pixels[
            int(0.45 * height) : int(0.6 * height), int(0.46 * width) : int(0.54 * width), 0
        ].mean()
        if red > blue + 40:
            return [*tags, "woman", "shirt", "smile"]
        if blue > red + 40:
            woman = (near["bridal"] and green > 60) or middle > self.light
            return [*tags, "woman" if woman else "man", "shirt"]
        return tags


def draw(root: Path, people: int = PEOPLE, rooms: int = 2, ending: str = "png") -> Path:
    """People, their CSV, and two or three walls with their records, in a folder."""
    (root / "people").mkdir(parents=True)
    rows = ["id,gender,ethnicity"]
    y, x = np.mgrid[0:180, 0:160]
    person = (((x - 80) / 26) ** 2 + ((y - 68) / 36) ** 2 < 1) | ((np.abs(x - 80) < 15) & (y > 90))
    shirt = ((x - 80) / 62) ** 2 + ((y - 195) / 78) ** 2 < 1
    for index in range(people):
        pixels = np.full((180, 160, 3), 200, np.uint8)
        pixels[person] = (130 + index, 105, 80)  # no two composites alike
        green = 80 if index % 4 == 1 else 40
        pixels[shirt] = (40, green, 190) if index % 2 else (190, green, 40)
        pixels[0, 0] = 200 - index % 3  # no two files alike
        pixels[0, 1] = 195 + index // 3
        Image.fromarray(pixels).save(root / f"people/{index:02d}.{ending}")
        rows.append(f"{index:02d},{'Male' if index % 2 else 'Female'},{'AB'[index % 4 // 2]}")
    (root / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")
    (root / "backgrounds").mkdir()
    records = (
        '[bridal]\nlabel = "feminine"\nrating = 0\ntags = ["veil"]\n',
        '[garage]\nrating = 9\ntags = ["car"]\n',
        '[field]\nrating = 5\ntags = ["grass"]\n',
    )
    for name in list(COLOURS)[:rooms]:
        Image.new("RGB", (400, 300), COLOURS[name]).save(root / f"backgrounds/{name}.{ending}")
    (root / "backgrounds/contexts.toml").write_text("".join(records[:rooms]), "utf-8")
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
    """Parts of so many photos, pictures as they were drawn, this finder, and planted counterfactuals."""
    with pytest.MonkeyPatch.context() as patch:
        stages = tuple(replace(stage, part=part) for stage in context_audit.CONTEXTS.stages)
        patch.setattr(context_audit, "CONTEXTS", replace(context_audit.CONTEXTS, stages=stages))
        patch.setattr(composing, "FORMAT", "png")
        patch.setattr(stimuli, "MtcnnFinder", lambda least: finder)
        patch.setattr(stimuli, "load_sweeper", planted_sweeper)
        yield


def again(run: Path, **more):
    """The run done again, with other options."""
    with small(Finder()):
        return audit_contexts(run, **more)


def skipped(result) -> dict[str, int]:
    """Reason to photos of people that are left out."""
    photos = result.tables["photos"]
    out = photos[(photos["status"] != "used") & ~photos["path"].str.startswith("background ")]
    return (
        pd.Series(list(map(listed, out["reason"], out["detail"])), dtype=object)
        .value_counts()
        .to_dict()
    )


# -- a sweep of the face ----------------------------------------------------------------------------------------------


def planted_sweeper(run):
    """Counterfactuals of a lighter face, and a gate."""
    components = Components(Finder(), masker, {"gender": Lighter()}, {})
    return Sweeper(components, "gender", run.inputs.values, 20, Measurer())


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
