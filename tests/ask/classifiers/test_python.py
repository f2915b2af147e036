from __future__ import annotations

import doctest
import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.answers import check_answer
from gslopes.ask.classifiers.python import FunctionCaller, PythonClassifier
from gslopes.core.errors import AnswerError, ClassifierError, ModelError
from gslopes.core.records import Answer

CALLS: list[int] = []


def broken(pictures: list[Any]) -> list[Any]:
    CALLS.append(len(pictures))
    return [{"label": 1.0} for picture in pictures if picture.no_such_thing]


def picky(pictures: list[Any]) -> list[Any]:
    if any(picture.mean() > 200 for picture in pictures):
        raise ValueError("too bright")
    return [{"dark": 0.5} for _ in pictures]


def encoded(level: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), level, np.uint8)).save(file, "PNG")
    return file.getvalue()


def classifier(function: Any) -> PythonClassifier:
    """Of a function that need not be imported by its name."""
    one = PythonClassifier.__new__(PythonClassifier)
    one.name, one.version, one.cached, one.batch = f"python:mine:{function.__name__}", "", False, 4
    one._function, one._caller, one._answered = function, FunctionCaller(function), False
    return one


def test_a_function_that_never_answered_ends_the_run_with_its_file_and_line() -> None:
    one = classifier(broken)
    CALLS.clear()
    with pytest.raises(ModelError, match="AttributeError") as error:
        one.ask([encoded(0), encoded(9)])
    assert error.value.exit_code == 1
    assert f"test_python.py, line {broken.__code__.co_firstlineno + 2}" in error.value.message
    assert CALLS == [2]


def test_a_function_that_answered_before_may_fail_on_one_picture() -> None:
    one = classifier(picky)
    assert one.ask([encoded(0)]) == [{"dark": 0.5}]
    with pytest.raises(ClassifierError, match="too bright"):
        one.ask([encoded(255)])


# -- python source -----------------------------------------------------------------------------------------------------


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


# -- function reply ----------------------------------------------------------------------------------------------------


DARK, BRIGHT = np.full((4, 6, 3), 51, np.uint8), np.full((5, 5, 3), 204, np.uint8)
PICTURES = [DARK, BRIGHT]
WANTED = [{"bright": pytest.approx(0.2)}, {"bright": pytest.approx(0.8)}]


def share(picture: Any) -> float:
    return float(picture.mean() / 255)


def of_one_picture(picture: Any) -> Any:
    return {"bright": share(picture)}


def columns(pictures: Any) -> Any:
    return {"bright": np.array([share(one) for one in pictures])}


def generated(pictures: Any) -> Any:
    return ({"bright": share(one)} for one in pictures)


def pairs(pictures: Any) -> Any:
    return [[("bright", share(one))] for one in pictures]


def records(pictures: Any) -> Any:
    return [[{"label": "bright", "score": np.float32(share(one))}] for one in pictures]


def test_examples_in_the_docstrings_hold() -> None:
    assert not doctest.testmod(sys.modules[FunctionCaller.__module__]).failed


@pytest.mark.parametrize("function", [of_one_picture, columns, generated, pairs, records])
def test_what_can_be_read_in_one_way_is_read(function: Callable[..., Any]) -> None:
    call = FunctionCaller(function)
    assert call(PICTURES) == WANTED
    assert call(PICTURES[1:]) == WANTED[1:]


@pytest.mark.parametrize("shape", ["array", "lists", "tensor"])
def test_numbers_get_the_labels_in_their_order(shape: str) -> None:
    torch = pytest.importorskip("torch")
    make = {"array": np.array, "lists": list, "tensor": lambda rows: torch.tensor(rows, requires_grad=True)}[shape]

    def classify(pictures: Any) -> Any:
        return make([[share(one), 1 - share(one)] for one in pictures])

    for pictures, wanted in ((PICTURES, [0.2, 0.8]), (PICTURES[:1], [0.2])):
        found = FunctionCaller(classify, ["bright", "dark"])(pictures)
        assert [one["bright"] for one in found] == pytest.approx(wanted)
        assert [one["dark"] for one in found] == pytest.approx([1 - share for share in wanted])
    unnamed = FunctionCaller(classify)(PICTURES)
    assert all("give labels=FILE" in str(one) for one in unnamed)
    short = FunctionCaller(classify, ["bright", "dark", "gray"])(PICTURES)
    assert all("2 numbers for a picture, and there are 3 labels" in str(one) for one in short)


def test_a_function_of_one_picture_may_return_a_row_of_its_own() -> None:
    torch = pytest.importorskip("torch")
    call = FunctionCaller(lambda image: torch.tensor([[share(image), 0.5]]), ["bright", "other"])
    assert call(PICTURES) == [{**one, "other": 0.5} for one in WANTED]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda pictures: {"bright": 0.5}, "returned one mapping for 2 pictures. Return one mapping of label"),
        (lambda pictures: [{"bright": 0.5}], "returned one answer for 2 pictures. Return one mapping"),
        (lambda pictures: [{"bright": 0.5}] * 3, "returned 3 answers for 2 pictures."),
        (lambda pictures: None, "returned None: it may lack its return."),
        (lambda pictures: 0.5, "returned 0.5 for 2 pictures."),
    ],
)
def test_what_does_not_fit_the_pictures_is_said_at_once(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        FunctionCaller(function)(PICTURES)


def test_only_the_picture_whose_answer_is_odd_fails() -> None:
    first, second = FunctionCaller(lambda pictures: [{"bright": "high"}, {"bright": 0.5}])(PICTURES)
    assert isinstance(first, AnswerError)
    assert "score of 'bright' is 'high', not a number" in str(first)
    assert second == {"bright": 0.5}


@pytest.mark.parametrize(
    ("score", "remedy"),
    [
        (37.9, "percentages are divided by 100, logits need a softmax or sigmoid"),
        (-2.5, "logits need a softmax or sigmoid first"),
        (float("nan"), "a picture that cannot be judged is answered with None"),
    ],
)
def test_a_number_that_is_no_share_says_what_to_change(score: float, remedy: str) -> None:
    with pytest.raises(AnswerError, match=rf"not a number in \[0, 1\]; {remedy}"):
        check_answer(Answer("answered", (("hire", score),)))
