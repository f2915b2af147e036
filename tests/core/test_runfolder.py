import doctest
import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from gslopes.core import runfolder, tables
from gslopes.core.errors import RunFolderMismatch, StorageError, TableError, UsageError


def _rows(*names: str) -> pd.DataFrame:
    same = {"attribute": "gender", "step": 0, "classifier": "c", "status": "answered", "reason": ""}
    return pd.DataFrame({"photo": list(names), **same}).astype({"step": "int16"})


def test_a_write_replaces_the_whole_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.bin"
    runfolder.write_bytes(path, b"old")
    runfolder.write_bytes(path, b"new")
    runfolder.settle([path])
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_threads_may_write_one_file_at_once(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda data: runfolder.write_bytes(tmp_path / "twin", data),
                [b"same" * 10_000] * 400,
            )
        )


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_refuses_is_a_sentence_with_a_next_step(tmp_path, code):
    with pytest.raises(StorageError) as caught, runfolder.storage(tmp_path):
        raise OSError(code, os.strerror(code), str(tmp_path / "x"))
    assert "cannot be written" in caught.value.message
    assert caught.value.hint


def test_a_mismatch_names_the_keys_with_both_values(tmp_path):
    runfolder.write_json(
        tmp_path / "run.json", {"config": {"find": {"min_face": 32}, "seed": 0}, "other": 1}
    )
    runfolder.compare(
        tmp_path, {"config": {"find": {"min_face": 32}, "seed": 0}, "other": 2}, ["config"]
    )
    with pytest.raises(
        RunFolderMismatch, match=r"config.find.min_face is 32 there and 20 here.*--out"
    ):
        runfolder.compare(tmp_path, {"config": {"find": {"min_face": 20}, "seed": 0}}, ["config"])


def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    runfolder.compare(tmp_path / "new", {}, [])
    (tmp_path / ".lock").touch()
    runfolder.compare(tmp_path, {}, [])
    (tmp_path / "thesis.docx").touch()
    with pytest.raises(UsageError, match=r"thesis\.docx"):
        runfolder.compare(tmp_path, {}, [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((text, "cannot be read") for text in ("{", "[" * 100_000)),
        ("[]", "is not the manifest"),
        *(
            (text, "is damaged")
            for text in (
                '{"classifiers": ["a"]}',
                '{"classifiers": {"a": 3}}',
                '{"values": {"gender": [1, "x"]}}',
                '{"values": 7}',
                '{"seed": "x"}',
            )
        ),
    ],
)
def test_a_path_without_a_sound_manifest_says_what_it_is_instead(tmp_path, text, said):
    (tmp_path / "file").touch()
    for name, what in (
        ("none", "does not exist"),
        ("", "is not a run folder"),
        ("file", "is a file"),
    ):
        with pytest.raises(UsageError, match=what):
            runfolder.read_manifest(tmp_path / name)
    (tmp_path / runfolder.MANIFEST).write_text(text)
    with pytest.raises(UsageError, match=rf"run\.json {said}"):
        runfolder.read_manifest(tmp_path)


def test_a_second_process_is_told_that_the_folder_is_in_use_until_the_first_ends(tmp_path):
    with (  # the kernel holds two handles of one process apart as it does those of two
        runfolder.locked(tmp_path),
        pytest.raises(StorageError, match="Another process is working in"),
        runfolder.locked(tmp_path),
    ):
        pass
    with runfolder.locked(tmp_path):
        pass


def test_taking_the_lock_removes_what_a_killed_process_left_half_written(tmp_path):
    stale = tmp_path / "parts" / "score" / ".asked-000000.parquet.77.tmp"
    stale.parent.mkdir(parents=True)
    stale.touch()
    with runfolder.locked(tmp_path):
        assert not stale.exists()


def test_a_file_in_the_place_of_the_folder_is_a_storage_error(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(StorageError, match="cannot be written"), runfolder.locked(path):
            pass


def test_parts_are_merged_in_order_and_a_missing_part_is_an_error(tmp_path):
    for index, names in ((0, ("b", "a")), (1, ("c",))):
        runfolder.write_table(
            tables.ASKED, _rows(*names), runfolder.part_path(tmp_path, "s", tables.ASKED, index)
        )
    assert runfolder.missing_parts(tmp_path, "s", tables.ASKED, 3) == [2]
    path = runfolder.merge(tmp_path, tables.ASKED, ["s"], 2)
    assert tables.read(tables.ASKED, path)["photo"].tolist() == ["a", "b", "c"]
    with pytest.raises(TableError):
        runfolder.merge(tmp_path, tables.ASKED, ["s"], 3)


def test_a_key_in_two_parts_is_refused_and_leaves_the_table_as_it_was(tmp_path):
    parts = [runfolder.part_path(tmp_path, stage, tables.ASKED, 0) for stage in ("s", "t")]
    for path, names in zip(parts, ("ab", "cd"), strict=True):
        runfolder.write_table(tables.ASKED, _rows(*names), path)
    merged = runfolder.merge(tmp_path, tables.ASKED, ["s", "t"], 1)
    before = merged.read_bytes()
    runfolder.write_table(tables.ASKED, _rows("c", "b"), parts[1])
    with pytest.raises(
        TableError, match=r"The asked table has two rows with the key classifier .*, photo b, "
    ):
        runfolder.merge(tmp_path, tables.ASKED, ["s", "t"], 1)
    assert merged.read_bytes() == before
    other = _rows("b").assign(step=3)  # of the same photo, and another row
    runfolder.write_table(tables.ASKED, other, parts[1])
    assert (
        len(tables.read(tables.ASKED, runfolder.merge(tmp_path, tables.ASKED, ["s", "t"], 1))) == 3
    )


def test_small_parts_share_a_group_of_rows(tmp_path, monkeypatch):
    """A reader pays for each group: of parts of some hundred rows several go into one, and none is lost at the end."""
    for index, name in enumerate("abcdefg"):
        runfolder.write_table(
            tables.ASKED, _rows(name), runfolder.part_path(tmp_path, "s", tables.ASKED, index)
        )
    for most, groups in ((3, [3, 3, 1]), (1 << 16, [7])):
        monkeypatch.setattr(runfolder, "ROW_GROUP", most)
        about = pq.read_metadata(path := runfolder.merge(tmp_path, tables.ASKED, ["s"], 7))
        assert [about.row_group(group).num_rows for group in range(about.num_row_groups)] == groups
        assert "".join(tables.read(tables.ASKED, path)["photo"]) == "abcdefg"


def test_slugs_are_file_names_and_distinct():
    names = ["onnx:/a/b.onnx", "onnx:/a-b.onnx", "celeba-tagger", "x" * 300, "é\udcff/../"]
    slugs = [runfolder.slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all("/" not in slug and len(slug) < 80 and slug.isascii() for slug in slugs)


@pytest.mark.parametrize("instead", ["nothing", "another"])
def test_a_folder_that_is_removed_midway_is_said(tmp_path, instead):
    def command() -> None:
        with runfolder.locked(tmp_path / "run"):
            shutil.rmtree(tmp_path / "run")
            if instead == "another":
                runfolder.make_folder(tmp_path / "run")
                runfolder.write_json(tmp_path / "run/one.json", {})

    with pytest.raises(StorageError, match="run was removed while this command worked in it"):
        command()


LINKS = ("report", "export", "parts", "parts/score", "parts/score/x-000001.parquet", ".lock", "scores.parquet",
         "judged", "marked", "judged/edits/a.txt", ".run.json.tmp", ".scores.parquet.new.tmp", "run.log", "a/b/c",
         "parts/synthesise/journal", "given", "drift-m.json")  # fmt: skip


@pytest.mark.parametrize("target", ["folder", "file", "nowhere", "../../../../other", "/"])
def test_a_link_that_leads_out_of_the_folder_is_refused_before_anything_is_written(
    tmp_path, target
):
    away = tmp_path / "away"
    (away / "folder").mkdir(parents=True)
    (away / "folder/keep.tmp").write_text("kept")
    (away / "file").write_text("kept")
    before = sorted((path, path.lstat().st_mtime_ns) for path in away.rglob("*"))
    for number, place in enumerate(LINKS):
        run = tmp_path / f"run{number}"
        link = run / place
        link.parent.mkdir(parents=True)
        link.symlink_to(away / target if target in ("folder", "file", "nowhere") else target)
        with pytest.raises(StorageError, match="link") as caught, runfolder.locked(run):
            runfolder.write_bytes(link / "x", b"written")
        assert caught.value.hint.startswith("Remove")
        assert link.is_symlink()
    assert sorted((path, path.lstat().st_mtime_ns) for path in away.rglob("*")) == before


def test_links_within_the_folder_and_to_it_as_a_whole_are_followed(tmp_path):
    (tmp_path / "disk/run/report").mkdir(parents=True)
    (tmp_path / "disk/run/newest").symlink_to("report")
    (tmp_path / "disk/run/self").symlink_to(tmp_path / "disk/run")
    (tmp_path / "named").symlink_to("disk")
    run = tmp_path / "named/run"
    with runfolder.locked(run):
        runfolder.write_bytes(run / "newest/index.html", b"page")
    assert (tmp_path / "disk/run/report/index.html").read_bytes() == b"page"


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_no_temporary_file_is_written_through(tmp_path, link):
    secret = tmp_path / "secret"
    secret.write_bytes(b"kept")
    run = tmp_path / "run"
    for name in (".a.tmp", ".scores.parquet.new.tmp"):
        (run / "report").mkdir(parents=True, exist_ok=True)
        link(run / "report" / name, secret)
    runfolder.write_bytes(run / "report/a", b"written")
    runfolder.write_table(tables.SCORES, tables.SCORES.empty(), run / "report/scores.parquet")
    assert secret.read_bytes() == b"kept"
    assert (run / "report/a").read_bytes() == b"written"


@pytest.mark.parametrize("place", ["report", "parts", ".a.tmp", ".lock", "report/.b.tmp"])
@pytest.mark.parametrize("kind", ["pipe", "file", "folder"])
def test_what_is_in_the_way_is_a_sentence_and_nothing_waits(tmp_path, place, kind):
    path = tmp_path / "run" / place
    path.parent.mkdir(parents=True)
    {"pipe": os.mkfifo, "file": Path.touch, "folder": Path.mkdir}[kind](path)
    with suppress(StorageError), runfolder.locked(tmp_path / "run"):
        runfolder.write_bytes(tmp_path / "run/a", b"1")
        runfolder.write_bytes(tmp_path / "run/report/b", b"2")
        runfolder.make_folder(tmp_path / "run/parts/score")


def test_examples_in_the_docstrings_hold():
    assert not doctest.testmod(runfolder).failed
