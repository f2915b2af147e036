"""Finding or none: the decision that the fit took about each label, in the words that every table and page shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from gslopes.core import placebo
from gslopes.report import numbers, words
from gslopes.slopes.expected import is_expected
from gslopes.stats.multiplicity import LEVEL

FINDING, PLACEBO, OPEN, NONE, UNJUDGED = CODES = ("finding", "placebo", "open", "none", "unjudged")

# What a table says, and what the glossary says about it.
SHOWN = {
    FINDING: "finding",
    PLACEBO: "like the placebo",
    OPEN: "open",
    NONE: "no finding",
    UNJUDGED: "not judged",
}
ABOUT = {
    FINDING: f"q is below {LEVEL:g}, and the slope differs from that of every placebo sweep.",
    PLACEBO: "The label moves, but not surely further than in a placebo sweep, where the attribute does not change.",
    OPEN: "The label moves, but what would settle it is missing: placebo sweeps, or answers that were refused.",
    NONE: "The label does not move more than chance explains.",
    UNJUDGED: "Too few photos change their answer to say anything.",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """One label's: its code, and why it is no finding (empty if it is one).

    expected: whether the label names the attribute itself, see ``slopes.expected``; it is shown below the others.
    """

    code: str
    why: str
    expected: bool = False

    @property
    def moves(self) -> bool:
        """Whether the label moves beyond chance, and nothing speaks against it."""
        return self.code in (FINDING, OPEN)

    @property
    def shown(self) -> str:
        """The decision as tables have it."""
        return f"{SHOWN[self.code]}, expected" if self.expected else SHOWN[self.code]


def by_pair(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """(classifier, attribute, its rows, those of its placebo sweeps), sorted, of a table with these two columns."""
    real = rows[~placebo.among(rows["attribute"])]
    for (classifier, attribute), part in real.groupby(["classifier", "attribute"], sort=True):
        fake = (rows["classifier"] == classifier) & rows["attribute"].isin(placebo.names(str(attribute)))
        yield str(classifier), str(attribute), part, rows[fake]


def decide(rows: pd.DataFrame, floor: pd.DataFrame) -> dict[str, Decision]:
    """Label to decision.

    rows: those to read of one classifier and attribute.  floor: those of its placebo sweeps.

    Taken from the columns ``decision`` and ``detail`` that the fit wrote.  A run that was fitted before they existed is
    judged here: q below 0.05, and an interval that does not overlap that of a placebo sweep.
    """
    found = _decided(rows, floor)
    named = dict(zip(map(str, rows["label"]), _expected(rows), strict=True))
    return {label: replace(one, expected=named[label]) for label, one in found.items()}


def _expected(rows: pd.DataFrame) -> list[bool]:
    """Whether each label names the attribute, as the fit marked it; of an older run by the default list."""
    if "expected" in rows and rows["expected"].notna().any():
        return [bool(one) for one in rows["expected"]]
    if "attribute" not in rows:
        return [False] * len(rows)
    return [is_expected(str(label), str(name)) for label, name in zip(rows["label"], rows["attribute"], strict=True)]


def _decided(rows: pd.DataFrame, floor: pd.DataFrame) -> dict[str, Decision]:
    if "decision" in rows and rows["decision"].notna().any():
        detail = rows["detail"] if "detail" in rows else rows["note"]
        return {
            str(label): Decision(str(code) if code in CODES else UNJUDGED, "" if code == FINDING else _text(why))
            for label, code, why in zip(rows["label"], rows["decision"], detail, strict=True)
        }
    floors = {str(label): part for label, part in floor.groupby("label")}
    return {
        str(row["label"]): _decide(row, floors.get(str(row["label"])), len(floor) > 0) for _, row in rows.iterrows()
    }


def counts(decisions: Mapping[str, Decision]) -> dict[str, int]:
    """Code to number of labels, every code."""
    return {code: sum(one.code == code for one in decisions.values()) for code in CODES}


def _decide(row: pd.Series, floors: pd.DataFrame | None, compared: bool) -> Decision:
    if _text(row["note"]) or pd.isna(row["slope"]):
        return Decision(UNJUDGED, _text(row["note"]) or "no slope")
    if not row["q"] < LEVEL:
        return Decision(NONE, f"q {numbers.probability(row['q'])}")
    if not compared:
        return Decision(OPEN, "no placebo sweep was run")
    for _, other in () if floors is None else floors.iterrows():
        ends = other["ci_low"], other["ci_high"]
        if np.isfinite(ends).all() and ends[0] <= row["ci_high"] and row["ci_low"] <= ends[1]:
            kind = placebo.TEXTS.get(placebo.split(other["attribute"])[1], "a placebo")
            return Decision(PLACEBO, f"{kind}: {numbers.points(other['slope'])} {numbers.interval(*ends)}")
    return Decision(FINDING, "")


def _text(value: object) -> str:
    return "" if value is None or pd.isna(value) else words.printable(value)  # type: ignore[call-overload]
