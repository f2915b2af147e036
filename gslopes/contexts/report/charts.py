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
    "inferred": "RQ1: what is inferred in each context, by self-report, % of the pictures",
    "changes": "RQ1: change from the baseline, in points, over the same people",
    "recognised": "RQ2: pictures whose context is recognised, %, by the gender inferred, with Wilson's intervals",
    "accuracy": "RQ3: F1 against self-report by context, with intervals over people, %",
    "congruence": "RQ3: right answers by context, %, from the most feminine to the most masculine",
    "tradeoff": "Right answers over all contexts, %, and the slope on congruence with its interval, a row a tagger",
    "distances": "RQ4: distance of the description from the baseline, by gender and group, hundredths",
    "sweep": "Inferred woman along the edit from feminine to masculine, %, the plain canvas in black",
    "interaction": "Context and face: what each moves alone, in points of pictures inferred woman",
    "palettes": "Colours within one context: what another palette of the same rooms changes, in points, all contexts",
}
WIDTH, LEFT, RIGHT, LINE, TOP = 760, 190, 150, 13, 26
MOST = 8  # taggers
WHO = (("all", "everybody", "ink"), ("woman", "women", "neg"), ("man", "men", "pos"))
COLOURS = {"all": "ink", "woman": "neg", "man": "pos", "neutral": "soft", "canvas": "ink"}
GENDERS = ("woman", "man")
Rows = pd.DataFrame


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
    parts, y = _legend(list(looks)), TOP + 0.0
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


def _legend(looks: Sequence[tuple[str, str]]) -> list[str]:
    parts, x = [], 10.0
    for label, colour in looks if len(looks) > 1 else ():
        shown = words.shorten(words.printable(label), 16)
        parts += [svg_dot(x + 4, 8, colour, 4), svg_text(x + 12, 12, shown, size=12)]
        x += 26 + 7 * len(shown)
    return parts


def charts_of(results: Mapping[str, Rows]) -> dict[str, str]:
    """Name to SVG of each chart that has something to show, of gross tags."""
    gross = {name: frame[frame["tags"] == "gross"] if "tags" in frame else frame for name, frame in results.items()}
    known = {name: frame for name, frame in gross.items() if len(frame)}
    return {
        name: drawn
        for name, title in TITLES.items()
        if _NEEDS[name] <= known.keys() and (drawn := chart(_DOTS[name](known), title))
    }


def hero(results: Mapping[str, Rows]) -> str:
    """The first screen's chart: the congruence slope of everybody, women and men, of at most eight taggers."""
    title = "Points per unit of congruence by which the share of right answers changes, with 95 % intervals"
    return chart(_slopes(results), title)


# -- dots of each chart -----------------------------------------------------------------------------------------------


def _dots(rows: Rows, columns: tuple[str, str, str], place: Callable[[Mapping[Any, Any]], Any], by: float) -> list[Dot]:
    """A dot a row.  columns: of the value and its ends.  place: a row to its panel, row, label and colour."""
    return [
        Dot(*place(row), *(by * float(row[name]) if name else np.nan for name in columns))
        for row in rows.to_dict("records")
    ]


def _sorted(rows: Rows, *by: str) -> Rows:
    return rows.sort_values([*by], kind="stable")


def _slopes(results: Mapping[str, Rows]) -> list[Dot]:
    found = {gender: main_rows(results, gender) for gender, _, _ in WHO}
    slopes = {gender: rows.set_index("classifier") for gender, rows in found.items() if len(rows)}
    if "all" not in slopes:
        return []
    names = slopes["all"]["slope"].abs().sort_values(ascending=False).index[:MOST]
    return [
        Dot(str(name), label, label, colour, *slopes[gender].loc[name, ["slope", "ci_low", "ci_high"]].astype(float))
        for name in names
        for gender, label, colour in WHO
        if gender in slopes and name in slopes[gender].index
    ]


def _by_report(rows: Rows, value: str, *ends: str) -> list[Dot]:
    """What is inferred of women and of men in each context."""
    rows = _sorted(rows[rows["gender"].isin(GENDERS)], "classifier", "gender", "context", "inferred")

    def place(row: Mapping[Any, Any]) -> tuple[str, str, str, str]:
        panel = f"{row['classifier']}: people who say they are {row['gender']}"
        return panel, row["context"], f"inferred {row['inferred']}", COLOURS[row["inferred"]]

    return _dots(rows, (value, *ends), place, 100)  # type: ignore[arg-type]


def _changes(known: Mapping[str, Rows]) -> list[Dot]:
    rows = known["inferred"]
    return _by_report(rows[rows["inferred"].isin(GENDERS)], "change", "change_low", "change_high")


def _recognised(known: Mapping[str, Rows]) -> list[Dot]:
    rows = _sorted(known["recognised"][known["recognised"]["given"].isin(COLOURS)], "classifier", "context", "given")
    return _dots(rows, ("share", "ci_low", "ci_high"), lambda row: _by_context(row, "given"), 100)


def _by_context(row: Mapping[Any, Any], who: str) -> tuple[str, str, str, str]:
    return row["classifier"], row["context"], row[who], COLOURS[row[who]]


def _accuracy(known: Mapping[str, Rows]) -> list[Dot]:
    rows = _sorted(known["accuracy"], "classifier", "context", "gender")
    ends = ("f1", "ci_low", "ci_high")
    return _dots(
        rows, ends, lambda row: (row["classifier"], row["context"], row["gender"], COLOURS[row["gender"]]), 100
    )


def _right(known: Mapping[str, Rows]) -> Rows:
    """Right answers before rated contexts."""
    rows = known["inferred"]
    ratings = known["backgrounds"].drop_duplicates("context").set_index("context")["rating"].astype(float)
    rows = rows[rows["gender"].isin(GENDERS) & (rows["gender"] == rows["inferred"])]
    return rows.assign(rating=rows["context"].map(ratings.dropna())).dropna(subset="rating")


def _congruence(known: Mapping[str, Rows]) -> list[Dot]:
    rows = _sorted(_right(known), "classifier", "rating", "context", "gender")

    def place(row: Mapping[Any, Any]) -> tuple[str, str, str, str]:
        return row["classifier"], f"{row['context']}, {row['rating']:g}", row["gender"], COLOURS[row["gender"]]

    return _dots(rows, ("share", "ci_low", "ci_high"), place, 100)


def _tradeoff(known: Mapping[str, Rows]) -> list[Dot]:
    sums = _right(known).groupby("classifier")[["count", "n"]].sum()
    slopes = main_rows(known)
    slopes = slopes[slopes["classifier"].isin(sums.index)] if len(slopes) else slopes

    def place(row: Mapping[Any, Any]) -> tuple[str, str, str, str]:
        right = sums.loc[row["classifier"], "count"] / sums.loc[row["classifier"], "n"]
        return row["classifier"], f"right: {100 * right:.0f} %", "slope", "ink"

    return _dots(slopes, ("slope", "ci_low", "ci_high"), place, 1)


def _distances(known: Mapping[str, Rows]) -> list[Dot]:
    rows = known["distances"][known["distances"]["gender"] != "all"]
    rows = _sorted(rows.assign(who=(rows["gender"] + " " + rows["group"]).str.strip()), "classifier", "context", "who")
    colours = {who: series(index) for index, who in enumerate(sorted(set(rows["who"])))}
    ends = ("mean", "ci_low", "ci_high")
    return _dots(rows, ends, lambda row: (row["classifier"], row["context"], row["who"], colours[row["who"]]), 100)


def _sweep(known: Mapping[str, Rows]) -> list[Dot]:
    rows = _sorted(known["sweep"], "classifier", "value", "background")
    names = sorted(set(rows["background"]))
    colours = {name: COLOURS.get(name, series(index)) for index, name in enumerate(names)}

    def place(row: Mapping[Any, Any]) -> tuple[str, str, str, str]:
        name = row["background"]
        return row["classifier"], f"at {row['value']:g}", name, colours[name]

    return _dots(rows, ("share", "", ""), place, 100)


def _interaction(known: Mapping[str, Rows]) -> list[Dot]:
    rows = _sorted(known["interaction"][known["interaction"]["label"] == "inferred woman"], "classifier", "background")
    looks = {"effect": ("context, against the plain canvas", "series-4"), "face": ("face, from −1 to 1", "ink")}
    return [
        Dot(row["classifier"], row["background"], *look, *(float(row[f"{name}{end}"]) for end in ("", "_low", "_high")))
        for row in rows.to_dict("records")
        for name, look in looks.items()
    ]


def _palettes(known: Mapping[str, Rows]) -> list[Dot]:
    rows = known["palettes"]
    looks = {"inferred woman": "neg", "inferred man": "pos", "recognised": "ink"}
    rows = rows[(rows["context"] == "all") & (rows["share"] + rows["share_other"] > 0) & rows["label"].isin(looks)]
    rows = _sorted(rows.assign(pair=rows["palette"] + " − " + rows["other"]), "classifier", "pair", "label")
    ends = ("change", "change_low", "change_high")
    return _dots(rows, ends, lambda row: (row["classifier"], row["pair"], row["label"], looks[row["label"]]), 100)


_DOTS: Mapping[str, Callable[[Mapping[str, Rows]], list[Dot]]] = {
    "inferred": lambda known: _by_report(known["inferred"], "share", "ci_low", "ci_high"),
    "changes": _changes,
    "recognised": _recognised,
    "accuracy": _accuracy,
    "congruence": _congruence,
    "tradeoff": _tradeoff,
    "distances": _distances,
    "sweep": _sweep,
    "interaction": _interaction,
    "palettes": _palettes,
}
_NEEDS = {name: {name} for name in _DOTS} | {
    "changes": {"inferred"},
    "congruence": {"inferred", "backgrounds"},
    "tradeoff": {"inferred", "congruence", "backgrounds"},
}
