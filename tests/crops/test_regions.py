"""Where on the body: bright patches on the bodies of half of one group are found, counted and marked."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.ask.boxes import Crop
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.records import Detections
from gslopes.crops import segmentation
from gslopes.crops.gaze import gaze_headline
from gslopes.crops.regions import regions_crops
from gslopes.crops.review import marked, read_marks
from tests.crops.drawn import Brightness

WIDE, TALL = 64, 112
PEOPLE = {"blue": 12, "green": 10}


class Whole:
    """A grid of cells of 4 pixels, brightness."""

    name, version = "cells", "1"
    maps = Brightness.maps
    asked = 0


class Top:
    """Keeps the top, tells no point."""

    name, version = "top", "1"

    def crop(self, picture, ratio):
        return Crop(0, 0, picture.shape[1], round(ratio * picture.shape[1]))


def a_head(photos):
    box = np.array([[16, 6, 48, 38]], np.float32)
    points = np.array([[[26, 18], [38, 18], [32, 24], [27, 31], [37, 31]]], np.float32)
    return [Detections(box, points, np.ones(1, np.float32)) for _ in photos]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Heads of brightness 150; every second blue one wears a patch of 220 on the chest. One green photo is flat."""
    folder = tmp_path_factory.mktemp("bodies") / "people"
    folder.mkdir()
    down, across = np.mgrid[:TALL, :WIDE]
    rows = []
    for group, count in PEOPLE.items():
        for index in range(count):
            picture = np.full((TALL, WIDE, 3), 30 + index + 20 * (group == "green"), np.uint8)
            picture[(across - 32) ** 2 + (down - 22) ** 2 < 14**2] = 150
            if group == "blue" and index % 2 == 0:
                picture[80:92, 24:40] = 220
            Image.fromarray(picture).save(folder / f"{group}{index}.png")
            rows.append(f"{group}{index},{group}")
    Image.fromarray(np.full((WIDE, WIDE, 3), 9, np.uint8)).save(folder / "square.png")
    table = folder.parent / "people.csv"
    table.write_text("id,team\n" + "\n".join([*rows, "square,green"]) + "\n")
    return folder, table


def run(people, out, *models, **options):
    folder, table = people
    options = {"people": table, "groups": ("team",), "cropper": ("centre",), "seed": 3, **options}
    return regions_crops(folder, out, croppers=models, finder=a_head, **options)


@pytest.fixture(scope="module")
def done(people, tmp_path_factory):
    out = tmp_path_factory.mktemp("regions") / "run"
    return run(people, out, Whole(), Top())


def test_patches_on_half_of_a_group_are_found(done):
    gaze = done.tables["gaze"].set_index(["cropper", "group"])
    blue, green = gaze.loc[("cells", "blue")], gaze.loc[("cells", "green")]
    assert (blue["photos"], blue["off_head"]) == (12, 6)
    assert blue["off_low"] < 0.5 < blue["off_high"]
    assert (green["photos"], green["off_head"]) == (10, 0)
    gap = done.tables["gaze_gaps"].set_index(["cropper", "what"]).loc[("cells", "off")]
    assert gap["difference"] == pytest.approx(0.5)
    assert 0 < gap["ci_low"] < 0.5 < gap["ci_high"]
    kinds = done.tables["kinds"].set_index(["cropper", "group", "kind"])
    assert kinds.loc[("cells", "blue", "off the head"), "photos"] == 6
    assert kinds.loc[("cells", "blue", "not marked"), "of_photos"] == 12


def test_a_cropper_without_a_map_is_judged_by_its_crop(done):
    gaze = done.tables["gaze"].set_index(["cropper", "group"]).loc[("top", "blue")]
    assert np.isnan(gaze["off_share"])
    assert (gaze["crop_off_head"], gaze["crop_off_share"]) == (0, 0.0)
    middle = done.tables["gaze"].set_index(["cropper", "group"]).loc[("centre", "blue")]
    assert middle["off_head"] == 12  # the middle of a body is no head


def test_a_review_names_the_regions_and_the_same_command_reads_it(done, people):
    off_head = done.tables["regions"].query("cropper == 'cells' and on_head < 0.5")
    rows = [
        {"cropper": "cells", "photo": r.photo, "region": r.region, "kind": "badge", "by": "AB"}
        for r in off_head.itertuples()
    ]
    with (done.folder / "review.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["cropper", "photo", "region", "kind", "by"])
        writer.writeheader()
        writer.writerows(rows)
    model = Whole()
    again = run(people, done.folder, model, Top())
    assert model.asked == 0
    badges = again.tables["kinds"].set_index(["cropper", "group", "kind"]).loc[("cells", "blue", "badge")]
    assert (badges["photos"], badges["share"]) == (6, 0.5)
    assert set(again.tables["regions"].loc[again.tables["regions"]["kind"] == "badge", "by"]) == {"AB"}
    assert "<option selected>badge</option>" in again.review.read_text("utf-8")
    (done.folder / "review.csv").unlink()


def test_photos_with_one_salient_region_do_not_count_if_two_are_asked_for(people, tmp_path, monkeypatch):
    monkeypatch.setattr(segmentation, "PERCENTILE", 80.0)
    found = run(people, tmp_path, Whole(), Top(), min_regions=2)
    answered = found.tables["glances"].query("cropper == 'cells' and status == 'answered'")
    counted = int((answered["regions"] >= 2).sum())
    gaze = found.tables["gaze"].set_index("cropper")["photos"]
    assert 0 < counted == gaze.loc[["cells"]].sum() < len(answered)
    assert gaze.loc[["top"]].sum() == 22  # it has no map
    few = f"{len(answered) - counted} photos with fewer than 2 salient regions for cells"
    assert few in found.page.read_text("utf-8")
    with pytest.raises(ConfigError, match="per_group is 0"):
        run(people, tmp_path, Whole(), per_group=0)


def test_boxes_from_elsewhere_name_the_regions_that_they_cover(done):
    seen = pd.read_parquet(done.folder / "people.parquet").set_index("photo")["path"]
    rows = done.tables["regions"].query("cropper == 'cells'")
    box = {"line": "2", "photo": "blue0.png", "x0": "20", "y0": "76", "x1": "44", "y1": "96", "kind": "text"}
    found = marked(rows, [box], seen.to_dict())
    assert len(found[found["kind"] == "text"]) == 1
    assert found.loc[found["kind"] == "text", "on_head"].iloc[0] == 0
    assert not len(marked(rows, [{**box, "x1": "26"}], seen.to_dict()).query("kind == 'text'"))


def test_marks_of_what_is_not_there_are_errors(done):
    seen = pd.read_parquet(done.folder / "people.parquet").set_index("photo")["path"].to_dict()
    mark = {"line": "7", "photo": "blue0.png", "region": "99", "kind": "text"}
    with pytest.raises(UsageError, match=r"review\.csv, line 7: the photo blue0\.png has no region 99"):
        marked(done.tables["regions"], [mark], seen, "review.csv")
    with pytest.raises(UsageError, match="line 7: there is no photo 'elsewhere'"):
        marked(done.tables["regions"], [mark | {"photo": "elsewhere"}], seen)


def test_what_is_wrong_with_a_review_is_said_with_its_line(tmp_path):
    file = tmp_path / "review.csv"
    for text, words in (
        ("photo,region\na,0\n", "lacks the column 'kind'"),
        ("photo,region,kind\na,0,badge\nb,0,bagde\n", "line 3: kind is 'bagde'"),
        ("photo,x0,y0,x1,y1,kind\na,0,0,ten,5,text\n", "no number"),
        ("photo,x0,y0,x1,y1,kind\na,0,0,nan,5,text\n", "no number"),
        ("photo,region,kind\na,0.5,badge\n", "no number"),
        ("photo,region,kind\na,0,badge\na,0,text\n", "Line 3 .* region of line 2"),
        ("photo,region,kind,kind\na,0,badge,text\n", "two columns 'kind'"),
        ("picture,where\n", "lacks the column 'photo'"),
    ):
        file.write_text(text)
        with pytest.raises(UsageError, match=words):
            read_marks(file, wanted=True)
    with pytest.raises(UsageError, match="There is no file"):
        read_marks(tmp_path / "none.csv", wanted=True)
    assert read_marks(tmp_path / "none.csv", wanted=False) == []


def test_photos_that_are_not_tall_enough_are_counted(done, people, tmp_path):
    assert "1 photo less tall than 1.25 times their width" in done.page.read_text("utf-8")
    with pytest.raises(UsageError, match="No photo is left"):
        run(people, tmp_path / "run", Whole(), tall=3.0)


def test_pages_show_every_photo_and_ask_nobody(done):
    page, review = (path.read_text("utf-8") for path in (done.page, done.review))
    assert page.count("<figure>") == review.count("<figure>") == 3 * 22
    for text in (page, review):
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "default-src 'none'" in text


def test_the_finding_in_one_sentence():
    gaze = pd.DataFrame({"cropper": "c", "column": "team", "group": ["a", "b"], "off_share": [0.1, 0.4], "photos": 20})
    gap = {"cropper": "c", "column": "team", "group": "a", "other": "b", "what": "off", "difference": -0.3}
    shown = pd.DataFrame([{**gap, "ci_low": -0.5, "ci_high": -0.1}])
    assert gaze_headline(gaze, shown) == (
        "c looks off the head on 40 % of the photos of b, on 10 % of a: 30.0 points [10.0, 50.0] more, 40 photos."
    )
    even = pd.DataFrame([{**gap, "ci_low": -0.5, "ci_high": 0.1}])
    assert gaze_headline(gaze, even) == (
        "Cannot tell with 40 photos whether a group has its heads missed more often than another: "
        "the difference a less b may lie anywhere in [−50.0, +10.0] points."
    )
    narrow = pd.DataFrame([{**gap, "ci_low": -0.04, "ci_high": 0.01}])
    said = "No group has its heads missed more often than another (40 photos; widest: [−4.0, +1.0] points)."
    assert gaze_headline(gaze, narrow) == said
    assert gaze_headline(gaze.assign(photos=3), narrow).startswith("Cannot tell with 6 photos")
