"""Writes houses/: every table of the three sibling audits on small drawn inputs, and what each run shows.

For tests/test_houses.py: a change that is meant to move no number moves none of these. Where a number is meant to move,
make the files again and say so in CHANGELOG.md. Run from the repository root:

    OMP_NUM_THREADS=1 python -m tests.golden.houses

A column of at most FULL rows and LONG characters is kept whole; a longer one, and any of an unmerged part, by the
sha256 of its values at nine significant digits and its first values. What is shown: see ``tests.golden.page_text``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import stats

import gslopes
from gslopes.ask.boxes import Crop, SaliencyMap, centres
from gslopes.captions.config import AuditOptions
from gslopes.captions.page import terminal as captions_terminal
from gslopes.captions.sweep import sweep_captions, terminal
from gslopes.contexts import stimuli
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.page import text_table
from gslopes.contexts.pictures import composing
from gslopes.contexts.pictures.composing import Sweeper
from gslopes.core import runfolder, tables
from gslopes.core.records import Answer, Detections, EditedChips
from gslopes.crops.following import print_sweep
from gslopes.crops.sweep import sweep_crops
from gslopes.crops.words import print_parity
from gslopes.faces.components import Components
from gslopes.faces.gate.verdict import Measured
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.words.labels import caption_labels
from tests.golden.page_text import run_text

Tables = dict[str, pd.DataFrame]
FOLDER = Path(__file__).with_suffix("")
FULL, LONG, FIRST = 200, 3000, 20
LEFT_OUT = frozenset({("contexts", "backgrounds", "path")})
"""House, table and column, where it holds a path outside of the run."""


# -- contexts ---------------------------------------------------------------------------------------------------------

PEOPLE = 24
COLOURS = {"bridal": (250, 200, 210), "garage": (120, 120, 130), "field": (90, 160, 90)}


class Finder:
    """The face of a drawn person is where it was drawn, with five points."""

    def __call__(self, photos):
        """One face in a portrait, none in other pictures."""
        box = np.array([[58, 40, 102, 100]], np.float32)
        points = np.array([[[68, 66], [92, 66], [80, 76], [70, 86], [90, 86]]], np.float32)
        there = [int(photo.pixels.shape[:2] == (180, 160)) for photo in photos]
        return [Detections(box[:face], points[:face], np.ones(face, np.float32)) for face in there]


class Tagger:
    """Reads shirt and room; before the bridal room every second man is a woman, a light face anywhere may be one."""

    version, batch = "1", 8

    def __init__(self, name: str, light: float) -> None:
        self.name, self.light = name, light

    def ask(self, pictures):
        """Tags of encoded pictures."""
        return [self._tags(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)) for data in pictures]

    def parse(self, raw):
        """Scores that fall along the list; none is a refusal."""
        return Answer("answered", tuple((tag, 0.9 - 0.1 * place) for place, tag in enumerate(raw)))

    def _tags(self, pixels):
        height, width = pixels.shape[:2]
        shirt = pixels[int(0.93 * height) : int(0.98 * height), int(0.46 * width) : int(0.54 * width)]
        red, green, blue = shirt.mean(axis=(0, 1))
        corner = pixels[2:8, 2:8].mean(axis=(0, 1))
        near = {name: np.abs(corner - colour).max() < 12 for name, colour in COLOURS.items()}
        tags = ["veil"] if near["bridal"] else ["car"] if near["garage"] else ["grass", "meadow"]
        middle = pixels[int(0.45 * height) : int(0.6 * height), int(0.46 * width) : int(0.54 * width), 0].mean()
        if red > blue + 40:
            return [*tags, "woman", "shirt", "smile"]
        if blue > red + 40:
            woman = (near["bridal"] and green > 60) or middle > self.light
            return [*tags, "woman" if woman else "man", "shirt"]
        return tags


class Whiter:
    """An editor: values lighten the face."""

    size, blend, border = 128, "difference", None
    region = "face"

    def sweep(self, chips, values):
        """Every chip at every value."""
        shades = 15 * np.asarray(values, np.float32)[None, :, None, None, None]
        return EditedChips(np.rint(np.clip(chips[:, None] + shades, 0, 255)).astype(np.uint8), chips)


class Measurer:
    """Finds the face again in all portraits but the darkest."""

    def __call__(self, sweep):
        """What the gate is given."""
        red = float(sweep.original[60:80, 70:90, 0].mean())
        more = {"off_target": 0.0, "off_target_reading": "", "mask_share": 0.5, "change": 9.0}
        return Measured(looked=3, found=0 if red < 130.5 else 3, tau=1.0, shift=0.5, **more), {}


def masker(photos, faces, chips, border=None):
    """A disc."""
    y, x = np.mgrid[0:128, 0:128]
    return np.repeat((np.hypot(x - 64, y - 64) < 30).astype(np.float32)[None], len(chips), 0)


def contexts(folder: Path) -> Tables:
    """Twenty-four drawn people before three walls: two taggers, ratings; and a smaller run with a sweep of the face."""
    draw_contexts(folder)
    quick = {"permutations": 199}
    more: dict[str, Any] = {"people": folder / "people.csv", "backgrounds": (str(folder / "backgrounds"),)}
    more |= {"canvas": (192, 128), "cutout": "eraser"}
    both = (Tagger("planted", 999), Tagger("light", 150))
    analysis = ContextOptions(**quick, ratings=folder / "ratings.csv")

    def sweeper(run):
        components = Components(Finder(), masker, {"gender": Whiter()}, {})
        return Sweeper(components, "gender", run.once(stimuli.material_of).values, 20, "cpu", Measurer())

    from tests.frame.audits import in_small_parts

    with pytest.MonkeyPatch.context() as patched:
        in_small_parts(patched, "contexts", 7)
        patched.setattr(composing, "FORMAT", "png")
        patched.setattr(stimuli, "mtcnn", lambda least: Finder())
        patched.setattr(stimuli, "load_sweeper", sweeper)
        gslopes.audit_contexts(folder / "people", folder / "runs/plain", classifier=both, analysis=analysis, **more)
        analysis = ContextOptions(**quick, baseline="original")
        more |= {"sweep": "gender", "steps": 3}
        for photo in sorted((folder / "people").iterdir())[10:]:
            photo.unlink()
        gslopes.audit_contexts(folder / "people", folder / "runs/sweep", classifier=both[1], analysis=analysis, **more)
    return tables_of(folder / "runs")


def draw_contexts(folder: Path) -> None:
    """People, their CSV, three walls with their records, and the answers of raters."""
    (folder / "people").mkdir()
    (folder / "backgrounds").mkdir()
    rows = ["id,gender,ethnicity"]
    y, x = np.mgrid[0:180, 0:160]
    person = (((x - 80) / 26) ** 2 + ((y - 68) / 36) ** 2 < 1) | ((np.abs(x - 80) < 15) & (y > 90))
    shirt = ((x - 80) / 62) ** 2 + ((y - 195) / 78) ** 2 < 1
    for index in range(PEOPLE):
        pixels = np.full((180, 160, 3), 200, np.uint8)
        pixels[person] = (130 + index, 105, 80)
        green = 80 if index % 4 == 1 else 40
        pixels[shirt] = (40, green, 190) if index % 2 else (190, green, 40)
        pixels[0, 0] = 200 - index % 3
        pixels[0, 1] = 195 + index // 3
        Image.fromarray(pixels).save(folder / f"people/{index:02d}.bmp")
        rows.append(f"{index:02d},{'Male' if index % 2 else 'Female'},{'AB'[index % 4 // 2]}")
    (folder / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")
    for name, colour in COLOURS.items():
        Image.new("RGB", (400, 300), colour).save(folder / f"backgrounds/{name}.bmp")
    (folder / "backgrounds/contexts.toml").write_text(
        '[bridal]\nlabel = "feminine"\nrating = 0\ntags = ["veil"]\n[garage]\nrating = 9\ntags = ["car"]\n'
        '[field]\nrating = 5\ntags = ["grass"]\n',
        "utf-8",
    )
    answers = ["context,rater,gender,rating,coding"]
    for rater in range(6):
        for place, (name, middle) in enumerate((("bridal", 1), ("garage", 8), ("field", 5))):
            coding = "partial" if (rater + place) % 5 == 4 else "correct"
            answers.append(f"{name},r{rater},{'male' if rater % 2 else 'female'},{middle + rater % 3 - 1},{coding}")
    (folder / "ratings.csv").write_text("\n".join(answers) + "\n", "utf-8")


# -- crops ------------------------------------------------------------------------------------------------------------

VALUES = np.linspace(-2, 2, 5)
SWEPT = 16


class Brightness:
    """Its map is the brightness of every fourth pixel."""

    name, version = "brightness", "1"

    def maps(self, pictures):
        """One map a picture."""
        found = []
        for picture in pictures:
            scores = picture[::4, ::4].mean(axis=2).astype(np.float32)
            found.append(SaliencyMap(scores, *centres(picture.shape[1], picture.shape[0], *scores.shape[::-1])))
        return found


class Lighter:
    """Keeps the lighter half."""

    name, version = "lighter", "1"

    def crop(self, picture, ratio):
        """Left or right as far as the picture goes."""
        height, width = picture.shape[:2]
        wide, tall = (min(round(height / ratio), width), height) if height <= ratio * width else (width, 0)
        left = picture[:, : width // 2].mean() > picture[:, width // 2 :].mean()
        return Crop(0 if left else width - wide, 0, wide, tall or round(ratio * width))


def face(photos):
    """The same face in every portrait."""
    box = np.array([[16, 16, 48, 48]], np.float32)
    points = np.array([[[26, 28], [38, 28], [32, 34], [27, 41], [37, 41]]], np.float32)
    return [Detections(box, points, np.ones(1, np.float32)) for _ in photos]


def crops(folder: Path) -> Tables:
    """Drawn discs side by side with most options, as published; a sweep."""
    people, csv_file = draw_portraits(folder)
    runs = folder / "runs"
    models = [Brightness(), Lighter()]
    base: dict[str, Any] = {"cropper": ("centre",), "groups": ("team",), "people": csv_file}
    quick = {"min_group": 2, "ratios": (0.5, 1.0)}

    def run(name: str, *croppers: Any, **options: Any) -> None:
        gslopes.audit_crops(people, runs / name, croppers=croppers, finder=face, **{**base, **quick, **options})

    run("whole", *models, groups=("team", "side"), policies=("argmax", "sample", "average", "pad"))
    run("published", models[0], groups=("colour",), as_published=True, pairs=60, height=56)
    swept = draw_sweep(folder / "swept")
    sweep_crops(swept, runs / "sweep", croppers=models[:1], others=4, cropper=("centre",))
    return tables_of(runs)


def draw_portraits(folder: Path) -> tuple[Path, Path]:
    """Discs on dark noise; the blue ones are lighter on the whole, every second has a patch below."""
    people = folder / "people"
    people.mkdir()
    generator = np.random.default_rng(4)
    levels = generator.permutation(np.arange(60, 124, 4))
    down, across = np.mgrid[:80, :64]
    rows = ["id,team,side,colour"]
    for index, level in enumerate(levels):
        team, side = ("blue", "green")[index % 2], ("even", "odd")[index // 2 % 2]
        pixels = generator.integers(15, 25, (80, 64, 3), dtype=np.uint8)
        pixels[(across - 32) ** 2 + (down - 32) ** 2 < 16**2] = level + 42 * (team == "blue")
        if index % 3 == 0:
            pixels[60:72, 24:40] = 220
        Image.fromarray(pixels).save(people / f"{index:02d}.bmp")
        rows.append(f"{index:02d},{team},{side},{('red', 'white', 'black')[index % 3]}")
    table = folder / "people.csv"
    table.write_text("\n".join(rows) + "\n", "utf-8")
    return people, table


def draw_sweep(run: Path) -> Path:
    """A run of ``gslopes synthesise`` whose discs are lighter with the value; its placebos are not."""
    (run / "edits").mkdir(parents=True)
    level = 130 + 24 * stats.norm.ppf((np.arange(SWEPT) + 0.5) / SWEPT)
    edits, photos = [], []
    for person in range(SWEPT):
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


# -- captions ---------------------------------------------------------------------------------------------------------

IMAGES = 60
CATEGORIES = {1: "person", 2: "dog", 3: "bench", 4: "umbrella"}


def captions(folder: Path) -> Tables:
    """Sixty images with boxes, captions and groups: whole, reviewed, in the paper's senses; and a sweep."""
    stages = draw_captions(folder)
    runs = folder / "runs"
    quick = {"splits": 20, "min_active": 3}
    groups = {"groups": folder / "groups.csv", "columns": ("gender", "skin")}
    found = gslopes.audit_captions(stages, runs / "whole", **groups, options=AuditOptions(**quick, types=4))
    review = folder / "review.csv"
    with review.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "answer", "reviewer", "note"])
        for place, case in enumerate(found.tables["cases"]["case"]):
            writer.writerow([case, ("harm", "not-a-harm", "unsure")[place % 3], "AB"[place % 2], ""])
    gslopes.audit_captions(runs / "whole", runs / "whole", review=review)
    options = AuditOptions(**quick, as_published=True)
    more: dict[str, Any] = {"truth": "human-captions", "senses": "paper", "limit": 40}
    more |= {"columns": ("gender",)}
    gslopes.audit_captions(stages, runs / "published", groups=folder / "groups.csv", **more, options=options)
    sweep_captions(draw_answers(folder / "answers"), runs / "sweep")
    return tables_of(runs)


def draw_captions(folder: Path) -> Path:
    """Labels in COCO's form, two human captions and one of a system that leaves women out, and a CSV of groups."""
    stages = folder / "stages"
    stages.mkdir()
    human, system = ["image,caption"], ["image,caption"]
    groups, boxes = ["image,gender,skin,photographer,years"], []
    for place in range(IMAGES):
        word = "woman" if place % 2 else "man"
        thing = ("dog", "bench", "umbrella")[place % 3]
        size = 20 + 7 * (place % 11)
        boxes.append({"image_id": place, "category_id": 1, "bbox": [10 + place % 13, 20, size, 2 * size], "area": 900})
        number = next(key for key, name in CATEGORIES.items() if name == thing)
        boxes.append({"image_id": place, "category_id": number, "bbox": [place, 99, size, 30 + place], "area": 400})
        human += [f"{place},A {word} with a {thing}.", f"{place},A {'young ' * (place % 5 == 0)}{word} on a bench."]
        said = f"{word} with a {thing}" if place % 7 else f"beautiful {word}"
        said = (
            thing if place % 4 == 1 else f"{('girl', 'lady')[place % 2]} holding a {thing}" if place % 9 == 7 else said
        )
        said = f"black boy on a {thing}" if place % 10 == 6 else said
        system.append(f"{place},A {said}{' under an umbrella' * (place % 6 == 3)}.")
        row = f"{place},{'female' if place % 2 else 'male'},{('dark', 'light', 'medium')[place // 2 % 3]}"
        groups.append(f"{row},p{place // 4},{10 + place}")
    labels = {
        "images": [{"id": place, "width": 240, "height": 240} for place in range(IMAGES)],
        "annotations": [{"id": key, "iscrowd": 0, **box} for key, box in enumerate(boxes)],
        "categories": [{"id": key, "name": name} for key, name in CATEGORIES.items()],
    }
    (stages / "human-labels.json").write_text(json.dumps(labels))
    (stages / "human-captions.csv").write_text("\n".join(human) + "\n")
    (stages / "system-captions.csv").write_text("\n".join(system) + "\n")
    (folder / "groups.csv").write_text("\n".join(groups) + "\n")
    return stages


def draw_answers(run: Path) -> Path:
    """An audit of twelve photos by a captioner that says man from some value on."""
    name, asked, scores = "captioner-python:a:b", [], []
    said = {side: caption_labels().labels(f"A {word} on a bench.") for side, word in ((True, "man"), (False, "woman"))}
    for photo in range(12):
        for step, value in enumerate(np.linspace(-2, 2, 7)):
            key = (f"{photo:064x}", "gender", step)
            asked.append((*key, name, "answered", "", ""))
            scores += [(*key, value, name, label, 1.0) for label in said[bool(value > 0.1 + 0.1 * (photo - 6))]]
    frames = [pd.DataFrame(rows, columns=t.columns) for rows, t in ((asked, tables.ASKED), (scores, tables.SCORES))]
    slopes = analyse(frames[1], frames[0], options=FitOptions(permutations=99)).slopes
    run.mkdir(parents=True)
    for table, frame in ((tables.ASKED, frames[0]), (tables.SCORES, frames[1]), (tables.SLOPES, slopes)):
        runfolder.write_table(table, frame, run / f"{table.name}.parquet")
    runfolder.write_json(run / runfolder.MANIFEST, {"config": {}})
    return run


# -- what a terminal shows --------------------------------------------------------------------------------------------

TERMINAL: dict[str, Callable[[Tables], str]] = {
    "measures": captions_terminal,
    "word_slopes": terminal,
    "sweep_slopes": print_sweep,
    "parity": print_parity,
    "inferred": text_table,
}
"""A table that a run of this kind has to what the verb prints about it."""


def shown(runs: Path) -> dict[str, str]:
    """Run to what it shows."""
    texts = {}
    for run in sorted(path for path in runs.iterdir() if path.is_dir()):
        by_name = {file.stem: pd.read_parquet(file) for file in run.glob("*.parquet")}
        printed = next(text(by_name) for name, text in TERMINAL.items() if name in by_name)
        texts[run.name] = run_text(run, printed, runs.parent)
    return texts


# -- what is kept -----------------------------------------------------------------------------------------------------

HOUSES = {"contexts": contexts, "crops": crops, "captions": captions}


def tables_of(runs: Path) -> Tables:
    """Every parquet file below, by its path without the suffix."""
    files = sorted(runs.rglob("*.parquet"))
    return {file.relative_to(runs).with_suffix("").as_posix(): pd.read_parquet(file) for file in files}


def kept(house: str, name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """A table as it is stored: rows, and columns whole or thinned."""
    last = name.rpartition("/")[2]
    columns = {column: plain(frame[column].tolist()) for column in frame if (house, last, column) not in LEFT_OUT}
    part = "/parts/" in name
    thin = {column: part or len(values) > FULL or len(json.dumps(values)) > LONG for column, values in columns.items()}
    return {
        "rows": len(frame),
        "columns": {column: thinned(values, part) if thin[column] else values for column, values in columns.items()},
    }


def thinned(values: list[Any], part: bool) -> dict[str, Any]:
    """The digest of a column and its first values, fewer where they are long or those of a part."""
    first = values[: 2 if part else FIRST]
    while len(json.dumps(first)) > (200 if part else LONG // 3):
        first = first[: len(first) // 2]
    return {"sha256": digest(values), "first": first}


def plain(value: Any, digits: int = 12) -> Any:
    """For JSON: lists, dicts, text, integers and floats of some significant digits; None for what is missing."""
    if isinstance(value, dict):
        return {str(key): plain(one, digits) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one, digits) for one in value]
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else float(f"{value:.{digits}g}") + 0.0 if math.isfinite(value) else str(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else str(value)


def digest(values: list[Any]) -> str:
    """Of a column's values, floats at nine significant digits; what rounding alone leaves is 0."""

    def settled(value: Any) -> Any:
        if isinstance(value, list):
            return [settled(one) for one in value]
        return 0.0 if isinstance(value, float) and abs(value) < 1e-12 else value

    return hashlib.sha256(json.dumps(settled(plain(values, 9)), ensure_ascii=False).encode()).hexdigest()


def found_in(name: str, folder: Path) -> dict[str, Any]:
    """All tables of one house, as they are stored.  folder: empty."""
    return {table: kept(name, table, frame) for table, frame in HOUSES[name](folder).items()}


def written(found: dict[str, Any]) -> str:
    """JSON with one line a column."""
    blocks = []
    for name, table in found.items():
        lines = [
            f"  {json.dumps(column)}: {json.dumps(values, ensure_ascii=False, separators=(',', ':'))}"
            for column, values in table["columns"].items()
        ]
        blocks.append(f'{json.dumps(name)}: {{"rows": {table["rows"]}, "columns": {{\n' + ",\n".join(lines) + "\n }}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name in HOUSES:
        with tempfile.TemporaryDirectory() as folder:
            (FOLDER / f"{name}.json").write_text(written(found_in(name, Path(folder))), encoding="utf-8")
            for run, text in shown(Path(folder, "runs")).items():
                (FOLDER / f"{name}-{run}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
