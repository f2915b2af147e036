"""More figures of the context audit: recognition, congruence, distances, shares of tags, and the sweep's lines."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from gslopes.contexts.report.drawing import MAN, NEUTRAL, WOMAN, blank, by_context, heading, panels, short
from gslopes.report import words
from gslopes.report.figures import INK

SERIES = (("demographics", "#7a5195"), ("abstract", "#2f4b7c"), ("concrete", "#9aa5b1"))
COLOURS = {"all": INK, "woman": WOMAN, "man": MAN, "neutral": "#6b7480"}


def recognised(rows: pd.DataFrame) -> Figure | None:
    """RQ2: Pr(R | inferred) with Wilson's intervals, a panel a tagger."""
    drawn = by_context(rows, "share")
    if drawn is None:
        return None
    figure, parts = drawn
    for panel, part, contexts in parts:
        for index, (given, colour) in enumerate(COLOURS.items()):
            cell = part[part["given"] == given].set_index("context").reindex(contexts)
            at = np.arange(len(contexts)) + 0.14 * (index - 1.5)
            panel.vlines(at, cell["ci_low"], cell["ci_high"], color=colour, linewidth=1.4)
            panel.plot(at, cell["share"], "o", color=colour, markersize=4, label=given)
        panel.set_ylim(-0.03, 1.03)
        panel.set_ylabel("share recognised", fontsize=9)
    parts[0][0].legend(fontsize=8, title="inferred", title_fontsize=8)
    return figure


def accuracy(rows: pd.DataFrame) -> Figure | None:
    """RQ3: F1 of women and men with its intervals, a panel a tagger."""
    drawn = by_context(rows, "f1")
    if drawn is None:
        return None
    figure, parts = drawn
    for panel, part, contexts in parts:
        for gender, colour, offset in (("woman", WOMAN, -0.08), ("man", MAN, 0.08)):
            cell = part[part["gender"] == gender].set_index("context").reindex(contexts)
            at = np.arange(len(contexts)) + offset
            panel.vlines(at, cell["ci_low"], cell["ci_high"], color=colour, linewidth=1.6)
            panel.plot(at, cell["f1"], "o", color=colour, markersize=5, label=gender)
        panel.set_ylabel("F1", fontsize=9)
    parts[0][0].legend(fontsize=8)
    return figure


def congruence(inferred: pd.DataFrame, ratings: dict[str, float], slopes: pd.DataFrame) -> Figure | None:
    """RQ3: share of right answers against congruence, a point a context, a line a gender with the mean slope."""
    if not len(inferred) or not len(slopes):
        return None
    rated = [name for name, rating in ratings.items() if np.isfinite(rating)]
    right = inferred["gender"].isin(["woman", "man"]) & (inferred["gender"] == inferred["inferred"])
    rows = inferred[right & inferred["context"].isin(rated)]
    if not len(rows):
        return None
    figure, axes, names = panels(rows, 2.8)
    for panel, name in zip(axes, names, strict=True):
        for gender, colour, sign in (("woman", WOMAN, -1), ("man", MAN, 1)):
            part = rows[(rows["classifier"] == name) & (rows["gender"] == gender)]
            fit = np.array([sign * (ratings[context] - 5) / 5 for context in part["context"]])
            share = 100 * part["share"].to_numpy(float)
            panel.plot(fit, share, "o", color=colour, markersize=5, label="women" if gender == "woman" else "men")
            line = slopes[(slopes["classifier"] == name) & (slopes["gender"] == gender)]
            if len(line) and len(fit):
                middle, height = float(fit.mean()), float(share.mean())
                x = np.array([-1.0, 1.0])
                row = line.iloc[0]
                panel.plot(x, height + row["slope"] * (x - middle), color=colour, linewidth=1.4)
                ends = np.sort([height + row[end] * (x - middle) for end in ("ci_low", "ci_high")], axis=0)
                panel.fill_between(x, ends[0], ends[1], color=colour, alpha=0.15, linewidth=0)
        panel.set_xlabel("congruence: −1 the context fits not at all, 1 wholly", fontsize=8)
        panel.set_ylabel("right, %", fontsize=9)
        panel.tick_params(labelsize=8)
        heading(panel, name)
    axes[0].legend(fontsize=8)
    return figure


def distances(rows: pd.DataFrame) -> Figure | None:
    """RQ4: mean distance from the baseline by gender and group with intervals."""
    drawn = by_context(rows[rows["gender"] != "all"] if len(rows) else rows, "mean")
    if drawn is None:
        return None
    figure, parts = drawn
    for panel, part, contexts in parts:
        cells = list(dict.fromkeys(zip(part["gender"], part["group"], strict=True)))
        for index, (gender, group) in enumerate(cells):
            cell = part[(part["gender"] == gender) & (part["group"] == group)].set_index("context").reindex(contexts)
            at = np.arange(len(contexts)) + 0.8 * ((index + 0.5) / len(cells) - 0.5)
            colour = WOMAN if gender == "woman" else MAN if gender == "man" else NEUTRAL
            panel.vlines(at, cell["ci_low"], cell["ci_high"], color=colour, linewidth=1.2)
            mark = "osD^vP*X"[sorted({group for _, group in cells}).index(group) % 8]
            panel.plot(at, cell["mean"], mark, color=colour, markersize=4, label=short(f"{gender} {group}"))
        panel.set_ylabel("distance", fontsize=9)
    parts[0][0].legend(fontsize=6.5, ncols=4)
    return figure


def shares(described: pd.DataFrame, people: pd.DataFrame, contexts: dict[str, str]) -> Figure | None:
    """Figures 4 to 7 of the paper for every context of the first tagger: mean change of the share of tags by group.

    contexts: background key to context.
    """
    names = sorted(set(described["classifier"]))
    rows = described[(described["classifier"] == names[0]) & (described["tags"] == "gross")] if names else described
    baseline = "canvas" if (rows["attribute"] == "canvas").any() else "original"
    start = rows[(rows["attribute"] == baseline) & (rows["step"] == 0)].set_index("photo")
    rows = rows[rows["attribute"].isin(contexts)].merge(people, on="photo")
    rows = rows[rows["gender"].isin(["woman", "man"]) & rows["photo"].isin(start.index)]
    if not len(rows):
        return None
    for series, _ in SERIES:
        rows[series] = rows[series].to_numpy(float) - start.loc[rows["photo"], series].to_numpy(float)
    rows["context"] = rows["attribute"].map(contexts)
    rows["cell"] = rows["gender"] + " " + rows["group"]
    order = list(dict.fromkeys(rows["context"]))
    figure = blank(2.2 * ((len(order) + 1) // 2) + 0.6)
    axes = figure.subplots((len(order) + 1) // 2, 2, squeeze=False, sharey=True).ravel()
    for panel, context in zip(axes, order, strict=False):
        part = rows[rows["context"] == context]
        cells = sorted(set(part["cell"]), key=lambda cell: (cell.partition(" ")[2], cell.startswith("man ")))
        for index, (series, colour) in enumerate(SERIES):
            means = part.groupby("cell")[series].mean().reindex(cells)
            panel.bar(np.arange(len(cells)) + 0.27 * (index - 1), means, 0.26, color=colour, label=series)
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xticks(range(len(cells)), [short(cell) for cell in cells], rotation=35, ha="right", fontsize=7)
        panel.tick_params(axis="y", labelsize=7)
        panel.set_title(words.printable(context), fontsize=9, parse_math=False)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in axes[len(order) :]:
        panel.set_axis_off()
    axes[0].set_ylabel("change of share", fontsize=8)
    axes[0].legend(fontsize=7)
    return figure


def sweep(rows: pd.DataFrame) -> Figure | None:
    """Share inferred woman against the value, a line a background, the plain canvas in black."""
    if not len(rows):
        return None
    figure, axes, names = panels(rows, 3.2)
    for panel, name in zip(axes, names, strict=True):
        part = rows[rows["classifier"] == name]
        for key, line in part.groupby("background"):
            plain = key == "canvas"
            style = {"color": INK, "linewidth": 2.4, "zorder": 3} if plain else {"linewidth": 1.1}
            panel.plot(line["value"], 100 * line["share"], label=words.printable(key), **style)
        panel.set_xlabel("value of the edit: feminine to masculine", fontsize=8)
        panel.set_ylabel("inferred woman, %", fontsize=9)
        panel.tick_params(labelsize=8)
        heading(panel, name)
    axes[0].legend(fontsize=6.5, ncols=3)
    return figure
