"""The charts of the page: intervals in strips, a row a context, a panel a tagger; and the paper's own figures."""

from collections.abc import Iterable
from itertools import groupby

import numpy as np
import pandas as pd
from matplotlib import rc_context

from gslopes.core.tables import Record, lookup
from gslopes.frame.page import Content
from gslopes.frame.spec import Tables
from gslopes.report import numbers, words
from gslopes.report.charts import FORMS, LIGHT, Form, Mark, new_figure, panel, render, tidy

POINTS = "points of change from the baseline, over the same people"
COLOURS = {"woman": "neg", "man": "pos"}
WHO = {"all": "everybody"} | {gender: f"people who say they are {gender}" for gender in COLOURS}
Titled = tuple[str, Mark]  # the title of its panel


def charts_of(results: Tables) -> dict[str, list[Content]]:
    """Name to the panels of each chart that has something to show, of gross tags."""
    gross = {
        name: frame[frame["tags"] == "gross"] if "tags" in frame else frame
        for name, frame in results.items()
    }
    drawn: dict[str, list[Content]] = {}
    if "inferred" in gross:
        drawn["changes"] = _panels(_changes(gross["inferred"]), POINTS)
        drawn["congruence"] = _panels(
            _congruence(**gross), "% of right answers, from feminine to masculine", 50
        )
    if "accuracy" in gross:
        drawn["f1"] = _panels(
            _accuracy(gross["accuracy"]), "F1 in hundredths, 100 where every answer is right", 50
        )
    if "interaction" in gross:
        drawn["interaction"] = _panels(
            _interaction(gross["interaction"]), "points of pictures inferred woman"
        )
    return drawn


def _panels(marks: Iterable[Titled], unit: str, middle: float = 0) -> list[Content]:
    """A panel a title, of the marks whose number is known."""
    known = [(title, mark) for title, mark in marks if np.isfinite(mark.number[0])]
    parts = groupby(known, key=lambda titled: titled[0])
    return [
        panel([mark for _, mark in part], unit, words.printable(title), middle)
        for title, part in parts
    ]


def _mark(name: str, colour: str, value: float, low: float, high: float) -> Mark:
    return Mark(
        words.readable(name), numbers.with_interval(value, low, high), (value, low, high), colour
    )


def _share(name: str, row: Record, value: str) -> Mark:
    """A share in hundredths, which has no sign.  value: its column."""
    number = (100 * row[value], 100 * row["ci_low"], 100 * row["ci_high"])
    text = numbers.with_interval(*number, lambda one: numbers.decimal(one, 1))
    return Mark(words.readable(name), text, number, COLOURS[row["gender"]])


# -- marks of each chart ----------------------------------------------------------------------------------------------


def _changes(inferred: pd.DataFrame) -> list[Titled]:
    """What is inferred of everybody, of women and of men in each context, against the baseline."""
    rows = inferred[inferred["gender"].isin(WHO) & inferred["inferred"].isin(COLOURS)]
    return [
        (
            f"{row['classifier']}: {WHO[row['gender']]}",
            _mark(f"{row['context']}: inferred {row['inferred']}", COLOURS[row["inferred"]],
                  *(100 * row[name] for name in ("change", "change_low", "change_high"))),
        )
        for row in rows.sort_values(["classifier", "gender", "context", "inferred"], kind="stable").to_dict("records")
    ]  # fmt: skip


def _congruence(
    inferred: pd.DataFrame, backgrounds: pd.DataFrame, **_: pd.DataFrame
) -> list[Titled]:
    """Right answers before rated contexts."""
    ratings = backgrounds.drop_duplicates("context").set_index("context")["rating"].astype(float)
    rows = inferred[inferred["gender"].isin(COLOURS) & (inferred["gender"] == inferred["inferred"])]
    rows = rows.assign(rating=rows["context"].map(ratings.dropna())).dropna(subset="rating")
    return [
        (
            row["classifier"],
            _share(f"{row['context']} ({row['rating']:g}): {row['gender']}", row, "share"),
        )
        for row in rows.sort_values(["classifier", "rating", "context", "gender"], kind="stable").to_dict("records")
    ]  # fmt: skip


def _accuracy(accuracy: pd.DataFrame) -> list[Titled]:
    """F1 of each gender at the baselines and in each context."""
    rows = accuracy.assign(later=~accuracy["context"].isin(["original", "canvas"]))
    rows = rows.sort_values(
        ["classifier", "gender", "later"], ascending=[True, False, True], kind="stable"
    )
    return [
        (
            f"{row['classifier']}: F1 of {row['gender']}",
            _share(row["context"], row, "f1"),
        )
        for row in rows.to_dict("records")
    ]  # fmt: skip


def _interaction(interaction: pd.DataFrame) -> list[Titled]:
    """What the context moves, against the plain canvas, and the face, from -1 to 1."""
    rows = interaction[interaction["label"] == "inferred woman"]
    return [
        (
            row["classifier"],
            _mark(
                f"{row['background']}: {what}", "", *(float(row[f"{name}{end}"]) for end in ends)
            ),
        )
        for ends in [("", "_low", "_high")]
        for row in rows.sort_values(["classifier", "background"], kind="stable").to_dict("records")
        for name, what in (
            ("effect", "context, against the plain canvas"),
            ("face", "face, from −1 to 1"),
        )
    ]


# -- figures 4 to 7 of the paper, as it prints them: PNG and PDF, and on the page -------------------------------------

FIGURE = "RQ4: change of the shares of tags by group (figures 4 to 7 of the paper), first tagger"
SERIES = (
    ("demographics", LIGHT.series[4]),
    ("abstract", LIGHT.series[0]),
    ("concrete", LIGHT.neutral),
)


def draw_shares(results: Tables) -> dict[Form, bytes]:
    """Every context of the first tagger: mean change of the share of gross tags, in all forms; none without answers."""
    if "described" not in results:
        return {}
    described = results["described"]
    backgrounds = results["backgrounds"]
    contexts = lookup(backgrounds, "key", "context")
    rows = described[
        (described["tags"] == "gross") & (described["classifier"] == described["classifier"].min())
    ]
    baseline = "canvas" if (rows["attribute"] == "canvas").any() else "original"
    start = rows[(rows["attribute"] == baseline) & (rows["step"] == 0)].set_index("photo")
    rows = rows[rows["attribute"].isin(contexts)].merge(results["people"], on="photo")
    rows = rows[rows["gender"].isin(["woman", "man"]) & rows["photo"].isin(start.index)]
    if not len(rows):
        return {}
    for series, _ in SERIES:
        rows[series] = rows[series].to_numpy(float) - start.loc[rows["photo"], series].to_numpy(
            float
        )
    rows = rows.assign(
        context=rows["attribute"].map(contexts), cell=rows["gender"] + " " + rows["group"]
    )
    order = list(dict.fromkeys(rows["context"]))
    lines = (len(order) + 1) // 2
    with rc_context({"text.parse_math": False}):  # untrusted names
        figure = new_figure(11, 2.2 * lines + 0.6, dpi=130, layout="constrained")
        axes = figure.subplots(lines, 2, squeeze=False, sharey=True).ravel()
        for panel, context in zip(axes, order, strict=False):
            part = rows[rows["context"] == context]
            cells = sorted(
                set(part["cell"]),
                key=lambda cell: (cell.partition(" ")[2], cell.startswith("man ")),
            )
            for index, (series, colour) in enumerate(SERIES):
                means = part.groupby("cell")[series].mean().reindex(cells)
                panel.bar(
                    np.arange(len(cells)) + 0.27 * (index - 1),
                    means,
                    0.26,
                    color=colour,
                    label=series,
                )
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
