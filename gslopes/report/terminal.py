"""Tables for a terminal, by rich: 100 columns at most, colours only where there is a terminal that shows them."""

import io
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gslopes.report import words

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, whether its cells are numbers (to the right), and whether long ones may be folded.

    gives_way: its cells alone are cut where a line would be longer than ``WIDTH``.
    """

    title: str
    number: bool = True
    fold: bool = False
    gives_way: bool = False


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
        grid.add_column(
            column.title,
            justify="right" if column.number else "left",
            no_wrap=not column.fold,
            overflow="fold" if column.fold else "ellipsis",
            min_width=8 if column.fold else None,
        )
    texts = [[words.printable(cell) for cell in row] for row in rows]
    for place in (place for place, column in enumerate(columns) if column.gives_way):
        wide = sum(
            max(map(len, cells)) + 2
            for cells in zip([one.title for one in columns], *texts, strict=True)
        )
        room = (
            WIDTH
            - wide
            - 1
            + max(len(columns[place].title), *(len(row[place]) for row in texts), 0)
        )
        texts = [
            [*row[:place], words.shorten(row[place], max(room, 10)), *row[place + 1 :]]
            for row in texts
        ]
    for index, row in enumerate(texts):
        style = styles[index] if index < len(styles) else ""
        grid.add_row(*map(Text, row), style=style)
    return render(grid)


def wrap(text: str, indent: str = "") -> str:
    """A paragraph in lines of at most 100 columns, those after the first indented."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def render(thing: object) -> str:
    """What rich shows, as text: with colours where stdout is a terminal that has them, else plain."""
    from rich.console import Console

    real = Console()
    text = io.StringIO()
    width = min(WIDTH, real.width) if real.is_terminal else WIDTH
    colours = real.color_system if real.is_terminal and not real.no_color else None
    console = Console(
        file=text,
        width=width,
        force_terminal=real.is_terminal,
        color_system=colours,  # type: ignore[arg-type]
        highlight=False,
        markup=False,
        legacy_windows=False,
    )
    console.print(thing)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")
