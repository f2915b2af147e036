"""A calibration: planted against recovered slopes as a figure, as what the page draws, and as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.report import numbers, words
from gslopes.report.charts import LIGHT, new_figure, render, tidy

NAMES = {"": "no confounder", "hair": "hair", "background": "background", "smile": "smile"}
# As the page's scripts colour them.
COLOURS = {"": LIGHT.ink, "hair": LIGHT.series[1], "background": LIGHT.series[0], "smile": LIGHT.series[3]}
PANELS = (("recovered", "the walk, per unit of the attribute"), ("naive", "comparing photos of men and women"))


@dataclass(frozen=True, slots=True)
class Planted:
    """All that the page says about a calibration.

    facts: of each, what and how much.  rows: of the table, as texts.
    panels: what the page's scripts draw, see ``_panel``; none without labels.
    kinds: kind and name of each confounder in the picture.
    """

    facts: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    panels: tuple[Mapping[str, Any], ...]
    kinds: tuple[tuple[str, str], ...]


def draw_planted(labels: pd.DataFrame, reach: float) -> bytes:
    """Draw the recovered slopes against their truth, one panel for the walk and one for the naive way.

    labels: columns truth, recovered, naive, confounder.  reach: how far the edit moves the cue, drawn as a line.

    Returns the bytes of a PNG.
    """
    figure = new_figure(10, 5, dpi=120, layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    most = 1.1 * float(np.nanmax(np.abs(labels[["truth", "recovered", "naive"]].to_numpy())))
    for axis, (column, title) in zip(axes, PANELS, strict=True):
        tidy(axis)
        axis.plot([-most, most], [-most, most], color=LIGHT.faint, linewidth=1)
        axis.axhline(0, color=LIGHT.faint, linewidth=0.5)
        for name, colour in COLOURS.items():
            part = labels[labels["confounder"] == name]
            axis.scatter(part["truth"], part[column], s=26, color=colour, label=NAMES[name], alpha=0.85)
        axis.set_title(title, loc="left", fontsize=10, color=LIGHT.ink)
        axis.set_xlabel("truth: the same faces drawn again, percentage points per unit")
        axis.set_xlim(-most, most)
        axis.set_ylim(-most, most)
    axes[0].plot([-most, most], [-most * reach, most * reach], color=LIGHT.faint, linestyle=":", linewidth=1)
    note = f"the edit moves the cue {numbers.decimal(reach)} times as far"
    at = {"xytext": (4, 6), "textcoords": "offset points"}
    axes[0].annotate(note, (-most, -most * reach), **at, color=LIGHT.faint, fontsize=8)
    axes[0].set_ylabel("found, percentage points per unit")
    axes[1].legend(loc="lower right", frameon=False, fontsize=8, title="planted in addition to the cue")
    return render(figure)


def read(run: Path) -> dict[str, Any] | None:
    """The calibration in the run folder, None if there is none: the calibration.json that ``calibrate`` writes with
    the calibration.csv next to it, or what ``calibrate --json`` prints; the labels under ``labels`` either way.
    """
    try:
        content = read_json(run / "calibration.json")
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict):
        return None
    if "labels" not in content:
        with suppress(UsageError):
            content["labels"] = [row for _, row in read_csv(run / "calibration.csv").rows()]
    return content


def planted(content: Mapping[str, Any]) -> Planted | None:
    """What the page shows of ``read``; None if it is no such calibration."""
    summary = content.get("summary")
    known: Mapping[str, Any] = {**content, **(summary if isinstance(summary, Mapping) else {})}
    listed = content.get("labels")
    labels = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, Sequence) else []
    labels = [row for row in labels if all(math.isfinite(_number(row, name)) for name in ("truth", "recovered"))]
    facts = _facts(known)
    if not facts:
        return None
    found = [_number(row, name) for row in labels for name in ("truth", "recovered", "recovered_low", "recovered_high")]
    sizes = [abs(size) for size in [*found, *(_number(row, "naive") for row in labels)] if math.isfinite(size)]
    most = 1.08 * max(sizes, default=0.0)
    kinds = [kind for kind in NAMES if kind in {str(row.get("confounder") or "") for row in labels}]
    return Planted(
        facts=tuple(facts),
        rows=tuple(_row(row) for row in labels),
        panels=tuple(_panel(labels, *panel, most, _number(known, "reach")) for panel in PANELS) if most > 0 else (),
        kinds=tuple((kind or "none", NAMES[kind]) for kind in kinds),
    )


def _facts(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    def size(name: str) -> str:
        return numbers.decimal(_number(known, name))

    def share(name: str) -> str:
        return numbers.share(_number(known, name), 0)

    if math.isnan(_number(known, "reach")) or math.isnan(_number(known, "error")):
        return []
    return [
        ("How far the edit moves the drawn cue, drawing the face again being 1", size("reach")),
        ("Error of the walk, root mean square, percentage points per unit", size("error")),
        ("The same per unit of the cue as it is seen", size("error_per_reach")),
        ("Error of comparing photos of men and women", size("error_naive")),
        ("95 % intervals that hold what was planted", share("covered")),
        ("The same per unit of the cue as it is seen", share("covered_per_reach")),
        (
            "Flagged with nothing planted: walk, comparison",
            f"{share('false_positives_nothing')}, {share('naive_false_positives_nothing')}",
        ),
        (
            "Flagged with a confounder alone: walk, comparison",
            f"{share('false_positives_confounder_only')}, {share('naive_false_positives_confounder_only')}",
        ),
    ]


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Label, truth, recovered, interval, covered, flagged, naive, flagged."""
    known = [_number(row, name) for name in ("truth", "recovered", "naive")]
    slopes = [numbers.points(slope) for slope in known]
    interval = numbers.interval(_number(row, "recovered_low"), _number(row, "recovered_high"))
    shares = [_number(row, name) for name in ("covered", "flagged", "naive_flagged")]
    covered, flagged, naive = (numbers.share(share, 0) for share in shares)
    label = words.printable(row.get("label", ""))
    return label, slopes[0], slopes[1], interval, covered, flagged, slopes[2], naive


def _panel(
    labels: Sequence[Mapping[str, Any]], column: str, title: str, most: float, reach: float
) -> Mapping[str, Any]:
    """One way of finding slopes, as the page draws it: title, dots, the ends of both axes, how far the edit reaches.

    A dot: label, kind (of confounder), truth, found, and the ends of its interval, None where they are not known.
    """
    dots = []
    for row in labels:
        truth, found = _number(row, "truth"), _number(row, column)
        low, high = (_number(row, f"{column}_{end}") for end in ("low", "high"))
        if math.isfinite(found):
            kind = str(row.get("confounder") or "")
            ends = (low, high) if math.isfinite(low) and math.isfinite(high) else (None, None)
            dots.append(
                {
                    "label": words.printable(row.get("label", "")),
                    "kind": kind if kind in NAMES and kind else "none",
                    "truth": truth,
                    "found": found,
                    "low": ends[0],
                    "high": ends[1],
                }
            )
    shown = reach if column == "recovered" and math.isfinite(reach) else None
    return {"title": title, "dots": dots, "most": most, "reach": shown}


def _number(row: Mapping[str, Any], name: str) -> float:
    """A number of an untrusted file; NaN if it is none."""
    value = row.get(name)
    if isinstance(value, bool) or value is None:
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan
