"""Digests of what a Python function is made of: its own source, or its file and what that imports from its folder."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any

from gslopes.core.files import LARGEST_TABLE, read_regular, sha256_of


def source_digest(module: str) -> str:
    """sha256 over the source of an imported module and of what it imports, directly or not, from its own folder.

    A package's own folder is that of its outermost package. Installed libraries, data files and weights are no part of
    it.

    module: dotted name, as in ``sys.modules``.
    Returns: 64 hex digits; empty if the module has no source file (it is compiled, or built in).
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or not file.endswith(".py"):
        return ""
    root = Path(file).resolve().parent
    depth = len(module.split(".")) - (0 if Path(file).name == "__init__.py" else 1)
    for _ in range(depth):
        root = root.parent
    total = hashlib.sha256()
    for path in sorted(_reached(Path(file).resolve(), root)):
        content = sha256_of(path)
        total.update(f"{path.relative_to(root).as_posix()}\0{content}\n".encode())
    return total.hexdigest()


def _reached(first: Path, root: Path) -> set[Path]:
    found: set[Path] = set()
    waiting = [first]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [file for name in _imported(path, root) for file in _files(name, root)]
    return found


def _imported(path: Path, root: Path) -> Iterator[str]:
    """Dotted names, below the root, that a file may import."""
    try:
        tree = ast.parse(read_regular(path, LARGEST_TABLE))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    package = path.relative_to(root).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" if base else alias.name for alias in node.names)


def _files(name: str, root: Path) -> Iterator[Path]:
    """The files that importing a name runs: those of its packages, and its own."""
    place = root
    for part in name.split("."):
        place = place / part
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if part and file.is_file():
                yield file.resolve() if file.resolve().is_relative_to(root) else file


# -- a function in this process ---------------------------------------------------------------------------------------


def function_digest(function: Callable[..., Any]) -> str:
    """sha256 over a function's source, and that of the functions and plain values of its own module that it names."""
    return hashlib.sha256("\0".join(_sources(function, set())).encode()).hexdigest()


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


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed into a console, or compiled
        code = getattr(function, "__code__", None)
        return repr(function) if code is None else f"{code.co_code!r} {code.co_consts!r} {code.co_names!r}"
