"""The charts of the page: dots with intervals, a row a context, a panel a tagger, in the page's own colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import rc_context

from gslopes.contexts.lead import main_rows
from gslopes.report import numbers, words
from gslopes.report.charts import FORMS, LIGHT, Form, new_figure, render, svg, svg_dot, svg_line, svg_text, tidy

TITLES = {
    "changes": "RQ1: change from the baseline, in points, over the same people",
    "congruence": "RQ3: right answers by context, %, from the most feminine to the most masculine",
    "interaction": "Context and face: what each moves alone, in points of pictures inferred woman",
}
WIDTH, LEFT, RIGHT, LINE, TOP = 760, 190, 150, 13, 26
MOST = 8  # taggers
WHO = (("all", "everybody", "ink"), ("woman", "women", "neg"), ("man", "men", "pos"))
COLOURS = {"woman": "neg", "man": "pos"}
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
    parts, x, y = list[str](), 10.0, TOP + 0.0
    for label, colour in looks if len(looks) > 1 else ():  # the legend
        short = words.shorten(words.printable(label), 16)
        parts += [svg_dot(x + 4, 8, colour, 4), svg_text(x + 12, 12, short, size=12)]
        x += 26 + 7 * len(short)
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
    dots: dict[str, list[Dot]] = {}
    if "inferred" in gross:
        dots |= {"changes": _changes(gross["inferred"]), "congruence": _congruence(**gross)}
    if "interaction" in gross:
        dots["interaction"] = _interaction(gross["interaction"])
    drawn = {name: chart(of_chart, TITLES[name]) for name, of_chart in dots.items()}
    return {name: picture for name, picture in drawn.items() if picture}


def hero(results: Mapping[str, Rows]) -> str:
    """The first screen's chart: the congruence slope of everybody, women and men, of at most eight taggers."""
    main = {gender: main_rows(results, gender) for gender, _, _ in WHO}
    slopes = {gender: rows.set_index("classifier") for gender, rows in main.items() if len(rows)}
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


def _changes(inferred: Rows) -> list[Dot]:
    """What is inferred of women and of men in each context, against the baseline."""
    rows = inferred[inferred["gender"].isin(COLOURS) & inferred["inferred"].isin(COLOURS)]
    return [
        Dot(f"{row['classifier']}: people who say they are {row['gender']}", row["context"],
            f"inferred {row['inferred']}", COLOURS[row["inferred"]],
            *(100 * row[name] for name in ("change", "change_low", "change_high")))
        for row in rows.sort_values(["classifier", "gender", "context", "inferred"], kind="stable").to_dict("records")
    ]  # fmt: skip


def _congruence(inferred: Rows, backgrounds: Rows, **_: Rows) -> list[Dot]:
    """Right answers before rated contexts."""
    ratings = backgrounds.drop_duplicates("context").set_index("context")["rating"].astype(float)
    rows = inferred[inferred["gender"].isin(COLOURS) & (inferred["gender"] == inferred["inferred"])]
    rows = rows.assign(rating=rows["context"].map(ratings.dropna())).dropna(subset="rating")
    return [
        Dot(row["classifier"], f"{row['context']}, {row['rating']:g}", row["gender"], COLOURS[row["gender"]],
            *(100 * row[name] for name in ("share", "ci_low", "ci_high")))
        for row in rows.sort_values(["classifier", "rating", "context", "gender"], kind="stable").to_dict("records")
    ]  # fmt: skip


def _interaction(interaction: Rows) -> list[Dot]:
    rows = interaction[interaction["label"] == "inferred woman"]
    looks = {"effect": ("context, against the plain canvas", "series-4"), "face": ("face, from −1 to 1", "ink")}
    return [
        Dot(row["classifier"], row["background"], *look, *(float(row[f"{name}{end}"]) for end in ("", "_low", "_high")))
        for row in rows.sort_values(["classifier", "background"], kind="stable").to_dict("records")
        for name, look in looks.items()
    ]


# -- figures 4 to 7 of the paper, as it prints them: PNG and PDF, and on the page -------------------------------------

FIGURE = "RQ4: change of the shares of tags by group (figures 4 to 7 of the paper), first tagger"
SERIES = (("demographics", LIGHT.series[4]), ("abstract", LIGHT.series[0]), ("concrete", LIGHT.neutral))


def draw_shares(results: Mapping[str, pd.DataFrame]) -> dict[Form, bytes]:
    """Every context of the first tagger: mean change of the share of gross tags, in all forms; none without answers."""
    if "described" not in results:
        return {}
    described, backgrounds = results["described"], results["backgrounds"]
    contexts = dict(zip(backgrounds["key"], backgrounds["context"], strict=True))
    rows = described[(described["tags"] == "gross") & (described["classifier"] == described["classifier"].min())]
    baseline = "canvas" if (rows["attribute"] == "canvas").any() else "original"
    start = rows[(rows["attribute"] == baseline) & (rows["step"] == 0)].set_index("photo")
    rows = rows[rows["attribute"].isin(contexts)].merge(results["people"], on="photo")
    rows = rows[rows["gender"].isin(["woman", "man"]) & rows["photo"].isin(start.index)]
    if not len(rows):
        return {}
    for series, _ in SERIES:
        rows[series] = rows[series].to_numpy(float) - start.loc[rows["photo"], series].to_numpy(float)
    rows = rows.assign(context=rows["attribute"].map(contexts), cell=rows["gender"] + " " + rows["group"])
    order = list(dict.fromkeys(rows["context"]))
    lines = (len(order) + 1) // 2
    with rc_context({"text.parse_math": False}):  # untrusted names
        figure = new_figure(11, 2.2 * lines + 0.6, dpi=130, layout="constrained")
        axes = figure.subplots(lines, 2, squeeze=False, sharey=True).ravel()
        for panel, context in zip(axes, order, strict=False):
            part = rows[rows["context"] == context]
            cells = sorted(set(part["cell"]), key=lambda cell: (cell.partition(" ")[2], cell.startswith("man ")))
            for index, (series, colour) in enumerate(SERIES):
                means = part.groupby("cell")[series].mean().reindex(cells)
                panel.bar(np.arange(len(cells)) + 0.27 * (index - 1), means, 0.26, color=colour, label=series)
            panel.axhline(0, color=LIGHT.ink, linewidth=0.8)
            panel.set_title(words.printable(context), fontsize=9, parse_math=False)
            tidy(panel, size=7)
            ticks = [words.shorten(words.printable(cell), 24) for cell in cells]
            panel.set_xticks(range(len(cells)), ticks, rotation=35, ha="right", fontsize=7)
        for panel in axes[len(order) :]:
            panel.set_axis_off()
        axes[0].set_ylabel("change of share", fontsize=8)
        axes[0].legend(fontsize=7)
        return {form: render(figure, form) for form in FORMS}
