"""The page of rows follows from the rows and marks, and every row can be shown."""

import ast
import re
import tomllib
from collections import Counter

import pytest

from gslopes.cli.main import VERBS
from tests.rows import (
    PAGE,
    PAPERS,
    REASONED,
    ROOT,
    SHOWN,
    STATES,
    TESTS,
    code,
    marks_of,
    page,
    read_marks,
    read_rows,
)
from tests.test_house import missing, unknown_options

ROWS = {name: read_rows(name) for name in PAPERS}
EVERY = [row for rows in ROWS.values() for row in rows]


def test_the_page_is_that_of_the_rows_and_marks() -> None:
    assert PAGE.read_text("utf-8") == page(ROWS, read_marks()), "python -m tests.rows writes it"


def test_ids_are_unique_begin_with_their_paper_and_every_mark_names_one() -> None:
    assert [name for name, count in Counter(row.id for row in EVERY).items() if count > 1] == []
    assert [
        row.id for name, rows in ROWS.items() for row in rows if not row.id.startswith(f"{name}-")
    ] == []
    assert sorted(read_marks().keys() - {row.id for row in EVERY}) == []


def test_each_row_has_a_test_or_a_reason() -> None:
    assert {row.state for row in EVERY} <= set(STATES)
    assert [row.id for row in EVERY if not (row.section and row.paper)] == []
    assert sorted({row.id for row in EVERY if row.state in SHOWN} - read_marks().keys()) == []
    assert [row.id for row in EVERY if row.state in REASONED and not row.why] == []
    assert [row.id for row in EVERY if row.state != "not here" and not row.here] == []


def test_verbs_options_and_names_of_each_row_exist_and_its_english_is_edited() -> None:
    wrong = {}
    for row in EVERY:
        text = f"{code(row.here)} {row.why}"
        verbs = {
            f"gslopes {verb}"
            for verb in re.findall(r"`gslopes ([a-z]+)", text)
            if verb not in VERBS
        }
        recipes = set(re.findall(r"python -m training ([a-z-]+)", text)) - set(VERBS)
        gone = {
            recipe
            for recipe in recipes
            if not (any((ROOT / "training").rglob(f"{recipe}.toml")) or command(recipe))
        }
        wrong[row.id] = [
            *sorted(verbs | gone),
            *missing(text),
            *unknown_options(text),
        ]
    assert {name: names for name, names in wrong.items() if names} == {}


def command(name: str) -> bool:
    """Whether ``python -m training`` has such a command."""
    return f"\ndef {name.replace('-', '_')}" in (ROOT / "training/commands.py").read_text("utf-8")


def test_every_choice_of_the_method_is_a_row_of_its_paper() -> None:
    texts = tomllib.loads((ROOT / "gslopes/slopes/data/method.toml").read_text("utf-8"))
    choices = {item["what"] for item in (texts["values"], *texts["editor"], *texts["choice"])}
    assert {row.method for row in EVERY} - {""} == choices


@pytest.mark.parametrize(
    "text", ["@pytest.mark.row('a')\ndef helper(): ...", "pytestmark = pytest.mark.row('a')"]
)
def test_a_mark_that_is_on_no_test_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        list(marks_of(ast.parse(text)))
    assert list(marks_of(ast.parse("@pytest.mark.row('a', 'b')\ndef test_c(): ..."))) == [
        ("a", "test_c"),
        ("b", "test_c"),
    ]


NUMBERS = re.compile(r"golden|published|planted|interval|(?:\b|_)low\b")


def forgotten(text: str) -> list[str]:
    """The slow tests of a file that speak of such a number, or read the end of an interval, without the mark."""
    tree = ast.parse(text)
    full = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Assign) and "mark." in ast.unparse(node)
    ]
    names = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
            continue
        marks = " ".join([*full, *map(ast.unparse, node.decorator_list)])
        marked = "mark.evidence" in marks or "mark.row" in marks
        if "mark.slow" in marks and not marked and NUMBERS.search(ast.unparse(node)):
            names.append(node.name)
    return names


def test_every_slow_test_of_a_golden_a_published_number_or_an_interval_is_marked_as_evidence() -> (
    None
):
    slow = "import pytest\n@pytest.mark.slow\ndef test_a(): assert row['ci_low'] < 0\n"
    assert forgotten(slow) == ["test_a"]
    assert forgotten(slow.replace("def", "@pytest.mark.evidence\ndef")) == []
    texts = {file: file.read_text("utf-8") for file in sorted(TESTS.rglob("test_*.py"))}
    result = {file.name: forgotten(text) for file, text in texts.items() if "mark.slow" in text}
    assert {name: names for name, names in result.items() if names} == {}
