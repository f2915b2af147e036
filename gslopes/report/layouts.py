"""Tables of texts as Markdown and LaTeX: the one writer of each, for all pages and cards."""

from collections.abc import Iterable, Sequence

from pandas import DataFrame

from gslopes.core import printable, read_beside
from gslopes.report import inline

_MARKUP = read_beside(__file__, "layouts.toml")
RACES = ("API", "Black", "Slope", "API ", "White", "Slope ")
TEXTS = tuple(_MARKUP["texts"])
_MARKS = str.maketrans({char: f"\\{char}" for char in _MARKUP["markdown"]})
_SPECIAL = str.maketrans(_MARKUP["latex"])


def to_markdown(frame: DataFrame, caption: str) -> str:
    """A table of untrusted texts as Markdown under its caption, numbers to the right."""
    rows = frame.map(escaped).to_numpy().tolist()
    head = _head_of(frame)
    rules = ["---" + ":" * (column not in TEXTS) for column in head]
    return f"{caption}\n\n{markdown(head, rows, rules)}\n"


def _head_of(frame: DataFrame) -> list[str]:
    return [str(column).strip() for column in frame]


def markdown(
    head: Sequence[str], rows: Iterable[Sequence[object]], rules: Sequence[str] = ()
) -> str:
    """A table of our own texts, which may hold Markdown, as Markdown; ``|`` is escaped.  rules: none: to the left."""
    rules = rules or ["---"] * len(head)
    return inline.plain("table.md.j2", head=head, rules=rules, rows=rows)


def escaped(cell: str) -> str:
    """An untrusted text as Markdown shows it, in one line."""
    return printable(cell).translate(_MARKS)


def to_latex(frame: DataFrame, caption: str, label: str) -> str:
    r"""A table of untrusted texts as LaTeX with booktabs; the classifier is printed in its first row only.

    ``\midrule`` parts the classifiers, but not in Table 4, which mixes them.
    """
    head = _head_of(frame)
    kinds = "".join("rl"[column in TEXTS] for column in head)
    grouped = "API" in frame and tuple(frame) != RACES
    table = tabular(head, frame.to_numpy().tolist(), kinds, grouped)
    return inline.plain("table.tex.j2", caption=latex(caption), label=label, table=table) + "\n"


def tabular(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    kinds: str = "",
    grouped: bool = False,
) -> str:
    """The inner part of a LaTeX table of untrusted texts.

    kinds: of its columns; none: to the left.  grouped: rows with the same first cell are a group, named once.
    """
    kinds = kinds or "l" * len(head)
    top, *cells = (list(map(latex, row)) for row in (head, *rows))
    return inline.plain("tabular.tex.j2", head=top, rows=cells, kinds=kinds, grouped=grouped) + "\n"


def latex(text: str) -> str:
    r"""An untrusted text as LaTeX shows it.

    >>> latex("50 % of R&D_x")
    '50 \\% of R\\&D\\_x'
    """
    return text.translate(_SPECIAL)
