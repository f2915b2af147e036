"""Every refusal of the operating system is one sentence, and none of them is taken for a damaged or a missing file."""

import errno
import os
import tomllib
from pathlib import Path

import pytest

from gslopes.ask.questions import read_picture
from gslopes.cli.main import _explain
from gslopes.core import storage as module, tables
from gslopes.core.errors import PhotoError, StorageError, TableError
from gslopes.core.storage import raise_if_refused, refusal, storage
from gslopes.photos.folder import photo_bytes

CODES = sorted(errno.errorcode)
ENTRIES = tomllib.loads(Path(module.__file__).with_name("storage.toml").read_text())


def test_a_code_has_one_entry_and_an_entry_all_of_its_fields():
    codes = [code for entry in ENTRIES.values() for code in entry["codes"]]
    assert len(codes) == len({getattr(errno, code) for code in codes})
    for entry in ENTRIES.values():
        assert set(entry) == {"codes", "why", "hint", "stops"}
        assert set(entry["stops"]) <= {"own", "photo"}
        assert entry["hint"].endswith(".")


def failure(code: int) -> OSError:
    return OSError(code, os.strerror(code), "/a/b")


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_no_refusal_is_unexpected(code, capsys):
    assert _explain(failure(code), debug=False) == 1
    said = capsys.readouterr().err
    if code != errno.ENOMEM:
        assert said.startswith("gslopes: /a/b cannot be read or written: ")
    assert "Unexpected" not in said
    assert len(said.splitlines()) == 2


def test_what_a_library_says_without_a_code_names_the_file_that_was_written():
    with (
        pytest.raises(StorageError, match=r"run/a cannot be written: error closing file\."),
        storage(Path("run/a")),
    ):
        raise OSError("Error closing file")
    assert "a file cannot be read" in str(refusal(OSError("x"))).lower()


@pytest.mark.parametrize(
    "code", [errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.ENOMEM, errno.ETIMEDOUT]
)
def test_what_is_not_the_files_fault_skips_no_photo_and_fails_no_picture(
    code, monkeypatch, tmp_path
):
    (tmp_path / "a.jpg").write_bytes(b"x")
    for name in ("gslopes.photos.folder", "gslopes.ask.questions"):
        monkeypatch.setattr(f"{name}.read_regular", lambda *_: (_ for _ in ()).throw(failure(code)))
    for read in (lambda: photo_bytes(tmp_path / "a.jpg"), lambda: read_picture(tmp_path, "a.jpg")):
        with pytest.raises(StorageError, match="/a/b cannot be read"):
            read()


def test_a_bad_sector_skips_the_photo_and_stops_at_a_picture_of_the_run(monkeypatch, tmp_path):
    for name in ("gslopes.photos.folder", "gslopes.ask.questions"):
        monkeypatch.setattr(
            f"{name}.read_regular", lambda *_: (_ for _ in ()).throw(failure(errno.EIO))
        )
    with pytest.raises(PhotoError, match="disk error"):
        photo_bytes(tmp_path / "a.jpg")
    with pytest.raises(StorageError, match="the disk reported an error"):
        read_picture(tmp_path, "a.jpg")


@pytest.mark.parametrize(
    ("error", "becomes"),
    [
        (failure(errno.EIO), StorageError),
        (failure(errno.EACCES), StorageError),
        (failure(errno.ESTALE), StorageError),
        (MemoryError(), MemoryError),
        (failure(errno.EISDIR), TableError),
        (OSError("Couldn't deserialize thrift"), TableError),
        (ValueError("no Parquet"), TableError),
    ],
    ids=str,
)
def test_a_table_that_cannot_be_read_now_is_not_a_damaged_one(
    error, becomes, monkeypatch, tmp_path
):
    monkeypatch.setattr(
        tables.parquet_table, "open_regular", lambda _: (_ for _ in ()).throw(error)
    )
    with pytest.raises(becomes):
        tables.read(tables.EDITS, tmp_path / "edits.parquet")


def test_other_errors_pass():
    raise_if_refused(ValueError("x"), "a")
    raise_if_refused(FileNotFoundError(errno.ENOENT, "x"), "a")
    raise_if_refused(failure(errno.EIO), "a", "photo")
