"""Rows in any order, captions in any order: the tables are the same."""

import json
import random
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.captions.config import AuditOptions
from gslopes.frame.result import Result
from tests.frame.audits import in_small_parts
from tests.golden.houses import draw_captions

READ = ("images", "people", "sentences", "tuples")
MEASURED = ("measures", "inclusions", "salience", "cases", "techniques")


def audit(folder: Path, shuffled: bool) -> Result:
    """Sixty images with two boxes of one type each, and captions of people and of a system."""
    folder.mkdir()
    stages = draw_captions(folder)
    chance = random.Random(1)
    labels = json.loads((stages / "human-labels.json").read_text())
    labels["annotations"] += [
        {**box, "id": 1000 + box["id"], "bbox": [box["image_id"], 5, 10 + box["image_id"] % 7, 9]}
        for box in labels["annotations"]
    ]
    human = pd.read_csv(stages / "human-captions.csv")
    human.assign(source=human.groupby("image").cumcount()).to_csv(
        stages / "human-captions.csv", index=False
    )
    if shuffled:
        for rows in labels.values():
            chance.shuffle(rows)
        for file in (folder / "groups.csv", *stages.glob("*.csv")):
            head, *lines = file.read_text().splitlines()
            file.write_text("\n".join([head, *chance.sample(lines, len(lines))]))
    (stages / "human-labels.json").write_text(json.dumps(labels))
    groups = {"groups": folder / "groups.csv", "columns": ("gender", "skin")}
    return gslopes.audit_captions(
        stages, folder / "run", **groups, options=AuditOptions(types=5, min_active=2)
    )


@pytest.mark.slow
def test_rows_in_any_order_give_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    in_order = audit(tmp_path / "in order", shuffled=False)
    in_small_parts(monkeypatch, "captions", 16)
    other = audit(tmp_path / "shuffled", shuffled=True)
    assert len(in_order.tables["measures"]) > 100
    assert len(in_order.tables["cases"]) > 20
    for name in (*READ, *MEASURED):
        files = [run / f"{name}.parquet" for run in (in_order.folder, other.folder)]
        pd.testing.assert_frame_equal(*map(pd.read_parquet, files), obj=name)
