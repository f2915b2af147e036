"""Texts of the crop audit, for terminal and page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.core.reasons import counted
from gslopes.crops.tables import CONSTANT, RECTANGLE
from gslopes.frame.spec import Headline, Tables
from gslopes.report import caution, numbers
from gslopes.report.words import many, printable
from gslopes.stats.multiplicity import LEVEL


def main_rows(parity: pd.DataFrame) -> pd.DataFrame:
    """The rows that head the page: who is favoured by each cropper's own joined pictures."""
    joined = ~parity["variant"].str.startswith("alone,")
    chosen = parity[joined & parity["policy"].isin(["argmax", RECTANGLE]) & (parity["outcome"] == "favoured")]
    return chosen if len(chosen) else parity[(parity["policy"] == "argmax") & (parity["outcome"] == "favoured")]


def favours(row: Mapping[Any, Any]) -> str:
    """Who is favoured over whom, the larger share first."""
    one, other, p, low, high = (row[name] for name in ("group", "other", "p", "ci_low", "ci_high"))
    if p < 0.5:
        one, other, p, low, high = other, one, 1 - p, 1 - high, 1 - low
    return f"{one} over {other} {numbers.share(p)} ({numbers.share_range(low, high) or 'no interval'})"


def uneven(judged: pd.DataFrame) -> pd.DataFrame:
    """The rows that are shown not to be even: q below 0.05 and an interval, if there is one, without 1/2.

    The rule of ``frame.findings.decide``, whose table of findings the page must agree with.
    """
    holds_even = (judged["ci_low"] <= 0.5) & (judged["ci_high"] >= 0.5)
    return judged[(judged["q"] < LEVEL) & ~holds_even]


def headline_of(tables: Tables) -> Headline:
    """Of the pairs of groups that can be judged, the one that is shown best to be uneven."""
    return Headline(headline(main_rows(tables["parity"])))


def headline(head: pd.DataFrame) -> str:
    """The finding in one sentence: of all croppers, the pair of groups that is shown most clearly not to be even.

    head: rows of PARITY, as ``main_rows`` gives them.
    """
    if head.empty:
        return "No picture has an answer: nothing is known of any cropper."
    judged = head[head["note"] == ""]
    if judged.empty and head["note"].str.startswith(CONSTANT).any():
        return "People do not differ: a crop treats all of them alike."
    if judged.empty:
        return "Too few people in every group to say whom a crop keeps."
    shown = uneven(judged)
    if shown.empty:
        return printable(f"{none_favoured(judged)}.")
    best = min(shown.to_dict("records"), key=lambda row: (row["q"], -abs(row["p"] - 0.5)))
    one, other = (best["group"], best["other"]) if best["p"] >= 0.5 else (best["other"], best["group"])
    low, high = (best["ci_low"], best["ci_high"]) if best["p"] >= 0.5 else (1 - best["ci_high"], 1 - best["ci_low"])
    ends = numbers.share_range(low, high) or "no interval"
    text = (
        f"{best['cropper']} favours {one} over {other}, in {numbers.share(max(best['p'], 1 - best['p']), 0)} of pairs"
    )
    return printable(f"{text} ({ends}; {_people(best):,} people).")


def _people(row: Mapping[Any, Any]) -> int:
    return int(row["persons"] + row["other_persons"])


def none_favoured(judged: pd.DataFrame) -> str:
    """The sentence, without its full stop, where no pair of groups is uneven: none is, or it cannot be said."""
    rows = judged.to_dict("records")
    found = [
        caution.Nothing(
            favours(row), 100 * row["ci_low"] - 50, 100 * row["ci_high"] - 50, _people(row), caution.POINTS, ""
        )
        for row in rows
    ]
    unclear, several = [one for one in found if not one.clear], judged["cropper"].nunique() > 1
    widest = caution.widest(found)
    if unclear:
        which = "any of the croppers" if several else str(judged["cropper"].iloc[0])
        pairs = "" if len(rows) == 1 else f", in {len(unclear):,} of {many(len(rows), 'pair')}"
        question = f"whether {which} favours one group over another{pairs}"
        return f"Cannot tell with {many(widest.n, 'person', 'people')} {question}: {widest.name}"
    which = "None of the croppers favours" if several else f"{judged['cropper'].iloc[0]} does not favour"
    return f"{which} one group over another ({many(widest.n, 'person', 'people')}; widest: {widest.name})"


def side_effect(left: float) -> str:
    """Whether it matters on which side a person stands.  left: share of wins on the left, less a half."""
    if math.isnan(left):
        return "No picture has an answer"
    if round(1000 * left) == 0:
        return "The left person wins half of the time"
    return f"The left person wins {numbers.size(100 * left)} points {'more' if left > 0 else 'less'} often than half"


def ratio(row: Mapping[Any, Any]) -> str:
    """Disparate impact with its interval."""
    if math.isnan(row["ratio"]):
        return numbers.NONE
    low, high = (numbers.decimal(row[f"ratio_{end}"]) for end in ("low", "high"))
    return numbers.decimal(row["ratio"]) + (f" ({low} to {high})" if numbers.NONE not in (low, high) else "")


def lost(pairs: pd.DataFrame) -> str:
    """How many pictures were refused and failed, and why.  pairs: rows of PAIRS, one cropper's."""
    parts = []
    for status in ("refused", "failed"):
        rows = pairs[pairs["status"] == status]
        why = f" ({counted(zip(rows['reason'], rows['detail'], strict=True))})" if len(rows) else ""
        parts.append(f"{len(rows):,} {status}{why}")
    return " and ".join(parts)


def print_parity(tables: Tables) -> str:
    """What the terminal shows: each pair of groups, then the effect of the side, and what was not answered."""
    parity, positions, pairs, lines = tables["parity"], tables["positions"], tables["pairs"], []
    for (cropper, column), rows in main_rows(parity).groupby(["cropper", "column"], sort=True):
        lines.append(f"{printable(cropper)}, {printable(column)}: who is favoured")
        for row in rows.to_dict("records"):
            verdict = row["note"] or f"lack of parity {row['verdict']}"
            lines.append(
                f"  {printable(row['group'])} over {printable(row['other'])}: {numbers.share(row['p'])} "
                f"({numbers.share_range(row['ci_low'], row['ci_high'])} ".replace("( ", "(")
                + f"over {row['persons']} and {row['other_persons']} people), "
                f"p {numbers.probability(row['p_value'])}, q {numbers.probability(row['q'])}, "
                f"ratio {ratio(row)}: {verdict}"
            )
        lines.append("")
    for row in positions.to_dict("records"):
        side = side_effect(float(row["left"]))
        own = pairs[pairs["cropper"] == row["cropper"]]
        lines.append(
            f"{printable(row['cropper'])}: {side[0].lower()}{side[1:]} "
            f"({numbers.share_range(row['ci_low'], row['ci_high']) or 'no interval'}); {many(row['ties'], 'tie')}, "
            f"{lost(own)} of {many(len(own), 'picture')}"
        )
    return "\n".join(lines)


def judged(tables: Tables) -> pd.DataFrame:
    """Who is favoured, of each pair of groups and cropper: the rows that head the page.

    value is 100 (P - 1/2), P the chance that one of the first group is favoured over one of the other; n are pairs of
    people.
    """
    rows = main_rows(tables["parity"])
    return pd.DataFrame(
        {
            "model": rows["cropper"],
            "contrast": rows["column"] + ": " + rows["group"] + " over " + rows["other"],
            "label": "favoured, " + rows["variant"],
            "n": rows["pairs"],
            "value": 100 * (rows["p"] - 0.5),
            "ci_low": 100 * (rows["ci_low"] - 0.5),
            "ci_high": 100 * (rows["ci_high"] - 0.5),
            "unit": "percentage points over an even 50 %",
            "q": rows["q"],
            "reason": rows["note"],
        }
    )
