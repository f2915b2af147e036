"""The charts of the page: intervals in strips, a row a context, a panel a tagger; and the paper's own figures."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter

import numpy as np
from matplotlib import rc_context
from pandas import DataFrame

from gslopes.contexts import SENTENCES
from gslopes.contexts.page.tables import gross
from gslopes.core.tables import Record, lookup
from gslopes.frame.page import Content
from gslopes.frame.spec import Tables
from gslopes.report import numbers, words
from gslopes.report.charts import FORMS, LIGHT, Form, Mark, new_figure, panel, render, tidy

COLOURS = {"woman": "neg", "man": "pos"}
WHO = {"all": "everybody"} | {gender: f"people who say they are {gender}" for gender in COLOURS}
Titled = tuple[str, Mark]  # the title of its panel


def charts_of(results: Tables) -> dict[str, list[Content]]:
    """Name to the panels of each chart that has something to show, of gross tags."""
    rows = gross(results)
    charts = {
        "changes": _changes,
        "congruence": lambda shares: _congruence(shares, rows["backgrounds"]),
        "f1": _accuracy,
        "interaction": _interaction,
    }
    return {
        name: _panels(charts[name](rows[chart["table"]]), chart["unit"], chart["middle"])
        for name, chart in SENTENCES["chart"].items()
        if chart["table"] in rows
    }


def _panels(marks: Iterable[Titled], unit: str, middle: float) -> list[Content]:
    """A panel a title, of the marks whose number is known."""
    finite = [(title, mark) for title, mark in marks if np.isfinite(mark.number[0])]
    return [
        panel([mark for _, mark in part], unit, words.printable(title), middle)
        for title, part in groupby(finite, key=itemgetter(0))
    ]


def _mark(
    name: str,
    colour: str,
    row: Record,
    columns: tuple[str, str, str],
    scale: float = 1,
    write: numbers.Format = numbers.points,
) -> Mark:
    """A number of a row and the ends of its interval, by their columns."""
    value, low, high = (scale * float(row[column]) for column in columns)
    text = numbers.with_interval(value, low, high, write)
    return Mark(words.readable(name), text, (value, low, high), colour)


def _share(name: str, row: Record, value: str) -> Mark:
    """A share in hundredths, which has no sign.  value: its column."""
    write = partial(numbers.decimal, digits=1)
    return _mark(name, COLOURS[row["gender"]], row, (value, "ci_low", "ci_high"), 100, write)


def _sorted(rows: DataFrame, *by: str) -> Sequence[Record]:
    return rows.sort_values(["classifier", *by], kind="stable").to_dict("records")


# -- marks of each chart ----------------------------------------------------------------------------------------------


def _changes(inferred: DataFrame) -> list[Titled]:
    """What is inferred of everybody, of women and of men in each context, against the baseline."""
    rows = inferred[inferred["gender"].isin(WHO) & inferred["inferred"].isin(COLOURS)]
    columns = ("change", "change_low", "change_high")
    return [
        (
            f"{row['classifier']}: {WHO[row['gender']]}",
            _mark(
                f"{row['context']}: inferred {row['inferred']}",
                COLOURS[row["inferred"]],
                row,
                columns,
                100,
            ),
        )
        for row in _sorted(rows, "gender", "context", "inferred")
    ]


def _congruence(inferred: DataFrame, backgrounds: DataFrame) -> list[Titled]:
    """Right answers before rated contexts."""
    ratings = backgrounds.drop_duplicates("context").set_index("context")["rating"].astype(float)
    rows = inferred[inferred["gender"].isin(COLOURS) & (inferred["gender"] == inferred["inferred"])]
    rows = rows.assign(rating=rows["context"].map(ratings)).dropna(subset="rating")
    return [
        (
            row["classifier"],
            _share(f"{row['context']} ({row['rating']:g}): {row['gender']}", row, "share"),
        )
        for row in _sorted(rows, "rating", "context", "gender")
    ]


def _accuracy(accuracy: DataFrame) -> list[Titled]:
    """F1 of each gender at the baselines and in each context."""
    is_baseline = accuracy["context"].isin(["original", "canvas"])
    rows = accuracy.assign(man_last=accuracy["gender"] == "man", context_last=~is_baseline)
    return [
        (f"{row['classifier']}: F1 of {row['gender']}", _share(row["context"], row, "f1"))
        for row in _sorted(rows, "man_last", "context_last")
    ]


def _interaction(interaction: DataFrame) -> list[Titled]:
    """What the context moves, against the plain canvas, and the face, from -1 to 1."""
    moves = {"effect": "context, against the plain canvas", "face": "face, from −1 to 1"}
    rows = interaction[interaction["label"] == "inferred woman"]
    return [
        (
            row["classifier"],
            _mark(f"{row['background']}: {what}", "", row, (name, f"{name}_low", f"{name}_high")),
        )
        for row in _sorted(rows, "background")
        for name, what in moves.items()
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
            places = np.arange(len(means))
            for offset, (series, colour) in zip((-0.27, 0, 0.27), SERIES.items(), strict=True):
                axis.bar(places + offset, means[series], 0.26, color=colour, label=series)
            axis.axhline(0, color=LIGHT.ink, linewidth=0.8)
            axis.set_title(words.printable(context), fontsize=9, parse_math=False)
            tidy(axis, size=7)
            cells = [words.printable(f"{gender} {group}") for group, gender in means.index]
            ticks = [words.shorten(cell, 24) for cell in cells]
            axis.set_xticks(places, ticks, rotation=35, ha="right", fontsize=7)
        axes[0].set_ylabel("change of share", fontsize=8)
        axes[0].legend(fontsize=7)
        return {form: render(figure, form) for form in FORMS}
