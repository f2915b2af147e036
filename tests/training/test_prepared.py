"""What is made of photos is kept by content, and nothing stale, half or damaged is ever taken for it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from gslopes.core.errors import StorageError
from training import prepared
from training.__main__ import main
from training.prepared import Work, home, items_of_arrays, items_of_files, kept


def doubled(number):
    return 2 * number


def tripled(number):
    return 3 * number


def work(**changes):
    about = {"name": "doubles", "shape": (2,), "dtype": "int64", "batch": 4}
    return Work(**{**about, "facts": ("a",), "code": (doubled,), **changes})


def numbers(count):
    return np.arange(2 * count).reshape(count, 2)


def doubles(count, asked=None, one=None):
    """Records of ``numbers``; asked: gets what had to be made."""
    rows = numbers(count)

    def make(places):
        if asked is not None:
            asked.extend(places.tolist())
        return doubled(rows[places])

    return kept(one or work(), items_of_arrays(rows), make)


def never(rows):
    raise AssertionError("made again")


def test_a_record_is_made_once_and_a_larger_set_makes_only_what_is_new():
    first, again, more = [], [], []
    np.testing.assert_array_equal(doubles(10, first), 2 * numbers(10))
    np.testing.assert_array_equal(doubles(10, again), 2 * numbers(10))
    np.testing.assert_array_equal(doubles(15, more), 2 * numbers(15))
    assert (sorted(first), again, sorted(more)) == ([*range(10)], [], [*range(10, 15)])


def test_records_come_in_the_order_that_is_asked_for_and_equal_items_are_made_once():
    doubles(6)
    rows = numbers(6)[[5, 0, 5, 3]]
    np.testing.assert_array_equal(kept(work(), items_of_arrays(rows), never), 2 * rows)
    fresh, asked = np.array([[90, 91], [90, 91]]), []

    def make(places):
        asked.extend(places)
        return 2 * fresh[places]

    np.testing.assert_array_equal(kept(work(), items_of_arrays(fresh), make), 2 * fresh)
    assert len(asked) == 1


@pytest.mark.parametrize(
    "changes",
    [{"facts": ("b",)}, {"code": (tripled,)}, {"code": (doubled, tripled)}, {"name": "others"}],
    ids=["a parameter or a model", "the code", "what the code calls", "the work"],
)
def test_a_change_of_what_records_depend_on_reuses_none(changes):
    asked = []
    doubles(5)
    doubles(5, asked, work(**changes))
    assert len(asked) == 5


@pytest.mark.parametrize(
    ("text", "same"),
    [('    """Words."""\n    # doubles\n', True), ("", True), ("    x = x + 1\n", False)],
)
def test_words_about_code_are_no_change(text, same, monkeypatch):
    monkeypatch.setattr(prepared, "_MEANINGS", {})
    key = work(code=(doubled,)).key
    monkeypatch.setattr(prepared, "_MEANINGS", {})
    source = f"def doubled(number):\n{text}    return 2 * number\n"
    monkeypatch.setattr(prepared.inspect, "getsource", lambda _: source)
    assert (work(code=(doubled,)).key == key) == same


def cut_off(file):
    file.write_bytes(file.read_bytes()[:-100])


def one_bit(file):
    data = bytearray(file.read_bytes())
    data[data.index(b"values.npy") + 160] ^= 1  # in the middle of the values
    file.write_bytes(bytes(data))


def nothing(file):
    file.write_bytes(b"")


def other_shape(file):
    with np.load(file) as shard:
        items = shard["items"]
    np.savez(file, items=items, values=np.zeros((len(items), 3), np.int64), seconds=1.0)


def too_few(file):
    with np.load(file) as shard:
        items = shard["items"]
    np.savez(file, items=items, values=np.zeros((len(items) - 1, 2), np.int64), seconds=1.0)


def pickled(file):
    np.savez(file, items=np.array([object()]), values=np.zeros((1, 2)), seconds=1.0)


@pytest.mark.parametrize("damage", [cut_off, one_bit, nothing, other_shape, too_few, pickled])
def test_a_damaged_file_is_made_again_and_said(damage, capsys):
    doubles(10)
    (file,) = work().folder.glob("*.npz")
    damage(file)
    asked = []
    np.testing.assert_array_equal(doubles(10, asked), 2 * numbers(10))
    assert len(asked) == 10
    assert f"{file} is damaged" in capsys.readouterr().err
    doubles(10, asked)
    assert len(asked) == 10


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_a_start_that_is_stopped_keeps_what_it_has_made(stop):
    rows = numbers(10)

    def make(places):
        if 9 in places:
            raise stop
        return doubled(rows[places])

    with pytest.raises(stop):
        kept(work(), items_of_arrays(rows), make)
    asked = []
    doubles(10, asked)
    assert sorted(asked) == [8, 9]


def test_a_start_that_is_killed_loses_one_file_of_records_at_most(monkeypatch):
    monkeypatch.setattr(prepared, "SHARD", 8)
    script = (
        "import os, signal\n"
        "from tests.training import test_prepared as t\n"
        "t.prepared.SHARD = 8\n"
        "rows = t.numbers(40)\n"
        "def make(places):\n"
        "    if 30 in places: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return t.doubled(rows[places])\n"
        "t.kept(t.work(), t.items_of_arrays(rows), make)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    asked = []
    np.testing.assert_array_equal(doubles(40, asked), 2 * numbers(40))
    assert sorted(asked) == [*range(24, 40)]


def test_trainings_at_once_do_each_other_no_harm():
    script = (
        "from tests.training import test_prepared as t\n"
        "t.prepared.SHARD = 8\n"
        "assert (t.doubles(200) == 2 * t.numbers(200)).all()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    np.testing.assert_array_equal(doubles(200, asked := []), 2 * numbers(200))
    assert asked == []


def test_what_is_cleared_while_it_is_read_is_made(monkeypatch):
    doubles(10)
    index = prepared._index

    def cleared(one):
        found = index(one)
        prepared.clear()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(prepared, "_index", cleared)
        np.testing.assert_array_equal(doubles(10), 2 * numbers(10))


def test_a_photo_that_is_written_again_is_another_one_whatever_its_size_and_time(
    tmp_path, monkeypatch
):
    photo = tmp_path / "a.jpg"
    photo.write_bytes(b"\xff\xd8\xff one")
    first = items_of_files([photo], "")
    with monkeypatch.context() as patch:
        patch.setattr(prepared, "photo_bytes", never)
        np.testing.assert_array_equal(items_of_files([photo], ""), first)
    stat = photo.stat()
    photo.write_bytes(b"\xff\xd8\xff two")
    os.utime(photo, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    second = items_of_files([photo], "")
    assert (second != first).any()
    moved = photo.rename(tmp_path / "b.jpg")
    np.testing.assert_array_equal(items_of_files([moved], ""), second)


def test_the_folder_is_the_users_alone_and_no_part_of_a_checkout(tmp_path, monkeypatch):
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "checkout" / "cache"))
    doubles(2)
    assert home().stat().st_mode & 0o077 == 0
    (tmp_path / "checkout").mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "checkout", check=True)
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    listed = subprocess.run(status, cwd=tmp_path / "checkout", capture_output=True, check=True)
    assert listed.stdout == b""


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="cannot be written") as told:
        doubles(2)
    assert "GSLOPES_CACHE" in told.value.hint


def test_what_is_kept_is_shown_with_its_size_and_place_and_can_be_deleted():
    empty = CliRunner().invoke(main, ["cache"])
    assert "Nothing is kept." in empty.stdout
    doubles(300)
    shown = CliRunner().invoke(main, ["cache"])
    assert work().folder.name in shown.stdout
    assert f"{home()}, 0.0 MiB" in shown.stderr
    cleared = CliRunner().invoke(main, ["cache", "--clear"])
    assert cleared.exit_code == 0
    assert not home().exists()
    assert len(doubles(3)) == 3
