"""The sibling audits give on small inputs the tables that they gave: see tests/golden/houses.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden import houses


def same(one: Any, other: Any) -> bool:
    """Equal; floats to a relative 1e-9, whatever they lie in."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-12 + 1e-9 * abs(other)
    return type(one) is type(other) and one == other


def difference(found: Any, known: Any) -> str:
    """The first row of a column that differs, in words; empty if none does."""
    if isinstance(known, dict):
        first = difference(found["first"], known["first"]) if isinstance(found, dict) else "is kept whole"
        same_digest = isinstance(found, dict) and found["sha256"] == known["sha256"]
        return first or ("" if same_digest else f"a row after the first {len(known['first'])} differs, by the digest")
    if not isinstance(found, list):
        return "is thinned"
    for row, (one, other) in enumerate(zip(found, known, strict=True)):
        if not same(one, other):
            return f"row {row} is {one!r}, was {other!r}"
    return ""


@pytest.mark.parametrize("name", houses.HOUSES)
def test_no_table_of_a_sibling_audit_moves(name: str, tmp_path: Path):
    known = json.loads((houses.FOLDER / f"{name}.json").read_text("utf-8"))
    found = houses.found_in(name, tmp_path)
    assert sorted(found) == sorted(known)
    wrong = []
    for table, stored in known.items():
        columns, there = stored["columns"], found[table]["columns"]
        if list(there) != list(columns):
            wrong.append(f"{table}: columns {list(there)}, were {list(columns)}")
        elif found[table]["rows"] != stored["rows"]:
            wrong.append(f"{table}: {found[table]['rows']} rows, were {stored['rows']}")
        else:
            differing = {column: difference(there[column], values) for column, values in columns.items()}
            wrong += [f"{table}, {column}: {what}" for column, what in differing.items() if what]
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong[:20]])


def test_a_difference_is_named():
    assert same([1.0, [None, {"a": 2}]], [1.0 + 1e-10, [None, {"a": 2}]])
    assert not same([1, "a"], [1.0, "a"])
    assert difference([1.0, 2.0], [1.0, 2.1]) == "row 1 is 2.0, was 2.1"
    assert difference({"sha256": "a", "first": [1]}, {"sha256": "b", "first": [1]}).startswith("a row after")
