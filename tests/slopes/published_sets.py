"""Small sets in the layouts of published ones: their folders, file names, columns and types; see slopes/data/layouts.

What is real: the layout, as the cards, scripts and repositories named in those files have it. The pictures are the
caller's.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

IMAGE = pa.struct(
    [("bytes", pa.binary()), ("path", pa.string())]
)  # as ``datasets`` writes its feature Image
RACES = ("Black", "Latino", "White")
GENDERS = ("female", "male")
Draw = Callable[[int, int, int], bytes]  # a picture of a unit, gender (0, 1) and race (0, 1, 2)


def cell(data: bytes, name: str = "x.png") -> dict[str, Any]:
    return {"bytes": data, "path": name}


def shards(folder: Path, rows: Sequence[Mapping[str, Any]], count: int = 2) -> Path:
    """Rows as sharded Parquet; those that are dictionaries are pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(rows) // count)
    for shard in range(count):
        part = rows[shard * size : (shard + 1) * size]
        table = {
            name: pa.array([row[name] for row in part], IMAGE if isinstance(value, dict) else None)
            for name, value in part[0].items()
        }
        name = f"train-{shard:05}-of-{count:05}.parquet"
        pq.write_table(pa.table(table), folder / name, row_group_size=7)
    return folder


def social_rows(draw: Draw, units: int, types: bool = True) -> list[dict[str, Any]]:
    return [
        {
            "image": cell(draw(unit, gender, race)),
            "caption": f"A {RACES[race]} {GENDERS[gender]} doctor",
            "counterfactual_set": f"doctor_{unit}",
            "a1": RACES[race],
            **({"a1_type": "race"} if types else {}),
            "a2": GENDERS[gender],
            **({"a2_type": "gender"} if types else {}),
        }
        for unit in range(units)
        for race in range(3)
        for gender in range(2)
    ]


def social(folder: Path, draw: Draw, units: int) -> Path:
    shards(folder / "data", social_rows(draw, units))
    return folder


def cultural(folder: Path, draw: Draw, units: int) -> Path:
    rows = [
        {
            "image": cell(draw(unit, 0, place)),
            "ctf_set": f"{unit}_old_Latino_woman",
            "age": "old",
            "race": "Latino",
            "gender": "woman",
            "context": context,
            "file_name": f"{unit}_old_Latino_woman_{context}.png",
        }
        for unit in range(units)
        for place, context in enumerate(("Buddhist temple", "Mosque", "Synagogue"))
    ]
    shards(folder / "religion", rows)
    return folder


def coco(folder: Path, draw: Draw, units: int) -> Path:
    (folder / "data" / "images").mkdir(parents=True)
    lines = []
    for unit in range(units):
        names = [f"{unit}_0_img_{side}" for side in range(2)]
        for side, name in enumerate(names):
            (folder / "data" / "images" / f"{name}.jpg").write_bytes(draw(unit, side, 1))
        row = {"id": f"{unit}_0", "image_0": names[0], "image_1": names[1]}
        lines.append(
            json.dumps(row | {"caption_0": "A woman at work", "caption_1": "A man at work"})
        )
    (folder / "data" / "examples.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def parallel(folder: Path, draw: Draw, units: int) -> Path:
    for unit in range(units):
        scene = folder / "data" / "occupations" / f"scene{unit}"
        scene.mkdir(parents=True)
        for race, skin in ((0, "black"), (2, "white")):
            for gender, person in enumerate(("woman", "man")):
                (scene / f"{skin}_{person}.png").write_bytes(draw(unit, gender, race))
    (folder / "README.md").write_text("# PAIRS\n")
    return folder


def visual(folder: Path, draw: Draw, units: int) -> Path:
    rows = [
        {
            "object": f"object {unit}",
            "correct_answer": "['red']",
            "incorrect_answer": "green",
            "original_image": cell(draw(unit, 0, 1)),
            "counterfact_image": cell(draw(unit, 1, 1)),
        }
        for unit in range(units)
    ]
    shards(folder / "data", rows)
    return folder


SETS = {
    "social-counterfactuals": social,
    "cultural-counterfactuals": cultural,
    "coco-counterfactuals": coco,
    "parallel-images": parallel,
    "visual-counterfact": visual,
}
