"""Tables of texts as Markdown, LaTeX and HTML: the one writer of each, for all pages and cards."""

from collections.abc import Iterable, Sequence

from pandas import DataFrame

from gslopes.core.text import printable

RACES = ("API", "Black", "Slope", "API ", "White", "Slope ")
TEXTS = ("API", "Label", "Occupation", "occupation", "Black", "White")
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "†": r"\dag{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}
_MARKS = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>|&~$"})  # of Markdown


def to_markdown(frame: DataFrame, caption: str) -> str:
    """A table of untrusted texts as Markdown under its caption, numbers to the right."""
    rows = [[escaped(cell) for cell in row] for row in frame.to_numpy().tolist()]
    head = _head_of(frame)
    rules = ["---" + ":" * (column not in TEXTS) for column in head]
    return f"{caption}\n\n{markdown(head, rows, rules)}\n"


def _head_of(frame: DataFrame) -> list[str]:
    return [str(column).strip() for column in frame]


def markdown(
    head: Sequence[str], rows: Iterable[Sequence[object]], rules: Sequence[str] = ()
) -> str:
    """A table of our own texts, which may hold Markdown, as Markdown; ``|`` is escaped.  rules: none: to the left."""
    cells = [
        [str(cell).replace("|", "\\|").replace("\\\\|", "\\|") for cell in row] for row in rows
    ]
    return "\n".join(
        f"| {' | '.join(row)} |" for row in (head, rules or ["---"] * len(head), *cells)
    )


def escaped(cell: str) -> str:
    """An untrusted text as Markdown shows it, in one line."""
    return printable(cell).translate(_MARKS)


def to_latex(frame: DataFrame, caption: str, label: str) -> str:
    r"""A table of untrusted texts as LaTeX with booktabs; the classifier is printed in its first row only.

    ``\midrule`` parts the classifiers, but not in Table 4, which mixes them.
    """
    by_api = "API" in frame and list(frame) != list(RACES)
    lines = []
    before = ""
    for row in frame.to_numpy().tolist():
        classifier = row[0]
        if by_api and classifier == before:
            row[0] = ""
        elif by_api and before:
            lines.append("\\midrule")
        lines.append(_tex(map(latex, row)))
        before = classifier
    head = _head_of(frame)
    kinds = "".join("rl"[column in TEXTS] for column in head)
    top = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{latex(caption)}}}",
    ]
    return "\n".join(
        [*top, f"\\label{{tab:{label}}}", tabular(head, lines, kinds) + "\\end{table}\n"]
    )


def tabular(
    head: Sequence[str], lines: Iterable[str] | Iterable[Sequence[str]], kinds: str = ""
) -> str:
    """The inner part of a LaTeX table.  lines: rows of cells, or lines.  kinds: of its columns; none: to the left."""
    body = [line if isinstance(line, str) else _tex(map(latex, line)) for line in lines]
    top = [
        f"\\begin{{tabular}}{{{kinds or 'l' * len(head)}}}",
        "\\toprule",
        _tex(map(latex, head)),
        "\\midrule",
    ]
    return "\n".join([*top, *body, "\\bottomrule", "\\end{tabular}\n"])


def _tex(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    guard = "{}" * row.startswith(("[", "*"))  # which the end of the row before would take
    return f"{guard}{row} \\\\"


def latex(text: str) -> str:
    r"""An untrusted text as LaTeX shows it.

    >>> latex("50 % of R&D_x")
    '50 \\% of R\\&D\\_x'
    """
    return "".join(_SPECIAL.get(char, char) for char in text)
