"""Two attributes crossed, from photos to a page; and what cannot be crossed, said before any work."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.core import placebo, runfolder, tables
from gslopes.core.crossed import split
from gslopes.core.errors import ConfigError, UsageError
from gslopes.export.pictures import ExportConfig, pictures
from gslopes.faces.gate.judge import SweepSelection, judge_all
from gslopes.faces.gate.verdict import GateConfig
from gslopes.report import units, words
from gslopes.slopes.audit import score_photos
from gslopes.slopes.compare import compare_runs
from gslopes.slopes.config import configure
from gslopes.slopes.demo import astronaut
from gslopes.slopes.expected import is_expected
from gslopes.slopes.page.changes import print_changes
from gslopes.slopes.page.lead import effect_of
from gslopes.slopes.plan import look_at
from tests.again import redo
from tests.fixtures import assert_one_minute, assert_page_fits

BOTH = ["gender", "race"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attribute": ["gender"]}, "--cross takes two attributes, not 1"),
        ({"attribute": ["gender", "race", "young"]}, "--cross takes two attributes, not 3"),
        ({"grid": (1, 3)}, "grid is 1; it must be at least 3"),
        ({"grid": (5, 4)}, "A sweep of 4 values has no centre"),
        ({"steps": 5}, "--cross does not go with --steps"),
        ({"range": (0, 2)}, "A grid has both ends of each attribute"),
        ({"as_published": True}, "--cross does not go with --as-published"),
        ({"attribute": ["gender", "gender"]}, "An attribute is given twice"),
        (
            {"attribute": ["gender", "a-x-b"]},
            "The attribute 'a-x-b' has the name of two that are crossed",
        ),
        ({"grid": "x"}, "grid: 'x' is not two odd numbers such as 5,3"),
        ({"grid": (5,)}, "grid"),
        ({"grid": (5, 3), "cross": False}, "--grid is for two attributes that are crossed"),
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
    small = look_at(
        configure(tmp_path, {"attribute": BOTH, "cross": True, "grid": (3, 3), "placebo": False})
    )
    assert small.images == 9
    plain = configure(tmp_path, {"attribute": BOTH}).identity()
    assert not {"cross", "grid"} & set(plain)  # runs made before there were any go on


def test_on_the_command_line_a_grid_that_is_none_is_one_sentence_and_the_plan_says_the_cost(
    gslopes, tmp_path
):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (64, 64)).save(tmp_path / "photos" / "a.png")
    attributes = ("--attribute", "gender", "--attribute", "race")
    given = (
        "audit",
        tmp_path / "photos",
        *attributes,
        "--cross",
        "--dry-run",
        "--out",
        tmp_path / "run",
    )
    for text in ("x", "5", "5,3,1", "-5,3", "5.0,3"):
        told = gslopes(*given, f"--grid={text}").err
        assert f"'{text}' is not two odd numbers such as 5,3." in told
    plan = gslopes(*given).out
    assert "sweep        gender: -2, -1, 0, 1, 2\n" in plan
    assert "sweep        race: -2, 0, 2\n" in plan
    assert "crossed      5 × 3 pictures a photo, and as many for each of 3 placebos\n" in plan
    assert "images       60 at most" in plan
    plan = gslopes(*given, "--grid=3,3", "--no-placebo").out
    assert "crossed      3 × 3 pictures a photo\n" in plan
    assert "images       9 at most" in plan


def test_an_attribute_with_a_plus_in_its_name_is_an_attribute():
    assert words.perceived("nose+chin") == "perceived nose+chin"
    assert not units.is_crossed({"attribute": "nose+chin"})
    grid = configure("photos", {"attribute": ["nose+chin", "race"], "cross": True}).crossed
    assert split(grid.name) == ("nose+chin", "race", "")
    assert words.perceived(grid.name) == "the interaction of perceived nose+chin and perceived race"
    assert not is_expected("Male", "nose+chin")
    assert is_expected("Male", "race-x-gender")
    assert not is_expected("Male", "race-x-gender=-2")
    assert split(placebo.plain("a-x-b"))[1] == ""  # an attribute that others named


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        (
            -0.09,
            -0.03,
            "falls by 9 of 100 photos on darker-skinned faces, by 3 on lighter-skinned",
        ),
        (
            0.03,
            0.09,
            "rises by 3 of 100 photos on darker-skinned faces, by 9 on lighter-skinned",
        ),
        (
            -0.03,
            0.09,
            "falls by 3 of 100 photos on darker-skinned faces, rises by 9 on lighter-skinned",
        ),
    ],
)
def test_the_sentence_says_what_a_label_does_at_both_ends_of_the_second_attribute(
    low, high, sentence
):
    row = {
        "attribute": "gender-x-race",
        "measure": "presence",
        "slope": -1.0,
        "n": 100,
        "y_first": low,
        "y_last": high,
    }
    assert f"“nurse” {sentence}" in effect_of(pd.Series(row), "nurse", ", feminine to masculine")
    short = sentence.replace(" faces", "")
    assert f"“nurse” {short}" in effect_of(pd.Series(row), "nurse")


def dark(pictures: list) -> list:
    return [{"dark": 1.0 - float(picture.mean()) / 255} for picture in pictures]


@pytest.fixture(scope="module")
def crossed(tmp_path_factory) -> gslopes.frame.result.Result:
    folder = tmp_path_factory.mktemp("crossed")
    for number in range(3):
        picture = Image.fromarray(astronaut()[:400, 40 + 8 * number : 440 + 8 * number]).resize(
            (200, 200)
        )
        (folder / "photos").mkdir(exist_ok=True)
        picture.save(folder / "photos" / f"{number}.png")
    return again(folder)


def again(folder: Path, **others: Any) -> gslopes.frame.result.Result:
    options = {"attribute": BOTH, "cross": True, "grid": (3, 3), "fit.min_varying": 2, **others}
    return gslopes.audit(folder / "photos", folder / "run", classifier=dark, **options)


@pytest.mark.evidence
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
    assert (
        set(made["attribute"][~placebo.among(made["attribute"])])
        == set(crossed.findings["attribute"])
        == views
    )
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


@pytest.mark.slow
def test_the_interaction_heads_page_terminal_and_summary_and_main_slopes_follow(crossed):
    told = "Cannot tell whether “dark” depends on both attributes together."
    summary = json.loads((crossed.folder / "summary.json").read_text())
    assert summary["headline"] == crossed.summary
    sentences = crossed.summary.split("dark: ")[1:]
    assert len(sentences) == 3, "slopes at an end are left to the tables"
    assert told in sentences[0]
    assert "Does its slope along perceived gender differ with perceived race?" in sentences[0]
    assert "moves with perceived gender." in sentences[1]
    assert "moves with perceived race." in sentences[2]
    blocks = re.findall("^dark along (.+)$", str(crossed), re.MULTILINE)
    assert blocks[0] == "the interaction of perceived gender and perceived race"
    assert blocks[1:3] == ["perceived gender", "perceived race"]
    html = crossed.page.read_text("utf-8")
    heading = html.index("<h1")
    assert told in html[heading : html.index("</h1>")]
    assert told in (crossed.folder / "report/model_card.md").read_text("utf-8")


@pytest.mark.slow
def test_the_same_run_without_its_cross_is_another(crossed):
    with pytest.raises(UsageError, match="was made by another configuration"):
        gslopes.audit(
            crossed.folder.parent / "photos", crossed.folder, attribute=BOTH, classifier=dark
        )
    with pytest.raises(UsageError, match=r"identity.grid is \[3, 3\] there and \[5, 3\] here"):
        gslopes.audit(crossed.folder, grid=(5, 3))


@pytest.mark.slow
def test_two_crossed_runs_are_compared_view_by_view_and_exported_cell_by_cell(crossed):
    changes = compare_runs(crossed.folder, crossed.folder)
    assert set(changes["attribute"]) == set(crossed.findings["attribute"])
    assert (changes["difference"] == 0).all()
    assert "along the interaction of perceived gender and perceived race" in print_changes(changes)
    rows = pictures(crossed.folder, ExportConfig())
    cells = rows.query("kind == 'edit'").groupby(
        ["attribute_1", "value_1", "attribute_2", "value_2"]
    )
    assert set(cells.groups) == {
        ("gender", first, "race", second) for first in (-2, 0, 2) for second in (-2, 0, 2)
    }
    assert cells.size().eq(3).all()
    assert set(rows["editor"]) == {"", "gender-field + race-field"}


@pytest.mark.slow
def test_groups_have_main_slopes_of_a_crossed_run(crossed):
    folder = crossed.folder.parent
    (folder / "people.csv").write_text("path,side\n0.png,left\n1.png,left\n2.png,right\n")
    found = again(folder, photos_csv=folder / "people.csv", groups=("side",)).tables["groups"]
    assert {
        (row.attribute, row.group, row.n) for row in found.itertuples() if row.label == "dark"
    } >= {(name, *side) for name in BOTH for side in (("left", 2), ("right", 1))}
    assert not any("-x-" in name for name in found["attribute"])


@pytest.mark.slow
def test_a_task_of_a_language_model_is_asked_of_a_grid(crossed, provider, tmp_path):
    provider.chat.number = (60_000, 0.0)
    score_photos(
        crossed.folder,
        ["llm:some-model"],
        tasks=("salary",),
        device="cpu",
        cache=tmp_path,
        yes=True,
    )
    made = redo(crossed.folder, "fit").tables["slopes"]
    own = made[made["classifier"].str.startswith("llm") & (made["estimator"] == tables.MEASURED)]
    assert set(crossed.findings["attribute"]) <= set(own["attribute"])
    assert "USD a year per unit" in set(own["unit"])


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_shows_a_grid_and_fits(crossed, chromium):
    html = crossed.page.read_text("utf-8")
    assert "oes it depend on both?" in html
    assert (
        len(set(re.findall(r"pictures/gender-x-race[^\"]*", html))) == 3
    )  # a strip for each photo
    for width, height in ((1280, 900), (390, 844)):
        assert_page_fits(chromium, crossed.page, width, height)
    assert_one_minute(chromium, crossed.page)


@pytest.mark.slow
def test_a_photo_is_kept_where_readers_follow_both_attributes_and_is_dropped_along_both(
    crossed, tmp_path
):
    run = tmp_path / "run"
    shutil.copytree(crossed.folder, run)
    measured = tables.read(tables.VERDICTS, run / "parts/gate/verdicts-000000.parquet")
    photo = measured["photo"].iloc[0]
    measured.loc[
        (measured["photo"] == photo) & (measured["attribute"] == "race"), ["tau", "shift"]
    ] = -1.0
    judged = judge_all(measured, GateConfig(), runfolder.read_manifest(run))
    runfolder.write_table(tables.VERDICTS, judged, run / "verdicts.parquet")
    dropped = judged[~judged["kept"]]
    assert set(zip(dropped["photo"], dropped["attribute"], strict=True)) >= {
        (photo, name) for name in BOTH
    }
    assert dropped.groupby("photo")["reason"].nunique().eq(1).all()
    assert (
        dropped[dropped["photo"] == photo]["detail"].str.startswith("race").all()
    )  # whose reading failed
    selection = SweepSelection(run)
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    assert set(edits["photo"]) - set(selection.keep(edits)["photo"]) == set(dropped["photo"])
    assert not selection.of(edits)["photo"].isin(dropped["photo"]).any()
    asked = (
        SweepSelection(crossed.folder, placebos=1).of(edits).groupby("attribute")["photo"].nunique()
    )
    assert asked.to_dict() == {
        "gender-x-race": 3,
        **dict.fromkeys(placebo.names("gender-x-race"), 1),
    }
