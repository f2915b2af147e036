"""The whole context audit on drawn people: a planted effect comes back, and what was stopped goes on."""

from __future__ import annotations

import io
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.contexts import stimuli
from gslopes.contexts.audit import CONTEXTS, audit_contexts
from gslopes.contexts.config import ContextOptions, ContextsConfig
from gslopes.contexts.pictures import composing
from gslopes.core.errors import ConfigError, RunFolderMismatch, UsageError
from gslopes.core.options import build
from gslopes.core.reasons import listed
from gslopes.core.records import Answer, Detections
from gslopes.core.runfolder import read_manifest
from gslopes.frame.opening import load
from gslopes.frame.page import choices_of
from tests.frame.audits import in_small_parts

PEOPLE = 24
CANVAS = (192, 128)
QUICK = ContextOptions(bootstrap=300, permutations=299)
COLOURS = {"bridal": (250, 200, 210), "garage": (120, 120, 130)}


class Finder:
    """The face of a drawn person is where it was drawn."""

    def __call__(self, photos):
        box = np.array([[58, 40, 102, 100]], np.float32)
        there = [photo.pixels.shape[:2] == (180, 160) for photo in photos]
        return [
            Detections(box[: int(face)], np.zeros((int(face), 5, 2), np.float32), np.ones(int(face), np.float32))
            for face in there
        ]


class Tagger:
    """Reads the shirt (women red, men blue) and the room; before the bridal room it also takes every second man,
    by the shirt's green level, for a woman.
    """

    name, version, batch = "planted", "1", 8

    def ask(self, pictures):
        return [self._tags(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)) for data in pictures]

    def parse(self, raw):
        return Answer("answered", tuple((tag, 0.9) for tag in raw))

    def _tags(self, pixels):
        height, width = pixels.shape[:2]
        shirt = pixels[int(0.93 * height) : int(0.98 * height), int(0.46 * width) : int(0.54 * width)]
        red, green, blue = shirt.mean(axis=(0, 1))
        corner = pixels[2:8, 2:8].mean(axis=(0, 1))
        bridal = np.abs(corner - COLOURS["bridal"]).max() < 12
        tags = ["veil"] if bridal else ["car"] if np.abs(corner - COLOURS["garage"]).max() < 12 else []
        if red > blue + 40:
            return [*tags, "woman", "shirt"]
        if blue > red + 40:
            return [*tags, "woman" if bridal and green > 60 else "man", "shirt"]
        return tags


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """People, their CSV, and two backgrounds with their records."""
    return draw(tmp_path_factory.mktemp("contexts"))


def draw(root: Path, people: int = PEOPLE) -> Path:
    """People, their CSV, and two backgrounds with their records, in a folder."""
    (root / "people").mkdir(parents=True)
    rows = ["id,gender,ethnicity"]
    y, x = np.mgrid[0:180, 0:160]
    person = ((x - 80) / 26) ** 2 + ((y - 68) / 36) ** 2 < 1
    person |= (np.abs(x - 80) < 15) & (y > 90)
    shirt = ((x - 80) / 62) ** 2 + ((y - 195) / 78) ** 2 < 1
    for index in range(people):
        woman = index % 2 == 0
        pixels = np.full((180, 160, 3), 200, np.uint8)
        pixels[person] = (130 + index, 105, 80)  # no two composites alike
        green = 80 if index % 4 == 1 else 40
        pixels[shirt] = (190, green, 40) if woman else (40, green, 190)
        pixels[0, 0] = 200 - index % 3  # no two files alike
        pixels[0, 1] = 195 + index // 3
        Image.fromarray(pixels).save(root / f"people/{index:02d}.png")
        rows.append(f"{index:02d},{'Female' if woman else 'Male'},{'AB'[index % 4 // 2]}")
    (root / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")
    (root / "backgrounds").mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (400, 300), colour).save(root / f"backgrounds/{name}.png")
    (root / "backgrounds/contexts.toml").write_text(
        '[bridal]\nlabel = "feminine"\nrating = 0\ntags = ["veil"]\n[garage]\nrating = 9\ntags = ["car"]\n', "utf-8"
    )
    return root


def audit(folder: Path, out: Path, *, finder=None, **more):
    options = {"canvas": CANVAS, "cutout": "eraser", "analysis": QUICK, **more}
    options.setdefault("people", folder / "people.csv")
    options.setdefault("backgrounds", (str(folder / "backgrounds"),))
    options.setdefault("classifier", Tagger())
    with small(finder or Finder()):
        return audit_contexts(folder / "people", out, **options)


@contextmanager
def small(finder, part=7):
    """Parts of so many photos, pictures as they were drawn, and this finder."""
    with pytest.MonkeyPatch.context() as patch:
        in_small_parts(patch, "contexts", part)
        patch.setattr(composing, "FORMAT", "png")
        patch.setattr(stimuli, "mtcnn", lambda least: finder)
        yield


def again(run: Path, **more):
    """The run done again, with other options."""
    with small(Finder()):
        return audit_contexts(run, **more)


def skipped(found) -> dict[str, int]:
    """Reason to photos of people that are left out."""
    photos = found.tables["photos"]
    out = photos[(photos["status"] != "used") & ~photos["path"].str.startswith("background ")]
    return pd.Series(list(map(listed, out["reason"], out["detail"])), dtype=object).value_counts().to_dict()


@pytest.fixture(scope="module")
def found(folder, tmp_path_factory):
    return audit(folder, tmp_path_factory.mktemp("run") / "run")


def test_a_run_opens_again_with_its_sentence(found):
    opened = load(found.folder)
    assert (opened.summary, opened.page) == (found.summary, found.page)
    assert (opened.found, opened.used, opened.notes) == (found.found, found.used, found.notes)


def test_the_page_ends_with_what_to_do_next_and_what_to_quote(found):
    text = found.page.read_text("utf-8")
    said = text[text.index("<blockquote>", text.index('id="next"')) : text.index("</blockquote>")]
    for part in ("right answers", "95 % interval [", f"{PEOPLE} people", "varied: the background", "staged"):
        assert part in said + (found.folder / "report" / "model_card.md").read_text("utf-8")


@pytest.mark.figures("png")
def test_everybody_is_cut_out_and_put_in_front_of_every_room(found):
    assert (found.found, found.used, found.damaged) == (PEOPLE, PEOPLE, 0)
    kinds = found.tables["composites"]["kind"].value_counts().to_dict()
    assert kinds == {"context": 2 * PEOPLE, "canvas": PEOPLE, "original": PEOPLE, "empty": 2, "silhouette": 2}
    shares = found.tables["composites"].query("kind == 'context'")["person_share"]
    assert np.allclose(shares, 0.25, atol=0.003)


def test_the_planted_effect_comes_back_with_its_interval(found):
    rows = found.tables["inferred"].query("tags == 'gross' and inferred == 'woman'")
    rows_of = rows.set_index(["context", "gender"])
    assert rows_of.loc[("bridal", "man"), "change"] == pytest.approx(0.5)
    assert rows_of.loc[("bridal", "man"), "change_low"] <= 0.5 <= rows_of.loc[("bridal", "man"), "change_high"]
    assert rows_of.loc[("bridal", "woman"), "change"] == 0
    assert rows_of.loc[("garage", "man"), "change"] == 0
    slopes = found.tables["congruence"].set_index(["tags", "measure", "gender", "group"])["slope"]
    # men: right half as often where kappa is -1, always where it is 0.8
    assert slopes["gross", "correct", "man", "all"] == pytest.approx(100 * 0.5 / 1.8)
    assert slopes["gross", "correct", "woman", "all"] == 0


def test_what_is_recognised_is_told_and_the_silhouette_does_not_hide_it(found):
    rows = found.tables["recognised"].query("tags == 'gross' and given == 'all'")
    assert rows.set_index("context")["share"].to_dict() == {"bridal": 1.0, "garage": 1.0}
    assert not [note for note in found.notes if "hidden" in note]


def test_the_page_and_the_papers_tables_are_there(found):
    text = found.page.read_text("utf-8")
    assert "infers the self-reported gender" in text
    folder = found.page.parent
    assert (folder / "tables/table7.tex").read_text("utf-8").startswith("\\begin{tabular}")
    assert "12-12-0" in (folder / "tables/table7.csv").read_text("utf-8")
    assert (folder / "figures/shares.png").is_file()
    assert text.count("<svg") >= 6
    assert (folder / "cutouts.html").read_text("utf-8").count("<figure") == PEOPLE


def test_what_was_stopped_goes_on_and_ends_in_the_same_tables(found, folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(found.folder, run)
    for path in (run / "parts/synthesise/photos-000002.parquet", run / "parts/cutout/cutouts-000001.parquet"):
        path.unlink()
    audit(folder, run)
    for path in sorted(found.folder.glob("*.parquet")):
        assert (run / path.name).read_bytes() == path.read_bytes(), path.name


def test_analysis_alone_asks_nobody_and_needs_no_people(found, folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(found.folder, run)
    same = again(run, permutations=298)
    assert set(same.tables["congruence"]["p_perm"].dropna()) != set(found.tables["congruence"]["p_perm"].dropna())
    pd.testing.assert_series_equal(same.tables["inferred"]["share"], found.tables["inferred"]["share"])


def test_one_more_tagger_is_asked_about_the_same_pictures(found, folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(found.folder, run)
    other = Tagger()
    other.name = "another"
    both = audit(folder, run, classifier=other)
    assert set(both.tables["inferred"]["classifier"]) == {"planted", "another"}
    other.version = "2"
    with pytest.raises(RunFolderMismatch, match="has answers of another in version 1; it is 2 now"):
        audit(folder, run, classifier=other)


def test_another_canvas_needs_another_folder(found, folder):
    with pytest.raises(RunFolderMismatch, match="canvas"):
        audit(folder, found.folder, canvas=(200, 128))


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"people": None}, UsageError, "self-reported gender"),
        ({"backgrounds": ("/nowhere",)}, UsageError, "no folder"),
        ({"canvas": (32, 32)}, ConfigError, "64 to 8192"),
        ({"person_share": 1.0}, ConfigError, "between 0 and 1"),
        ({"kinds": ("empty",)}, ConfigError, "nothing can be compared"),
        ({"person_shares": 0.2}, ConfigError, "Did you mean 'person_share'"),
        ({"person_share": 0.9}, UsageError, "at most 0"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(more, error, message, folder, tmp_path):
    with pytest.raises(error, match=message):
        audit(folder, tmp_path / "run", **more)


def test_a_picture_in_two_contexts_is_named(folder, tmp_path):
    backgrounds = tmp_path / "backgrounds"
    backgrounds.mkdir()
    for name in ("a", "b"):
        Image.new("RGB", (300, 300), (9, 9, 9)).save(backgrounds / f"{name}.png")
    with pytest.raises(UsageError, match="picture of"):
        audit(folder, tmp_path / "run", backgrounds=(str(backgrounds),))


def test_small_backgrounds_are_skipped_with_the_reason(folder, tmp_path):
    backgrounds = tmp_path / "backgrounds"
    backgrounds.mkdir()
    Image.new("RGB", (300, 150), (9, 9, 9)).save(backgrounds / "a.png")
    with pytest.raises(UsageError, match=r"shorter side too small \(150 px, at least 200\)"):
        audit(folder, tmp_path / "run", backgrounds=(str(backgrounds),))


@pytest.mark.parametrize("given", ["rendered", Path("rendered"), ("rendered",), [Path("rendered")]])
def test_one_background_is_as_good_as_a_list_of_one(given):
    assert build(ContextsConfig, {"backgrounds": given, "kinds": None}).pictures.backgrounds == ("rendered",)


def test_it_is_a_function_of_the_package():
    assert gslopes.audit_contexts is audit_contexts


def test_everybody_is_as_large_as_the_one_who_fits_least(folder, tmp_path):
    more = audit(folder, tmp_path / "run", person_share="max", limit=4)
    shares = more.tables["composites"].query("kind == 'context'")["person_share"]
    assert more.used == 4
    assert np.ptp(shares) < 0.005
    assert shares.min() > 0.26


def test_as_published_the_photo_itself_is_the_baseline_and_one_photograph_a_context_is_asked_for(folder, tmp_path):
    options = {"preset": "published", "canvas": CANVAS, "bootstrap": 20, "permutations": 19}
    options |= {"people": folder / "people.csv", "classifier": Tagger()}
    with small(Finder()), pytest.raises(UsageError, match="backgrounds are photographs"):
        audit_contexts(folder / "people", tmp_path / "a", **options)
    shutil.copytree(folder / "backgrounds", tmp_path / "two")
    (tmp_path / "two/bridal").mkdir()
    for name in ("1", "2"):
        Image.new("RGB", (400, 300), (250, 200, 200 + int(name))).save(tmp_path / f"two/bridal/{name}.png")
    (tmp_path / "two/bridal.png").unlink()
    with small(Finder()), pytest.raises(UsageError, match="bridal has several"):
        audit_contexts(folder / "people", tmp_path / "b", backgrounds=str(tmp_path / "two"), **options)
    with pytest.raises(ConfigError, match="baseline is original, not canvas"):
        audit_contexts(folder / "people", tmp_path / "c", baseline="canvas", **options)
    with small(Finder()):
        found = audit_contexts(folder / "people", tmp_path / "d", backgrounds=str(folder / "backgrounds"), **options)
    assert set(found.tables["composites"]["kind"]) == {"original", "context", "empty"}
    assert set(found.tables["distances"]["context"]) == {"bridal", "garage"}
    _, choices = choices_of(CONTEXTS, read_manifest(found.folder))
    same = {one.what for one in choices if one.same}
    assert {"baseline", "cut-outs", "pictures that are asked"} <= same
    page = (found.folder / "report/index.html").read_text("utf-8")
    assert "How this audit differs from the paper" in page
    assert "net of the room" in page


def test_raters_are_asked_about_every_empty_room_of_a_run(found):
    text = (found.folder / "report/rating.html").read_text("utf-8")
    assert text.count("data:image/png") == len(COLOURS)
    assert all(f'"context":"{name}"' in text for name in COLOURS)
