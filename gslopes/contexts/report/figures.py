"""Figures 4 to 7 of the paper, as it prints them: PNG and PDF, and on the page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import rc_context

from gslopes.report import words
from gslopes.report.charts import FORMS, LIGHT, Form, new_figure, render, tidy

TITLE = "RQ4: change of the shares of tags by group (figures 4 to 7 of the paper), first tagger"
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
            shown = [words.shorten(words.printable(cell), 24) for cell in cells]
            panel.set_xticks(range(len(cells)), shown, rotation=35, ha="right", fontsize=7)
        for panel in axes[len(order) :]:
            panel.set_axis_off()
        axes[0].set_ylabel("change of share", fontsize=8)
        axes[0].legend(fontsize=7)
        return {form: render(figure, form) for form in FORMS}
