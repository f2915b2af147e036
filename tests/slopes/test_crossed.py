"""Two attributes crossed, from photos to a page; and what cannot be crossed, said before any work."""

import re
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.core import placebo, tables
from gslopes.core.errors import ConfigError, UsageError
from gslopes.slopes.compare import compare_runs
from gslopes.slopes.config import configure
from gslopes.slopes.demo import astronaut
from gslopes.slopes.plan import look_at
from tests.fixtures import assert_one_minute, assert_page_fits

BOTH = ["gender", "race"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attribute": ["gender"]}, "--cross takes two attributes, not 1"),
        ({"attribute": ["gender", "race", "young"]}, "--cross takes two attributes, not 3"),
        ({"grid": (1, 3)}, "A grid of 1 by 3 values has no centre"),
        ({"grid": (5, 4)}, "A grid of 5 by 4 values has no centre"),
        ({"steps": 5}, "--cross does not go with --steps"),
        ({"as_published": True}, "--cross does not go with --as-published"),
    ],
)
def test_what_cannot_be_crossed_is_said_before_any_work(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        configure("photos", {"attribute": BOTH, "cross": True, **options})


def test_a_set_of_pairs_is_not_crossed():
    with pytest.raises(ConfigError, match="--cross does not go with --pairs"):
        configure(None, {"pairs": "set.csv", "cross": True})


def test_a_grid_is_one_sweep_of_the_tables_and_its_cost_is_said(tmp_path):
    Image.new("RGB", (64, 64)).save(tmp_path / "a.png")
    walk = look_at(configure(tmp_path, {"attribute": BOTH, "cross": True}))
    sweeps = ("gender-x-race", "gender-x-race-same", "gender-x-race-light", "gender-x-race-random")
    counts = {name: len(values) for name, values in walk.values.items()}
    assert counts == dict.fromkeys(sweeps, 15) | {"gender": 5, "race": 3}
    assert walk.images == 60
    assert walk.grid.values == ((-2.0, -1.0, 0.0, 1.0, 2.0), (-2.0, 0.0, 2.0))
    small = look_at(configure(tmp_path, {"attribute": BOTH, "cross": True, "grid": (3, 3), "placebo": False}))
    assert small.images == 9
    plain = configure(tmp_path, {"attribute": BOTH}).identity()
    assert not {"cross", "grid"} & set(plain)  # runs made before there were any go on


def dark(pictures: list) -> list:
    return [{"dark": 1.0 - float(picture.mean()) / 255} for picture in pictures]


@pytest.fixture(scope="module")
def crossed(tmp_path_factory) -> gslopes.frame.result.Result:
    folder = tmp_path_factory.mktemp("crossed")
    for number in range(3):
        picture = Image.fromarray(astronaut()[:400, 40 + 8 * number : 440 + 8 * number]).resize((200, 200))
        (folder / "photos").mkdir(exist_ok=True)
        picture.save(folder / "photos" / f"{number}.png")
    return again(folder)


def again(folder: Path) -> gslopes.frame.result.Result:
    options = {"attribute": BOTH, "cross": True, "grid": (3, 3), "fit.min_varying": 2}
    return gslopes.audit(folder / "photos", folder / "run", classifier=dark, **options)


@pytest.mark.slow
def test_from_photos_to_interactions_and_what_is_done_is_not_done_again(crossed):
    run = crossed.folder
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    assert edits.groupby("attribute").size().to_dict() == dict.fromkeys(
        ("gender-x-race", "gender-x-race-same", "gender-x-race-light", "gender-x-race-random"), 27
    )
    made = tables.read(tables.SLOPES, run / "slopes.parquet")
    ends = {"gender-x-race=-2", "gender-x-race=2", "race-x-gender=-2", "race-x-gender=2"}
    views = {"gender", "race", "gender-x-race", *ends}
    assert set(made["attribute"][~placebo.among(made["attribute"])]) == set(crossed.findings["attribute"]) == views
    for name in ("findings.csv", "slopes.csv"):
        rows = pd.read_csv(run / "report" / name)
        assert views <= set(rows["attribute"])
        assert {"ci_low", "ci_high"} <= set(rows)
    readings = tables.read(tables.READINGS, run / "readings.parquet")
    assert readings.groupby("attribute")["step"].max().to_dict() == {"gender": 2, "race": 2}
    race = crossed.findings.set_index("attribute")["slope"]["race"]
    assert race < 0  # darker towards the first end
    before = {file: file.stat().st_mtime_ns for file in (run / "edits").rglob("*.jpg")}
    again(run.parent)
    assert {file: file.stat().st_mtime_ns for file in (run / "edits").rglob("*.jpg")} == before
    with pytest.raises(UsageError, match="crosses two attributes"):
        compare_runs(run, run)


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_shows_a_grid_and_fits(crossed, chromium):
    html = crossed.page.read_text("utf-8")
    assert "oes it depend on both?" in html
    assert len(set(re.findall(r"pictures/gender-x-race[^\"]*", html))) == 9  # three strips for each photo
    for width, height in ((1280, 900), (390, 844)):
        assert_page_fits(chromium, crossed.page, width, height)
    assert_one_minute(chromium, crossed.page)
