"""Drawn portraits with known brightness, croppers that look at it, and an audit of them."""

import numpy as np
import pandas as pd
from PIL import Image, ImageFilter

from gslopes.ask.boxes import centres
from gslopes.core.records import Crop, Detections, SaliencyMap
from gslopes.crops.audit import CROPS, audit_crops
from gslopes.frame.ask import outline_of_prices
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
        result = []
        for picture in pictures:
            scores = picture[::4, ::4].mean(axis=2).astype(np.float32)
            result.append(
                SaliencyMap(
                    scores, *centres(picture.shape[1], picture.shape[0], *scores.shape[::-1])
                )
            )
        return result


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
        rows.append(
            {
                "id": f"{group}{index}",
                "team": group,
                "side": "even" if index % 2 else "odd",
                "level": value,
            }
        )
    table = folder.parent / f"{folder.name}.csv"
    frame = pd.DataFrame(rows)
    frame.to_csv(table, index=False)
    return table, frame


def compared(first, second):
    """(m, n) 1 if the first is higher, 1/2 if both are equal, else 0."""
    return (np.sign(np.subtract.outer(first, second)) + 1) / 2


def truth(frame, one, other):
    levels = {
        group: frame.loc[frame["team"] == group, "level"].to_numpy(float) for group in (one, other)
    }
    return float(compared(levels[one], levels[other]).mean())


def audit(folder, table, out, *models, cost_limits=None, **options):
    options = {
        "cropper": ("centre",), "groups": ("team",), "ratios": (0.5, 1.0), "min_group": 2, **options,
    }  # fmt: skip
    given = {} if cost_limits is None else {"cost_limits": cost_limits}
    return audit_crops(
        folder, out, people=table, croppers=models, **given, **{"finder": a_face, **options}
    )


def planned(folder, table, **options):
    """What an audit would do, as JSON has it."""
    built = plan(CROPS, folder, None, {"people": table, **options})
    return CROPS.outline(built)[1] | outline_of_prices(built)[1]


def row(result, cropper, **wanted):
    rows = result.tables["parity"][result.tables["parity"]["cropper"] == cropper]
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1
    return rows.iloc[0]
