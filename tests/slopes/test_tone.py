"""The tone of skin through the whole walk, beside race and crossed with gender, and what is told of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

import gslopes
from gslopes.core import placebo, tables
from gslopes.slopes.demo import astronaut
from gslopes.slopes.measures.explained import FEW


def dark(pictures: list) -> list:
    return [{"dark": 1.0 - float(picture.mean()) / 255} for picture in pictures]


@pytest.fixture(scope="module")
def photos(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tone") / "photos"
    folder.mkdir()
    for number in range(2):
        corner = 40 + 8 * number
        cut = astronaut()[:400, corner : corner + 400]
        Image.fromarray(cut).resize((200, 200)).save(folder / f"{number}.png")
    gray = Image.fromarray(astronaut()[:400, 56:456]).convert("L")
    gray.resize((200, 200)).save(folder / "gray.png")
    Image.new("RGB", (200, 200), "gray").save(folder / "nobody.png")
    return folder


def test_a_dry_run_says_seven_steps_and_writes_nothing(gslopes: Callable, photos: Path) -> None:
    done = gslopes("audit", photos, "--attribute", "tone", "--dry-run")
    assert done.code == 0, done.err
    assert "sweep        tone: 2, 3, 4, 5, 6, 7, 8" in done.out
    refused = gslopes("audit", photos, "--attribute", "tone", "--range", "-2,2", "--dry-run")
    assert refused.code == 2
    assert "steps 1 to 10" in refused.err


@pytest.mark.slow
def test_try_tells_the_own_step(gslopes: Callable, photos: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    named = ("--attribute", "tone", "--device", "cpu", "--out", sheet)
    done = gslopes("try", "--editor", "tone", photos / "0.png", *named)
    assert done.code == 0, done.err
    assert "own tone    about step " in done.out
    assert "tone 5: moved 0.00 %" in done.out
    other = gslopes("try", "--editor", "gender-field", photos / "0.png", "--out", sheet)
    assert "own tone" not in other.out


@pytest.mark.slow
def test_from_photos_to_the_share_of_race_that_goes_with_tone(photos: Path, tmp_path: Path) -> None:
    result = gslopes.audit(
        photos,
        tmp_path / "run",
        classifier=dark,
        attribute=("tone", "race"),
        steps=3,
        **{"fit.min_varying": 2, "gate.off_target": 0.5},
    )
    run = result.folder
    found = result.findings.set_index("attribute")
    assert found["slope"]["tone"] > 0 > found["slope"]["race"]
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    assert edits.groupby("attribute").size().to_dict() == {
        name: 9 for sweep in ("tone", "race") for name in (sweep, *placebo.names(sweep))
    }
    skipped = tables.read(tables.PHOTOS, run / "photos.parquet").query("status == 'skipped'")
    assert skipped["reason"].tolist() == ["no face found"]
    readings = tables.read(tables.READINGS, run / "readings.parquet")
    tone = readings[readings["reading"] == "tone"]
    assert set(tone["attribute"]) == {"tone"}
    steps = tone.pivot(index="photo", columns="step", values="score")
    assert (steps[[0, 1, 2]].diff(axis=1).iloc[:, 1:] > 0.1).all().all()
    assert steps[-1].between(0.1, 1).all()
    explained = tables.read(tables.EXPLAINED, run / "explained.parquet")
    assert explained[["attribute", "note"]].to_numpy().tolist() == [["race", FEW]]
    page = result.page.read_text("utf-8")
    assert "No reader knows the tone of skin" in page
    assert "The photos' own tone, before any edit: step" in page
    assert "A unit of the tone of skin is a step of a scale" in page


@pytest.mark.slow
def test_gender_and_tone_are_crossed(photos: Path, tmp_path: Path) -> None:
    both = ("gender", "tone")
    options = {"attribute": both, "cross": True, "grid": (3, 3), "placebo": False}
    result = gslopes.audit(
        photos, tmp_path / "run", classifier=dark, **options, **{"fit.min_varying": 2}
    )
    slopes = result.findings.set_index("attribute")["slope"]
    assert slopes["tone"] > 0
    assert {"gender-x-tone", "gender-x-tone=2", "gender-x-tone=8"} <= set(slopes.index)
