"""A finished run folder as text that people can compare: its finding, what a terminal shows, its pages by sections.

For the goldens of ``tests.golden.houses`` and ``tests.golden.walk``. What differs from run to run (dates, versions,
checksums, folders) is masked; ``differences`` compares numbers by a tolerance, so that the last digit of a float on
another processor moves nothing.
"""

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

SILENT = ("script", "style", "template", "svg", "title", "pre")
BLOCKS = {
    "p",
    "li",
    "tr",
    "h1",
    "h2",
    "h3",
    "h4",
    "figcaption",
    "dt",
    "dd",
    "caption",
    "summary",
    "option",
}
MASKS = (
    (r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d[\d:.+]*)?", "DATE"),
    (r"(?<![\w.])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,}(?!\w)", "HEX"),
    (r"\b\d+\.\d+\.\d+[\w.+]*", "VERSION"),
    (r"(?m)^python VERSION.*$", "(versions)"),
)
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


class PageText(HTMLParser):
    """The visible text of a page, a line a block: headings begin with #, rows of tables have their cells between |.

    A section ends with how many figures and tables it has. Code, such as the configuration, is left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._words: list[str] = []
        self._begin, self._silent, self._figures, self._tables = "", 0, 0, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A block begins a line; a cell, a figure and a table are counted."""
        self._silent += tag in SILENT
        if tag in BLOCKS or tag in ("table", "figure", "section", "div", "body"):
            self._end_line()
        if tag in ("h1", "h2", "h3", "h4"):
            self._begin = "#" * int(tag[1]) + " "
        self._figures += tag == "figure"
        self._tables += tag == "table"
        if tag in ("td", "th", "span", "small", "dt", "dd", "br"):
            self._words.append(" | " if tag[0] == "t" else " ")
        if tag == "h2":
            self._count()

    def handle_endtag(self, tag: str) -> None:
        """A block ends its line."""
        self._silent -= tag in SILENT
        if tag in BLOCKS or tag in ("table", "figure", "section", "div"):
            self._end_line()
        if tag == "body":
            self._count()

    def handle_data(self, data: str) -> None:
        """Text that is shown."""
        if not self._silent:
            self._words.append(data)

    def _end_line(self) -> None:
        if text := " ".join("".join(self._words).split()):
            self.lines.append(self._begin + text)
        self._words, self._begin = [], ""

    def _count(self) -> None:
        self.lines += [f"({self._figures} figures, {self._tables} tables)", ""]
        self._figures, self._tables = 0, 0


def page_text(page: Path) -> list[str]:
    """Its lines, see ``PageText``."""
    reader = PageText()
    reader.feed(page.read_text("utf-8"))
    return reader.lines


def run_text(run: Path, terminal: str, hidden: Path) -> str:
    """A run folder: what the terminal shows, ``summary.json`` with the findings, the report's CSVs, and every page.

    hidden: the folder whose name is left out.
    """
    lines = ["== terminal", *terminal.splitlines()]
    if (run / "summary.json").is_file():
        summary = json.loads((run / "summary.json").read_text("utf-8"))
        rows = {name: pd.DataFrame(summary.pop(name)) for name in ("rows", "observed")}
        lines += [
            "",
            "== summary.json",
            *(f"{name}: {json.dumps(value)}" for name, value in summary.items()),
        ]
        for name, frame in rows.items():
            text = frame.to_csv(index=False, float_format="%.9g", na_rep="")
            lines += ["", f"== {name} of summary.json", *(text.splitlines() if len(frame) else [])]
    for file in sorted(run.glob("report/**/*.csv")):
        if file.name != "slopes.csv":  # the table slopes
            lines += [
                "",
                f"== {file.relative_to(run).as_posix()}",
                *file.read_text("utf-8").splitlines(),
            ]
    for page in sorted(run.rglob("*.html")):
        lines += ["", f"== {page.relative_to(run).as_posix()}", *page_text(page)]
    return masked("\n".join(lines).replace(str(hidden), "FOLDER")) + "\n"


def masked(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def differences(text: str, golden: str, relative: float = 1e-7) -> Iterator[str]:
    """Lines that differ, in words, in order; numbers may by a relative difference, or by 1e-9."""
    lines, expected = text.splitlines(), golden.splitlines()
    words = [[NUMBER.sub("0", line) for line in side] for side in (expected, lines)]
    for kind, start, end, first, last in SequenceMatcher(
        None, *words, autojunk=False
    ).get_opcodes():
        changes = [(start, expected[start:end], lines[first:last])]
        if kind == "equal":
            pairs = enumerate(zip(expected[start:end], lines[first:last], strict=True), start)
            changes = [
                (position, [old], [new])
                for position, (old, new) in pairs
                if not same_line(new, old, relative)
            ]
        for position, old, new in changes:
            section = next(
                (
                    line
                    for line in reversed(expected[: position + 1])
                    if line.startswith(("==", "#"))
                ),
                "",
            )
            yield "\n".join(
                [
                    f"line {position + 1}, below {section!r}:",
                    *map("  - {}".format, old),
                    *map("  + {}".format, new),
                ]
            )


def same_line(line: str, golden: str, relative: float) -> bool:
    """Whether texts are equal, and numbers nearly."""
    if NUMBER.sub("0", line) != NUMBER.sub("0", golden):
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(golden), strict=True)
    numbers = ([float(text.replace(",", "").replace("−", "-")) for text in pair] for pair in pairs)
    return all(abs(item - second) <= 1e-9 + relative * abs(second) for item, second in numbers)
