"""FFHQ, FairFace and CelebA-HQ are known by the layouts in which they are published; half of one is a sentence."""

import shutil

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import DataMissing
from training.editor_sets import read_people_sets, said
from training.group_sets import read_groups
from training.layouts import read_attributes, read_celeba_hq, read_fairface, read_ffhq
from training.sources import held_out


@pytest.fixture
def photo(tmp_path):
    """Writes a picture to a path."""

    def put(*parts):
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), "gray").save(path)
        return path

    return put


FAIRFACE = (
    "file,age,gender,race,service_test\n"
    "{part}/1.jpg,50-59,Male,East Asian,True\n"
    "{part}/2.jpg,20-29,Female,White,False\n"
    "{part}/3.jpg,more than 70,Female,Black,False\n"
)


def fairface(tmp_path, photo, home="FairFace", names=(1, 2, 3)):
    for part in ("train", "val"):
        for number in names:
            photo(home, part, f"{number}.jpg")
        table = tmp_path / home / f"fairface_label_{part}.csv"
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text(FAIRFACE.format(part=part))
    return tmp_path


def test_fairface_is_known_with_its_labels_and_its_val_is_held_out(tmp_path, photo):
    (table,) = read_people_sets(fairface(tmp_path, photo))
    assert table.set == "fairface"
    assert len(table) == 6
    np.testing.assert_array_equal(table.column("masculine"), [1, 0, 0] * 2)
    np.testing.assert_array_equal(table.column("young"), [0, 1, 0] * 2)
    np.testing.assert_array_equal(table.column("east-asian"), [1, 0, 0] * 2)
    np.testing.assert_array_equal(said(table)["race"], [np.nan, 1, 0] * 2)
    assert table.held_out().tolist() == [*(held_out(f"{n}.jpg") for n in (1, 2, 3)), *[True] * 3]
    assert [each.set for each in read_groups(tmp_path)] == ["fairface"]
    assert read_people_sets(tmp_path / "FairFace")[0].paths == table.paths


def test_fairface_without_pictures_or_with_other_words_is_a_sentence(tmp_path, photo):
    fairface(tmp_path, photo, names=())
    with pytest.raises(DataMissing, match=r"none of the pictures of fairface_label_train.csv"):
        read_fairface(tmp_path)
    table = tmp_path / "FairFace/fairface_label_train.csv"
    table.write_text("file,age,gender,race\n1.jpg,3-9,Male,Martian\n")
    with pytest.raises(DataMissing, match=r"line 2: FairFace knows no Male Martian"):
        read_fairface(tmp_path)
    table.write_text("file,age,gender\n1.jpg,3-9,Male\n")
    with pytest.raises(DataMissing, match="race"):
        read_fairface(tmp_path)


@pytest.mark.parametrize("kind", ["images1024x1024", "thumbnails128x128"])
def test_ffhq_is_known_and_models_label_it(tmp_path, photo, kind):
    for number in (0, 1, 59999, 60001):
        photo("ffhq", kind, f"{number // 1000 * 1000:05}", f"{number:05}.png")
    (tmp_path / "ffhq/LICENSE.txt").touch()
    (table,) = read_people_sets(tmp_path)
    assert (table.set, len(table), said(table)) == ("ffhq", 4, {})
    assert table.held_out().tolist() == [
        *(held_out(f"{number:05}.png") for number in (0, 1, 59999)),
        True,
    ]
    assert read_ffhq(tmp_path / "ffhq" / kind).paths == table.paths


def test_ffhq_without_its_pictures_is_a_sentence(tmp_path):
    (tmp_path / "images1024x1024").mkdir()
    with pytest.raises(DataMissing, match="named as FFHQ names them"):
        read_people_sets(tmp_path)


def test_celeba_hq_of_stargan_has_gender_and_a_val_that_is_held_out(tmp_path, photo):
    for part in ("train", "val"):
        for word in ("male", "female"):
            photo("celeba_hq", part, word, f"{part}{word}.jpg")
    (table,) = read_people_sets(tmp_path)
    assert table.set == "celeba-hq"
    np.testing.assert_array_equal(said(table)["gender"], [1, 0, 1, 0])
    assert table.held_out()[2:].all()
    shutil.rmtree(tmp_path / "celeba_hq/train/female")
    with pytest.raises(DataMissing, match="train/female is not there"):
        read_celeba_hq(tmp_path)


ATTRIBUTES = [f"A{number}" for number in range(38)]


def masked(tmp_path, photo, names=("Male", "Young")):
    home = tmp_path / "CelebAMask-HQ"
    for number in (0, 1):
        photo("CelebAMask-HQ", "CelebA-HQ-img", f"{number}.jpg")
    rows = [f"{number}.jpg  1 {'-1 ' * (len(ATTRIBUTES) + 1)}" for number in range(3)]
    head = " ".join([*names, *ATTRIBUTES])
    (home / "CelebAMask-HQ-attribute-anno.txt").write_text("\n".join(["3", head, *rows]) + "\n")
    # of 1,000 names of CelebA's the first that is held out, so that the number decides and not the name here
    number = next(n for n in range(1000) if held_out(f"{n:06}.jpg"))
    (home / "CelebA-HQ-to-CelebA-mapping.txt").write_text(
        f"idx         orig_idx    orig_file\n0           {number}     {number:06}.jpg\n"
        "1           2     000002.jpg\n"
    )
    return home


def test_celebamask_hq_has_forty_attributes_and_celebas_own_split(tmp_path, photo):
    masked(tmp_path, photo)
    (table,) = read_people_sets(tmp_path)
    assert [path.name for path in table.paths] == ["0.jpg", "1.jpg"]
    np.testing.assert_array_equal(said(table)["gender"], [1, 1])
    np.testing.assert_array_equal(said(table)["young"], [0, 0])
    assert table.held_out().tolist() == [True, held_out("000002.jpg")]
    assert read_attributes(tmp_path).paths == table.paths


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("CelebA-HQ-img", "half of CelebAMask-HQ: CelebA-HQ-img is not there"),
        ("CelebAMask-HQ-attribute-anno.txt", "attribute-anno.txt is not there"),
    ],
)
def test_half_of_celebamask_hq_is_a_sentence(tmp_path, photo, gone, message):
    path = masked(tmp_path, photo) / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(DataMissing, match=message):
        read_people_sets(tmp_path)


def test_a_list_of_other_attributes_is_a_sentence(tmp_path, photo):
    masked(tmp_path, photo, names=("Male",))
    with pytest.raises(DataMissing, match="CelebAMask-HQ"):
        read_celeba_hq(tmp_path)


def test_of_celebrities_one_form_is_taken(tmp_path, photo):
    for part in ("train", "val"):
        for word in ("male", "female"):
            photo("celeba_hq", part, word, "1.jpg")
    photo("celeba-wide", "182638.jpg")
    photo("UTKFace", "30_1_3_20170104235219219.jpg.chip.jpg")
    assert [table.set for table in read_people_sets(tmp_path)] == ["celeba-hq", "utkface"]
