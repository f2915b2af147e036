"""All four audits give on small inputs the tables and the pages that they gave: see tests/golden/{houses,walk}.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden import houses, walk
from tests.golden.page_text import differences, masked

pytestmark = pytest.mark.evidence


def same(first: Any, second: Any, scale: float) -> bool:
    """Equal; floats to 1e-9 of the scale of their column, whatever they lie in."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(
            same(*pair, scale) for pair in zip(first, second, strict=True)
        )
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            same(value, second[key], scale) for key, value in first.items()
        )
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= 1e-9 * scale
    return type(first) is type(second) and first == second


def difference(result: Any, golden: Any) -> str:
    """The first row of a column that differs, in words; empty if none does."""
    if isinstance(golden, dict) != isinstance(result, dict):
        return "is thinned" if isinstance(result, dict) else "is kept whole"
    scale = golden["scale"] if isinstance(golden, dict) else houses.scale_of(golden)
    rows = [column["first"] if isinstance(column, dict) else column for column in (result, golden)]
    for row, (actual, before) in enumerate(zip(*rows, strict=True)):
        if not same(actual, before, scale):
            return f"row {row} is {actual!r}, was {before!r}"
    if isinstance(golden, dict):
        digests = result["sha256"] == golden["sha256"] and same(
            result["sums"], golden["sums"], scale
        )
        return (
            ""
            if digests
            else f"a row after the first {len(golden['first'])} differs, by the digest"
        )
    return ""


def of_tables(result: dict[str, Any], golden: Path) -> list[str]:
    """What differs from the tables in a golden file."""
    content = json.loads(golden.read_text("utf-8"))
    wrong = [
        f"{table}: only one of them has it" for table in sorted(result.keys() ^ content.keys())
    ]
    for table in sorted(result.keys() & content.keys()):
        columns, result_columns = content[table]["columns"], result[table]["columns"]
        if list(result_columns) != list(columns):
            wrong.append(f"{table}: columns {list(result_columns)}, were {list(columns)}")
        elif result[table]["rows"] != content[table]["rows"]:
            wrong.append(f"{table}: {result[table]['rows']} rows, were {content[table]['rows']}")
        else:
            differing = {
                column: difference(result_columns[column], values)
                for column, values in columns.items()
            }
            wrong += [f"{table}, {column}: {what}" for column, what in differing.items() if what]
    return wrong


def of_text(text: str, golden: Path) -> list[str]:
    """What differs from the text in a golden file."""
    return [
        f"{golden.name}, {difference}"
        for difference in differences(text, golden.read_text("utf-8"))
    ]


def check(wrong: list[str]) -> None:
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong[:20]])


# The two that ``.ci/arithmetic`` runs, too, are marked golden.
HOUSES = [
    pytest.param("contexts", marks=pytest.mark.slow),
    pytest.param("captions", marks=(pytest.mark.slow, pytest.mark.golden)),
    pytest.param("crops", marks=pytest.mark.slow),
]
WALKS = [
    pytest.param("labels", marks=(pytest.mark.slow, pytest.mark.golden)),
    pytest.param("gated", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("name", HOUSES)
def test_no_table_and_no_page_of_a_sibling_audit_moves(name: str, tmp_path: Path):
    wrong = of_tables(houses.found_in(name, tmp_path), houses.FOLDER / f"{name}.json")
    for run, text in houses.shown(tmp_path / "runs").items():
        wrong += of_text(text, houses.FOLDER / f"{name}-{run}.txt")
    check(wrong)


@pytest.mark.parametrize("name", WALKS)
def test_no_table_and_no_page_of_the_walk_moves(name: str, tmp_path: Path):
    tables, text = walk.shown(name, tmp_path)
    check(
        of_tables(tables, walk.FOLDER / f"{name}.json") + of_text(text, walk.FOLDER / f"{name}.txt")
    )


def test_a_difference_is_named():
    assert same([1.0, [None, {"a": 2}]], [1.0 + 1e-10, [None, {"a": 2}]], 1.0)
    assert not same([1, "a"], [1.0, "a"], 1.0)
    assert difference([1.0, 2.0], [1.0, 2.1]) == "row 1 is 2.0, was 2.1"
    expected = houses.thinned([float(number) for number in range(300)], part=False)
    assert (
        difference(expected | {"sums": [number + 1e-8 for number in expected["sums"]]}, expected)
        == ""
    )
    assert difference(
        expected | {"sums": [number + 1 for number in expected["sums"]]}, expected
    ).startswith("a row after")
    assert difference(expected | {"sha256": "a"}, expected).startswith("a row after")
    assert not list(differences("## A\n1,234.50 of −2", "## A\n1,234.5000001 of −2"))
    assert list(differences("## A\n1 b", "## A\n2 b")) == [
        "line 2, below '## A':\n  - 2 b\n  + 1 b"
    ]
    assert list(differences("## A\nc", "## A\nb\nc")) == ["line 2, below '## A':\n  - b"]


def test_what_differs_from_run_to_run_is_masked():
    text = "2026-11-27T07:30:00+00:00, deadbeef01, 0.12345678, 7.50644e-10, torch 2.5.1+cpu"
    assert masked(text) == "DATE, HEX, 0.12345678, 7.50644e-10, torch VERSION"


def test_a_golden_compares_a_float_with_the_scale_of_its_column_and_holds_no_residue():
    assert difference([5.0, 5.7e-10], [5.0, 0.0]) == ""
    assert difference([5e-10, 5.7e-10], [5e-10, 0.0]) == "row 1 is 5.7e-10, was 0.0"
    assert houses.column_of([5.0, 5.7e-16, [1e-17]]) == [5.0, 0.0, [0.0]]
    for golden in (*houses.FOLDER.glob("*.json"), *walk.FOLDER.glob("*.json")):
        for name, table in json.loads(golden.read_text("utf-8")).items():
            for column, values in table["columns"].items():
                numbers = [abs(number) for number in houses.floats(values) if number]
                assert min(numbers, default=1) > 1e-12 * max(numbers, default=0), (
                    golden.name,
                    name,
                    column,
                )
