"""Figures of the context audit: what is inferred where, what changes, and context beside face."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from gslopes.contexts.report import shares as context_shares
from gslopes.contexts.report.drawing import MAN, NEUTRAL, WOMAN
from gslopes.contexts.report.drawing import blank as _blank
from gslopes.report import words
from gslopes.report.figures import FORMS, INK, Form, render

TITLES = {
    "inferred": "RQ1: what is inferred in each context, by self-report",
    "changes": "RQ1: change from the baseline, in points, over the same people",
    "recognised": "RQ2: share of pictures whose context is recognised, by the gender inferred, with Wilson's intervals",
    "accuracy": "RQ3: F1 against self-report by context, with bootstrap intervals over people",
    "congruence": "RQ3: right answers against congruence; line and band: the mean slope and its interval",
    "distances": "RQ4: distance of the description from the baseline, by gender and group",
    "shares": "RQ4: change of the shares of tags by group (figures 4 to 7 of the paper), first tagger",
    "sweep": "Share inferred woman along the edit, one line a background, the plain canvas in black",
    "interaction": "Context beside face: what each moves alone, in points",
}


def draw_all(found: dict[str, pd.DataFrame]) -> dict[str, dict[Form, bytes]]:
    """Name to the forms of each figure that has something to show; of gross tags."""
    with rc_context({"text.parse_math": False}):  # names are of strangers
        return _drawn(found)


def _drawn(found: dict[str, pd.DataFrame]) -> dict[str, dict[Form, bytes]]:
    made: dict[str, Figure | None] = {
        "inferred": _inferred(_gross(found, "inferred")),
        "changes": _changes(_gross(found, "inferred")),
        "recognised": context_shares.recognised(_gross(found, "recognised")),
        "accuracy": context_shares.accuracy(_gross(found, "accuracy")),
        "congruence": _congruence(found),
        "distances": context_shares.distances(_gross(found, "distances")),
        "shares": _shares(found),
        "sweep": context_shares.sweep(found.get("sweep", pd.DataFrame())),
        "interaction": _interaction(_gross(found, "interaction")),
    }
    return {name: {form: render(subset, form) for form in FORMS} for name, subset in made.items() if subset is not None}


def _gross(found: dict[str, pd.DataFrame], name: str) -> pd.DataFrame:
    frame = found.get(name)
    return pd.DataFrame() if frame is None or not len(frame) else frame[frame["tags"] == "gross"]


def _congruence(found: dict[str, pd.DataFrame]) -> Figure | None:
    backgrounds, slopes = found["backgrounds"], _gross(found, "congruence")
    if len(slopes):
        kept = (slopes["measure"] == "correct") & (slopes["group"] == "all") & (slopes["estimator"] == "person")
        slopes = slopes[kept & slopes["slope"].notna()]
    ratings = dict(zip(backgrounds["context"], backgrounds["rating"].astype(float), strict=True))
    return context_shares.congruence(_gross(found, "inferred"), ratings, slopes)


def _shares(found: dict[str, pd.DataFrame]) -> Figure | None:
    backgrounds = found["backgrounds"]
    contexts = dict(zip(backgrounds["key"], backgrounds["context"], strict=True))
    return context_shares.shares(found["described"], found["people"], contexts)


def _inferred(rows: pd.DataFrame) -> Figure | None:
    if not len(rows):
        return None
    names = list(dict.fromkeys(rows["classifier"]))
    figure = _blank(0.6 + 3.2 * len(names))
    axes = figure.subplots(len(names), 2, squeeze=False, sharey="row")
    for line, name in zip(axes, names, strict=True):
        for panel, gender in zip(line, ("woman", "man"), strict=True):
            subset = rows[(rows["classifier"] == name) & (rows["gender"] == gender)]
            contexts = list(dict.fromkeys(subset["context"]))
            left = np.zeros(len(contexts))
            for inferred, colour in (("woman", WOMAN), ("neutral", NEUTRAL), ("man", MAN)):
                share = subset[subset["inferred"] == inferred].set_index("context")["share"].reindex(contexts).fillna(0)
                panel.barh(contexts, share, left=left, color=colour, label=inferred, height=0.75)
                left = left + share.to_numpy()
            panel.invert_yaxis() if panel is line[0] else None
            panel.set_xlim(0, 1)
            plural = "women" if gender == "woman" else "men"
            panel.set_title(f"{words.shorten(words.printable(name), 40)}: people who say they are {plural}", fontsize=9)
            panel.tick_params(labelsize=8, colors=INK)
            panel.spines[["top", "right"]].set_visible(False)
    axes[0][1].legend(title="inferred", fontsize=8, loc="lower left", bbox_to_anchor=(1.0, 0.2))
    return figure


def _changes(rows: pd.DataFrame) -> Figure | None:
    subset = rows[rows["change"].notna() & rows["gender"].isin(["woman", "man"])] if len(rows) else rows
    if not len(subset):
        return None
    names, contexts = list(dict.fromkeys(subset["classifier"])), list(dict.fromkeys(subset["context"]))
    figure = _blank(0.8 + 0.42 * len(contexts) * len(names))
    axes = figure.subplots(len(names), 2, squeeze=False, sharey="row")
    for line, name in zip(axes, names, strict=True):
        for panel, gender in zip(line, ("woman", "man"), strict=True):
            for offset, inferred, colour in ((-0.15, "woman", WOMAN), (0.15, "man", MAN)):
                part = subset[
                    (subset["classifier"] == name) & (subset["gender"] == gender) & (subset["inferred"] == inferred)
                ]
                at = np.array([contexts.index(context) for context in part["context"]]) + offset
                middle = 100 * part["change"].to_numpy(float)
                ends = 100 * part[["change_low", "change_high"]].to_numpy(float)
                panel.hlines(at, ends[:, 0], ends[:, 1], color=colour, linewidth=1.6)
                panel.plot(middle, at, "o", color=colour, markersize=4, label=f"inferred {inferred}")
            panel.axvline(0, color=INK, linewidth=0.8)
            panel.set_yticks(range(len(contexts)), contexts, fontsize=8)
            plural = "women" if gender == "woman" else "men"
            panel.set_title(f"{words.shorten(words.printable(name), 40)}: {plural} by self-report", fontsize=9)
            panel.set_xlabel("points", fontsize=8)
            panel.tick_params(labelsize=8, colors=INK)
            panel.spines[["top", "right"]].set_visible(False)
        line[0].set_ylim(len(contexts) - 0.5, -0.5)
    axes[0][1].legend(fontsize=8)
    return figure


def _interaction(rows: pd.DataFrame) -> Figure | None:
    subset = rows[rows["label"] == "inferred woman"] if len(rows) else rows
    if not len(subset):
        return None
    names = list(dict.fromkeys(subset["classifier"]))
    figure = _blank(0.8 + 0.34 * len(subset))
    axes = figure.subplots(len(names), 1, squeeze=False)
    for (panel,), name in zip(axes, names, strict=True):
        part = subset[subset["classifier"] == name].sort_values("background")
        at = np.arange(len(part))
        for middle, low, high, colour, offset, label in (
            ("effect", "effect_low", "effect_high", "#b7791f", -0.15, "context, against the plain canvas"),
            ("face", "face_low", "face_high", INK, 0.15, "perceived gender, from -1 to 1"),
        ):
            panel.hlines(at + offset, part[low], part[high], color=colour, linewidth=1.8)
            panel.plot(part[middle], at + offset, "o", color=colour, markersize=4, label=label)
        panel.axvline(0, color=INK, linewidth=0.8)
        panel.set_yticks(at, part["background"], fontsize=8)
        panel.invert_yaxis()
        panel.set_xlabel("points of pictures inferred woman", fontsize=9)
        panel.set_title(words.shorten(words.printable(name), 60), fontsize=9, parse_math=False)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0][0].legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.04), frameon=False)
    return figure
