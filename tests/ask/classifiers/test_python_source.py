"""A function whose source changes is another version of the classifier."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

VERSION = "from gslopes.ask.classifiers import load_classifier as l; print(l('python:{}').version)"


def version(folder: Path, name: str) -> str:
    """In a process of its own, as a module is imported once."""
    done = subprocess.run([sys.executable, "-c", VERSION.format(name)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "moods.py").write_text("import json\nimport helper\ndef ask(p): return [{'a': helper.N}] * len(p)\n")
    (tmp_path / "helper.py").write_text("from deep import inner\nN = inner.N\n")
    (tmp_path / "deep/__init__.py").touch()
    (tmp_path / "deep/inner.py").write_text("from . import leaf\nN = leaf.N\n")
    (tmp_path / "deep/leaf.py").write_text("N = 0.5\n")
    (tmp_path / "other.py").write_text("N = 1\n")
    return tmp_path


@pytest.mark.parametrize("file", ["moods.py", "helper.py", "deep/__init__.py", "deep/inner.py", "deep/leaf.py"])
def test_a_change_in_what_a_function_is_made_of_is_another_version(package, file):
    before = version(package, "moods:ask")
    with (package / file).open("a") as out:
        out.write("LABEL = 'zebra'\n")
    assert version(package, "moods:ask") != before


def test_what_it_does_not_import_changes_nothing(package):
    before = version(package, "moods:ask")
    (package / "other.py").write_text("N = 2\n")
    assert version(package, "moods:ask") == before
    assert before.startswith("source ")


def test_a_declared_version_stands(package):
    assert version(package, "moods:ask,version=3") == "3"


@pytest.mark.parametrize("body", ["raise SystemExit(3)", "import sys; sys.exit('no')", "1 / 0"])
def test_a_module_that_ends_the_program_is_our_error_with_its_line(tmp_path, body):
    (tmp_path / "rude.py").write_text(f"\n\n{body}\ndef ask(p): return []\n")
    done = subprocess.run(
        [sys.executable, "-c", VERSION.format("rude:ask")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "(rude.py, line 3)" in done.stderr.splitlines()[-1]
    assert "UsageError" in done.stderr.splitlines()[-1]


def test_a_function_that_fails_is_named_with_its_line(tmp_path, monkeypatch, picture):
    from gslopes.ask.classifiers import load_classifier
    from gslopes.core.errors import ModelError

    (tmp_path / "failing_moods.py").write_text("def ask(p):\n    return [{'a': 1 / 0}]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelError, match=r"ZeroDivisionError: division by zero \(failing_moods.py, line 2\)"):
        load_classifier("python:failing_moods:ask").ask([picture((1, 2, 3))])
