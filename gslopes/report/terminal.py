"""Tables for a terminal, by rich: 100 columns at most, colours only on a terminal that shows them."""

import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, Literal

from gslopes.core import Facts, Record, frozen
from gslopes.report import inline, words

WIDTH = 100


@frozen
class Column:
    """A column: its title, and whether its cells are numbers, which are aligned right.

    gives_way: its cells are cut if a line would be longer than ``WIDTH``.
    cell: the template of its cells, see ``listed``.  when: what must be true for it to be there; empty: nothing.
    """

    title: str
    number: bool = True
    gives_way: bool = False
    cell: str = ""
    when: str = ""


def listed(
    columns: Iterable[Facts],
    rows: Iterable[Record],
    styles: Sequence[str] = (),
    **facts: Any,
) -> str:
    """A table whose cells are templates, as text.

    columns: as ``Column`` has them, from TOML.  rows, facts: what the templates are about, see
        ``report.inline.listed``.  styles: as of ``table``.
    """
    declared = [Column(**column) for column in columns]
    shown = [column for column in declared if not column.when or facts[column.when]]
    templates = {
        str(index): column.cell for index, column in enumerate(shown)
    }  # titles may be the same
    cells = inline.listed(templates, rows, **facts)
    return table(shown, cells.to_numpy(), styles)


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], styles: Sequence[str] = ()
) -> str:
    """A table as text.

    rows: cells, made printable here.  styles: of rich, one a row, or none.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1),
        header_style="bold",
        collapse_padding=True,
    )
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.number else "left"
        grid.add_column(column.title, justify=justify, no_wrap=not column.gives_way)
    for row, style in zip_longest(rows, styles, fillvalue=""):
        texts = (Text(words.printable(cell), no_wrap=True, overflow="ellipsis") for cell in row)
        grid.add_row(*texts, style=style)
    return render(grid)


def wrap(text: str, indent: str = "") -> str:
    """A paragraph in lines of at most 100 columns.  indent: of its second line and those below."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def render(renderable: object) -> str:
    """What rich shows, as text: with colours if stdout is a terminal that has them, else plain."""
    from rich.console import Console

    # a notebook would show it besides
    console = Console(highlight=False, markup=False, legacy_windows=False, force_jupyter=False)
    console.width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    with console.capture() as text:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in text.get().splitlines()).strip("\n")
