"""The charts of the page: dots with intervals, a row a context, a panel a tagger, in the page's own colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gslopes.contexts.lead import main_rows
from gslopes.report import numbers, words
from gslopes.report.charts import series, svg, svg_dot, svg_line, svg_text

TITLES = {
    "changes": "RQ1: change from the baseline, in points, over the same people",
    "recognised": "RQ2: pictures whose context is recognised, %, by the gender inferred, with Wilson's intervals",
    "congruence": "RQ3: right answers by context, %, from the most feminine to the most masculine",
    "distances": "RQ4: distance of the description from the baseline, by gender and group, hundredths",
    "interaction": "Context and face: what each moves alone, in points of pictures inferred woman",
}
WIDTH, LEFT, RIGHT, LINE, TOP = 760, 190, 150, 13, 26
MOST = 8  # taggers
WHO = (("all", "everybody", "ink"), ("woman", "women", "neg"), ("man", "men", "pos"))
COLOURS = {"all": "ink", "woman": "neg", "man": "pos", "neutral": "soft"}
GENDERS = ("woman", "man")
Rows = pd.DataFrame
Place = tuple[str, str, str, str]  # panel, row, label, colour


class Dot(NamedTuple):
    """One value with its interval, whose ends may be missing.  row: where it lies.  label: of its colour."""

    panel: str
    row: str
    label: str
    colour: str
    value: float
    low: float
    high: float


def chart(dots: Sequence[Dot], title: str) -> str:
    """An SVG of dots; the rows of a panel, and the panels, are in the order of the dots.  Empty without a dot."""
    dots = [dot for dot in dots if np.isfinite(dot.value)]
    if not dots:
        return ""
    ends = np.array([dot[4:] for dot in dots], float)
    low, high = min(0.0, float(np.nanmin(ends))), max(0.0, float(np.nanmax(ends)))
    pad = 0.06 * max(high - low, 1.0)

    def at(value: float) -> float:
        return LEFT + (value - low + pad) / (high - low + 2 * pad) * (WIDTH - LEFT - RIGHT)

    looks = dict.fromkeys((dot.label, dot.colour) for dot in dots)
    parts, x, y = list[str](), 10.0, TOP + 0.0
    for label, colour in looks if len(looks) > 1 else ():  # the legend
        shown = words.shorten(words.printable(label), 16)
        parts += [svg_dot(x + 4, 8, colour, 4), svg_text(x + 12, 12, shown, size=12)]
        x += 26 + 7 * len(shown)
    for panel, in_panel in groupby(dots, key=lambda dot: dot.panel):
        parts.append(svg_text(10, y, words.shorten(words.printable(panel), 80), size=13))
        y += 18
        for row, in_row in groupby(in_panel, key=lambda dot: dot.row):
            parts.append(svg_text(LEFT - 10, y + 4, words.shorten(words.printable(row), 26), "end", 13, "soft"))
            for dot in in_row:
                if np.isfinite(dot.low):
                    parts.append(svg_line(at(dot.low), y, at(dot.high), y, dot.colour, 2))
                parts.append(svg_dot(at(dot.value), y, dot.colour, 4))
                value = numbers.with_interval(dot.value, dot.low, dot.high)
                parts.append(svg_text(WIDTH - 10, y + 4, value, "end", 12))
                y += LINE
            y += 4
        y += 10
    axis = svg_line(at(0), TOP + 8, at(0), y - 8, "edge", 1, "3 3")
    return svg(WIDTH, y, title, [axis, *parts, svg_text(at(0), y - 2, "0", "middle", 12, "soft")])


def charts_of(results: Mapping[str, Rows]) -> dict[str, str]:
    """Name to SVG of each chart that has something to show, of gross tags."""
    gross = {name: frame[frame["tags"] == "gross"] if "tags" in frame else frame for name, frame in results.items()}
    sources = {"changes": "inferred", "congruence": "inferred"}
    drawn = {
        name: chart(_DOTS[name](gross), title)
        for name, title in TITLES.items()
        if len(gross.get(sources.get(name, name), ()))
    }
    return {name: picture for name, picture in drawn.items() if picture}


def hero(results: Mapping[str, Rows]) -> str:
    """The first screen's chart: the congruence slope of everybody, women and men, of at most eight taggers."""
    found = {gender: main_rows(results, gender) for gender, _, _ in WHO}
    slopes = {gender: rows.set_index("classifier") for gender, rows in found.items() if len(rows)}
    if "all" not in slopes:
        return ""
    dots = [
        Dot(str(name), label, label, colour, *slopes[gender].loc[name, ["slope", "ci_low", "ci_high"]].astype(float))
        for name in slopes["all"]["slope"].abs().sort_values(ascending=False).index[:MOST]
        for gender, label, colour in WHO
        if gender in slopes and name in slopes[gender].index
    ]
    return chart(dots, "Points per unit of congruence by which the share of right answers changes, with 95 % intervals")


# -- dots of each chart -----------------------------------------------------------------------------------------------


def _dots(rows: Rows, by: str, columns: tuple[str, str, str], place: Callable[[Mapping[Any, Any]], Place]) -> list[Dot]:
    """A dot a row, in hundredths.  by: columns to sort by.  columns: of the value and its ends."""
    records = rows.sort_values(by.split(), kind="stable").to_dict("records")
    return [Dot(*place(row), *(100 * float(row[name]) for name in columns)) for row in records]


def _changes(known: Mapping[str, Rows]) -> list[Dot]:
    """What is inferred of women and of men in each context, against the baseline."""
    rows = known["inferred"]
    rows = rows[rows["gender"].isin(GENDERS) & rows["inferred"].isin(GENDERS)]

    def place(row: Mapping[Any, Any]) -> Place:
        panel = f"{row['classifier']}: people who say they are {row['gender']}"
        return panel, row["context"], f"inferred {row['inferred']}", COLOURS[row["inferred"]]

    return _dots(rows, "classifier gender context inferred", ("change", "change_low", "change_high"), place)


def _recognised(known: Mapping[str, Rows]) -> list[Dot]:
    rows = known["recognised"][known["recognised"]["given"].isin(COLOURS)]

    def place(row: Mapping[Any, Any]) -> Place:
        return row["classifier"], row["context"], row["given"], COLOURS[row["given"]]

    return _dots(rows, "classifier context given", ("share", "ci_low", "ci_high"), place)


def _congruence(known: Mapping[str, Rows]) -> list[Dot]:
    """Right answers before rated contexts."""
    rows = known["inferred"]
    ratings = known["backgrounds"].drop_duplicates("context").set_index("context")["rating"].astype(float)
    rows = rows[rows["gender"].isin(GENDERS) & (rows["gender"] == rows["inferred"])]
    rows = rows.assign(rating=rows["context"].map(ratings.dropna())).dropna(subset="rating")

    def place(row: Mapping[Any, Any]) -> Place:
        return row["classifier"], f"{row['context']}, {row['rating']:g}", row["gender"], COLOURS[row["gender"]]

    return _dots(rows, "classifier rating context gender", ("share", "ci_low", "ci_high"), place)


def _distances(known: Mapping[str, Rows]) -> list[Dot]:
    rows = known["distances"]
    rows = rows.assign(who=(rows["gender"] + " " + rows["group"]).str.strip())
    colours = {who: series(index) for index, who in enumerate(sorted(set(rows["who"])))}

    def place(row: Mapping[Any, Any]) -> Place:
        return row["classifier"], row["context"], row["who"], colours[row["who"]]

    return _dots(rows, "classifier context who", ("mean", "ci_low", "ci_high"), place)


def _interaction(known: Mapping[str, Rows]) -> list[Dot]:
    rows = known["interaction"][known["interaction"]["label"] == "inferred woman"]
    looks = {"effect": ("context, against the plain canvas", "series-4"), "face": ("face, from −1 to 1", "ink")}
    return [
        Dot(row["classifier"], row["background"], *look, *(float(row[f"{name}{end}"]) for end in ("", "_low", "_high")))
        for row in rows.sort_values(["classifier", "background"], kind="stable").to_dict("records")
        for name, look in looks.items()
    ]


_DOTS: Mapping[str, Callable[[Mapping[str, Rows]], list[Dot]]] = {
    "changes": _changes,
    "recognised": _recognised,
    "congruence": _congruence,
    "distances": _distances,
    "interaction": _interaction,
}
