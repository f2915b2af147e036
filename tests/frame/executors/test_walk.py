"""The walk in other processes, on a Ray cluster or served by this one: the files of one process."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.faces.components import default_components
from gslopes.frame.executors import OneProcess, RayCluster, Served
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


def test_drawn_faces_by_workers_that_are_served(home, draw, tmp_path):
    faces = draw(4)
    (tmp_path / "walk.toml").write_text("part = 2\n[edit]\nsteps = 3\n")
    given = {"config": tmp_path / "walk.toml", **faces.known}
    for name, executor in (("one", OneProcess()), ("served", Served(OneProcess(threads=2), "cpu"))):
        gslopes.synthesise(faces.photos, tmp_path / name, executor=executor, **given)
    same(tmp_path / "one", tmp_path / "served")


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


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize(
    "options",
    [
        {"steps": 3},
        {"steps": 3, "attribute": ("gender", "race"), "placebo": True},
        {"attribute": ("gender", "race"), "cross": True, "grid": (3, 3), "placebo": True},
        {"steps": 3, "edit.model": "gender-fader"},
    ],
    ids=["gender", "placebos", "crossed", "fader"],
)
def test_portraits_by_workers_that_are_served(london, tmp_path, options):
    (tmp_path / "walk.toml").write_text("part = 2\nlimit = 6\n")
    given = {**london, "config": tmp_path / "walk.toml", **options}
    for name, executor in (("one", OneProcess()), ("served", Served(OneProcess(threads=2), "cpu"))):
        walk = gslopes.synthesise(out=tmp_path / name, executor=executor, **given)
        assert walk.used == 6
    same(tmp_path / "one", tmp_path / "served")
