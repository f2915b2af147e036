"""The fit of a run folder, with a CSV about its photos."""

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.config import from_dict
from gslopes.core.errors import ConfigError, UsageError
from gslopes.frame.plan import plan
from gslopes.photos.people import read_about, unmatched_rows
from gslopes.slopes.audit import SLOPES
from gslopes.slopes.config import FitConfig
from gslopes.slopes.fitting import TONES, fit_folder, tones_of

VALUES = np.linspace(-2, 2, 3)
FAST = {"permutations": 19}


@pytest.fixture
def run(tmp_path):
    """A run folder of 24 photos named 00_a.jpg, 00_b.jpg, 01_a.jpg ... and the answers of one classifier."""
    folder = tmp_path / "run"
    folder.mkdir()
    ids = [f"{index:064x}" for index in range(24)]
    names = [f"people/{index // 2:02}_{'ab'[index % 2]}.jpg" for index in range(24)]
    facts = {"width": 9, "height": 9, "status": "used", "reason": "", "faces": 1}
    photos = pd.DataFrame({"photo": ids, "path": names, **facts}).assign(
        box=None, points=None, detection=1.0
    )
    tables.write(tables.PHOTOS, photos, folder / "photos.parquet")
    present = np.random.default_rng(0).random((24, 2, 3)) < 0.5
    photo, label, step = np.nonzero(present)
    scores = pd.DataFrame(
        {"photo": np.array(ids)[photo], "attribute": "gender", "step": step, "value": VALUES[step]}
    )
    scores = scores.assign(classifier="c", label=np.array(["Chef", "Hat"])[label], score=0.5)
    tables.write(tables.SCORES, scores, folder / "scores.parquet")
    asked = pd.DataFrame(
        {"photo": np.repeat(ids, 3), "attribute": "gender", "step": np.tile(range(3), 24)}
    )
    tables.write(
        tables.ASKED,
        asked.assign(classifier="c", status="answered", reason=""),
        folder / "asked.parquet",
    )
    return folder


def fitted(run, **options):
    return fit_folder(
        run, from_dict(FitConfig, {**FAST, **options}), {"gender": VALUES.tolist()}, seed=0
    )


def test_every_table_is_read_again_as_it_was_made(run) -> None:
    found = fitted(run)
    for table, frame in found.tables():
        tables.write(table, frame, run / f"{table.name}.parquet")
        pd.testing.assert_frame_equal(tables.read(table, run / f"{table.name}.parquet"), frame)


def test_rows_about_none_of_the_photos_are_told(run, tmp_path) -> None:
    (tmp_path / "people.csv").write_text("file,person\n00_a.jpg,0\nnobody.jpg,nobody\n")
    said = "1 row of people.csv is about none of the photos looked at: 'nobody.jpg'."
    assert unmatched_rows(tmp_path / "people.csv", run) == said


def test_groups_and_clusters_come_from_the_csv(run, tmp_path) -> None:
    lines = [f"{person:02},{'man' if person % 2 else 'woman'}" for person in range(12)]
    (tmp_path / "people.csv").write_text("id,sex\n" + "\n".join(lines) + "\n", encoding="utf-8-sig")
    found = fitted(run, photos_csv=str(tmp_path / "people.csv"), groups=["sex"])
    assert found.groups.groupby("group")["n"].first().to_dict() == {"man": 12, "woman": 12}
    found = fitted(run, photos_csv=str(tmp_path / "people.csv"), cluster="id")
    assert found.balance["units"].tolist() == [12]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "There is no file"),
        ("", "is empty"),
        ("id,sex,sex\n1,man,white\n", "two columns 'sex'"),
        ("id,sex\n1,man\n2,woman\n1,woman\n", "names '1' in lines 2 and 4 with different sex"),
        ("face,sex\n1,man\n", "no column that says which photo"),
        ("id,sex\nnobody,man\n", "has a row for none of the 24 photos"),
    ],
)
def test_a_csv_that_does_not_fit_is_told(run, tmp_path, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=sentence):
        read_about(tmp_path / "people.csv", run)


def test_columns_need_a_csv_and_options_their_ranges() -> None:
    with pytest.raises(ConfigError, match="--photos-csv"):
        from_dict(FitConfig, {"groups": ["sex"]})
    with pytest.raises(ConfigError, match="permutations is -1"):
        from_dict(FitConfig, {"permutations": -1})


def test_tones_are_thirds_of_the_faces_lightness_in_the_unedited_photos(tmp_path) -> None:
    assert tones_of(tmp_path) is None
    rows = [
        (f"{i:02d}", "gender", step, "luminance", 20.0 + i) for i in range(9) for step in (-1, 0)
    ]
    frame = pd.DataFrame(rows, columns=tables.READINGS.columns)
    frame.loc[frame["step"] == 0, "score"] = 99.0
    tables.write(tables.READINGS, frame, tmp_path / "readings.parquet")
    assert tones_of(tmp_path).tolist() == [name for name in TONES for _ in range(3)]


@pytest.mark.parametrize(
    ("rows", "options", "why"),
    [
        ("file,job\na.png,chef\n", {"truth": "jobs"}, "has no column 'jobs'"),
        ("file,job\na.png,chef\n", {"truth": "Chef=yes"}, "has no column 'yes'"),
        ("file,job\na.png,chef\n", {"groups": "job + age"}, "has no column 'age'"),
        ("file,job\na.png,chef\n", {"cluster": "person"}, "has no column 'person'"),
        ("who,job\na.png,chef\n", {"truth": "job"}, "which photo a row is about"),
    ],
)
def test_a_table_of_photos_that_lacks_a_column_is_refused_before_an_audit_begins(
    draw, tmp_path, rows, options, why
):
    (tmp_path / "about.csv").write_text(rows)
    given = {f"fit.{name}": text for name, text in options.items()}
    with pytest.raises(UsageError, match=why):
        plan(
            SLOPES,
            draw(2).photos,
            tmp_path / "run",
            {**given, "fit.photos_csv": tmp_path / "about.csv"},
        )
    assert not (tmp_path / "run").exists()
