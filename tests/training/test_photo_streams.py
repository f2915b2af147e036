"""Photos of Parquet and tar files come in lots, with their labels, and become shards that an editor learns from."""

import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import DataMissing, UsageError
from gslopes.faces.zoo.spec import find_spec
from training import photo_streams
from training.photo_streams import is_stream, lots, photos_of, refuse_stream, write_shards
from training.shards import Shards

_FILE = io.BytesIO()
Image.new("RGB", (24, 24), "gray").save(_FILE, "JPEG")
CONTENT = _FILE.getvalue()
FACTS = [
    {"gender": "Male", "race": "White", "age": "20-29"},
    {"gender": "Female", "race": "Black", "age": "50-59"},
    {"gender": "Female"},
]


@pytest.fixture
def tars(tmp_path):
    folder = tmp_path / "tars"
    folder.mkdir()
    for file in range(2):
        with tarfile.open(folder / f"photos-{file}.tar", "w") as tar:
            for row, facts in enumerate(FACTS):
                parts = {"jpg": CONTENT, "json": json.dumps(facts).encode(), "txt": b"a note"}
                for ending, content in parts.items():
                    member = tarfile.TarInfo(f"some/{file}{row}.{ending}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
    return folder


@pytest.fixture
def tables(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = [
        {"image": {"bytes": CONTENT, "path": f"{number}.jpg"}, "Gender": number % 2, "age": "31"}
        for number in range(6)
    ]
    features = {
        "image": datasets.Image(),
        "Gender": datasets.ClassLabel(names=["female", "male"]),
        "age": datasets.Value("string"),
    }
    made = datasets.Dataset.from_list(rows, features=datasets.Features(features))
    (tmp_path / "tables").mkdir()
    made.to_parquet(tmp_path / "tables/train-0.parquet")
    return tmp_path / "tables"


def test_tars_come_with_names_pictures_and_labels(tars):
    assert is_stream(str(tars))
    photos = [*photos_of(str(tars))]
    assert sorted(name for name, _, _ in photos) == sorted(
        f"some/{file}{row}.jpg" for file in range(2) for row in range(3)
    )
    assert all(content == CONTENT for _, content, _ in photos)
    (lot,) = lots(str(tars))
    assert set(lot.names) >= {"masculine", "young", "white", "black"}
    by_name = dict(zip((path.name for path in lot.paths), lot.column("masculine"), strict=True))
    assert [by_name[f"0{row}.jpg"] for row in range(3)] == [1, 0, 0]
    assert np.isnan(lot.column("white")[[p.name == "02.jpg" for p in lot.paths]]).all()


def test_a_lot_is_gone_when_the_next_one_comes(tars, monkeypatch):
    seen = []
    for lot in lots(str(tars), lot=2):
        assert all(not path.exists() for path in seen)
        assert all(path.read_bytes() == CONTENT for path in lot.paths)
        seen += lot.paths
    assert len(seen) == 6
    assert not any(path.exists() for path in seen)


def test_the_order_is_drawn_and_the_same_in_every_run(tars, monkeypatch):
    monkeypatch.setattr(photo_streams, "BUFFER", 3)
    runs = [[name for name, _, _ in photos_of(str(tars), seed)] for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]
    assert sorted(runs[0]) == sorted(runs[2])


def test_a_hugging_face_folder_comes_with_the_words_of_its_classes(tables):
    for name in (str(tables), f"hf:{tables}"):
        assert is_stream(name)
        (lot,) = lots(name)
        assert len(lot) == 6
        by_name = {
            path.name: value for path, value in zip(lot.paths, lot.column("masculine"), strict=True)
        }
        assert [by_name[f"{number}.jpg"] for number in range(6)] == [0, 1] * 3
        assert lot.column("young").all()


def test_sets_without_pictures_damaged_and_unknown_ones_are_sentences(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list([{"text": "a"}]).to_parquet(tmp_path / "words.parquet")
    with pytest.raises(DataMissing, match="no column of pictures; its columns are text"):
        next(photos_of(str(tmp_path)))
    (tmp_path / "words.parquet").write_bytes(b"no table")
    with pytest.raises(DataMissing, match="no data set that can be read"):
        next(photos_of(str(tmp_path)))
    for module in ("huggingface_hub.constants", "datasets.config"):  # read when they are imported
        monkeypatch.setattr(f"{module}.HF_HUB_OFFLINE", True)
    with pytest.raises(DataMissing, match="hf:nobody/nothing is no data set that can be read"):
        next(photos_of("hf:nobody/nothing"))
    (tmp_path / "words.parquet").unlink()
    (tmp_path / "cut.tar").write_bytes(b"no tar")
    with pytest.raises(DataMissing, match=r"cut.tar is damaged"):
        next(photos_of(str(tmp_path)))


def test_a_model_is_not_trained_on_photos_that_were_not_packed(tars, tmp_path):
    with pytest.raises(UsageError, match="a model learns from aligned chips") as raised:
        refuse_stream("gender-fader", tars)
    assert f"pack gender-fader {tars} SHARDS" in str(raised.value.hint)
    (tmp_path / "mixed/UTKFace").mkdir(parents=True)
    (tmp_path / "mixed/old.tar").touch()
    refuse_stream("gender-fader", tmp_path / "mixed")  # sets that were unpacked lie beside it
    with pytest.raises(UsageError, match="cannot be made a lot at a time"):
        write_shards(find_spec("judge"), "judge", str(tars), tmp_path / "out", "cpu")


@pytest.mark.slow
def test_real_photos_in_tars_become_shards_of_which_an_editor_learns(unpacked, tmp_path):
    folder = tmp_path / "tars"
    folder.mkdir()
    photos = sorted(unpacked("UTKFace").rglob("*_[01]_[01]_*.jpg"))[::40][:120]
    with tarfile.open(folder / "photos.tar", "w") as tar:
        for number, photo in enumerate(photos):
            gender = ["Male", "Female"][int(photo.name.split("_")[1])]
            parts = {"jpg": photo.read_bytes(), "json": json.dumps({"gender": gender}).encode()}
            for ending, content in parts.items():
                member = tarfile.TarInfo(f"{number}.{ending}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    spec = find_spec("gender-field")
    count = write_shards(spec, "fader", str(folder), tmp_path / "shards", "cpu", lot=60)
    shards = Shards(spec, tmp_path / "shards")
    assert count == len(shards) + len(shards.held_out().pixels) > 20
    assert min(shards.ends.values()) > 5
