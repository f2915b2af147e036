"""Table 3 of the paper: who is shown at work, as perceived, and how that compares with who does that work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from gslopes.report import numbers, terminal, words
from gslopes.report.charts import LIGHT, dots, new_figure, render, tidy

NOTE = (
    "Perceived gender: how the face nearest the centre is read, not who a person is. Share: of photos\n"
    "with a readable face, answers of people where there are any, else calibrated probabilities of the\n"
    "reader. In brackets Wilson's 95 % interval, widened by readings that no one answered; no test. Most\n"
    "skewed first. women (BLS): their share of the people employed."
)
_MOST_BARS = 60


def table3(composition: pd.DataFrame, women: Mapping[str, float], keyword: str = "any") -> pd.DataFrame:
    """One row an occupation: the shares perceived female and male with their intervals, most skewed first.

    composition: core.tables.COMPOSITION.  women: occupation to the share of women among the people employed.
    keyword: of the searches that count; ``any`` for all.

    Columns: occupation, n, answered, female, female_low, female_high, male, male_low, male_high, other_answers, women.
    """
    of_group = composition[(composition["reading"] == "gender") & (composition["keyword"] == keyword)]
    rows = []
    for name, group in of_group[of_group["occupation"] != ""].groupby("occupation"):
        by: dict[Any, dict[Any, Any]] = group.set_index("value").to_dict("index")
        row: dict[str, Any] = {"occupation": name, "n": by["female"]["n"], "answered": by["female"]["answered"]}
        for value in ("female", "male"):
            row |= {value: by[value]["share"]}
            row |= {f"{value}_low": by[value]["ci_low"], f"{value}_high": by[value]["ci_high"]}
        others = sum(by[value]["share"] for value in ("non-binary", "unknown") if value in by)
        rows.append({**row, "other_answers": others, "women": women.get(str(name), np.nan)})
    columns = ["occupation", "n", "answered", *(f"{v}{e}" for v in ("female", "male") for e in ("", "_low", "_high"))]
    frame = pd.DataFrame(rows, columns=[*columns, "other_answers", "women"])
    skew = (frame["female"] - frame["male"]).abs().fillna(-1)
    return frame.iloc[np.lexsort([frame["occupation"], -skew])].reset_index(drop=True)


def print_table3(table: pd.DataFrame) -> str:
    """Table 3 as text for a terminal."""
    if table.empty:
        return (
            "No photo has an occupation: name the sub-folders by it, or read a folder of gslopes collect.\n"
            "The readings of all photos together are in composition.csv."
        )
    heads = ("occupation", "photos", "answered", "perceived female", "perceived male", "women (BLS)")
    columns = [terminal.Column(head, number=place in (1, 2, 5)) for place, head in enumerate(heads)]
    rows = [
        [
            words.shorten(words.printable(row["occupation"]), 22),
            f"{row['n']:,}",
            f"{row['answered']:,}",
            *(_cell(row, value) for value in ("female", "male")),
            numbers.share(row["women"]),
        ]
        for _, row in table.iterrows()
    ]
    return f"{terminal.table(columns, rows)}\n\n{NOTE}"


def draw_women(table: pd.DataFrame, source: str) -> bytes:
    """The shares perceived female next to the shares of women among the people employed, as the bytes of a PNG.

    table: of ``table3``.  source: of the column women, written below the picture.
    """
    shown = table[table["n"] > 0].assign(gap=lambda t: (t["female"] - t["women"]).abs().fillna(-1))
    shown = shown.sort_values("gap", ascending=False).head(_MOST_BARS).sort_values("female")
    figure = new_figure(8.6, 1.6 + 0.27 * max(len(shown), 3))
    axes = figure.subplots()
    tidy(axes, size=10)
    at = np.arange(len(shown))
    axes.hlines(at, 0, 1, color=LIGHT.shade, linewidth=0.8, zorder=0)
    axes.hlines(at, shown["female"], shown["women"].fillna(shown["female"]), color=LIGHT.faint, linewidth=1, zorder=1)
    columns = ("female", "female_low", "female_high")
    name = "photos: perceived female, 95 % interval"
    dots(axes, at, shown, columns, colour=LIGHT.series[0], label=name, size=5, across=True)
    name = "people employed: women (BLS)"
    axes.plot(shown["women"], at, "D", color=LIGHT.series[1], markersize=5, label=name, zorder=3)
    axes.set_yticks(at, [words.shorten(words.printable(name), 30) for name in shown["occupation"]])
    axes.set_xlim(-0.01, 1.01)
    axes.set_xticks(np.linspace(0, 1, 6), [numbers.share(share, 0) for share in np.linspace(0, 1, 6)])
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    title = "Who is shown at work, and who does the work"
    axes.set_title(title, loc="left", color=LIGHT.ink, fontsize=12, weight="bold")
    height = figure.get_figheight()
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, -0.95 / height), ncols=2, frameon=False, fontsize=9)
    note = f"A face as it is read in a photo is not a person's gender. {source}."
    figure.text(0.02, 0.12 / height, note, fontsize=7.5, color=LIGHT.faint, parse_math=False)
    longest = max((len(label.get_text()) for label in axes.get_yticklabels()), default=8)
    figure.subplots_adjust(left=0.05 + 0.0105 * longest, right=0.97, top=1 - 0.4 / height, bottom=0.95 / height)
    return render(figure)


def _cell(row: pd.Series, value: str) -> str:
    if pd.isna(row[value]):
        return numbers.NONE
    low, high = (numbers.share(row[f"{value}_{end}"]).removesuffix(" %") for end in ("low", "high"))
    return f"{numbers.share(row[value])} [{low}, {high}]"
