"""What a terminal shows after a fit: slopes with intervals, permutation p, q, and where the paper's p disagrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.report import words
from gslopes.report.tables import aligned, print_table

READING = "photo-rate"
Rows = Mapping[tuple[str, str, str], "pd.Series[Any]"]
HEADER = ("label", "slope [95 % interval]", "p_perm", "q", "n", "active", "centre", "paper's z", "paper's p", "")

NOTE = """\
slope: mean over photos of each photo's own slope of presence, percentage points per unit of the attribute (photo-rate).
Interval: 95 %, t over photos; those of the bootstrap are in the slopes table. p_perm: permutation of each photo's
answers over the values, null hypothesis: they are exchangeable. q: {q},
over the classifier's labels. paper's z: relative slope of Joo and Kärkkäinen (2020), p from t with K-2 degrees.
{marked} ! the paper's p and p_perm disagree at {alpha:g}."""
_ADJUSTED = {
    "bh": "p_perm after Benjamini and Hochberg",
    "by": "p_perm after Benjamini and Yekutieli",
    "holm": "p_perm after Holm",
    "max-t": "family-wise, by max-T",
}


def print_evidence(
    slopes: pd.DataFrame, *, correction: str = "bh", alpha: float = 0.001, q: float = 0.05, limit: int = 60
) -> str:
    """The photo-rate slopes as aligned text, one block for each classifier and attribute; the paper's beside them.

    The interval is t's: of the three in the table it covers best for rare labels and few photos.
    Rows marked * have a q below ``q``; on those marked ! the paper's p and the permutations disagree at ``alpha``.
    Where the table holds no photo-rate rows, its other rows are printed as ``tables.print_table`` does.

    slopes: a data frame with the columns of core.tables.SLOPES.
    correction, alpha: as the fit had them, see ``fit.options``; they are only named here.  limit: rows a block.
    """
    reading = slopes[slopes["estimator"] == READING]
    if reading.empty:
        return print_table(slopes)
    others = slopes[slopes["estimator"] == "paper"]
    paper = {(row["classifier"], row["attribute"], row["label"]): row for _, row in others.iterrows()}
    parts = reading.groupby(["classifier", "attribute"], sort=True)
    blocks = [_block(part, paper, q, limit) for _, part in parts]
    adjusted = _ADJUSTED[correction] if reading["p_perm"].notna().any() else _ADJUSTED[correction].replace("_perm", "")
    note = NOTE.format(q=adjusted, alpha=alpha, marked=f"* q < {q:g}.")
    return "\n\n".join([*blocks, note])


def _block(part: pd.DataFrame, paper: Rows, level: float, limit: int) -> str:
    first = part.iloc[0]
    negative, positive = words.ends(first["attribute"])
    title = (
        f"{words.printable(first['classifier'])}: slope of each label along {words.perceived(first['attribute'])}, "
        f"from {negative} (negative) to {positive} (positive)"
    )
    judged = part[part["note"].fillna("") == ""]
    judged = judged.assign(_plain=~(judged["q"] < level), _flat=-judged["t"].abs())
    shown = judged.sort_values(["_plain", "_flat", "label"])[:limit].sort_values(["slope", "label"])
    lines = [title, *aligned([HEADER, *(_cells(row, paper, level) for _, row in shown.iterrows())])]
    if len(judged) > limit:
        lines.append(f"  and {len(judged) - limit:,} labels with less evidence, which are in the slopes table")
    rest = part[part["note"].fillna("") != ""]
    for note, labels in rest["label"].groupby(rest["note"]):
        names = ", ".join(words.printable(label) for label in labels[:10])
        lines.append(f"  {note}: {names}{f' and {len(labels) - 10:,} more' if len(labels) > 10 else ''}")
    return "\n".join(lines)


def _cells(row: pd.Series, paper: Rows, level: float) -> list[str]:
    interval = f"[{words.signed(row['ci_low'])}, {words.signed(row['ci_high'])}]"
    known = paper.get((row["classifier"], row["attribute"], row["label"]))
    marks = "*" if row["q"] < level else ""
    marks += "!" if known is not None and known["agreement"] in ("p only", "p_perm only") else ""
    return [
        words.printable(row["label"]),
        f"{words.signed(row['slope'])} {interval}",
        words.probability(row["p_perm"]),
        words.probability(row["q"]),
        f"{row['n']:,}",
        f"{row['active']:,}",
        f"{row['y_centre']:.1%}",
        "-" if known is None else words.signed(known["slope"]),
        "-" if known is None else words.probability(known["p"]),
        marks,
    ]
