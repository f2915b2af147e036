"""The walk on a GPU, by a stand-in that computes on the CPU: the same photos, tables and pictures."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from PIL import Image

from gslopes.core import tables
from gslopes.faces.components import default_components
from gslopes.slopes import audit as stages
from gslopes.slopes.config import configure
from tests.benches.bench_machine import ON_DEVICE, write_variants
from tests.standin import StandIn


def test_faces_are_found_on_the_cpu_whatever_the_networks_run_on(tmp_path: Path) -> None:
    write_variants(tmp_path, 1)
    for given, device in ({}, "cpu"), ({"find_device": "cpu"}, "cpu"):
        components = default_components(configure(tmp_path, {"device": "cpu", **given}), "cpu")
        assert next(components.finder.detector.parameters()).device.type == device  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    write_variants(folder, 5)
    for index, side in enumerate((90, 300)):  # the first lost its face on a GPU when it was looked for there
        with Image.open(folder / f"{index:06d}.jpg") as photo:
            photo.resize((side, side)).save(folder / f"{index:06d}.jpg")
    Image.new("RGB", (200, 100), (90, 120, 90)).save(folder / "no-face.jpg")
    return folder


@pytest.mark.slow
def test_the_tables_of_two_devices_are_equal_and_no_level_differs_by_more_than_one(
    photos: Path, tmp_path: Path
) -> None:
    options = {"min_face": 20, "steps": 3, "device": "cpu", "format": "png", "part": 2}
    real = default_components(configure(photos, options), "cpu")
    recorded = StandIn()
    replayed = StandIn(dict.fromkeys(ON_DEVICE, 0.001), recorded.known)
    found = []
    for name, device in ("cpu", None), ("recorded", recorded), ("replayed", replayed):
        if device is None:
            stages.synthesise(photos, tmp_path / name, components=real, **options)
        else:
            with device.at_work():
                stages.synthesise(photos, tmp_path / name, components=device.components(real), **options)
        found.append(
            [tables.read(table, tmp_path / name / f"{table.name}.parquet") for table in (tables.PHOTOS, tables.EDITS)]
        )
    for seen, made in found[1:]:
        assert_frame_equal(seen, found[0][0], check_exact=True)
        assert_frame_equal(made, found[0][1], check_exact=True)
    assert (found[0][0]["status"] == "used").sum() == 5
    for file in found[0][1]["file"]:
        cpu, gpu, again = (
            np.asarray(Image.open(tmp_path / name / file)).astype(int) for name in ("cpu", "recorded", "replayed")
        )
        assert np.abs(gpu - cpu).max() <= 1, file
        np.testing.assert_array_equal(again, gpu)
    assert os.listdir(tmp_path / "cpu" / "edits") == os.listdir(tmp_path / "replayed" / "edits")
