"""Figures of the context audit, a panel for each tagger, of gross tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gslopes.contexts.report.words import main_rows
from gslopes.report import words
from gslopes.report.charts import FORMS, LIGHT, MARKERS, Form, dots, new_figure, render, tidy

TITLES = {
    "inferred": "RQ1: what is inferred in each context, by self-report",
    "changes": "RQ1: change from the baseline, in points, over the same people",
    "recognised": "RQ2: share of pictures whose context is recognised, by the gender inferred, with Wilson's intervals",
    "accuracy": "RQ3: F1 against self-report by context, with intervals over people",
    "congruence": "RQ3: right answers against congruence; line and band: the mean slope and its interval",
    "tradeoff": "Right answers over all contexts against the slope on congruence with its interval, a point a tagger",
    "distances": "RQ4: distance of the description from the baseline, by gender and group",
    "shares": "RQ4: change of the shares of tags by group (figures 4 to 7 of the paper), first tagger",
    "sweep": "Share inferred woman along the edit, one line a background, the plain canvas in black",
    "interaction": "Context and face: what each moves alone, in points",
    "palettes": "Colours within one context: what another palette of the same rooms changes, in points, all contexts",
}
WOMAN, MAN, NEUTRAL = LIGHT.negative[1], LIGHT.positive[1], LIGHT.neutral
GENDERS = (("woman", "women", WOMAN), ("man", "men", MAN))
INFERRED = {"all": LIGHT.ink, "woman": WOMAN, "man": MAN, "neutral": LIGHT.faint}
SERIES = (("demographics", LIGHT.series[4]), ("abstract", LIGHT.series[0]), ("concrete", NEUTRAL))
Series = tuple[pd.DataFrame, float, dict[str, Any]]


def draw_all(results: Mapping[str, pd.DataFrame]) -> dict[str, dict[Form, bytes]]:
    """Name to the forms of each figure that has something to show."""
    gross = {name: frame[frame["tags"] == "gross"] if "tags" in frame else frame for name, frame in results.items()}
    known = {name: frame for name, frame in gross.items() if len(frame)}
    made: dict[str, Figure | None] = {}
    with rc_context({"text.parse_math": False}):  # untrusted names
        for name, draw, source in (
            ("inferred", inferred, "inferred"),
            ("changes", changes, "inferred"),
            ("recognised", recognised, "recognised"),
            ("accuracy", accuracy, "accuracy"),
            ("distances", distances, "distances"),
            ("sweep", sweep, "sweep"),
            ("interaction", interaction, "interaction"),
            ("palettes", palettes, "palettes"),
        ):
            made[name] = draw(known[source]) if source in known else None
        made["congruence"] = congruence(known) if {"inferred", "congruence"} <= known.keys() else None
        made["tradeoff"] = tradeoff(known) if {"inferred", "congruence"} <= known.keys() else None
        made["shares"] = shares(known) if "described" in known else None
        return {
            name: {form: render(figure, form) for form in FORMS}
            for name in TITLES
            if (figure := made[name]) is not None
        }


# -- panels -----------------------------------------------------------------------------------------------------------


def _figure(height: float) -> Figure:
    """A figure as wide as the page.  height: inches."""
    return new_figure(11, height, dpi=130, layout="constrained")


def _shown(text: Any, length: int = 24) -> str:
    """An untrusted name as it fits into a figure."""
    return words.shorten(words.printable(text), length)


def _unique(names: Any) -> list[Any]:
    return list(dict.fromkeys(names))


def _title(panel: Axes, text: str, size: int = 8) -> None:
    panel.set_title(text, fontsize=9, parse_math=False)
    tidy(panel, size=size)


def panels(rows: pd.DataFrame, height: float) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """(figure, the panel and rows of each classifier), in the order of the rows.  height: of a panel, inches."""
    names = _unique(rows["classifier"])
    figure = _figure(0.6 + height * len(names))
    axes = figure.subplots(len(names), 1, squeeze=False)[:, 0]
    for panel, name in zip(axes, names, strict=True):
        _title(panel, _shown(name, 60))
    return figure, [(panel, rows[rows["classifier"] == name]) for panel, name in zip(axes, names, strict=True)]


def by_context(rows: pd.DataFrame, value: str) -> tuple[Figure, list[tuple[Axes, pd.DataFrame, list[str]]]] | None:
    """A figure with contexts across: panel, rows and contexts of each tagger; None if no value is known."""
    rows = rows[rows[value].notna()] if len(rows) else rows
    if not len(rows):
        return None
    figure, parts = panels(rows, 2.8)
    panel_parts = []
    for panel, part in parts:
        contexts = _unique(part["context"])
        panel.set_xticks(range(len(contexts)), [_shown(word) for word in contexts], rotation=30, ha="right")
        panel_parts.append((panel, part, contexts))
    return figure, panel_parts


def by_gender(rows: pd.DataFrame, height: float, title: str) -> tuple[Figure, list[tuple[Axes, pd.DataFrame, bool]]]:
    """A figure with two panels for each tagger: panel, rows of women or of men, and whether it is the left one."""
    names = _unique(rows["classifier"])
    figure = _figure(height)
    axes = figure.subplots(len(names), 2, squeeze=False, sharey="row")
    parts = []
    for line, name in zip(axes, names, strict=True):
        for panel, (gender, plural, _) in zip(line, GENDERS, strict=True):
            part = rows[(rows["classifier"] == name) & (rows["gender"] == gender)]
            parts.append((panel, part, panel is line[0]))
            _title(panel, f"{_shown(name, 40)}: {title.format(plural)}")
    return figure, parts


def _points(
    rows: pd.DataFrame, value: str, label: str, series: Callable[[pd.DataFrame], Iterable[Series]], **legend: Any
) -> Figure | None:
    """Contexts across, points with intervals for each series: rows, offset to the side, look."""
    drawn = by_context(rows, value)
    if drawn is None:
        return None
    figure, parts = drawn
    for panel, part, contexts in parts:
        for subset, offset, look in series(part):
            cell = subset.set_index("context").reindex(contexts)
            at = np.arange(len(contexts)) + offset
            dots(panel, at, cell, (value, "ci_low", "ci_high"), **look)
        panel.set_ylabel(label, fontsize=9)
    parts[0][0].legend(**{"fontsize": 8, **legend})
    return figure


def _ends(name: str) -> tuple[str, str, str]:
    """Columns of a value and its interval."""
    return name, f"{name}_low", f"{name}_high"


# -- figures ----------------------------------------------------------------------------------------------------------


def inferred(rows: pd.DataFrame) -> Figure:
    """RQ1: bars of the shares inferred woman, neutral and man in each context."""
    height = 0.6 + 3.2 * rows["classifier"].nunique()
    figure, parts = by_gender(rows, height, "people who say they are {}")
    for panel, part, left_one in parts:
        contexts = _unique(part["context"])
        left = np.zeros(len(contexts))
        for word, colour in (("woman", WOMAN), ("neutral", NEUTRAL), ("man", MAN)):
            share = part[part["inferred"] == word].set_index("context")["share"].reindex(contexts).fillna(0)
            panel.barh(contexts, share, left=left, color=colour, label=word, height=0.75)
            left = left + share.to_numpy()
        if left_one:
            panel.invert_yaxis()
        panel.set_xlim(0, 1)
    parts[1][0].legend(title="inferred", fontsize=8, loc="lower left", bbox_to_anchor=(1.0, 0.2))
    return figure


def changes(rows: pd.DataFrame) -> Figure | None:
    """RQ1: change of the shares inferred woman and man from the baseline, with intervals."""
    rows = rows[rows["change"].notna() & rows["gender"].isin(["woman", "man"])]
    if not len(rows):
        return None
    ends = ["change", "change_low", "change_high"]
    rows, contexts = rows.assign(**{name: 100 * rows[name] for name in ends}), _unique(rows["context"])
    height = 0.8 + 0.42 * len(contexts) * rows["classifier"].nunique()
    figure, parts = by_gender(rows, height, "{} by self-report")
    for panel, part, left_one in parts:
        for offset, (word, _, colour) in zip((-0.15, 0.15), GENDERS, strict=True):
            drawn = part[part["inferred"] == word]
            at = np.array([contexts.index(context) for context in drawn["context"]]) + offset
            dots(panel, at, drawn, _ends("change"), colour=colour, label=f"inferred {word}", across=True)
        panel.axvline(0, color=LIGHT.ink, linewidth=0.8)
        panel.set_yticks(range(len(contexts)), contexts, fontsize=8)
        panel.set_xlabel("points", fontsize=8)
        if left_one:
            panel.set_ylim(len(contexts) - 0.5, -0.5)
    parts[1][0].legend(fontsize=8)
    return figure


def recognised(rows: pd.DataFrame) -> Figure | None:
    """RQ2: Pr(R | inferred) with Wilson's intervals."""

    def series(part: pd.DataFrame) -> Iterator[Series]:
        for index, (given, colour) in enumerate(INFERRED.items()):
            yield part[part["given"] == given], 0.14 * (index - 1.5), {"colour": colour, "label": given}

    figure = _points(rows, "share", "share recognised", series, title="inferred", title_fontsize=8)
    for panel in figure.axes if figure is not None else ():
        panel.set_ylim(-0.03, 1.03)
    return figure


def accuracy(rows: pd.DataFrame) -> Figure | None:
    """RQ3: F1 of women and men with its intervals."""

    def series(part: pd.DataFrame) -> Iterator[Series]:
        for offset, (gender, _, colour) in zip((-0.08, 0.08), GENDERS, strict=True):
            yield part[part["gender"] == gender], offset, {"colour": colour, "label": gender}

    return _points(rows, "f1", "F1", series)


def distances(rows: pd.DataFrame) -> Figure | None:
    """RQ4: mean distance from the baseline by gender and group with intervals."""

    def series(part: pd.DataFrame) -> Iterator[Series]:
        cells = _unique(zip(part["gender"], part["group"], strict=True))
        groups = sorted({group for _, group in cells})
        for index, (gender, group) in enumerate(cells):
            look = {"colour": {"woman": WOMAN, "man": MAN}.get(gender, NEUTRAL), "label": _shown(f"{gender} {group}")}
            look["marker"] = MARKERS[groups.index(group) % len(MARKERS)]
            subset = part[(part["gender"] == gender) & (part["group"] == group)]
            yield subset, 0.8 * ((index + 0.5) / len(cells) - 0.5), look

    return _points(rows[rows["gender"] != "all"], "mean", "distance", series, fontsize=6.5, ncols=4)


def congruence(results: Mapping[str, pd.DataFrame]) -> Figure | None:
    """RQ3: share of right answers against congruence, a point a context, a line a gender with the mean slope."""
    slopes, rows, backgrounds = results["congruence"], results["inferred"], results["backgrounds"]
    kept = (slopes["measure"] == "correct") & (slopes["group"] == "all") & (slopes["estimator"] == "person")
    slopes = slopes[kept & slopes["slope"].notna()]
    ratings = backgrounds.set_index("context")["rating"].astype(float).dropna().to_dict()
    right = rows["gender"].isin(["woman", "man"]) & (rows["gender"] == rows["inferred"])
    rows = rows[right & rows["context"].isin(ratings)]
    if not len(rows) or not len(slopes):
        return None
    figure, parts = panels(rows, 2.8)
    for panel, part in parts:
        for sign, (gender, plural, colour) in zip((-1, 1), GENDERS, strict=True):
            drawn = part[part["gender"] == gender]
            fit = np.array([sign * (ratings[context] - 5) / 5 for context in drawn["context"]])
            share = 100 * drawn["share"].to_numpy(float)
            panel.plot(fit, share, "o", color=colour, markersize=5, label=plural)
            line = slopes[(slopes["classifier"] == part["classifier"].iloc[0]) & (slopes["gender"] == gender)]
            if len(line) and len(fit):
                row, x = line.iloc[0], np.array([-1.0, 1.0])
                low, middle, high = (
                    float(share.mean()) + row[name] * (x - fit.mean()) for name in ("ci_low", "slope", "ci_high")
                )
                panel.plot(x, middle, color=colour, linewidth=1.4)
                panel.fill_between(
                    x, np.minimum(low, high), np.maximum(low, high), color=colour, alpha=0.15, linewidth=0
                )
        panel.set_xlabel("congruence: −1 the context fits not at all, 1 wholly", fontsize=8)
        panel.set_ylabel("right, %", fontsize=9)
    parts[0][0].legend(fontsize=8)
    return figure


def tradeoff(results: Mapping[str, pd.DataFrame]) -> Figure | None:
    """The share of right answers over all contexts against the congruence slope, a point a tagger.

    Source: Barlas et al. 2020, whose title names the trade-off.
    """
    slopes, rows = main_rows(results), results["inferred"]
    contexts = set(results["backgrounds"]["context"])
    right = rows["gender"].isin(["woman", "man"]) & (rows["gender"] == rows["inferred"])
    sums = rows[right & rows["context"].isin(contexts)].groupby("classifier")[["count", "n"]].sum()
    slopes = slopes[slopes["classifier"].isin(sums.index)] if len(slopes) else slopes
    if not len(slopes):
        return None
    figure = _figure(3.6)
    panel = figure.subplots()
    for place, row in enumerate(slopes.to_dict("records")):
        share = 100 * float(sums.loc[row["classifier"], "count"] / sums.loc[row["classifier"], "n"])
        colour, marker = LIGHT.series[place % len(LIGHT.series)], MARKERS[place % len(MARKERS)]
        panel.plot([share] * 2, [row["ci_low"], row["ci_high"]], color=colour, linewidth=1.2)
        panel.plot(share, row["slope"], marker, color=colour, markersize=6)
        panel.annotate(_shown(row["classifier"]), (share, row["slope"]), (6, 4), textcoords="offset points", fontsize=8)
    panel.axhline(0, color=LIGHT.ink, linewidth=0.8)
    panel.margins(0.15)
    panel.set_xlabel("right over all contexts, %", fontsize=9)
    panel.set_ylabel("points per unit of congruence", fontsize=9)
    tidy(panel, size=8)
    return figure


def shares(results: Mapping[str, pd.DataFrame]) -> Figure | None:
    """RQ4: figures 4 to 7 of the paper for every context of the first tagger: mean change of the share of tags."""
    described, backgrounds = results["described"], results["backgrounds"]
    contexts = dict(zip(backgrounds["key"], backgrounds["context"], strict=True))
    rows = described[described["classifier"] == described["classifier"].min()]
    baseline = "canvas" if (rows["attribute"] == "canvas").any() else "original"
    start = rows[(rows["attribute"] == baseline) & (rows["step"] == 0)].set_index("photo")
    rows = rows[rows["attribute"].isin(contexts)].merge(results["people"], on="photo")
    rows = rows[rows["gender"].isin(["woman", "man"]) & rows["photo"].isin(start.index)]
    if not len(rows):
        return None
    for series, _ in SERIES:
        rows[series] = rows[series].to_numpy(float) - start.loc[rows["photo"], series].to_numpy(float)
    rows = rows.assign(context=rows["attribute"].map(contexts), cell=rows["gender"] + " " + rows["group"])
    order = _unique(rows["context"])
    lines = (len(order) + 1) // 2
    figure = _figure(2.2 * lines + 0.6)
    axes = figure.subplots(lines, 2, squeeze=False, sharey=True).ravel()
    for panel, context in zip(axes, order, strict=False):
        part = rows[rows["context"] == context]
        cells = sorted(set(part["cell"]), key=lambda cell: (cell.partition(" ")[2], cell.startswith("man ")))
        for index, (series, colour) in enumerate(SERIES):
            means = part.groupby("cell")[series].mean().reindex(cells)
            panel.bar(np.arange(len(cells)) + 0.27 * (index - 1), means, 0.26, color=colour, label=series)
        panel.axhline(0, color=LIGHT.ink, linewidth=0.8)
        _title(panel, words.printable(context), 7)
        panel.set_xticks(range(len(cells)), [_shown(cell) for cell in cells], rotation=35, ha="right", fontsize=7)
    for panel in axes[len(order) :]:
        panel.set_axis_off()
    axes[0].set_ylabel("change of share", fontsize=8)
    axes[0].legend(fontsize=7)
    return figure


def sweep(rows: pd.DataFrame) -> Figure:
    """Share inferred woman against the value, a line a background, the plain canvas in black."""
    figure, parts = panels(rows, 3.2)
    for panel, part in parts:
        for key, line in part.groupby("background"):
            style = {"color": LIGHT.ink, "linewidth": 2.4, "zorder": 3} if key == "canvas" else {"linewidth": 1.1}
            panel.plot(line["value"], 100 * line["share"], label=words.printable(key), **style)
        panel.set_xlabel("value of the edit: feminine to masculine", fontsize=8)
        panel.set_ylabel("inferred woman, %", fontsize=9)
    parts[0][0].legend(fontsize=6.5, ncols=3)
    return figure


def interaction(rows: pd.DataFrame) -> Figure | None:
    """What the context and what the face change alone, with intervals."""
    rows = rows[rows["label"] == "inferred woman"]
    if not len(rows):
        return None
    figure, parts = panels(rows, 0.4 + 0.34 * len(rows) / rows["classifier"].nunique())
    for panel, part in parts:
        part = part.sort_values("background")
        at = np.arange(len(part))
        for name, offset, colour, label in (
            ("effect", -0.15, LIGHT.series[3], "context, against the plain canvas"),
            ("face", 0.15, LIGHT.ink, "perceived gender, from -1 to 1"),
        ):
            dots(panel, at + offset, part, _ends(name), colour=colour, label=label, across=True)
        panel.axvline(0, color=LIGHT.ink, linewidth=0.8)
        panel.set_yticks(at, part["background"], fontsize=8)
        panel.invert_yaxis()
        panel.set_xlabel("points of pictures inferred woman", fontsize=9)
    parts[0][0].legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.04), frameon=False)
    return figure


def palettes(rows: pd.DataFrame) -> Figure | None:
    """Changes between palettes of the same rooms over all contexts, with intervals over people."""
    rows = rows[(rows["context"] == "all") & (rows["share"] + rows["share_other"] > 0)]
    points = {name: 100 * rows[name] for name in _ends("change")}
    rows = rows.assign(**points, pair=rows["palette"] + " − " + rows["other"])
    if not len(rows):
        return None
    pairs = _unique(rows["pair"])
    figure, parts = panels(rows, 1.0 + 0.34 * len(pairs))
    looks = (("inferred woman", -0.2, WOMAN), ("inferred man", 0.0, MAN), ("recognised", 0.2, LIGHT.ink))
    for panel, part in parts:
        for label, offset, colour in looks:
            drawn = part[part["label"] == label].set_index("pair").reindex(pairs)
            dots(panel, np.arange(len(pairs)) + offset, drawn, _ends("change"), colour=colour, label=label, across=True)
        panel.axvline(0, color=LIGHT.ink, linewidth=0.8)
        panel.set_yticks(range(len(pairs)), pairs, fontsize=8)
        panel.set_ylim(len(pairs) - 0.5, -0.5)
        panel.set_xlabel("points of pictures", fontsize=9)
    figure.legend(
        *parts[0][0].get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside lower center", frameon=False
    )
    return figure
