import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.classifiers.python import FunctionCaller, PythonClassifier
from gslopes.core.errors import ClassifierError, ModelError

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
