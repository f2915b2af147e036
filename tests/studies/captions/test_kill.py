"""Killed at any named place, a captions audit goes on by the same command and ends in equal tables and pages."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

import gslopes
from gslopes.core.killpoints import KILL_POINTS
from gslopes.studies.captions import parse
from tests.core.test_killpoints import in_a_child

POINTS = [point for point in KILL_POINTS if point.startswith(("file:", "table:"))]
QUICK = {"bootstrap": 50, "permutations": 49, "splits": 20, "salience_bootstrap": 20, "types": 5}


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels with boxes, five human captions and a system caption of 36 images, in twelve parts."""
    folder = tmp_path_factory.mktemp("kill") / "stages"
    folder.mkdir()
    images = [{"id": i, "width": 100, "height": 100, "file_name": f"{i}.jpg"} for i in range(36)]
    boxes = [
        {"id": 10 * i + k, "image_id": i, "category_id": k, "bbox": box, "area": 900, "iscrowd": 0}
        for i in range(36)
        for k, box in ((1, [0, 0, 40, 60]), (2, [50, 50, 20, 10 + i % 7]))
    ]
    categories = [{"id": 1, "name": "person", "supercategory": ""}, {"id": 2, "name": "dog", "supercategory": ""}]
    instances = {"images": images, "annotations": boxes, "categories": categories}
    (folder / "human-labels.json").write_text(json.dumps(instances))
    human = [f"{i},A {w} with a {o}." for i in range(36) for w in ("man", "woman") for o in ("dog", "bag")]
    system = [f"{i},A {'boy' if i % 5 else 'man'} {'with a dog' if i % 3 else ''}." for i in range(36)]
    for name, rows in (("human-captions", human), ("system-captions", system)):
        (folder / f"{name}.csv").write_text("\n".join(["image,caption", *rows]) + "\n")
    groups = [f"{i},{'female' if i % 2 else 'male'},{'darker' if i % 4 < 2 else 'lighter'}" for i in range(36)]
    (folder.parent / "groups.csv").write_text("\n".join(["image,gender,skin", *groups]) + "\n")
    return folder


def audit(stages: Path, out: Path) -> None:
    parse.PART = 3
    gslopes.captions(stages, out, groups=stages.parent / "groups.csv", **QUICK)


@pytest.fixture(scope="module")
def undisturbed(stages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    assert in_a_child(lambda: audit(stages, out)) == 0
    return out


@pytest.mark.slow
def test_walked_through_every_kill_point_the_folder_ends_as_an_undisturbed_one(
    stages: Path, undisturbed: Path, tmp_path: Path
):
    run = tmp_path / "run"
    kill_points = [f"{point}:{time}" for time in (1, 2, 4, 7, 11) for point in POINTS]
    codes = [in_a_child(lambda: audit(stages, run), place) for place in kill_points]
    assert len(kill_points) >= 20
    assert set(codes) <= {-signal.SIGKILL, 0}
    assert codes.count(-signal.SIGKILL) >= 10
    assert in_a_child(lambda: audit(stages, run)) == 0
    names = sorted(path.relative_to(undisturbed) for path in undisturbed.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(run) for path in run.rglob("*") if path.is_file())
    for name in names:
        assert (run / name).read_bytes() == (undisturbed / name).read_bytes(), name


@pytest.mark.slow
def test_what_was_parsed_before_a_kill_is_not_parsed_again(stages: Path, tmp_path: Path):
    run = tmp_path / "run"
    assert in_a_child(lambda: audit(stages, run), "table:placed:9") == -signal.SIGKILL
    parts = {path: path.stat().st_mtime_ns for path in (run / "parts" / "parse").glob("*.parquet")}
    assert len(parts) >= 5
    assert in_a_child(lambda: audit(stages, run)) == 0
    assert {path: path.stat().st_mtime_ns for path in parts} == parts
    assert len(list((run / "parts" / "parse").glob("*.parquet"))) == 12
