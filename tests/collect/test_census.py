"""The census: readings, people's answers, shares, what is left to review, labels for the fit."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image

from gslopes.collect.census import COLUMNS, Census, read_answers, take_census
from gslopes.collect.cli import census as verb
from gslopes.collect.config import CensusConfig
from gslopes.core import runfolder, tables
from gslopes.core.errors import ConfigError, RunFolderMismatch, UnknownName, UsageError
from gslopes.core.options import build
from gslopes.core.records import Detections, Photo
from gslopes.core.tables import CENSUS, MANIFEST
from gslopes.photos.people import read_about
from gslopes.report.composition import SIDES

POINTS = np.array([(26, 23), (74, 23), (50, 52), (28, 72), (72, 72)], np.float32)


def find(photos: list[Photo]) -> list[Detections]:
    """A face in the middle of every photo but black ones."""
    detections = []
    for photo in photos:
        count = int(photo.pixels.max() > 20)
        box = np.array([[20, 10, 80, 90]] * count, np.float32).reshape(-1, 4)
        points = np.array([POINTS] * count, np.float32).reshape(-1, 5, 2)
        detections.append(Detections(box, points, np.ones(count, np.float32)))
    return detections


class Redness:
    """Reads the more masculine the redder, and counts how often it is asked."""

    sha256, size = "0" * 64, 32

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, chips: np.ndarray) -> dict[str, np.ndarray]:
        self.asked += len(chips)
        red = np.round(chips[..., 0].mean((1, 2)) / 255, 2)
        races = {"white": 0.8, "black": 0.4, "asian": 0.4, "indian": 0.2, "other": 0.2}
        return {"masculine": red, "young": 1 - red} | {
            name: np.full(len(chips), p) for name, p in races.items()
        }


def draw(folder: Path, **reds: list[float]) -> Path:
    for occupation, shares in reds.items():
        (folder / occupation).mkdir(parents=True, exist_ok=True)
        for number, share in enumerate(shares):
            pixels = np.zeros((100, 100, 3), np.uint8)
            if share >= 0:
                pixels[:] = (round(255 * share), 100, 20 + number)
            Image.fromarray(pixels).save(folder / occupation / f"{number}.png")
    return folder


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = draw(tmp_path / "photos", chef=[0.98, 0.96, 0.6, 0.04], nurse=[0.02, 0.04, 0.3, -1])
    (folder / "nurse/9.jpg").write_bytes(b"\xff\xd8\xff")
    return folder


def count(photos: Path, out: Path, reader: Redness | None = None, **options: object) -> Census:
    return take_census(
        photos, out, CensusConfig(**options), finder=find, reader=reader or Redness()
    )


def share(
    result: Census, occupation: str, value: str, keyword: str = "any", reading: str = "gender"
) -> pd.Series:
    rows = result.composition
    chosen = rows[
        (rows["occupation"] == occupation) & (rows["value"] == value) & (rows["keyword"] == keyword)
    ]
    (row,) = chosen[chosen["reading"] == reading].to_dict("records")
    return pd.Series(row)


def answer(out: Path, *rows: tuple[str, ...]) -> Path:
    """Writes (photo, decision, gender, race, age) as the review page does; the folder."""
    with (out / "review.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((photo, "", *said, *[""] * (4 - len(said))) for photo, *said in rows)
    return out


def ids(out: Path) -> dict[str, str]:
    table = tables.read(CENSUS, out / "census.parquet")
    return dict(zip(table["path"], table["photo"], strict=True))


@pytest.mark.row("slopes-4.3-skewed")
def test_shares_are_means_of_probabilities_by_folder_and_over_all(photos, tmp_path):
    result = count(photos, tmp_path / "census")
    assert (result.photos, result.read, result.queue) == (9, 7, 2)
    assert share(result, "chef", "female")["share"] == pytest.approx((0.02 + 0.04 + 0.4 + 0.96) / 4)
    assert share(result, "nurse", "male")["n"] == 3
    everyone = share(result, "", "female")
    assert everyone["n"] == 7
    assert everyone["ci_low"] < everyone["share"] < everyone["ci_high"]
    races = [
        share(result, "chef", name, reading="race")["share"]
        for name in ("white", "black", "asian", "indian", "other")
    ]
    assert races == pytest.approx([0.4, 0.2, 0.2, 0.1, 0.1])
    assert result.women == pytest.approx({"chef": 0.269, "nurse": 0.879})


@pytest.mark.row("slopes-4.2-verified")
def test_answers_take_the_place_of_readings_and_narrow_the_interval(photos, tmp_path):
    before = count(photos, tmp_path / "census")
    photo = ids(tmp_path / "census")
    answer(tmp_path / "census", (photo["chef/2.png"], "correct", "female"))
    result = count(photos, tmp_path / "census")
    chef = share(result, "chef", "female")
    assert chef["share"] == pytest.approx((0.02 + 0.04 + 1 + 0.96) / 4)
    assert chef["answered"] == 1
    old = share(before, "chef", "female")
    assert chef["ci_high"] - chef["ci_low"] < old["ci_high"] - old["ci_low"]
    assert (result.queue, result.answered) == (1, 1)


def test_accepted_is_what_was_read_excluded_does_not_count_and_undecided_changes_nothing(
    photos, tmp_path
):
    before = count(photos, tmp_path / "census")
    photo = ids(tmp_path / "census")
    rows = [
        (photo["chef/2.png"], "accept", ""),
        (photo["chef/3.png"], "exclude", ""),
        (photo["nurse/2.png"], "undecided", ""),
    ]
    result = count(photos, answer(tmp_path / "census", *rows))
    chef = share(result, "chef", "male")
    assert (chef["n"], chef["answered"]) == (3, 1)
    assert chef["share"] == pytest.approx((0.98 + 0.96 + 1) / 3)
    assert share(result, "nurse", "male")["share"] == share(before, "nurse", "male")["share"]
    assert (result.queue, result.answered, result.excluded) == (1, 1, 1)


@pytest.mark.row("slopes-4.2-verified")
def test_a_review_about_race_asks_for_race_and_is_done_with_it(photos, tmp_path):
    out = tmp_path / "census"
    assert count(photos, out, unsure=("race",)).queue == 7  # white 0.4 at most
    page = (out / "review.html").read_text("utf-8")
    assert "<details open>" in page
    photo = ids(out)
    answer(
        out, (photo["chef/0.png"], "correct", "", "black"), (photo["chef/2.png"], "correct", "male")
    )
    assert count(photos, out, unsure=("race",)).queue == 6
    assert count(photos, out, unsure=("gender",)).queue == 1
    assert count(photos, out, unsure=("gender", "race")).queue == 7
    labels = pd.read_csv(out / "photos.csv", keep_default_na=False).set_index("path")[
        "perceived_race"
    ]
    assert (labels["chef/0.png"], labels["chef/1.png"]) == ("black", "")
    with pytest.raises(UnknownName, match="reading"):
        CensusConfig(unsure=("beauty",))


def test_labels_flow_into_the_groups_of_a_fit(photos, tmp_path):
    count(photos, tmp_path / "census")
    photo = ids(tmp_path / "census")
    rows = [(photo["chef/2.png"], "correct", "non-binary"), (photo["chef/3.png"], "exclude", "")]
    count(photos, answer(tmp_path / "census", *rows))
    run = tmp_path / "run"
    run.mkdir()
    lines = [(name, path) for path, name in photo.items() if path.endswith("png")]
    frame = pd.DataFrame(lines, columns=["photo", "path"]).assign(
        width=100, height=100, status="used", reason="", faces=1
    )
    frame = frame.assign(box=None, points=None, detection=1.0)
    tables.write(tables.PHOTOS, frame, run / "photos.parquet")
    about = read_about(tmp_path / "census/photos.csv", run)["perceived_gender"]
    groups = {
        path: about.get(name, "not there") for path, name in photo.items() if path.endswith("png")
    }
    assert groups == {
        "chef/0.png": "male",
        "chef/1.png": "male",
        "chef/2.png": "non-binary",
        "chef/3.png": "",
        "nurse/0.png": "female",
        "nurse/1.png": "female",
        "nurse/2.png": "",
        "nurse/3.png": "not there",
    }


def test_a_photo_of_two_searches_counts_in_both_and_once_in_all(photos, tmp_path):
    count(photos, tmp_path / "census")
    photo = ids(tmp_path / "census")
    rows = []
    for keyword, paths in {
        "": ["chef/0.png", "chef/3.png"],
        "female": ["chef/3.png", "chef/2.png"],
    }.items():
        for rank, path in enumerate(paths, 1):
            row = dict.fromkeys(MANIFEST.columns, "") | dict.fromkeys(
                ("width", "height", "bytes"), 0
            )
            again = any(path == second["path"] for second in rows)
            row |= {
                "status": "duplicate" if again else "kept",
                "photo": photo[path],
                "path": path,
                "rank": rank,
            }
            rows.append(
                row | {"occupation": "chef", "keyword": keyword, "query": f"{keyword} chef".strip()}
            )
    runfolder.write_table(MANIFEST, pd.DataFrame(rows), photos / "manifest.parquet")
    result = count(photos, tmp_path / "again")
    assert share(result, "chef", "female", "female")["share"] == pytest.approx((0.96 + 0.4) / 2)
    assert share(result, "chef", "female", "none")["share"] == pytest.approx((0.96 + 0.02) / 2)
    assert share(result, "chef", "female")["n"] == 3


def test_photos_are_read_once_and_other_photos_are_another_census(photos, tmp_path):
    reader = Redness()
    first = count(photos, tmp_path / "census", reader)
    again = count(photos, tmp_path / "census", reader)
    assert reader.asked == 7
    pd.testing.assert_frame_equal(first.composition, again.composition)
    draw(photos, judge=[0.5])
    with pytest.raises(RunFolderMismatch):
        count(photos, tmp_path / "census", reader)


@pytest.mark.parametrize(("decision", "gender"), [("acept", ""), ("correct", "woman")])
def test_answers_that_there_are_not_are_errors(tmp_path, decision, gender):
    with pytest.raises(UsageError, match=r"line 2: (decision|gender) is"):
        read_answers(answer(tmp_path, ("a" * 64, decision, gender)) / "review.csv")


def test_what_cannot_be_counted_is_a_sentence(photos, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    for wrong in (tmp_path / "none.csv", tmp_path / "bad.csv"):
        with pytest.raises(UsageError):
            read_answers(wrong)
    with pytest.raises(UsageError, match="inside"):
        count(photos, photos / "census")
    with pytest.raises(ConfigError):
        build(CensusConfig, {"confidence": 0.3})


@pytest.mark.slow
def test_the_shipped_reader_reads_real_photos_of_people_at_work(
    unpacked: Callable[[str], Path], tmp_path: Path
):
    for job in ("chef", "pilot"):
        (tmp_path / "photos" / job).mkdir(parents=True)
        for file in sorted((unpacked("idenprof-test") / "idenprof" / job).iterdir())[:32]:
            (tmp_path / "photos" / job / file.name).symlink_to(file)
    printed = CliRunner().invoke(
        verb, [str(tmp_path / "photos"), "--out", str(tmp_path / "census")]
    )
    assert printed.exit_code == 0
    assert printed.stdout.splitlines()[2].split() == ["occupation", "female", "occupation", "male"]
    result = take_census(tmp_path / "photos", tmp_path / "census", CensusConfig())
    assert result.read >= 10
    assert list(pd.read_csv(tmp_path / "census/table3.csv")) == list(SIDES)
    assert pd.read_csv(tmp_path / "census/occupations.csv")["n"].sum() == result.read
    table = tables.read(CENSUS, tmp_path / "census/census.parquet")
    read = table[table["status"] == "read"]
    assert read[["masculine", "young"]].stack().between(0, 1).all()
    assert read[["white", "black", "asian", "indian", "other"]].sum(
        axis=1
    ).to_numpy() == pytest.approx(1)
