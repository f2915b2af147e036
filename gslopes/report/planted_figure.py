"""The picture of planted biases: planted against recovered, and what a naive comparison says beside it."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gslopes.report.figures import FAINT, INK

COLOURS = {"": INK, "hair": "#c8371f", "background": "#1f6fc0", "smile": "#1b97a6"}
NAMES = {"": "no confounder", "hair": "hair", "background": "background", "smile": "smile"}
PANELS = (("recovered", "the walk, per unit of the attribute"), ("naive", "comparing photos of men and women"))


def draw_planted(labels: pd.DataFrame, reach: float) -> bytes:
    """Draw the recovered slopes against their truth, one panel for the walk and one for the naive way.

    labels: columns truth, recovered, naive, confounder.  reach: how far the edit moves the cue, drawn as a line.

    Returns the bytes of a PNG.
    """
    figure = Figure(figsize=(10, 5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    most = 1.1 * float(np.nanmax(np.abs(labels[["truth", "recovered", "naive"]].to_numpy())))
    for axis, (column, title) in zip(axes, PANELS, strict=True):
        _panel(axis, labels, column, title, most)
    axes[0].plot([-most, most], [-most * reach, most * reach], color=FAINT, linestyle=":", linewidth=1)
    axes[0].annotate(
        f"the edit moves the cue {reach:.2f} times as far", (-most, -most * reach), (4, 6), textcoords="offset points",
        color=FAINT, fontsize=8,
    )  # fmt: skip
    axes[0].set_ylabel("found, percentage points per unit")
    axes[1].legend(loc="lower right", frameon=False, fontsize=8, title="planted beside the cue")
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def _panel(axis: Axes, labels: pd.DataFrame, column: str, title: str, most: float) -> None:
    axis.plot([-most, most], [-most, most], color=FAINT, linewidth=1)
    axis.axhline(0, color=FAINT, linewidth=0.5)
    for name, colour in COLOURS.items():
        part = labels[labels["confounder"] == name]
        axis.scatter(part["truth"], part[column], s=26, color=colour, label=NAMES[name], alpha=0.85)
    axis.set_title(title, loc="left", fontsize=10, color=INK)
    axis.set_xlabel("truth: the same faces drawn again, percentage points per unit")
    axis.set_xlim(-most, most)
    axis.set_ylim(-most, most)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
