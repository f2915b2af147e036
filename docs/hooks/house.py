"""The house as a picture: a row for each layer, a room for each package, made from the contract and the code."""

from __future__ import annotations

import ast
import html
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH, ROW, GAP = 960, 78, 14
MARGIN = 150  # left of the rooms, where a layer says what it is
SAYS = {
    "cli": "the door",
    "slopes": "apartments",
    "collect": "in and out",
    "frame": "the frame",
    "report": "pages",
    "ask": "questions",
    "faces": "faces",
    "photos": "shelves",
    "core": "the ground",
}


def layers() -> list[list[str]]:
    """The rows of the house, the top first, as the contract of imports has them."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return [[name.strip() for name in row.split("|")] for row in contracts[0]["layers"]]


def lines_of(package: str) -> int:
    """Lines of Python."""
    files = (ROOT / "gslopes" / package).rglob("*.py")
    return sum(len(path.read_text("utf-8").splitlines()) for path in files)


def house() -> str:
    """An SVG that follows the page's colours; a room's title is the first line of its package's docstring."""
    rows = layers()
    height = len(rows) * (ROW + GAP)
    label = "The packages of gslopes by layer: imports point down"
    parts = [f'<svg class="house" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">']
    for index, row in enumerate(rows):
        top = index * (ROW + GAP)
        parts.append(f'<text class="layer" x="0" y="{top + ROW / 2 + 5}">{SAYS[row[0]]}</text>')
        width = (WIDTH - MARGIN - GAP * (len(row) - 1)) / len(row)
        for place, name in enumerate(row):
            left = MARGIN + place * (width + GAP)
            about = (
                ast.get_docstring(
                    ast.parse((ROOT / "gslopes" / name / "__init__.py").read_text("utf-8"))
                )
                or name
            )
            middle, lines = left + width / 2, f"{lines_of(name):,} lines"
            parts += [
                f"<g><title>{html.escape(about.splitlines()[0])}</title>",
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW}" rx="6"/>',
                f'<text x="{middle:.1f}" y="{top + 34}" text-anchor="middle">{name}</text>',
                f'<text class="lines" x="{middle:.1f}" y="{top + 56}" text-anchor="middle">{lines}</text>',
                "</g>",
            ]
    return "".join([*parts, "</svg>"])


MACROS = {"house": house}
