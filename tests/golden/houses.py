"""Writes houses/: every table of the three sibling audits on small drawn inputs, and what each run shows.

For tests/test_houses.py: a change that is meant to move no number moves none of these. If a number is meant to move,
make the files again and note it in CHANGELOG.md. Run from the repository root:

    OMP_NUM_THREADS=1 python -m tests.golden.houses

A column of at most FULL rows and LONG characters is kept whole; a longer one, and any of an unmerged part, by its
first values, the sha256 of what is no float, and of the floats by SUMS sums with signs thrown by a seed. A float is
0 if it is nothing but rounding beside the largest of its column. What is shown: see ``tests.golden.page_text``.
"""

import csv
import hashlib
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

import gslopes
from gslopes.captions.config import AuditOptions
from gslopes.contexts.config import ContextOptions
from tests.contexts.drawn import Tagger, audit, draw
from tests.crops.drawn import Brightness, Lighter, a_face
from tests.golden.page_text import run_text

Tables = dict[str, pd.DataFrame]
FOLDER = Path(__file__).with_suffix("")
FULL, LONG, FIRST, SUMS = 200, 3000, 20, 3
LEFT_OUT = frozenset({("contexts", "backgrounds", "path")})
"""House, table and column, where it holds a path outside of the run."""


# -- contexts ---------------------------------------------------------------------------------------------------------


def contexts(folder: Path) -> Tables:
    """Twenty-four drawn people before three walls: two taggers, ratings; and a smaller run with a sweep of the face."""
    draw(folder, 24, rooms=3, ending="bmp")
    answers = ["context,rater,gender,rating,coding"]
    for rater in range(6):
        for index, (name, middle) in enumerate((("bridal", 1), ("garage", 8), ("field", 5))):
            coding = "partial" if (rater + index) % 5 == 4 else "correct"
            answers.append(
                f"{name},r{rater},{'male' if rater % 2 else 'female'},{middle + rater % 3 - 1},{coding}"
            )
    (folder / "ratings.csv").write_text("\n".join(answers) + "\n", "utf-8")
    both = (Tagger("planted", 999), Tagger("light", 150))
    audit(
        folder, folder / "runs/plain",
        classifier=both, analysis=ContextOptions(permutations=199, ratings=folder / "ratings.csv"),
    )  # fmt: skip
    for photo in sorted((folder / "people").iterdir())[10:]:
        photo.unlink()
    analysis = ContextOptions(permutations=199, baseline="original")
    audit(
        folder,
        folder / "runs/sweep",
        classifier=both[1],
        analysis=analysis,
        sweep="gender",
        steps=3,
    )
    return tables_of(folder / "runs")


# -- crops ------------------------------------------------------------------------------------------------------------


def crops(folder: Path) -> Tables:
    """Drawn discs side by side with most options, and as published."""
    people, csv_file = draw_portraits(folder)
    runs = folder / "runs"
    models = [Brightness(), Lighter()]
    base: dict[str, Any] = {"cropper": ("centre",), "groups": ("team",), "people": csv_file}
    quick = {"min_group": 2, "ratios": (0.5, 1.0)}

    def run(name: str, *croppers: Any, **options: Any) -> None:
        gslopes.audit_crops(
            people, runs / name, croppers=croppers, finder=a_face, **{**base, **quick, **options}
        )

    run("whole", *models, groups=("team", "side"), policies=("argmax", "sample", "average", "pad"))
    run("published", models[0], groups=("colour",), as_published=True, pairs=60, height=56)
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


# -- captions ---------------------------------------------------------------------------------------------------------

IMAGES = 60
CATEGORIES = {1: "person", 2: "dog", 3: "bench", 4: "umbrella"}


def captions(folder: Path) -> Tables:
    """Sixty images with boxes, captions and groups: whole, reviewed, in the paper's senses."""
    stages = draw_captions(folder)
    runs = folder / "runs"
    quick = {"splits": 20, "min_active": 3}
    groups = {"groups": folder / "groups.csv", "columns": ("gender", "skin")}
    result = gslopes.audit_captions(
        stages, runs / "whole", **groups, options=AuditOptions(**quick, types=4)
    )
    review = folder / "review.csv"
    with review.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "answer", "reviewer", "note"])
        for index, case in enumerate(result.tables["cases"]["case"]):
            writer.writerow(
                [case, ("harm", "not-a-harm", "unsure")[index % 3], "AB"[index % 2], ""]
            )
    gslopes.audit_captions(runs / "whole", runs / "whole", review=review)
    options = AuditOptions(**quick, as_published=True)
    more: dict[str, Any] = {"truth": "human-captions", "senses": "paper", "limit": 40}
    more |= {"columns": ("gender",)}
    gslopes.audit_captions(
        stages, runs / "published", groups=folder / "groups.csv", **more, options=options
    )
    return tables_of(runs)


def draw_captions(folder: Path) -> Path:
    """Labels in COCO's form, two human captions and one of a system that leaves women out, and a CSV of groups."""
    stages = folder / "stages"
    stages.mkdir()
    human, system = ["image,caption"], ["image,caption"]
    groups, boxes = ["image,gender,skin,photographer,years"], []
    for index in range(IMAGES):
        word = "woman" if index % 2 else "man"
        item = ("dog", "bench", "umbrella")[index % 3]
        size = 20 + 7 * (index % 11)
        boxes.append(
            {
                "image_id": index,
                "category_id": 1,
                "bbox": [10 + index % 13, 20, size, 2 * size],
                "area": 900,
            }
        )
        number = next(key for key, name in CATEGORIES.items() if name == item)
        boxes.append(
            {
                "image_id": index,
                "category_id": number,
                "bbox": [index, 99, size, 30 + index],
                "area": 400,
            }
        )
        human += [
            f"{index},A {word} with a {item}.",
            f"{index},A {'young ' * (index % 5 == 0)}{word} on a bench.",
        ]
        text = f"{word} with a {item}" if index % 7 else f"beautiful {word}"
        text = (
            item
            if index % 4 == 1
            else f"{('girl', 'lady')[index % 2]} holding a {item}"
            if index % 9 == 7
            else text
        )
        text = f"black boy on a {item}" if index % 10 == 6 else text
        system.append(f"{index},A {text}{' under an umbrella' * (index % 6 == 3)}.")
        row = f"{index},{'female' if index % 2 else 'male'},{('dark', 'light', 'medium')[index // 2 % 3]}"
        groups.append(f"{row},p{index // 4},{10 + index}")
    labels = {
        "images": [{"id": index, "width": 240, "height": 240} for index in range(IMAGES)],
        "annotations": [{"id": key, "iscrowd": 0, **box} for key, box in enumerate(boxes)],
        "categories": [{"id": key, "name": name} for key, name in CATEGORIES.items()],
    }
    (stages / "human-labels.json").write_text(json.dumps(labels))
    (stages / "human-captions.csv").write_text("\n".join(human) + "\n")
    (stages / "system-captions.csv").write_text("\n".join(system) + "\n")
    (folder / "groups.csv").write_text("\n".join(groups) + "\n")
    return stages


def shown(runs: Path) -> dict[str, str]:
    """Run to what it shows."""
    folders = sorted(path for path in runs.iterdir() if path.is_dir())
    return {run.name: run_text(run, str(gslopes.load(run)), runs.parent) for run in folders}


# -- what is kept -----------------------------------------------------------------------------------------------------

HOUSES = {"contexts": contexts, "crops": crops, "captions": captions}


def tables_of(runs: Path) -> Tables:
    """Every parquet file below, by its path without the suffix."""
    files = sorted(runs.rglob("*.parquet"))
    return {
        file.relative_to(runs).with_suffix("").as_posix(): pd.read_parquet(file) for file in files
    }


def kept(house: str, name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """A table as it is stored: rows, and columns whole or thinned."""
    last = name.rpartition("/")[2]
    columns = {
        column: column_of(frame[column].tolist())
        for column in frame
        if (house, last, column) not in LEFT_OUT
    }
    part = "/parts/" in name
    thin = {
        column: part or len(values) > FULL or len(json.dumps(values)) > LONG
        for column, values in columns.items()
    }
    return {
        "rows": len(frame),
        "columns": {
            column: thinned(values, part) if thin[column] else values
            for column, values in columns.items()
        },
    }


def thinned(values: list[Any], part: bool) -> dict[str, Any]:
    """The digests of a column and its first values, fewer if they are long or of a part."""
    first = values[: 2 if part else FIRST]
    while len(json.dumps(first)) > (200 if part else LONG // 3):
        first = first[: len(first) // 2]
    every = floats(values)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (SUMS, len(every)))
    return {
        "sha256": hashlib.sha256(
            json.dumps(plain(values, math.inf), ensure_ascii=False).encode()
        ).hexdigest(),
        "scale": scale_of(values),
        "sums": (signs @ np.array(every)).tolist(),
        "first": first,
    }


def floats(value: Any) -> list[float]:
    """The finite ones, in order, whatever they lie in."""
    if isinstance(value, dict):
        return floats(list(value.values()))
    if isinstance(value, list | tuple | np.ndarray):
        return [number for item in value for number in floats(item)]
    return [float(value)] if isinstance(value, float | np.floating) and math.isfinite(value) else []


def scale_of(value: Any) -> float:
    """The size of the largest float."""
    return max(map(abs, floats(value)), default=0.0)


def column_of(values: list[Any]) -> list[Any]:
    """A column for JSON."""
    return [plain(value, scale_of(values)) for value in values]


def plain(value: Any, scale: float) -> Any:
    """For JSON: lists, dicts, text, integers and floats of twelve significant digits; None for what is missing.

    scale: of the column; a float that is less than a 1e-12 of it is 0.
    """
    if isinstance(value, dict):
        return {str(key): plain(item, scale) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item, scale) for item in value]
    if value is None or pd.isna(value):
        return None
    if isinstance(value, float | np.floating):
        rounded = 0.0 if abs(value) <= 1e-12 * scale else float(f"{value:.12g}")
        return rounded if math.isfinite(value) else str(value)
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return value.item() if isinstance(value, np.generic) else value
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else str(value)


def found_in(name: str, folder: Path) -> dict[str, Any]:
    """All tables of one house, as they are stored.  folder: empty."""
    return {table: kept(name, table, frame) for table, frame in HOUSES[name](folder).items()}


def written(tables: dict[str, Any]) -> str:
    """JSON with one line a column."""
    blocks = []
    for name, table in tables.items():
        lines = [
            f"  {json.dumps(column)}: {json.dumps(values, ensure_ascii=False, separators=(',', ':'))}"
            for column, values in table["columns"].items()
        ]
        blocks.append(
            f'{json.dumps(name)}: {{"rows": {table["rows"]}, "columns": {{\n'
            + ",\n".join(lines)
            + "\n }}"
        )
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name in HOUSES:
        with tempfile.TemporaryDirectory() as folder:
            (FOLDER / f"{name}.json").write_text(
                written(found_in(name, Path(folder))), encoding="utf-8"
            )
            for run, text in shown(Path(folder, "runs")).items():
                (FOLDER / f"{name}-{run}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
