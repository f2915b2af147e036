"""Texts of the crop audit, for terminal and page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.report.words import printable, probability

RECTANGLE = "rectangle"
LIMITS = (
    "Parity of counts does not show that a crop is harmless: any crop of two people leaves somebody out, and who is "
    "cropped in which context matters more than how often.",
    "The authors of the method conclude that the choice belongs to people: let them set the crop, or do not crop.",
    "The interval is over people: it tells what another sample of people from the same source would give, not what "
    "photos from elsewhere would.",
    "A group is what the table of people says; how that is known stands above. Two genders and a few words for "
    "ethnicity are a coarse way to speak of people.",
    "That a difference goes along with contrast or light does not justify it.",
)


def main_rows(parity: pd.DataFrame) -> pd.DataFrame:
    """The rows that head the page: who is favoured by each cropper's own joined pictures."""
    joined = ~parity["variant"].str.startswith("alone,")
    chosen = parity[joined & parity["policy"].isin(["argmax", RECTANGLE]) & (parity["outcome"] == "favoured")]
    return chosen if len(chosen) else parity[(parity["policy"] == "argmax") & (parity["outcome"] == "favoured")]


def percent(value: float, digits: int = 1) -> str:
    """A share in per cent; a dash where there is none."""
    return "–" if math.isnan(value) else f"{100 * value:.{digits}f} %".replace("-", "−")


def interval(low: float, high: float) -> str:
    """Both ends in per cent."""
    return "" if math.isnan(low) or math.isnan(high) else f"{100 * low:.1f} to {100 * high:.1f} %".replace("-", "−")


def ratio(row: Mapping[Any, Any]) -> str:
    """Disparate impact with its interval."""
    if math.isnan(row["ratio"]):
        return "–"
    unknown = math.isnan(row["ratio_low"]) or math.isnan(row["ratio_high"])
    return f"{row['ratio']:.2f}" + ("" if unknown else f" ({row['ratio_low']:.2f} to {row['ratio_high']:.2f})")


def print_parity(parity: pd.DataFrame, positions: pd.DataFrame) -> str:
    """What the terminal shows: each pair of groups, then the effect of the side."""
    lines = []
    for (cropper, column), rows in main_rows(parity).groupby(["cropper", "column"], sort=True):
        lines.append(f"{printable(cropper)}, {printable(column)}: who is favoured")
        for row in rows.to_dict("records"):
            verdict = row["note"] or f"lack of parity {row['verdict']}"
            lines.append(
                f"  {printable(row['group'])} over {printable(row['other'])}: {percent(row['p'])} "
                f"({interval(row['ci_low'], row['ci_high'])} over {row['persons']} and {row['other_persons']} people), "
                f"p {probability(row['p_value'])}, q {probability(row['q'])}, ratio {ratio(row)}: {verdict}"
            )
        lines.append("")
    for row in positions.to_dict("records"):
        away = f"{100 * row['left']:+.1f}".replace("-", "−")
        lines.append(
            f"{printable(row['cropper'])}: the left person wins {away} points more often than half "
            f"({interval(row['ci_low'], row['ci_high'])}); {row['ties']:,} ties, {row['failed']:,} failed of "
            f"{row['pictures'] + row['failed']:,} pictures"
        )
    return "\n".join(lines)
