"""The walk on a Ray cluster: the files of one process."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.faces.components import default_components
from gslopes.frame.executors import RayCluster
from gslopes.slopes.config import configure


def files(run: Path) -> dict[str, bytes]:
    """All that a walk leaves but manifest and stamps, which hold times, with the bytes."""
    found = {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file()
    }
    return {
        name: data
        for name, data in found.items()
        if name not in ("run.json", ".lock", "parts/synthesise.json")
    }


def same(one: Path, other: Path) -> None:
    """Equal tables, pictures equal to the byte."""
    for name in ("photos", "edits"):
        frames = [tables.read(tables.TABLES[name], run / f"{name}.parquet") for run in (one, other)]
        pd.testing.assert_frame_equal(*frames)
    expected, found = files(one), files(other)
    assert sorted(expected) == sorted(found)
    assert [name for name in expected if expected[name] != found[name]] == []


def test_components_passed_as_objects_stay_here(home, draw, tmp_path):
    faces = draw(2)
    components = replace(
        default_components(configure(faces.photos, faces.known), "cpu"), named=False
    )
    with pytest.raises(UsageError, match="objects that cannot be sent"):
        gslopes.synthesise(
            faces.photos,
            tmp_path / "run",
            components=components,
            engine="ray",
            steps=3,
            **faces.known,
        )


# -- portraits, the shipped networks ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def london(unpacked, tmp_path_factory) -> dict[str, object]:
    """Eight portraits, two a part."""
    config = tmp_path_factory.mktemp("london") / "walk.toml"
    config.write_text("part = 2\nlimit = 8\n[edit]\nsteps = 3\n")
    return {"photos": unpacked("london") / "smiling", "config": config, "device": "cpu"}


@pytest.fixture(scope="module")
def undisturbed(london, tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("one") / "run"
    assert gslopes.synthesise(out=run, **london).used == 8
    return run


@pytest.mark.ray
@pytest.mark.slow
def test_portraits_on_a_ray_cluster(london, undisturbed, tmp_path, capfd, cluster):
    gslopes.synthesise(out=tmp_path / "run", executor=RayCluster(2, "cpu", progress=True), **london)
    same(undisturbed, tmp_path / "run")
    assert capfd.readouterr().out == ""
