"""What is wrong with people, backgrounds, ratings and dictionaries is reported, and what can go on goes on."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.contexts.audit import audit_contexts
from gslopes.contexts.stimuli.backgrounds import read_backgrounds
from gslopes.contexts.stimuli.composing import largest_face
from gslopes.contexts.stimuli.people import read_review
from gslopes.core import tables
from gslopes.core.errors import ConfigError, StorageError, UsageError
from gslopes.core.files import sha256_of
from gslopes.core.reasons import Reason
from gslopes.core.records import Detections, Photo
from gslopes.core.runfolder import locked
from tests.contexts.drawn import COLOURS, Finder, Tagger, again, audit, skipped

# --- people ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "message"), [("none", "no folder"), ("file", "is a file"), ("empty", "no photos in")]
)
def test_a_folder_of_people_that_is_none(kind, message, folder, tmp_path):
    people = tmp_path / "people"
    if kind == "file":
        people.write_text("")
    elif kind == "empty":
        people.mkdir()
    with pytest.raises(UsageError, match=message):
        audit_contexts(people, tmp_path / "run", people=folder / "people.csv", classifier=Tagger())


def test_all_photos_without_a_row_are_an_error(few, tmp_path):
    (tmp_path / "other.csv").write_text("id,gender,ethnicity\nsomeone,Female,A\n")
    with pytest.raises(UsageError, match="says nothing about any of the photos"):
        audit(few, tmp_path / "run", people=tmp_path / "other.csv")


@pytest.fixture(scope="module")
def mixed(few, tmp_path_factory):
    """People's photos of whom three are usable: for each of the others there is another reason."""
    home = tmp_path_factory.mktemp("mixed") / "home"
    shutil.copytree(few, home)
    people = home / "people"
    for name in ("05", "06", "07"):
        (people / f"{name}.png").unlink()
    (people / "unreadable.png").write_bytes(b"no picture")
    shutil.copy(people / "00.png", people / "twin.png")
    for name, width in (("thin", 6), ("flagged", 10)):
        pixels = np.full((180, 160, 3), 200, np.uint8)
        pixels[20:, 80 - width : 80 + width] = (130, 105, 80)
        Image.fromarray(pixels).save(people / f"{name}.png")
    lines = (home / "people.csv").read_text("utf-8").splitlines()
    more = [f"{name},Female,A" for name in ("unreadable", "twin", "thin", "flagged")]
    (home / "people.csv").write_text(
        "\n".join([*lines[:5], *more]) + "\n", "utf-8"
    )  # 04 has no row
    decisions = {"thin": "accept", "03": "exclude"}
    rows = [
        f"{sha256_of(people / f'{name}.png')},{decision}" for name, decision in decisions.items()
    ]
    (home / "review.csv").write_text(
        "\n".join(["photo,decision", *rows, "elsewhere,accept"]) + "\n", "utf-8"
    )
    return audit(home, home / "run", classifier=[], review=home / "review.csv")


def test_every_photo_that_is_left_out_has_its_own_reason_and_the_rest_goes_on(mixed):
    photos = tables.read(tables.PHOTOS, mixed.folder / "photos.parquet").set_index("path")
    reasons = photos.loc[photos["status"] != "used", "reason"].to_dict()
    assert reasons.pop("unreadable.png").startswith("unreadable")
    assert reasons == {
        "03.png": Reason.CUTOUT_EXCLUDED.value,
        "04.png": Reason.UNKNOWN_PERSON.value,
        "flagged.png": Reason.CUTOUT_FLAGGED.value,
        "thin.png": Reason.DOES_NOT_FIT.value,  # flagged and accepted
        "twin.png": Reason.DUPLICATE.value,
    }
    assert "%" in photos.loc["flagged.png", "detail"]
    assert "at most 0." in photos.loc["thin.png", "detail"]
    assert mixed.used == 3
    assert mixed.summary.startswith("No tagger was asked yet")
    assert any(
        "1 of its 3 decisions are about photos that are not in this run" in note
        for note in mixed.notes
    )


def test_a_folder_that_another_process_holds_is_refused(mixed):
    with locked(mixed.folder), pytest.raises(StorageError, match="Another process"):
        again(mixed.folder)


@pytest.mark.parametrize(
    ("text", "message"), [("photo\n", "no column"), ("photo,decision\nx,maybe\n", "line 2")]
)
def test_a_review_that_cannot_be_read(text, message, tmp_path):
    (tmp_path / "review.csv").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=message):
        read_review(tmp_path / "review.csv")


class Vanishing(Finder):
    """While people are cut out, one photo goes, one is replaced by another and one more has another's bytes."""

    def __init__(self, people: Path) -> None:
        self.gone, self.replaced, self.twin = sorted(people.iterdir())[:3]

    def __call__(self, photos):
        if self.gone.is_file() and photos[0].pixels.shape[:2] == (180, 160):
            self.gone.unlink()
            self.twin.write_bytes(sorted(self.gone.parent.iterdir())[-1].read_bytes())
            Image.fromarray(np.full((180, 160, 3), 77, np.uint8)).save(self.replaced)
        return super().__call__(photos)


@pytest.mark.slow
def test_photos_that_go_or_change_on_the_way_have_their_own_reason(few, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(few, home)
    finder = Vanishing(home / "people")
    run = audit(home, tmp_path / "run", finder=finder)
    photos = tables.read(tables.PHOTOS, run.folder / "photos.parquet").set_index("path")
    assert photos.loc[finder.gone.name, "reason"] == Reason.GONE.value
    for file in (finder.replaced, finder.twin):
        assert photos.loc[file.name, "detail"] == "another picture has its name"
    assert run.used == 8 - 3
    assert Reason.UNKNOWN_PERSON.value not in skipped(run)


def test_a_person_whose_face_is_not_upright_is_not_cut_out():
    boxes = np.array([[0, 0, 9, 9], [20, 20, 60, 60]], np.float32)
    detections = Detections(
        boxes, np.ones((2, 5, 2), np.float32), np.ones(2, np.float32), np.array([True, False])
    )
    photo = Photo("0" * 64, Path(), np.zeros((80, 80, 3), np.uint8))
    assert largest_face(lambda photos: [detections], photo) == "face not upright (turn the photo)"


# --- backgrounds -----------------------------------------------------------------------------------------------------


def sees_somebody(photos):
    """A face in the bridal room, and none elsewhere."""
    faces = [int(tuple(photo.pixels[0, 0]) == COLOURS["bridal"]) for photo in photos]
    return [
        Detections(*(np.ones((n, *shape), np.float32) for shape in ((4,), (5, 2), ())))
        for n in faces
    ]


@pytest.mark.row("contexts-4.1-composition")
def test_a_background_with_a_face_a_small_one_or_no_picture_is_skipped_with_its_reason(
    folder, tmp_path
):
    rooms = tmp_path / "rooms"
    shutil.copytree(folder / "backgrounds", rooms)
    (rooms / "pub.jpg").write_bytes(b"no picture")
    Image.new("RGB", (300, 150), (9, 9, 9)).save(rooms / "small.png")
    pictures = {
        background.key: background
        for background in read_backgrounds((str(rooms),), (96, 64), lambda: sees_somebody)
    }
    assert {key: background.used for key, background in pictures.items()} == {
        "bridal.1": False, "garage.1": True, "pub.1": False, "small.1": False,
    }  # fmt: skip
    assert pictures["bridal.1"].why.columns["reason"] == Reason.FACE_IN_BACKGROUND.value
    assert pictures["pub.1"].why.columns["reason"].startswith("unreadable")
    for name in ("bridal", "garage", "pub"):
        next(rooms.glob(f"{name}.*")).unlink()
    (rooms / "contexts.toml").unlink()
    with pytest.raises(UsageError, match=r"shorter side too small \(150 px, at least 200\)"):
        read_backgrounds((str(rooms),), (96, 64), lambda: sees_somebody)
    Image.new("RGB", (300, 300), (9, 9, 9)).save(rooms / "a.png")
    Image.new("RGB", (300, 300), (9, 9, 9)).save(rooms / "b.png")
    with pytest.raises(UsageError, match="picture of"):
        read_backgrounds((str(rooms),), (96, 64), lambda: sees_somebody)


# --- answers, dictionaries, ratings ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_another_typology_may_follow(audited, folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(audited.folder, run)
    words = tmp_path / "german.toml"
    words.write_text(
        "".join(f'[clusters.{name}]\nsuper = "demographics"\ntags = ["{tag}"]\n'
                for name, tag in (("masculine", "herr"), ("feminine", "dame")))
    )  # fmt: skip
    reanalysed = again(run, typology=str(words))
    assert set(reanalysed.tables["described"]["inferred"]) == {"neutral"}
    # of woman, man, shirt, smile, grass, meadow, veil and car it knows the two that name the contexts
    assert any("the typology german knows 25.0% of its tags" in note for note in reanalysed.notes)
    rooms = folder / "backgrounds/contexts.toml"
    with pytest.raises(ConfigError, match="unknown key 'bridal'"):
        again(run, typology=str(rooms))


# --- the machine -----------------------------------------------------------------------------------------------------


def test_without_the_extra_nothing_is_begun(folder, tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "statsmodels" else real(name, *more),
    )
    with pytest.raises(UsageError, match="needs statsmodels") as caught:
        audit(folder, tmp_path / "run")
    assert "gslopes[contexts]" in str(caught.value.hint)
    assert not (tmp_path / "run").exists()
