"""All four audits give on small inputs the tables and the pages that they gave: see tests/golden/{houses,walk}.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden import houses, walk
from tests.golden.page_text import differences, masked

pytestmark = pytest.mark.evidence


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


def of_tables(found: dict[str, Any], golden: Path) -> list[str]:
    """What differs from the tables in a golden file."""
    known = json.loads(golden.read_text("utf-8"))
    wrong = [f"{table}: only one of them has it" for table in sorted(found.keys() ^ known.keys())]
    for table in sorted(found.keys() & known.keys()):
        columns, there = known[table]["columns"], found[table]["columns"]
        if list(there) != list(columns):
            wrong.append(f"{table}: columns {list(there)}, were {list(columns)}")
        elif found[table]["rows"] != known[table]["rows"]:
            wrong.append(f"{table}: {found[table]['rows']} rows, were {known[table]['rows']}")
        else:
            differing = {column: difference(there[column], values) for column, values in columns.items()}
            wrong += [f"{table}, {column}: {what}" for column, what in differing.items() if what]
    return wrong


def of_text(text: str, golden: Path) -> list[str]:
    """What differs from the text in a golden file."""
    return [f"{golden.name}, {difference}" for difference in differences(text, golden.read_text("utf-8"))]


def check(wrong: list[str]) -> None:
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong[:20]])


@pytest.mark.parametrize("name", houses.HOUSES)
def test_no_table_and_no_page_of_a_sibling_audit_moves(name: str, tmp_path: Path):
    wrong = of_tables(houses.found_in(name, tmp_path), houses.FOLDER / f"{name}.json")
    for run, text in houses.shown(tmp_path / "runs").items():
        wrong += of_text(text, houses.FOLDER / f"{name}-{run}.txt")
    check(wrong)


@pytest.mark.parametrize("name", ["labels", pytest.param("gated", marks=pytest.mark.slow)])
def test_no_table_and_no_page_of_the_walk_moves(name: str, tmp_path: Path):
    tables, text = walk.shown(name, tmp_path)
    check(of_tables(tables, walk.FOLDER / f"{name}.json") + of_text(text, walk.FOLDER / f"{name}.txt"))


def test_a_difference_is_named():
    assert same([1.0, [None, {"a": 2}]], [1.0 + 1e-10, [None, {"a": 2}]])
    assert not same([1, "a"], [1.0, "a"])
    assert difference([1.0, 2.0], [1.0, 2.1]) == "row 1 is 2.0, was 2.1"
    assert difference({"sha256": "a", "first": [1]}, {"sha256": "b", "first": [1]}).startswith("a row after")
    assert not list(differences("## A\n1,234.50 of −2", "## A\n1,234.5000001 of −2"))
    assert list(differences("## A\n1 b", "## A\n2 b")) == ["line 2, below '## A':\n  - 2 b\n  + 1 b"]
    assert list(differences("## A\nc", "## A\nb\nc")) == ["line 2, below '## A':\n  - b"]


def test_what_differs_from_run_to_run_is_masked():
    text = "2026-11-27T07:30:00+00:00, deadbeef01, 0.12345678, 7.50644e-10, torch 2.5.1+cpu"
    assert masked(text) == "DATE, HEX, 0.12345678, 7.50644e-10, torch VERSION"
