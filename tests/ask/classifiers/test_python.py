import doctest
import io
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from gslopes.ask.answers import check_answer
from gslopes.ask.classifiers import calling, load_classifier, returned
from gslopes.ask.classifiers.python import FunctionClassifier
from gslopes.core.errors import AnswerError, ClassifierError, ModelError, UsageError
from gslopes.core.records import Answer

CALLS: list[int] = []


def broken(pictures: list[Any]) -> list[Any]:
    CALLS.append(len(pictures))
    return [{"label": 1.0} for picture in pictures if picture.no_such_thing]


def picky(pictures: list[Any]) -> list[Any]:
    if any(picture.mean() > 200 for picture in pictures):
        raise ValueError("too bright")
    return [{"dark": 0.5} for _ in pictures]


def encoded(picture: Any) -> bytes:
    """A PNG; of a level: a plain picture."""
    file = io.BytesIO()
    Image.fromarray(
        np.full((8, 8, 3), picture, np.uint8) if np.ndim(picture) == 0 else picture
    ).save(file, "PNG")
    return file.getvalue()


def ask(function: Any, pictures: Sequence[Any], labels: Sequence[str] = ()) -> list[Any]:
    return FunctionClassifier(function, labels).ask([encoded(picture) for picture in pictures])


def test_a_function_that_never_answered_ends_the_run_with_its_file_and_line() -> None:
    CALLS.clear()
    with pytest.raises(ModelError, match="AttributeError") as error:
        ask(broken, [0, 9])
    assert error.value.exit_code == 1
    line = f'test_python.py:{broken.__code__.co_firstlineno + 2}: return [{{"label": 1.0}} for picture in pictures'
    assert line in error.value.message
    assert (
        "It was given a list of arrays, 8 x 8 pixels; it fails in every other form, too."
        in error.value.message
    )
    kinds = calling.forms_of(broken, "broken")
    assert len(kinds) > 3
    assert [2] * len(kinds) == CALLS


def test_a_function_that_answered_before_may_fail_on_one_picture() -> None:
    one = FunctionClassifier(picky)
    assert one.ask([encoded(0)]) == [{"dark": 0.5}]
    with pytest.raises(ClassifierError, match="too bright"):
        one.ask([encoded(255)])


# -- python source -----------------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of the user's and what it imports, under names that no other test has."""
    (tmp_path / "deep").mkdir()
    texts = {
        "moods_of_a_user.py": "import json\nimport helper_of_a_user as h\ndef ask(p): return [{'a': h.N}] * len(p)\n",
        "helper_of_a_user.py": "from deep import inner\nN = inner.N\n",
        "deep/__init__.py": "",
        "deep/inner.py": "from . import leaf\nN = leaf.N\n",
        "deep/leaf.py": "N = 0.5\n",
        "other.py": "N = 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def test_a_change_in_what_a_function_is_made_of_is_another_version(package, monkeypatch):
    versions = [load_classifier("python:moods_of_a_user:ask").version]
    assert versions[0].startswith("source ")
    for file in (
        "moods_of_a_user.py",
        "helper_of_a_user.py",
        "deep/__init__.py",
        "deep/inner.py",
        "deep/leaf.py",
    ):
        with (package / file).open("a") as out:
            out.write("LABEL = 'zebra'\n")
        with pytest.raises(
            UsageError, match="moods_of_a_user has changed since Python imported it"
        ):
            load_classifier("python:moods_of_a_user:ask")
        del sys.modules["moods_of_a_user"]
        versions.append(load_classifier("python:moods_of_a_user:ask").version)
    assert len(set(versions)) == 6
    (package / "other.py").write_text("N = 2\n")
    assert load_classifier("python:moods_of_a_user:ask").version == versions[-1]
    monkeypatch.setattr(sys.modules["moods_of_a_user"], "ask", lambda pictures: [])
    assert load_classifier("python:moods_of_a_user:ask").version not in versions
    assert load_classifier("python:moods_of_a_user:ask,version=3").version == "3"


@pytest.mark.parametrize("body", ["raise SystemExit(3)", "1 / 0"])
def test_a_module_that_ends_the_program_is_our_error_with_its_line(package, body):
    (package / "rude_of_a_user.py").write_text(f"\n\n{body}\ndef ask(p): return []\n")
    with pytest.raises(UsageError, match=re.escape(f"(rude_of_a_user.py:3: {body})")):
        load_classifier("python:rude_of_a_user:ask")


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
    assert not doctest.testmod(calling).failed
    assert not doctest.testmod(returned).failed


def records_with_a_class(pictures: Any) -> Any:
    return [[{"name": "bright", "class": 15, "confidence": share(one)}] for one in pictures]


@pytest.mark.parametrize(
    "function", [of_one_picture, columns, generated, pairs, records, records_with_a_class]
)
def test_what_can_be_read_in_one_way_is_read(function: Callable[..., Any]) -> None:
    assert ask(function, PICTURES) == WANTED
    assert ask(function, PICTURES[1:]) == WANTED[1:]


class Eager:
    """Rows as TensorFlow's tensors give them: by ``__array__`` alone."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.rows, dtype)


@pytest.mark.parametrize("shape", ["array", "lists", "tensor", "eager", "series"])
def test_numbers_get_the_labels_in_their_order(shape: str) -> None:
    make: Any = {
        "array": np.array,
        "lists": list,
        "tensor": lambda rows: torch.tensor(rows, requires_grad=True),
        "eager": Eager,
        "series": lambda rows: [pd.Series(row) for row in rows],
    }[shape]

    def classify(pictures: Any) -> Any:
        return make([[share(one), 1 - share(one)] for one in pictures])

    for pictures, wanted in ((PICTURES, [0.2, 0.8]), (PICTURES[:1], [0.2])):
        found = ask(classify, pictures, ["bright", "dark"])
        assert [one["bright"] for one in found] == pytest.approx(wanted)
        assert [one["dark"] for one in found] == pytest.approx([1 - share for share in wanted])
    unnamed = ask(classify, PICTURES)
    assert all("give labels=FILE" in str(one) for one in unnamed)
    short = ask(classify, PICTURES, ["bright", "dark", "gray"])
    assert all("2 numbers for a picture, and there are 3 labels" in str(one) for one in short)


def test_a_function_of_one_picture_may_return_a_row_of_its_own() -> None:
    found = ask(lambda image: torch.tensor([[share(image), 0.5]]), PICTURES, ["bright", "other"])
    assert found == [{**one, "other": 0.5} for one in WANTED]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda pictures: {"bright": 0.5},
            "returned one mapping for 2 pictures. Return one mapping of label",
        ),
        (
            lambda pictures: [{"bright": 0.5}],
            "returned 1 answer for 2 pictures. Return one mapping",
        ),
        (lambda pictures: [{"bright": 0.5}] * 3, "returned 3 answers for 2 pictures."),
        (lambda pictures: None, "returned nothing, it may lack its return, for 2 pictures."),
        (lambda pictures: 0.5, "returned 0.5 for 2 pictures."),
    ],
)
def test_what_does_not_fit_the_pictures_is_said_at_once(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        ask(function, PICTURES)


def test_only_the_picture_whose_answer_is_odd_fails() -> None:
    first, second = ask(lambda pictures: [{"bright": "high"}, {"bright": 0.5}], PICTURES)
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


def test_what_a_partial_binds_is_part_of_its_version() -> None:
    def above(image: Any, level: float) -> bool:
        return bool(image.mean() > level)

    low, again, high = (
        FunctionClassifier(partial(above, level=level)) for level in (60.0, 60.0, 200.0)
    )
    assert (low.name, low.version) == ("above", again.version)
    assert high.version != low.version
    assert ask(partial(above, level=60.0), PICTURES) == [{"above": 0.0}, {"above": 1.0}]
