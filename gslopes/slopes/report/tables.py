"""Tables 1 and 2 of the paper as data frames, and the whole table of slopes as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from gslopes.report import numbers, words

P, SLOPE = 0.001, 0.03  # the paper's thresholds
HEADER = ("label", "slope [95 % interval]", "p", "q", "n", "active", "centre")

NO_LABEL = (
    "No classifier returned any label, so there is no slope. If its scores are below its threshold, give threshold=0: "
    "every label is then returned, and judged by its score."
)


def no_label(unanswered: Sequence[str] = ()) -> str:
    """Why there is no slope at all.  unanswered: see ``tally.unanswered``."""
    return " ".join(["No classifier returned any label.", *unanswered]) if unanswered else NO_LABEL


def past_thresholds(slopes: pd.DataFrame, *, p: float = P, slope: float = SLOPE) -> pd.Series[bool]:
    """Whether each row has a p-value below ``p`` and a slope of an absolute value above ``slope``."""
    return (slopes["p"] < p) & (slopes["slope"].abs() > slope)


def pulled(slopes: pd.DataFrame, *, p: float = P, slope: float = SLOPE) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables 1 and 2 of the paper: the labels pulled to the negative and to the positive end of the attribute.

    slopes: a data frame with the columns of core.tables.SLOPES.
    p, slope: thresholds; the defaults are the paper's.

    Returns two data frames with the same columns, in each classifier and attribute the steepest label first.

    Source: Joo & Kärkkäinen 2020, section 4.3 and Tables 1 and 2.
    """
    rows = slopes[past_thresholds(slopes, p=p, slope=slope)]
    rows = rows.assign(_flat=-rows["slope"].abs()).sort_values(["classifier", "attribute", "_flat", "label"])
    rows = rows.drop(columns="_flat")
    negative, positive = rows[rows["slope"] < 0], rows[rows["slope"] > 0]
    return negative.reset_index(drop=True), positive.reset_index(drop=True)


def why_no_slope(row: pd.Series) -> str:
    """Why a row of the slopes table has no slope; empty if it has one."""
    if not pd.isna(row["slope"]):
        return ""
    return "no photo was answered at every value" if row["n"] == 0 else "never active at the centre"


def print_table(slopes: pd.DataFrame, *, limit: int = 60) -> str:
    """The slopes as aligned text: one block for each classifier and attribute, from the negative to the positive end.

    slopes: a data frame with the columns of core.tables.SLOPES.
    limit: rows a block; where there are more labels, the steepest of them, those past the paper's thresholds first,
        which are marked with a star.
    """
    pairs = slopes.groupby(["classifier", "attribute", "estimator"], sort=True)
    blocks = [_block(part, limit) for _, part in pairs]
    if not blocks:
        return NO_LABEL
    stars = f"* p < {P:g} and |slope| > {SLOPE:g}."
    return "\n\n".join([*blocks, f"{words.ESTIMATOR}\n{stars}"])


def cells(row: pd.Series) -> list[str]:
    """One row as text, in the columns of ``HEADER``."""
    return [
        words.label(row["label"]),
        numbers.with_interval(row["slope"], row["ci_low"], row["ci_high"], numbers.signed),
        numbers.probability(row["p"]),
        numbers.probability(row["q"]),
        f"{row['n']:,}",
        f"{row['active']:,}",
        numbers.share(row["y_centre"]),
    ]


def _block(part: pd.DataFrame, limit: int) -> str:
    first = part.iloc[0]
    negative, positive = words.ends(first["attribute"])
    title = (
        f"{words.printable(first['classifier'])}: slope of each label along {words.perceived(first['attribute'])}, "
        f"from {negative} (negative) to {positive} (positive)"
    )
    judged = part[part["slope"].notna()]
    judged = judged.assign(_plain=~past_thresholds(judged), _flat=-judged["slope"].abs())
    shown = judged.sort_values(["_plain", "_flat", "label"])[:limit].sort_values(["slope", "label"])
    rows = [[*cells(row), "" if row["_plain"] else "*"] for _, row in shown.iterrows()]
    lines = [title, *aligned([[*HEADER, ""], *rows])]
    if len(judged) > limit:
        lines.append(f"  and {words.many(len(judged) - limit, 'less steep label')}: see the slopes table")
    return "\n".join([*lines, *_without_slope(part)])


def _without_slope(part: pd.DataFrame, most: int = 10) -> list[str]:
    """One line for each reason, naming its labels."""
    rows = part[part["slope"].isna()]
    lines = []
    reasons = pd.Series([why_no_slope(row) for _, row in rows.iterrows()], index=rows.index, dtype=object)
    for reason, labels in rows["label"].groupby(reasons):
        names = ", ".join(words.label(label) for label in labels[:most])
        more = f" and {len(labels) - most:,} more" if len(labels) > most else ""
        lines.append(f"  no slope, {reason}: {names}{more}")
    return lines


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns padded to one width; the first to the left, the others to the right."""
    widths = [max(words.width(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        padding = [" " * (size - words.width(cell)) for size, cell in zip(widths, row, strict=True)]
        others = [gap + cell for gap, cell in zip(padding[1:], row[1:], strict=True)]
        lines.append("  ".join(["", row[0] + padding[0], *others]).rstrip())
    return lines
