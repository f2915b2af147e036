"""Tables of texts as Markdown and LaTeX."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
from numpy.typing import NDArray

RACES = ("API", "Black", "Slope", "API ", "White", "Slope ")
TEXTS = ("API", "Label", "Occupation", "occupation", "Black", "White")
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "−": "$-$", "†": r"\dag{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}  # fmt: skip


def to_markdown(shown: pd.DataFrame, caption: str, grey: NDArray[np.bool_] | None = None) -> str:
    """A table of texts as Markdown under its caption, cells escaped, numbers to the right; grey cells in italics."""
    grey = np.zeros(shown.shape, dtype=bool) if grey is None else grey
    right = [_is_number(column) for column in shown]
    rows = [[_escaped(cell) for cell in row] for row in shown.to_numpy().tolist()]
    rows = [
        [f"*{cell}*" if pale else cell for cell, pale in zip(*pair, strict=True)]
        for pair in zip(rows, grey.tolist(), strict=True)
    ]
    lines = [
        caption,
        "",
        _md([str(column).strip() for column in shown]),
        _md(["---:" if number else "---" for number in right]),
    ]
    return "\n".join([*lines, *map(_md, rows), ""])


def _is_number(column: object) -> bool:
    return str(column).strip() not in TEXTS


def _md(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(cell: str) -> str:
    for char in "\\`*_{}[]<>|&~$":
        cell = cell.replace(char, f"\\{char}")
    return cell


def to_latex(shown: pd.DataFrame, caption: str, label: str, grey: NDArray[np.bool_] | None = None) -> str:
    r"""A table of texts as LaTeX with booktabs, cells escaped; the classifier stands at its first row only.

    grey: (rows, columns) cells that are printed in grey, which needs xcolor.
    Where rows come from one classifier after the other, ``\midrule`` parts them; in Table 4 they do not.
    """
    by_api = "API" in shown and list(shown) != list(RACES)
    grey = np.zeros(shown.shape, dtype=bool) if grey is None else grey
    kinds = "".join("r" if _is_number(column) else "l" for column in shown)
    text = io.StringIO()
    packages = "booktabs,xcolor" if grey.any() else "booktabs"
    text.write(f"% needs \\usepackage{{{packages}}}\n\\begin{{table}}\n\\centering\n")
    text.write(f"\\caption{{{latex(caption)}}}\n\\label{{tab:{label}}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n")
    text.write(" & ".join(latex(str(column).strip()) for column in shown) + " \\\\\n\\midrule\n")
    before = ""
    for row, pale in zip(shown.to_numpy().tolist(), grey, strict=True):
        first = row[0]
        if by_api and first == before:
            row = ["", *row[1:]]
        elif before and by_api:
            text.write("\\midrule\n")
        before = first
        cells = [
            f"\\textcolor{{gray}}{{{latex(cell)}}}" if dim and cell else latex(cell)
            for cell, dim in zip(row, pale, strict=True)
        ]
        text.write(" & ".join(cells) + " \\\\\n")
    text.write("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
    return text.getvalue()


def latex(text: str) -> str:
    r"""An untrusted text as LaTeX shows it.

    >>> latex("50 % of R&D_x")
    '50 \\% of R\\&D\\_x'
    """
    return "".join(_SPECIAL.get(char, char) for char in text)
