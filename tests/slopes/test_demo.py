"""The demo as a newcomer runs it, with fewer faces: real editors, the real walk, no data and no network."""

import hashlib
import json

import pytest
from click.testing import CliRunner
from PIL import Image

from gslopes.cli import main
from gslopes.core import tables
from gslopes.slopes.demo import astronaut

pytestmark = pytest.mark.slow  # CI runs the command of the README


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(
        main, ["demo", "--faces", "40", "--out", str(out), "--device", "cpu", "--json"]
    )
    assert result.exit_code == 0, result.output
    return out, json.loads(result.stdout)


def test_the_astronaut_has_the_pixels_that_scikit_image_ships():
    digest = hashlib.sha256(astronaut().tobytes()).hexdigest()
    assert digest == "a8c429c18afa7b0fd5673e598d73a21225d94c864a71bbb3885126fdecb41071"


@pytest.mark.row("slopes-4.3-sign")
def test_the_planted_directions_are_recovered_and_the_null_stays_flat(finished):
    slopes = {row["label"]: row for row in finished[1]["slopes"]}
    assert len(slopes) == len(finished[1]["slopes"]) == 3
    assert slopes["nurse"]["planted"] < -8
    assert slopes["manager"]["planted"] > 4
    assert slopes["portrait"]["planted"] == 0
    for row in slopes.values():
        assert row["slope"] == pytest.approx(row["planted"], abs=3.5)
    for label in ("nurse", "manager"):
        assert slopes[label]["ci_low"] < slopes[label]["slope"] < slopes[label]["ci_high"]
    assert 0.9 < finished[1]["reach"] < 1.1


def test_its_pages_and_its_sweep_are_where_it_says(finished):
    for name in ("page", "portrait_page"):
        assert finished[1][name].endswith("index.html")
        with open(finished[1][name], encoding="utf-8") as page:
            assert "perceived gender" in page.read()
    with Image.open(finished[1]["sweep"]) as sweep:
        assert sweep.size == (8 * 256, 256)


def test_the_portraits_page_says_what_one_photo_is_for(finished):
    with open(finished[1]["portrait_page"], encoding="utf-8") as page:
        text = page.read()
    assert "was shown one photo with its face edited" in text
    assert "it takes many to say how the classifier behaves" in text


def test_the_drawn_faces_are_swept_beside_their_placebos_and_the_table_is_of_the_edit_alone(
    finished,
):
    edits = tables.read(tables.EDITS, finished[0] / "rendered" / "edits.parquet")
    names = ("gender", "gender-same", "gender-light", "gender-random")
    assert edits["attribute"].value_counts().to_dict() == dict.fromkeys(names, 40 * 7)
    slopes = tables.read(tables.SLOPES, finished[0] / "rendered" / "slopes.parquet")
    known = (
        slopes.query("estimator == 'photo-rate' and attribute == 'gender'")
        .set_index("label")["slope"]
        .to_dict()
    )
    assert {row["label"]: row["slope"] for row in finished[1]["slopes"]} == pytest.approx(known)


def test_the_astronaut_was_edited_and_answered_at_every_value(finished):
    run = finished[0] / "astronaut"
    assert len(tables.read(tables.EDITS, run / "edits.parquet")) == 7
    assert set(tables.read(tables.ASKED, run / "asked.parquet")["status"]) == {"answered"}


def test_run_again_it_goes_on_and_says_the_same(finished):
    again = CliRunner().invoke(
        main, ["demo", "--faces", "40", "--out", str(finished[0]), "--device", "cpu", "--json"]
    )
    assert again.exit_code == 0
    assert json.loads(again.stdout) == finished[1]
