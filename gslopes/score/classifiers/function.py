"""A Python function as a classifier."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from gslopes.score.classifiers.python import PythonClassifier

Function = Callable[[list[Any]], Sequence[Mapping[str, float] | None]]


class FunctionClassifier(PythonClassifier):
    """A function as a classifier; another text is another classifier.

    Its version is a digest of its source, and of the functions and plain values of its own module that it names.

    Answers are kept in the run folder alone: a function may depend on what its source does not show.
    """

    def __init__(self, function: Function) -> None:
        name = "".join(char if char.isalnum() or char in "_-" else "-" for char in function.__name__).strip("-")
        self.name = name or "function"
        self.version = hashlib.sha256("\0".join(_sources(function, set())).encode()).hexdigest()[:16]
        self.cached = False
        self.batch = 32
        self._function = function
        self._answered = False


def _sources(function: Any, seen: set[int]) -> Iterator[str]:
    """The source of a function, and of what it names: functions of its own module, and plain values."""
    seen.add(id(function))
    yield _source(function)
    code, here = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    if code is None:
        return
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    for value in [*(here[name] for name in _names(code) if name in here), *cells]:
        if isinstance(value, FunctionType) and value.__module__ == function.__module__ and id(value) not in seen:
            yield from _sources(value, seen)
        elif isinstance(value, (str, int, float, tuple)):
            yield repr(value)


def _names(code: CodeType) -> Iterator[str]:
    """Names that a function's code looks up outside of it, in its comprehensions too."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _source(function: Function) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed into a console, or compiled
        code = getattr(function, "__code__", None)
        return repr(function) if code is None else f"{code.co_code!r} {code.co_consts!r} {code.co_names!r}"
