"""Writes docs/pages/method/rows.md: every row of the four papers, where it is here, and the tests that show it.

Run ``python -m tests.rows`` after a change of ``docs/rows/*.toml`` or of a mark.  A test that shows a row has
``@pytest.mark.row("its id")``, with several ids if it shows several.  The marks are read from the syntax trees of
the test files; none is imported.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
DATA = ROOT / "docs/rows"
PAGE = ROOT / "docs/pages/method/rows.md"

STATES = {
    "as printed": "as the paper has it; where it needs an option, a user names that anyway, such as a classifier",
    "on request": "as the paper has it, with an option such as `--as-published` or a file of the user's",
    "another way": "the same question, answered in another way; the row says why",
    "not here": "the row says why",
}
REASONED = ("another way", "not here")
SHOWN = ("as printed", "on request")

PAPERS = {  # name of its file to title here, authors and doi
    "slopes": ("The face", "Joo and Kärkkäinen 2020", "10.1145/3422841.3423533"),
    "contexts": (
        "The background",
        "Barlas, Kyriakou, Guest, Kleanthous and Otterbacher 2020",
        "10.1145/3432931",
    ),
    "crops": ("The crop", "Yee, Tantipongpipat and Mishra 2021", "10.1145/3479594"),
    "captions": ("The caption", "Wang, Barocas, Laird and Wallach 2022", "10.1145/3531146.3533099"),
}
TOP = """---
hide: [navigation, toc]
---

# The papers, row by row

<!-- Written by: python -m tests.rows -->

What each of the four papers does, part by part and in our words; what does it here; and which tests show it. Where it
is done in another way, or not, the row says why. How the default settings differ from the first paper:
[Differences from the paper](differences.md).
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a paper.

    id: short, begins with the name of its file.  section: of the paper, or its table or figure.
    paper: what it does, in our words.  here: the verb, option or function for it, or a text with those in backticks.
    state: one of STATES.  why: the reason if REASONED asks for it, or a limit.
    method: the choice of gslopes/slopes/data/method.toml that is about the same; only of the first paper.
    """

    id: str
    section: str
    paper: str
    here: str
    state: str
    why: str = ""
    method: str = ""


def read_rows(name: str) -> list[Row]:
    """The rows of one paper, in the order of its file; none without a file.  Raises: TypeError for an unknown key."""
    file = DATA / f"{name}.toml"
    return (
        [Row(**row) for row in tomllib.loads(file.read_text("utf-8")).get("row", ())]
        if file.is_file()
        else []
    )


def marks_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Id of a row and name of the test, for each mark in a file.  Raises: ValueError for a mark that is on no test."""
    marks = {
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.row")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for mark in marks.intersection(node.decorator_list):
                marks.discard(mark)
                yield from ((ast.literal_eval(arg), node.name) for arg in mark.args)
    if marks:
        raise ValueError(
            f"line {min(mark.lineno for mark in marks)}: mark.row belongs on a test function."
        )


def read_marks() -> dict[str, list[str]]:
    """Id to the tests that show it, as ``tests/test_file.py::name``, sorted."""
    facts: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        text = file.read_text("utf-8")
        for row, test in marks_of(ast.parse(text)) if "mark.row" in text else ():
            facts.setdefault(row, []).append(f"{file.relative_to(ROOT).as_posix()}::{test}")
    return facts


def code(text: str) -> str:
    """A command, an option or a Python name in backticks; any other text as it is."""
    return f"`{text}`" if re.match(r"(gslopes|python|--)", text) else text


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    lines = [
        list(head),
        ["---"] * len(list(head)),
        *([str(cell).replace("|", "\\|") for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(papers: dict[str, list[Row]], marks: dict[str, list[str]]) -> str:
    """The page: counts by state, then a table a paper."""
    papers = {name: rows for name, rows in papers.items() if rows}
    counts = {name: Counter(row.state for row in rows) for name, rows in papers.items()}
    counts["all"] = sum(counts.values(), Counter())
    lines = []
    for name, count in counts.items():
        title, authors, _ = PAPERS.get(name, ("All", "", ""))
        linked = f"[{title}](#{title.lower().replace(' ', '-')}): {authors}" if authors else title
        lines.append([linked, count.total(), *(count[state] for state in STATES)])
    parts = [TOP, table(["paper", "rows", *STATES], lines)]
    parts.append("\n".join(f"- **{state}**: {meaning}" for state, meaning in STATES.items()))
    for name, rows in papers.items():
        title, authors, doi = PAPERS[name]
        parts.append(f"## {title}\n\n{authors}, [doi {doi}](https://doi.org/{doi}).")
        cells = [
            [
                row.section,
                row.paper,
                code(row.here) or "–",
                f"**{row.state}.** {row.why}" if row.why else f"**{row.state}**",
                "<br>".join(f"`{test}`" for test in marks.get(row.id, ())) or "–",
            ]
            for row in rows
        ]
        text = table(["where", "the paper", "here", "state", "shown by"], cells)
        parts.append(f'<div class="rows" markdown>\n\n{text}\n\n</div>')
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)) + "\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page({name: read_rows(name) for name in PAPERS}, read_marks()), "utf-8")


if __name__ == "__main__":
    main()
