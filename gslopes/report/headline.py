"""The finding in one plain sentence: the strongest label, and how many labels move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from gslopes.report import decisions, numbers, words
from gslopes.report.decisions import Decision


@dataclass(frozen=True, slots=True)
class Headline:
    """What the first screen says about one classifier and attribute.

    strongest: the label of the steepest finding; empty if there is none.  moves, still, unjudged: labels.
    """

    sentence: str
    strongest: str
    moves: int
    still: int
    unjudged: int


def headline(rows: pd.DataFrame, found: Mapping[str, Decision], attribute: str) -> Headline:
    """The sentence about one classifier along one attribute.

    rows: its photo-rate rows.  found: of ``decisions.decide``.
    """
    codes = [one.code for one in found.values()]
    unjudged = codes.count(decisions.UNJUDGED)
    moving = [label for label, one in found.items() if one.moves]
    judged, moves = len(codes) - unjudged, len(moving)
    if not moves:
        text = f"None of {_labels(judged)} moves with {words.perceived(attribute)} more than chance"
        text += " or a placebo explains" if decisions.PLACEBO in codes else " explains"
        if not judged:
            text = f"No label is frequent enough to say whether it moves with {words.perceived(attribute)}"
        return Headline(f"{text}.", "", 0, judged, unjudged)
    by_label = rows.drop_duplicates("label").set_index("label").loc[moving]
    order = by_label.assign(_size=by_label["slope"].abs(), _name=by_label.index).sort_values(
        ["_size", "_name"], ascending=[False, True]
    )
    first = order.iloc[0]
    end = words.ends(attribute)[0 if first["slope"] < 0 else 1]
    low, high = sorted(abs(first[x]) for x in ("ci_low", "ci_high"))
    sign = first["ci_low"] * first["ci_high"] > 0
    interval = f" {numbers.interval(low, high, numbers.size)}" if sign else ""
    name, size = words.printable(order.index[0]), numbers.size(first["slope"])
    text = f"“{name}” appears {size} points more often per step toward {end}{interval}; "
    text += f"{moves:,} of {_labels(judged)} move{'s' * (moves == 1)}"
    text += f", {judged - moves:,} do{'es' * (judged - moves == 1)} not" if judged > moves else ""
    if decisions.FINDING not in codes:
        text += f". Not settled: {found[str(order.index[0])].why or 'no placebo sweeps in this run'}"
    return Headline(f"{text}.", str(order.index[0]), moves, judged - moves, unjudged)


def _labels(many: int) -> str:
    return f"{many:,} label{'s' * (many != 1)}"
