"""What the figures of the context audit share: colours, blank figures, a panel for each tagger."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gslopes.report import words

WOMAN, MAN, NEUTRAL = "#c8371f", "#1f6fc0", "#c9ced6"


def blank(height: float) -> Figure:
    """A figure as wide as the page.  height: inches."""
    figure = Figure(figsize=(11, height), dpi=130, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def panels(rows: pd.DataFrame, height: float) -> tuple[Figure, list[Axes], list[str]]:
    """(figure, a panel for each classifier, their names), in the order of the rows."""
    names = list(dict.fromkeys(rows["classifier"]))
    figure = blank(0.6 + height * len(names))
    return figure, list(figure.subplots(len(names), 1, squeeze=False)[:, 0]), names


def by_context(rows: pd.DataFrame, value: str) -> tuple[Figure, list[tuple[Axes, pd.DataFrame, list[str]]]] | None:
    """A figure with contexts across: for each tagger its panel, rows and contexts; None if no value is known."""
    rows = rows[rows[value].notna()] if len(rows) else rows
    if not len(rows):
        return None
    figure, axes, names = panels(rows, 2.8)
    parts = []
    for panel, name in zip(axes, names, strict=True):
        part = rows[rows["classifier"] == name]
        contexts = list(dict.fromkeys(part["context"]))
        panel.set_xticks(range(len(contexts)), [short(word) for word in contexts], rotation=30, ha="right")
        panel.tick_params(labelsize=8)
        heading(panel, name)
        parts.append((panel, part, contexts))
    return figure, parts


def short(text: str) -> str:
    """A stranger's name as it fits beside a figure."""
    return words.shorten(words.printable(text), 24)


def heading(panel: Axes, name: str) -> None:
    """The tagger's name above its panel."""
    panel.set_title(words.shorten(words.printable(name), 60), fontsize=9, parse_math=False)
    panel.spines[["top", "right"]].set_visible(False)
