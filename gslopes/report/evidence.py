"""What a terminal shows after a fit: slopes with intervals, permutation p, q, and where the paper's p disagrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.core import placebo
from gslopes.report import words
from gslopes.report.tables import aligned, print_table

READING = "photo-rate"
Rows = Mapping[tuple[str, str, str], "pd.Series[Any]"]
FLOOR = ("same picture", "light alone", "random change")  # the columns of placebo sweeps, in the order of placebo.KINDS
HEADER = ("label", "slope [95 % interval]", "p_perm", "q", "n", "active", "centre", "paper's z", "paper's p", "")

NOTE = """\
slope: mean over photos of each photo's own slope of presence, percentage points per unit of the attribute (photo-rate).
Interval: 95 %, t over photos; those of the bootstrap are in the slopes table. p_perm: permutation of each photo's
answers over the values, null hypothesis: they are exchangeable. q: {q},
over the classifier's labels. paper's z: relative slope of Joo and Kärkkäinen (2020), p from t with K-2 degrees.
{marked} ! the paper's p and p_perm disagree at {alpha:g}."""
FLOOR_NOTE = """
same picture, light alone: the slope of the same label where nothing is edited (the picture at 0 encoded K times), and
where the masked region only gets darker or lighter by as much as the edit changes it: the classifier's noise floor."""
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
    reading, floor = _without_placebo(reading)
    others = slopes[slopes["estimator"] == "paper"]
    paper = {(row["classifier"], row["attribute"], row["label"]): row for _, row in others.iterrows()}
    parts = reading.groupby(["classifier", "attribute"], sort=True)
    blocks = [_block(part, paper, floor, q, limit) for _, part in parts]
    adjusted = _ADJUSTED[correction] if reading["p_perm"].notna().any() else _ADJUSTED[correction].replace("_perm", "")
    note = NOTE.format(q=adjusted, alpha=alpha, marked=f"* q < {q:g}.")
    return "\n\n".join([*blocks, note + (FLOOR_NOTE if floor else "")])


def _without_placebo(reading: pd.DataFrame) -> tuple[pd.DataFrame, Rows]:
    """(the rows of real sweeps, those of placebo sweeps by classifier, placebo's name and label)."""
    fake = reading["attribute"].map(lambda name: bool(placebo.split(name)[1])).astype(bool)
    rows = {(row["classifier"], row["attribute"], row["label"]): row for _, row in reading[fake].iterrows()}
    return reading[~fake], rows


def _block(part: pd.DataFrame, paper: Rows, floor: Rows, level: float, limit: int) -> str:
    first = part.iloc[0]
    negative, positive = words.ends(first["attribute"])
    title = (
        f"{words.printable(first['classifier'])}: slope of each label along {words.perceived(first['attribute'])}, "
        f"from {negative} (negative) to {positive} (positive)"
    )
    judged = part[part["note"].fillna("") == ""]
    judged = judged.assign(_plain=~(judged["q"] < level), _flat=-judged["t"].abs())
    shown = judged.sort_values(["_plain", "_flat", "label"])[:limit].sort_values(["slope", "label"])
    beside = FLOOR if any(key[1] in placebo.names(first["attribute"]) for key in floor) else ()
    header = [*HEADER[:-1], *beside, HEADER[-1]]
    cells = [_cells(row, paper, level) for _, row in shown.iterrows()]
    if beside:
        cells = [[*c[:-1], *_floor(row, floor), c[-1]] for c, (_, row) in zip(cells, shown.iterrows(), strict=True)]
    lines = [title, *aligned([header, *cells])]
    if len(judged) > limit:
        lines.append(f"  and {len(judged) - limit:,} labels with less evidence, which are in the slopes table")
    rest = part[part["note"].fillna("") != ""]
    for note, labels in rest["label"].groupby(rest["note"]):
        names = ", ".join(words.printable(label) for label in labels[:10])
        lines.append(f"  {note}: {names}{f' and {len(labels) - 10:,} more' if len(labels) > 10 else ''}")
    return "\n".join(lines)


def _floor(row: pd.Series[Any], floor: Rows) -> list[str]:
    """The slopes of the same label in the placebo sweeps, with their intervals; 0 where it was never returned."""
    found = [floor.get((row["classifier"], name, row["label"])) for name in placebo.names(row["attribute"])]
    return [
        "0" if one is None
        else f"{words.signed(one['slope'])} [{words.signed(one['ci_low'])}, {words.signed(one['ci_high'])}]"
        for one in found
    ]  # fmt: skip


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
