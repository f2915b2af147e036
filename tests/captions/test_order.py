"""Golden 68: rows in any order, captions in any order; the tables are the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gslopes
from gslopes.captions.config import AuditOptions
from gslopes.frame.result import Result
from tests.frame.audits import in_small_parts

OPTIONS = AuditOptions(types=5, min_active=2)
COUNT = 48
READ = ("images", "people", "sentences", "tuples")
MEASURED = ("measures", "inclusions", "salience", "cases", "techniques")


def rows() -> dict[str, list[Any]]:
    """Instances with several boxes of one type, five human captions and one of the system an image, groups."""
    chance = random.Random(0)
    boxes, human, system, groups = [], [], [], []
    for i in range(COUNT):
        corners = [(1, [0, 0, 40, 60]), (2, [50, 50, 20, 20]), (2, [10, 30, 20, 20]), (3, [60, 5, 10 + i % 7, 9])]
        boxes += [{"image_id": i, "category_id": kind, "bbox": box, "area": 9, "iscrowd": 0} for kind, box in corners]
        person = chance.choice(["man", "woman"])
        words = ["dog", "tie", "young man", "kite", "black dog on a bench"]
        human += [(i, number, f"A {person} with a {word}.") for number, word in enumerate(words)]
        said = chance.choice(["A boy", "A lazy man", "A person", "A bench"]) + chance.choice(["", " with a dog"])
        system.append({"image_id": i, "caption": f"{said}."})
        groups.append((i, person.replace("woman", "female").replace("man", "male"), chance.choice("dl")))
    return {"boxes": boxes, "human": human, "system": system, "groups": groups}


def audit(folder: Path, made: dict[str, list[Any]]) -> Result:
    stages = folder / "stages"
    stages.mkdir(parents=True)
    names = {1: "person", 2: "dog", 3: "tie"}
    instances = {"categories": [{"id": key, "name": name, "supercategory": ""} for key, name in names.items()]}
    sizes = list(dict.fromkeys(box["image_id"] for box in made["boxes"]))
    instances |= {"images": [{"id": i, "width": 100, "height": 100} for i in sizes], "annotations": made["boxes"]}
    (stages / "human-labels.json").write_text(json.dumps(instances))
    (stages / "system-captions.json").write_text(json.dumps(made["system"]))
    for file, columns, lines in (
        (stages / "human-captions.csv", ["image", "source", "caption"], made["human"]),
        (folder / "groups.csv", ["image", "gender", "skin"], made["groups"]),
    ):
        pd.DataFrame(lines, columns=columns).to_csv(file, index=False)
    return gslopes.audit_captions(stages, folder / "run", groups=folder / "groups.csv", options=OPTIONS)


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return audit(tmp_path_factory.mktemp("order"), rows())


def turned(seed: int) -> dict[str, list[Any]]:
    made = rows()
    for one in made.values():
        random.Random(seed).shuffle(one)
    return made


@pytest.mark.slow
def test_golden_68_rows_in_any_order(in_order: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    in_small_parts(monkeypatch, "captions", 16)
    other = audit(tmp_path, turned(1))
    assert len(in_order.tables["measures"]) > 100
    assert len(in_order.tables["cases"]) > 20
    for name in (*READ, *MEASURED):
        files = [run / f"{name}.parquet" for run in (in_order.folder, other.folder)]
        pd.testing.assert_frame_equal(*map(pd.read_parquet, files), obj=name)
