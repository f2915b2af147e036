"""A census folder as a set of labelled photos."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gslopes.core.errors import DataMissing
from training.sources import is_census, read_census

HEAD = "photo,path,occupation,perceived_gender,perceived_race,perceived_age,by\n"
ROWS = (
    "1,chef/1.jpg,chef,male,white,under 35,reader\n"
    "2,chef/2.jpg,chef,,black,35 or older,person\n"
    "3,chef/3.jpg,chef,female,asian,,reader\n"
    "4,gone.jpg,,female,white,,reader\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "photos/chef").mkdir(parents=True)
    for number in (1, 2, 3):
        (tmp_path / f"photos/chef/{number}.jpg").write_bytes(b"a photo")
    out = tmp_path / "census"
    out.mkdir()
    manifest = {"kind": "census", "photos": str(tmp_path / "photos"), "inputs": {"digest": "abcdef0123456789"}}
    (out / "run.json").write_text(json.dumps(manifest))
    (out / "photos.csv").write_text(HEAD + ROWS)
    return out


def test_labels_are_what_reader_and_people_are_sure_of(folder):
    found = read_census(folder)
    assert found.set == "census-abcdef012345"
    assert [path.name for path in found.paths] == ["1.jpg", "2.jpg", "3.jpg"]
    np.testing.assert_array_equal(found.column("masculine"), [1, np.nan, 0])
    np.testing.assert_array_equal(found.column("white"), [1, 0, 0])
    np.testing.assert_array_equal(found.column("black"), [0, 1, 0])
    np.testing.assert_array_equal(found.column("young"), [1, 0, np.nan])


def test_only_the_folder_of_a_census_is_one(folder, tmp_path):
    assert is_census(folder)
    assert not is_census(tmp_path)
    (tmp_path / "run.json").write_text('{"kind": "contexts"}')
    assert not is_census(tmp_path)


def test_photos_that_are_gone_are_a_sentence(folder, tmp_path):
    for path in (tmp_path / "photos/chef").iterdir():
        path.unlink()
    with pytest.raises(DataMissing, match="None of the photos"):
        read_census(folder)
