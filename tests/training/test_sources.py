import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import DataMissing
from gslopes.faces.compose.skin import CLASSES
from training.sources import (
    fold,
    mask_of,
    place,
    read_celeba_wide,
    read_celebamask,
    read_census,
    read_london,
)

NAMES = [f"{i}_0_1_2017.jpg.chip.jpg" for i in range(4000)]


def test_every_photo_is_in_one_fold_for_good():
    assert place("000001.jpg") == place("000001.jpg")
    counts = {
        name: sum(fold(photo) == name for photo in NAMES)
        for name in ("held-out", "judges", "editors")
    }
    assert sum(counts.values()) == len(NAMES)
    assert abs(counts["held-out"] / len(NAMES) - 0.1) < 0.02
    assert abs(counts["judges"] / len(NAMES) - 0.35) < 0.03


def test_the_wide_crops_come_in_order_and_without_labels(tmp_path):
    (tmp_path / "celeba-wide").mkdir()
    for name in ("182640.jpg", "182638.jpg", "notes.txt"):
        (tmp_path / "celeba-wide" / name).touch()
    table = read_celeba_wide(tmp_path)
    assert [path.name for path in table.paths] == ["182638.jpg", "182640.jpg"]
    assert table.values.shape == (2, 0)


@pytest.mark.row("slopes-3.3-parser")
@pytest.mark.slow
def test_the_class_names_fit_the_real_masks(unpacked: Callable[[str], Path]) -> None:
    regions: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for photo in read_celebamask(unpacked("celebamask-mini")).paths[:100]:
        mask = np.array(Image.open(mask_of(photo)).copy())
        for number in np.unique(mask):
            y, x = np.nonzero(mask == number)
            regions[CLASSES[number]].append((x.mean() / 256, y.mean() / 256, len(x) / mask.size))
    centre = {name: np.mean(values, 0) for name, values in regions.items()}
    share = {name: len(values) / 100 for name, values in regions.items()}
    brow, eye, nose, mouth, neck = (
        centre[n][1] for n in ("left brow", "left eye", "nose", "upper lip", "neck")
    )
    assert brow < eye < nose < mouth < neck
    assert centre["hair"][1] < eye
    assert centre["hair"][2] > 0.1
    assert abs(centre["nose"][0] - 0.5) < 0.05
    for pair in ("brow", "eye", "ear"):
        assert abs(centre[f"left {pair}"][0] - centre[f"right {pair}"][0]) > 0.1
    assert min(share[name] for name in ("skin", "nose", "upper lip", "hair")) > 0.9
    assert max(share.get(name, 0) for name in ("eyeglasses", "hat", "necklace")) < 0.3


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
    manifest = {
        "kind": "census",
        "photos": str(tmp_path / "photos"),
        "inputs": {"digest": "abcdef0123456789"},
    }
    (out / "run.json").write_text(json.dumps(manifest))
    (out / "photos.csv").write_text(HEAD + ROWS)
    return out


def test_labels_are_what_reader_and_people_are_sure_of(folder):
    table = read_census(folder)
    assert table.set == "census-abcdef012345"
    assert [path.name for path in table.paths] == ["1.jpg", "2.jpg", "3.jpg"]
    np.testing.assert_array_equal(table.column("masculine"), [1, np.nan, 0])
    np.testing.assert_array_equal(table.column("white"), [1, 0, 0])
    np.testing.assert_array_equal(table.column("black"), [0, 1, 0])
    np.testing.assert_array_equal(table.column("young"), [1, 0, np.nan])


def test_photos_that_are_gone_are_a_sentence(folder, tmp_path):
    for path in (tmp_path / "photos/chef").iterdir():
        path.unlink()
    with pytest.raises(DataMissing, match="None of the photos"):
        read_census(folder)


def test_the_portraits_come_with_what_the_people_said(tmp_path):
    (tmp_path / "neutral").mkdir()
    for name in ("001", "002", "003"):
        (tmp_path / "neutral" / f"{name}.jpg").touch()
    rows = [
        "id,age,gender,ethnicity",
        "001,24,female,white",
        "002,NA,male,east_asian/white",
        "009,30,male,black",
    ]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    table = read_london(tmp_path)
    assert [path.stem for path in table.paths] == ["001", "002", "003"]
    np.testing.assert_array_equal(table.column("masculine"), [0, 1, np.nan])
    np.testing.assert_array_equal(table.column("age"), [24, np.nan, np.nan])
    np.testing.assert_array_equal(table.column("white"), [1, np.nan, np.nan])
