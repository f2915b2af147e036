"""A file that is a program runs where the user said so: asked for once a run folder and file."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from gslopes.ask.trust import Trust, cache_folder, trusted_file, writable_cache
from gslopes.core.errors import StorageError, UsageError

ONE, OTHER = "1" * 64, "2" * 64


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "model.pt").write_bytes(b"a program")
    return tmp_path / "model.pt"


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> Terminal:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_without_a_terminal_it_is_one_error_that_names_the_option(file, tmp_path):
    with pytest.raises(UsageError, match=r"model\.pt is a program: .* may read and write your files") as caught:
        Trust(run=tmp_path / "run").require(file, ONE)
    assert "--trust (trust=True in Python)" in caught.value.hint


def test_trust_that_was_given_is_remembered_for_the_run_and_the_digest(file, tmp_path, capsys):
    run = tmp_path / "run"
    Trust(given=True, run=run).require(file, ONE)
    printed = capsys.readouterr().err
    assert str(trusted_file()) in printed
    Trust(run=run).require(file, ONE)
    assert capsys.readouterr().err == ""
    with pytest.raises(UsageError, match="has changed since it was trusted"):
        Trust(run=run).require(file, OTHER)
    with pytest.raises(UsageError, match="is a program"):
        Trust(run=tmp_path / "another").require(file, ONE)


def test_a_run_folder_cannot_say_what_is_trusted(file, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for name in ("trusted.json", "run.json"):
        (run / name).write_text(json.dumps({"trusted": {ONE: str(file)}, str(run): {ONE: str(file)}}))
    with pytest.raises(UsageError, match="is a program"):
        Trust(run=run).require(file, ONE)


@pytest.mark.parametrize("answer", ["y\n", "YES\n"])
def test_yes_at_a_terminal_runs_it_and_asks_once(file, tmp_path, monkeypatch, answer):
    screen = at_a_terminal(monkeypatch, answer)
    Trust(run=tmp_path / "run").require(file, ONE)
    Trust(run=tmp_path / "run").require(file, ONE)
    assert screen.getvalue().count("Run it? [y/N]") == 1


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_anything_else_does_not(file, tmp_path, monkeypatch, answer):
    at_a_terminal(monkeypatch, answer)
    with pytest.raises(UsageError, match="was not run"):
        Trust(run=tmp_path / "run").require(file, ONE)
    assert not trusted_file().exists()


@pytest.mark.parametrize("content", ["", "[" * 100_000, "[]", '{"x": 1}', "\0"])
def test_a_damaged_note_means_that_it_is_asked_again(file, tmp_path, content):
    trusted_file().parent.mkdir(parents=True, exist_ok=True)
    trusted_file().write_text(content)
    with pytest.raises(UsageError, match="is a program"):
        Trust(run=tmp_path / "run").require(file, ONE)
    Trust(given=True, run=tmp_path / "run").require(file, ONE)
    Trust(run=tmp_path / "run").require(file, ONE)


def test_what_a_stranger_named_is_not_run_whatever_was_given(file, tmp_path):
    with pytest.raises(UsageError, match="comes from a recording, not from you"):
        Trust(given=True, run=tmp_path / "run", named=False).require(file, ONE)


@pytest.mark.parametrize("given", [None, "~/answers"])
def test_a_user_without_a_home_is_said_with_the_option_and_the_variable(monkeypatch, given):
    for name in ("HOME", "XDG_CACHE_HOME", "GSLOPES_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)  # no entry
    with pytest.raises(StorageError, match="home folder") as raised:
        cache_folder(given)
    assert "--cache" in raised.value.hint
    assert "GSLOPES_CACHE" in raised.value.hint


def test_a_folder_that_cannot_be_written_is_named_before_any_work(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be kept") as raised:
        writable_cache(tmp_path / "file" / "answers")
    assert "--cache" in raised.value.hint
    assert list(writable_cache(tmp_path / "new").iterdir()) == []
