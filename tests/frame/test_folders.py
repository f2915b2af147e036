"""The folder that an audit is given: what it holds twice counts once and is told; one that holds nothing is refused."""

import errno
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageOps

import gslopes
from gslopes.ask.config import ScoreConfig
from gslopes.core import tables
from gslopes.core.errors import StorageError, TableError, UsageError
from gslopes.core.options import option, section
from gslopes.core.reasons import Reason
from gslopes.frame.ask import ANSWERS, ask
from gslopes.frame.executors import OneProcess
from gslopes.frame.parts import maker_of
from gslopes.frame.plan import plan
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Headline, Inputs, Made, Plan, Run, Stage
from gslopes.photos.folder import PhotoFile, list_files, list_photos, open_photo
from tests.frame.audits import AUDITS

WALK = {"edits": tables.EDITS, **ANSWERS}
PART = 2


# --- An audit of photos as docs/pages/contribute/audit.md says: does a mirror image get the same answers? ---


@dataclass(frozen=True)
class Config:
    seed: int = option(0, help="Seed of the order of the questions.", least=0)
    score: ScoreConfig = section(ScoreConfig)


def look(plan: Plan) -> Inputs:
    files = list_photos(plan.source)
    return Inputs(files, {"photos": len(files)})


def files(run: Run) -> list[PhotoFile]:
    return list(run.inputs)


def mirror(run: Run, items: list[PhotoFile]) -> Made:
    rows = []
    for item in items:
        photo = open_photo(item.path)
        for step, picture in enumerate(
            (Image.open(item.path), ImageOps.mirror(Image.open(item.path)))
        ):
            file = f"edits/{photo.id[:16]}-{step}.png"
            picture.save(run.folder / file)
            row = {
                "photo": photo.id,
                "attribute": "mirror",
                "step": step,
                "value": step,
                "file": file,
            }
            rows.append(row | {"mask_area": 1.0})
    return {"edits": rows}


def counts(made: Any) -> tuple[int, int, int]:
    return made["edits"]["photo"].nunique(), made["scores"]["photo"].nunique(), 0


def brightness(seen: Any) -> list[dict[str, float]]:
    return [{"bright": float(picture.mean() / 255)} for picture in seen]


MIRROR = Audit(
    name="mirror", home=Path(__file__).parent, config=Config, tables=WALK, inputs=look,
    outline=lambda planned: ([], {}),
    stages=(
        Stage("mirror", ("inputs",), ("edits/", "edits"), mirror, items=files, part=PART, here=True, options=()),
        ask("score", ("edits",), gate=None, needed=True, options=("seed",)),
    ),
    judged=lambda made: pd.DataFrame(), headline=lambda made: Headline("Asked."), counts=counts, shown=("scores",),
    models=lambda planned: {"brightness": gslopes.as_classifier(brightness, name="brightness")}, more=True,
)  # fmt: skip


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for place in range(5):
        Image.fromarray(np.full((8, 8, 3), 40 * place, np.uint8)).save(folder / f"{place}.png")
    return folder


def test_the_same_photo_twice_counts_once_in_an_audit_written_as_the_page_says(
    photos: Path, tmp_path: Path
):
    for name in (
        "0 again.png",
        "4 again.png",
        "z.png",
    ):  # in a separate part, in the same part, in the last one
        shutil.copy(photos / "4.png", photos / name)
    result = carry_out(plan(MIRROR, photos, tmp_path / "run", {}), OneProcess())
    assert (result.found, result.used) == (5, 5)
    assert len(result.tables["edits"]) == len(result.tables["scores"]) == 10
    assert result.notes[0].startswith("3 photos left out, same bytes as another photo: ")


def with_note(run: Run, items: list[PhotoFile]) -> Made:
    run.note(f"Mirrored from {items[0].relative}.")
    return mirror(run, items)


NOTING = replace(MIRROR, stages=(replace(MIRROR.stages[0], work=with_note), MIRROR.stages[1]))
NOTED = [f"Mirrored from {name}.png." for name in (0, 2, 4)]


@pytest.mark.parametrize("damage", ["table", "table cut short", "picture", "notes"])
def test_a_damaged_part_is_done_again_alone_and_keeps_its_note(
    photos: Path, tmp_path: Path, damage: str
):
    run = tmp_path / "run"
    first = carry_out(plan(NOTING, photos, run, {}), OneProcess())
    assert list(first.notes) == NOTED
    parts = sorted((run / "parts/mirror").glob("edits-*.parquet"))
    times = [part.stat().st_mtime_ns for part in parts]
    picture = run / tables.read(tables.EDITS, parts[1])["file"].iloc[0]
    damaged = {"picture": picture, "notes": run / "parts/mirror/notes-000001.json"}
    file = damaged.get(damage, parts[1])
    content = file.read_bytes()
    file.unlink()
    if damage in ("table cut short", "notes"):
        file.write_bytes(content[:-9])
    (run / "parts/mirror.json").unlink()
    again = carry_out(plan(NOTING, photos, run, {}), OneProcess())
    assert list(again.notes) == NOTED
    assert file.read_bytes() == content
    assert [part.stat().st_mtime_ns for part in parts][::2] == times[::2]
    for table in ("edits", "scores", "asked"):
        pd.testing.assert_frame_equal(first.tables[table], again.tables[table])


def test_answers_about_other_pictures_are_asked_again(photos: Path, tmp_path: Path):
    run = tmp_path / "run"
    carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    edits = tables.read(tables.EDITS, run / "edits.parquet").assign(mask_area=0.5)
    tables.write(tables.EDITS, edits, run / "edits.parquet")
    times = {part: part.stat().st_mtime_ns for part in (run / "parts/score").rglob("*.parquet")}
    assert len(times) == 6
    carry_out(plan(MIRROR, photos, run, {}, only=["score"]), OneProcess())
    assert all(part.stat().st_mtime_ns != time for part, time in times.items())


def test_asking_before_the_pictures_are_complete_is_refused(photos: Path, tmp_path: Path):
    run = tmp_path / "run"
    carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    (run / "parts/score.json").unlink()
    (run / "parts/mirror/edits-000001.parquet").unlink()
    with pytest.raises(UsageError, match=r"of the stage mirror, 1 of its 3 parts are missing"):
        carry_out(plan(MIRROR, photos, run, {}, only=["score"]), OneProcess())
    (run / "parts/mirror/made-from.json").unlink()  # as older versions left it
    with pytest.raises(UsageError, match=r"of the stage mirror, it has no parts.*repeat the co"):
        carry_out(plan(MIRROR, photos, run, {}, only=["score"]), OneProcess())
    again = carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    assert again.used == 5


@pytest.mark.parametrize("content", ["", "{}", "[]", "[1]", '{"parts": 0}'])
def test_a_damaged_count_of_the_pictures_parts_is_never_taken_for_none(
    photos: Path, tmp_path: Path, content: str
):
    run = tmp_path / "run"
    first = carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    (run / "parts/score.json").unlink()
    (run / "parts/mirror/made-from.json").write_text(content)
    with pytest.raises(UsageError, match=r"of the stage mirror, it has no parts"):
        carry_out(plan(MIRROR, photos, run, {}, only=["score"]), OneProcess())
    again = carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    pd.testing.assert_frame_equal(first.tables["asked"], again.tables["asked"])
    assert len(again.tables["asked"])


def test_a_part_or_a_record_that_the_disk_does_not_give_now_is_not_made_again(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = tmp_path / "run"
    carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    parts = {part: part.stat().st_mtime_ns for part in (run / "parts/score").rglob("*.parquet")}

    def refused(path: Path, *rest: object) -> None:
        raise OSError(errno.EIO, "Input/output error", str(path))

    for name in ("gslopes.frame.parts.read_json", "gslopes.core.parquet_table.open_regular"):
        (run / "parts/score.json").unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            patch.setattr(name, refused)
            with pytest.raises((OSError, StorageError), match="error"):
                carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    carry_out(plan(MIRROR, photos, run, {}), OneProcess())
    assert {part: part.stat().st_mtime_ns for part in parts} == parts


def test_a_stage_that_writes_a_photo_twice_is_refused_with_the_table_and_the_key(
    photos: Path, tmp_path: Path
):
    shutil.copy(photos / "0.png", photos / "z.png")
    every = replace(MIRROR, inputs=lambda plan: Inputs(list_files(plan.source), {"photos": 6}))
    with pytest.raises(
        TableError,
        match=r"The edits table has two rows with the key photo [0-9a-f]{64}, attribute m",
    ):
        carry_out(plan(every, photos, tmp_path / "run", {}), OneProcess())
    assert not (tmp_path / "run/edits.parquet").exists()


# --- Every audit of the package ---


def empty_of(kind: str, folder: Path) -> Path:
    """A folder without anything that can be looked at."""
    folder.mkdir()
    (folder / "sub").mkdir()
    if kind == "hidden":
        (folder / ".hidden.jpg").write_bytes(b"x")
        (folder / "sub/.human-captions.csv").write_bytes(b"x")
    return folder


@pytest.mark.parametrize("kind", ["empty", "hidden"])
@pytest.mark.parametrize("name", AUDITS)
def test_an_empty_folder_is_refused_in_one_sentence_by_every_audit(
    name: str, kind: str, tmp_path: Path
):
    folder, run = empty_of(kind, tmp_path / "empty"), tmp_path / "run"
    passed = r"( 1 picture passed over, [^.]*: \.hidden\.jpg 1\.)?"
    with pytest.raises(
        UsageError, match=rf"^There are no (photos|files) in .*/empty\.{passed} Name "
    ):
        AUDITS[name].begin(folder, run)
    with pytest.raises(UsageError, match=rf"^There are no photos in .*/empty\.{passed} Name "):
        plan(MIRROR, folder, run, {})
    assert not run.exists()


@pytest.mark.parametrize("name", [name for name in AUDITS if name != "captions"])
def test_a_folder_without_a_photo_that_can_be_read_is_refused_before_any_work(
    name: str, tmp_path: Path
):
    folder, run = tmp_path / "broken", tmp_path / "run"
    folder.mkdir()
    (folder / "notes.txt").write_text("no photo")
    begun = (lambda: AUDITS[name].begin(folder, run), lambda: plan(MIRROR, folder, run, {}))
    for begin in begun:
        with pytest.raises(UsageError, match=r"^There are no photos in .*/broken\. "):
            begin()
    (folder / "a.jpg").write_bytes(b"no picture")
    (folder / "b.jpg").symlink_to("nowhere.jpg")
    for begin in begun:
        with pytest.raises(
            UsageError, match=r"No photo in .*/broken can be read\. .*: unreadable: not a picture"
        ):
            begin()
    assert not run.exists()


HEADLINES = {"photos", "people"}  # the tables that say what was left out


@pytest.mark.slow
@pytest.mark.parametrize("name", AUDITS)
def test_what_lies_in_the_inputs_twice_counts_once_and_is_told(name: str, tmp_path: Path):
    small = AUDITS[name]
    source = small.prepare(tmp_path / "in")
    once = small.begin(source, tmp_path / "once")
    if name == "captions":
        table = source / "human-captions.csv"
        table.write_text(table.read_text() + table.read_text().splitlines()[1] + "\n")
    else:
        first = max(list_photos(source), key=lambda file: file.path.stat().st_size)
        for copy in ("zy copy", "zz copy"):
            shutil.copy(first.path, source / f"{copy}{first.path.suffix}")
        if (
            people := source.parent / "people.csv"
        ).exists():  # the same person by three names of files
            lines = people.read_text().splitlines()
            row = next(line for line in lines if line.startswith(first.path.stem))
            copies = [row.replace(first.path.stem, copy, 1) for copy in ("zy copy", "zz copy")]
            people.write_text("\n".join([*lines, *copies]) + "\n")
    twice = small.begin(source, tmp_path / "twice")
    assert twice.used == once.used
    assert any(
        "left out, same bytes as another photo: " in note or "stood twice" in note
        for note in twice.notes
    )
    for table in set(once.tables) - HEADLINES:
        pd.testing.assert_frame_equal(once.tables[table], twice.tables[table])
    for table in HEADLINES & set(once.tables):
        rows = twice.tables[table]
        if "status" in rows:
            assert (
                len(rows) - len(once.tables[table])
                == (rows["reason"] == Reason.DUPLICATE).sum()
                == 2
            )


@pytest.mark.parametrize("damage", ["cut short", "deleted"])
def test_a_damaged_part_of_a_finished_stage_is_made_again_when_a_later_stage_follows_it(
    photos: Path, tmp_path: Path, damage: str
):
    run = tmp_path / "run"
    first = carry_out(plan(NOTING, photos, run, {}), OneProcess())
    part = sorted((run / "parts/mirror").glob("edits-*.parquet"))[1]
    if damage == "deleted":
        part.unlink()
    else:
        part.write_bytes(part.read_bytes()[:-40])
    with pytest.raises(UsageError, match="of the stage mirror"):
        carry_out(plan(NOTING, run, None, {"seed": 1}, only=["score"]), OneProcess())
    again = carry_out(plan(NOTING, photos, run, {"seed": 1}), OneProcess())
    assert list(again.notes) == NOTED
    pd.testing.assert_frame_equal(again.tables["scores"], first.tables["scores"])


@pytest.mark.parametrize("content", ["null", '"abc"', '{"a": 1}', "[3]"])
def test_notes_that_are_no_list_of_sentences_are_written_again(
    photos: Path, tmp_path: Path, content: str
):
    run = tmp_path / "run"
    carry_out(plan(NOTING, photos, run, {}), OneProcess())
    (run / "parts/mirror/notes-000001.json").write_text(content)
    (run / "parts/mirror.json").unlink()
    assert list(carry_out(plan(NOTING, photos, run, {}), OneProcess()).notes) == NOTED


def test_a_stage_follows_parts_of_a_table_that_is_made_once():
    with pytest.raises(
        RuntimeError, match="no stage makes scores in parts that another may follow"
    ):
        maker_of(MIRROR, "scores")
