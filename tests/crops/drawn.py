"""Drawn portraits with known brightness, croppers that look at it, and an audit of them."""

import json

import numpy as np
import pandas as pd
from PIL import Image, ImageFilter
from scipy import stats

from gslopes.ask.boxes import Crop, SaliencyMap, centres
from gslopes.core import tables
from gslopes.core.records import Detections
from gslopes.crops.audit import CROPS, audit_crops
from gslopes.frame.plan import plan
from tests.crops.cropping_server import lighter

SIDE = 64


class Brightness:
    """The brightest pixel row by row: a person's disc decides."""

    name, version = "brightness", "1"

    def __init__(self):
        self.asked = 0

    def maps(self, pictures):
        self.asked += len(pictures)
        found = []
        for picture in pictures:
            scores = picture[::4, ::4].mean(axis=2).astype(np.float32)
            found.append(SaliencyMap(scores, *centres(picture.shape[1], picture.shape[0], *scores.shape[::-1])))
        return found


class Lighter:
    """Keeps the lighter half."""

    name, version = "lighter", "1"

    def crop(self, picture, ratio):
        return Crop(*lighter(picture, ratio))


def a_face(photos):
    box = np.array([[16, 16, 48, 48]], np.float32)
    points = np.array([[[26, 28], [38, 28], [32, 34], [27, 41], [37, 41]]], np.float32)
    return [Detections(box, points, np.ones(1, np.float32)) for _ in photos]


def draw_people(folder, counts, shift=(), seed=4, textured=False):
    """counts: group to people; shift: group to how much brighter. Returns the people table's path and its rows."""
    folder.mkdir(parents=True, exist_ok=True)
    levels = np.arange(60, 60 + 4 * sum(counts.values()), 4)
    generator = np.random.default_rng(seed)
    generator.shuffle(levels)
    down, across = np.mgrid[:SIDE, :SIDE]
    rows = []
    people = [(group, index) for group, count in counts.items() for index in range(count)]
    for (group, index), level in zip(people, levels, strict=True):
        picture = np.full((SIDE, SIDE, 3), 20, np.uint8)
        if textured:
            noise = Image.fromarray(generator.integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8))
            picture = (np.asarray(noise.filter(ImageFilter.GaussianBlur(3))) // 8).astype(np.uint8)
        value = int(level + dict(shift).get(group, 0))
        picture[(across - 32) ** 2 + (down - 32) ** 2 < 16**2] = value
        Image.fromarray(picture).save(folder / f"{group}{index}.png")
        rows.append({"id": f"{group}{index}", "team": group, "side": "even" if index % 2 else "odd", "level": value})
    table = folder.parent / f"{folder.name}.csv"
    frame = pd.DataFrame(rows)
    frame.to_csv(table, index=False)
    return table, frame


VALUES = np.linspace(-2, 2, 5)


def draw_sweep(run, people=16):
    """A run of ``gslopes synthesise`` whose discs are lighter with the value; its placebos are not."""
    (run / "edits").mkdir(parents=True)
    level = 130 + 24 * stats.norm.ppf((np.arange(people) + 0.5) / people)
    edits, photos = [], []
    for person in range(people):
        photo = f"{person:064x}"
        row = {"photo": photo, "path": f"{person}.png", "width": 32, "height": 32, "status": "used", "reason": ""}
        row |= {"faces": 1, "box": np.array([8, 8, 24, 24], np.float32), "points": None, "detection": None}
        photos.append(row)
        for attribute, rise in (("gender", 6.0), ("gender-same", 0.0), ("gender-random", 0.0)):
            for step, value in enumerate(VALUES):
                picture = np.full((32, 32, 3), 10, np.uint8)
                picture[8:24, 8:24] = round(float(level[person] + rise * value))
                name = f"edits/{person}-{attribute}-{step}.png"
                Image.fromarray(picture).save(run / name)
                key = {"photo": photo, "attribute": attribute, "step": step, "value": np.float32(value)}
                edits.append({**key, "file": name, "mask_area": np.float32(0.2)})
    tables.write(tables.EDITS, pd.DataFrame(edits), run / "edits.parquet")
    tables.write(tables.PHOTOS, pd.DataFrame(photos), run / "photos.parquet")
    values = {name: VALUES.tolist() for name in ("gender", "gender-same", "gender-random")}
    (run / "run.json").write_text(json.dumps({"values": values, "config": {}}))
    return run


def compared(first, second):
    """(m, n) 1 where the first is higher, 1/2 where equal, 0 else."""
    return (np.sign(np.subtract.outer(first, second)) + 1) / 2


def truth(frame, one, other):
    levels = {group: frame.loc[frame["team"] == group, "level"].to_numpy(float) for group in (one, other)}
    return float(compared(levels[one], levels[other]).mean())


def audit(folder, table, out, *models, cost_limits=None, **options):
    options = {
        "cropper": ("centre",), "groups": ("team",), "ratios": (0.5, 1.0), "min_group": 2, **options,
    }  # fmt: skip
    given = {} if cost_limits is None else {"cost_limits": cost_limits}
    return audit_crops(folder, out, people=table, croppers=models, **given, **{"finder": a_face, **options})


def planned(folder, table, **options):
    """What an audit would do, as JSON has it."""
    made = plan(CROPS, folder, None, {"people": table, **options})
    return CROPS.outline(made)[1]


def row(found, cropper, **wanted):
    rows = found.tables["parity"][found.tables["parity"]["cropper"] == cropper]
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1
    return rows.iloc[0]
