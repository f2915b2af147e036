"""What is wrong with people, backgrounds, ratings and dictionaries is said, and what can go on goes on."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.contexts.audit import audit_contexts
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.tables import TABLES
from gslopes.core import tables
from gslopes.core.errors import ConfigError, StorageError, UsageError
from gslopes.core.files import sha256_of
from gslopes.core.reasons import Reason
from gslopes.core.records import Detections
from gslopes.core.runfolder import locked
from tests.contexts.drawn import COLOURS, Finder, Tagger, again, skipped
from tests.contexts.drawn import audit as whole_audit


def audit(folder: Path, out: Path, **more):
    return whole_audit(folder, out, analysis=ContextOptions(permutations=19), **more)


def people_csv(folder: Path, to: Path, change) -> Path:
    """The people's CSV with its lines changed."""
    lines = (folder / "people.csv").read_text("utf-8").splitlines()
    to.write_text("\n".join(change(lines)) + "\n", "utf-8")
    return to


# --- people ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "message"), [("none", "no folder"), ("file", "is a file"), ("empty", "no photos in")])
def test_a_folder_of_people_that_is_none(kind, message, folder, tmp_path):
    people = tmp_path / "people"
    if kind == "file":
        people.write_text("")
    elif kind == "empty":
        people.mkdir()
    with pytest.raises(UsageError, match=message):
        audit_contexts(people, tmp_path / "run", people=folder / "people.csv", classifier=Tagger())


def test_a_photo_without_a_row_is_skipped_and_all_without_one_are_an_error(few, tmp_path):
    short = people_csv(few, tmp_path / "short.csv", lambda lines: lines[:-1])
    run = audit(few, tmp_path / "run", people=short)
    assert (run.used, skipped(run)) == (8 - 1, {Reason.UNKNOWN_PERSON.value: 1})
    other = people_csv(few, tmp_path / "other.csv", lambda lines: [lines[0], "someone,Female,A"])
    with pytest.raises(UsageError, match="says nothing about any of the photos"):
        audit(few, tmp_path / "none", people=other)


def test_a_photo_that_cannot_be_read_has_its_reason_and_the_rest_goes_on(few, tmp_path):
    more = tmp_path / "more"
    shutil.copytree(few, more)
    (more / "people/zz.png").write_bytes(b"no picture")
    with (more / "people.csv").open("a") as file:
        file.write("zz,Female,A\n")
    run = audit(more, tmp_path / "run")
    assert run.used == 8
    (reason,) = skipped(run)
    assert reason.startswith("unreadable")


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
    more = tmp_path / "more"
    shutil.copytree(few, more)
    finder = Vanishing(more / "people")
    run = audit(more, tmp_path / "run", finder=finder)
    photos = tables.read(tables.PHOTOS, run.few / "photos.parquet").set_index("path")
    assert photos.loc[finder.gone.name, "reason"] == Reason.GONE.value
    for file in (finder.replaced, finder.twin):
        assert photos.loc[file.name, "detail"] == "another picture has its name"
    assert run.used == 8 - 3
    assert Reason.UNKNOWN_PERSON.value not in skipped(run)


def test_a_photo_of_the_same_bytes_is_not_said_to_be_unknown(few, tmp_path):
    more = tmp_path / "more"
    shutil.copytree(few, more)
    shutil.copy(sorted((more / "people").iterdir())[0], more / "people/zz.png")
    with (more / "people.csv").open("a") as file:
        file.write("zz,Female,A\n")
    run = audit(more, tmp_path / "run", classifier=[])
    assert skipped(run) == {Reason.DUPLICATE.value: 1}
    assert run.summary.startswith("No tagger was asked yet")
    with locked(run.folder), pytest.raises(StorageError, match="Another process"):
        again(run.folder)


@pytest.mark.slow
def test_a_person_whom_the_canvas_cannot_hold_is_skipped_with_the_share_that_fits(few, tmp_path):
    more = tmp_path / "more"
    shutil.copytree(few, more)
    pixels = np.full((180, 160, 3), 200, np.uint8)
    pixels[20:, 74:86] = (130, 105, 80)
    Image.fromarray(pixels).save(more / "people/zz.png")
    with (more / "people.csv").open("a") as file:
        file.write("zz,Female,A\n")
    review = tmp_path / "review.csv"
    review.write_text(f"photo,decision\n{sha256_of(more / 'people/zz.png')},accept\n", "utf-8")
    run = audit(more, tmp_path / "run", review=review)
    assert run.used == 8
    assert skipped(run) == {Reason.DOES_NOT_FIT.value: 1}
    photos = tables.read(tables.PHOTOS, run.few / "photos.parquet").set_index("path")
    assert "at most 0." in photos.loc["zz.png", "detail"]


@pytest.mark.slow
def test_a_photo_without_a_backdrop_is_flagged_and_accepted_by_review(few, tmp_path):
    more = tmp_path / "more"
    shutil.copytree(few, more)
    pixels = np.full((180, 160, 3), 200, np.uint8)
    pixels[60:, 70:90] = (130, 105, 80)
    Image.fromarray(pixels).save(more / "people/zz.png")
    with (more / "people.csv").open("a") as file:
        file.write("zz,Female,A\n")
    run = audit(more, tmp_path / "run", person_share=0.1)
    assert run.used == 8
    cutouts = tables.read(TABLES["cutouts"], run.few / "cutouts.parquet")
    (row,) = cutouts[cutouts["status"] == "flagged"].to_dict("records")
    assert "%" in row["detail"]
    review = tmp_path / "review.csv"
    another = cutouts.loc[cutouts["status"] != "flagged", "photo"].iloc[0]
    review.write_text(f"photo,decision\n{row['photo']},accept\n{another},exclude\n", "utf-8")
    other = audit(more, tmp_path / "other", person_share=0.1, review=review)
    assert other.used == 8
    assert skipped(other) == {Reason.CUTOUT_EXCLUDED.value: 1}
    for text, message in (("photo\n", "no column"), ("photo,decision\nx,maybe\n", "line 2")):
        review.write_text(text, "utf-8")
        with pytest.raises(UsageError, match=message):
            audit(more, tmp_path / "third", person_share=0.1, review=review)


# --- backgrounds -----------------------------------------------------------------------------------------------------


class SeesSomebody(Finder):
    """Also finds a face in the bridal room."""

    def __call__(self, photos):
        none = np.zeros((0, 4), np.float32), np.zeros((0, 5, 2), np.float32), np.zeros(0, np.float32)
        one = np.array([[9, 9, 40, 40]], np.float32), np.zeros((1, 5, 2), np.float32), np.ones(1, np.float32)
        rooms = [tuple(photo.pixels[0, 0]) for photo in photos]
        return [
            Detections(*(one if room == COLOURS["bridal"] else none)) if len(portrait.boxes) == 0 else portrait
            for room, portrait in zip(rooms, super().__call__(photos), strict=True)
        ]


@pytest.mark.slow
def test_a_background_with_a_face_or_no_picture_is_skipped_with_its_reason(folder, tmp_path):
    more = tmp_path / "more"
    shutil.copytree(folder, more)
    (more / "backgrounds/pub.jpg").write_bytes(b"no picture")
    run = audit(more, tmp_path / "run", finder=SeesSomebody())
    rows = tables.read(TABLES["backgrounds"], run.folder / "backgrounds.parquet").set_index("key")
    assert rows["status"].to_dict() == {"bridal.1": "skipped", "garage.1": "used", "pub.1": "skipped"}
    assert rows.loc["bridal.1", "reason"] == Reason.FACE_IN_BACKGROUND.value
    assert rows.loc["pub.1", "reason"].startswith("unreadable")
    assert set(run.tables["congruence"].query("estimator == 'person'")["n"]) == {0}  # one context has no slope
    assert "Left out: 2 backgrounds." in run.page.read_text("utf-8")


# --- answers, dictionaries, ratings ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_another_typology_may_follow(found, folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(found.folder, run)
    words = tmp_path / "german.toml"
    words.write_text(
        "".join(f'[clusters.{name}]\nsuper = "demographics"\ntags = ["{tag}"]\n'
                for name, tag in (("masculine", "herr"), ("feminine", "dame")))
    )  # fmt: skip
    other = again(run, typology=str(words))
    assert set(other.tables["described"]["inferred"]) == {"neutral"}
    # of woman, man, shirt, veil and car it knows the two that name the contexts
    assert any("the typology german knows 40.0% of its tags" in note for note in other.notes)
    rooms = folder / "backgrounds/contexts.toml"
    with pytest.raises(ConfigError, match="unknown key 'bridal'"):
        again(run, typology=str(rooms))


def test_ratings_of_ones_own_may_follow_and_those_of_no_context_are_named(found, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(found.folder, run)
    ratings = tmp_path / "ratings.csv"
    lines = [
        f"{context},r{n},{level}" for context, level in (("bridal", 10), ("garage", 0), ("pub", 7)) for n in range(9)
    ]
    ratings.write_text("context,rater,rating\n" + "\n".join(lines) + "\n", "utf-8")
    other = again(run, ratings=ratings)
    assert any("rates pub, which is no context of this run" in note for note in other.notes)
    assert other.tables["ratings"].set_index("context").loc["bridal", "median"] == 10
    men = [
        rows[(rows["measure"] == "correct") & (rows["gender"] == "man") & (rows["tags"] == "gross")].iloc[0]["slope"]
        for rows in (found.tables["congruence"], other.tables["congruence"])
    ]
    assert men[0] > 0 > men[1]  # the ratings are the other way round


# --- the machine -----------------------------------------------------------------------------------------------------


def test_without_the_extra_nothing_is_begun(folder, tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "statsmodels" else real(name, *more)
    )
    with pytest.raises(UsageError, match="needs statsmodels") as caught:
        audit(folder, tmp_path / "run")
    assert "gslopes[contexts]" in str(caught.value.hint)
    assert not (tmp_path / "run").exists()
