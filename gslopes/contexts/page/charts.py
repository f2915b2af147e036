"""The charts of the page: intervals in strips, a row a context, a panel a tagger; and the paper's own figures."""

from collections import defaultdict
from functools import partial

import numpy as np
from matplotlib import rc_context
from pandas import DataFrame

from gslopes.contexts import SENTENCES
from gslopes.contexts.page.tables import gross
from gslopes.core.tables import lookup, records
from gslopes.frame.page import Content
from gslopes.frame.spec import Tables
from gslopes.report import numbers, words
from gslopes.report.charts import FORMS, LIGHT, Form, Mark, new_figure, panel, render, tidy

COLOURS = {"woman": "neg", "man": "pos"}


def charts_of(results: Tables) -> dict[str, list[Content]]:
    """Name to the panels of each chart that has something to show, of gross tags."""
    rows = gross(results)
    return {
        name: _panels(chart, _known(chart["table"], rows))
        for name, chart in SENTENCES["chart"].items()
        if chart["table"] in rows
    }


def _known(name: str, rows: Tables) -> DataFrame:
    """A table with what charts show of it, or order it by, besides."""
    table = rows[name]
    if name == "inferred":
        rooms = rows["backgrounds"].drop_duplicates("context").set_index("context")
        ratings = table["context"].map(rooms["rating"].astype(float))
        return table.assign(who=table["gender"].map(SENTENCES["who"]), rating=ratings)
    if name == "accuracy":
        is_baseline = table["context"].isin(["original", "canvas"])
        return table.assign(man_last=table["gender"] == "man", context_last=~is_baseline)
    return table


def _panels(chart: Content, rows: DataFrame) -> list[Content]:
    """A panel a title, of the marks whose number is known.  chart: as in sentences.toml."""
    write = partial(numbers.decimal, digits=1) if chart["share"] else numbers.points
    titled: dict[str, list[Mark]] = defaultdict(list)
    for row in records(rows.query(chart["query"]).sort_values(chart["by"], kind="stable")):
        for mark in chart["marks"]:
            value, low, high = (chart["scale"] * float(row[name]) for name in mark["columns"])
            if np.isfinite(value):
                name = words.readable(mark["name"].format(**row))
                text = numbers.with_interval(value, low, high, write)
                colour = COLOURS.get(row.get(chart["colour"], ""), "")
                marks = titled[chart["title"].format(**row)]
                marks.append(Mark(name, text, (value, low, high), colour))
    return [
        panel(marks, chart["unit"], words.printable(title), chart["middle"])
        for title, marks in titled.items()
    ]


# -- figures 4 to 7 of the paper, as it prints them: PNG and PDF, and on the page -------------------------------------

FIGURE = "RQ4: change of the shares of tags by group (figures 4 to 7 of the paper), first tagger"
SERIES = {
    "demographics": LIGHT.series[4],
    "abstract": LIGHT.series[0],
    "concrete": LIGHT.neutral,
}


def draw_shares(results: Tables) -> dict[Form, bytes]:
    """Every context of the first tagger: mean change of the share of gross tags, in all forms; none without answers."""
    if "described" not in results:
        return {}
    rows = gross(results)["described"]
    rows = rows[rows["classifier"] == rows["classifier"].min()]
    contexts = lookup(results["backgrounds"], "key", "context")
    baseline = "canvas" if (rows["attribute"] == "canvas").any() else "original"
    start = rows[(rows["attribute"] == baseline) & (rows["step"] == 0)].set_index("photo")
    rows = rows.assign(context=rows["attribute"].map(contexts)).dropna(subset="context")
    rows = rows.merge(results["people"], on="photo")
    rows = rows.query("gender in ('woman', 'man') and photo in @start.index")
    if not len(rows):
        return {}
    for series in SERIES:
        rows[series] -= start.loc[rows["photo"], series].to_numpy(float)
    parts = rows.groupby("context", sort=False)
    lines = (len(parts) + 1) // 2
    with rc_context({"text.parse_math": False}):  # untrusted names
        figure = new_figure(11, 2.2 * lines + 0.6, dpi=130, layout="constrained")
        axes = figure.subplots(lines, 2, squeeze=False, sharey=True).ravel()
        for axis in axes[len(parts) :]:
            axis.set_axis_off()
        for axis, (context, part) in zip(axes, parts, strict=False):
            means = part.groupby(["group", "gender"])[[*SERIES]].mean()
            means = means.sort_index(ascending=[True, False])
            means.plot.bar(ax=axis, color=SERIES, width=0.8, legend=False, xlabel="")
            axis.axhline(0, color=LIGHT.ink, linewidth=0.8)
            axis.set_title(words.printable(context), fontsize=9, parse_math=False)
            tidy(axis, size=7)
            cells = [words.printable(f"{gender} {group}") for group, gender in means.index]
            ticks = [words.shorten(cell, 24) for cell in cells]
            axis.set_xticklabels(ticks, rotation=35, ha="right", fontsize=7)
        axes[0].set_ylabel("change of share", fontsize=8)
        axes[0].legend(fontsize=7)
        return {form: render(figure, form) for form in FORMS}
