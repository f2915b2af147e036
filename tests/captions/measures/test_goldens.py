"""Each of the 68 golden cases of the specification is a test with its number in its name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
ROOMS = ("words", "captions", "captions/measures", "ask/classifiers")


def goldens() -> dict[int, list[str]]:
    """Number to the tests that have it in their name or in the id of a parameter."""
    found: dict[int, list[str]] = {}
    for room in ROOMS:
        for path in sorted((TESTS / room).glob("test_*.py")):
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.FunctionDef) and "golden_" in node.name:
                    numbers = re.match(r"test_golden_((?:\d+_)(?:and_\d+_)?)", node.name)
                    for number in re.findall(r"\d+", numbers[1]) if numbers else ():
                        found.setdefault(int(number), []).append(f"{path.name}::{node.name}")
    from tests.words.test_chunks import GOLDENS

    for number, *_ in GOLDENS:
        found.setdefault(number, []).append("test_chunks.py::test_golden_captions")
    return found


def test_every_golden_case_has_a_test():
    assert set(range(1, 69)) - set(goldens()) == {41, 43, 44}  # of numbers that are no more
