"""Texts of the crop audit, for terminal and page."""

import math

import pandas as pd

from gslopes.ask.boxes import RECTANGLE
from gslopes.core.reasons import counted
from gslopes.core.tables import Record, records
from gslopes.crops.config import ABOVE, CONSTANT
from gslopes.frame.spec import Headline, Tables
from gslopes.report import caution, numbers
from gslopes.report.words import many, printable
from gslopes.stats.multiplicity import is_finding
from gslopes.stats.rounding import sort_key


def by_itself(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the crop that a cropper gives by itself: its rectangle, or that around the highest score."""
    return rows[rows["policy"].isin(["argmax", RECTANGLE])]


def favoured(parity: pd.DataFrame) -> pd.DataFrame:
    """Of these the rows on who is favoured."""
    rows = by_itself(parity)
    return rows[rows["outcome"] == "favoured"]


def main_rows(parity: pd.DataFrame) -> pd.DataFrame:
    """The rows that head the page: who is favoured by each cropper's own joined pictures."""
    rows = favoured(parity)
    first = (rows[rows["variant"].str.startswith(start)] for start in ("native", "height"))
    chosen = next((chosen for chosen in first if len(chosen)), rows)
    return chosen[
        chosen["variant"] == min(chosen["variant"], key=len, default="")
    ]  # side by side before stacked


def larger_first(row: Record) -> Record:
    """A row of PARITY with the group first that has the larger share."""
    if not row["p"] < 0.5:
        return row
    turned = {"group": row["other"], "other": row["group"], "p": 1 - row["p"]}
    return {**row, **turned, "ci_low": 1 - row["ci_high"], "ci_high": 1 - row["ci_low"]}


def ends(row: Record) -> str:
    """A share's interval; without one, words."""
    return numbers.share_range(row["ci_low"], row["ci_high"]) or "no interval"


NOTHING = "No picture has an answer: nothing is known of any cropper."


def headline_of(tables: Tables) -> Headline:
    """Of the pairs of groups that can be judged, the one that is shown best to be uneven."""
    head = main_rows(tables["parity"])
    asked = tables["pairs"]
    silent = set(asked["cropper"]) - set(asked.loc[asked["status"] == "answered", "cropper"])
    sentence = headline(head[~head["cropper"].isin(silent)])
    names = ", ".join(sorted(silent))
    return Headline(
        f"{sentence} No answer from {printable(names)}."
        if names and sentence != NOTHING
        else sentence
    )


def headline(head: pd.DataFrame) -> str:
    """The finding in one sentence: of all croppers, the pair of groups that is shown most clearly not to be even.

    It is so by ``stats.multiplicity.is_finding`` against 1/2.

    head: rows of PARITY, as ``main_rows`` gives them.
    """
    if head.empty:
        return NOTHING
    judged = head[head["note"] == ""]
    if judged.empty and head["note"].str.startswith(CONSTANT).any():
        return "People do not differ: a crop treats all of them alike."
    if judged.empty:
        return f"Too few people to say whom a crop keeps: {printable(head['note'].iloc[0])}."
    uneven = judged[is_finding(judged["q"], judged["ci_low"], judged["ci_high"], null=0.5)]
    if uneven.empty:
        return printable(f"{_none(judged)}.")
    order = uneven.assign(_flat=-(uneven["p"] - 0.5).abs()).sort_values(
        ["q", "_flat"], kind="stable", key=sort_key
    )
    best = larger_first(records(order)[0])
    pair = f"{best['cropper']} favours {best['group']} over {best['other']}, in {numbers.share(best['p'], 0)} of pairs"
    return printable(f"{pair} ({ends(best)}; {best['persons'] + best['other_persons']:,} people).")


def _none(judged: pd.DataFrame) -> str:
    """The sentence, without its full stop, where no pair of groups is uneven: none is, or it cannot be said."""
    pairs = []
    for row in map(larger_first, records(judged)):
        name = f"{row['group']} over {row['other']} {numbers.share(row['p'])} ({ends(row)})"
        low = 100 * row["ci_low"] - 50
        high = 100 * row["ci_high"] - 50
        n = int(row["persons"] + row["other_persons"])
        name += f", q {numbers.probability(row['q'])}" * (low > 0 or high < 0)
        pairs.append(caution.Nothing(name, low, high, n, caution.points(0.5), ""))
    unclear = sum(not pair.clear for pair in pairs)
    several = judged["cropper"].nunique() > 1
    cropper = judged["cropper"].iloc[0]
    widest = caution.widest(pairs)
    people = many(widest.n, "person", "people")
    if unclear:
        which = "any of the croppers" if several else cropper
        some = "" if len(pairs) == 1 else f", in {unclear:,} of {many(len(pairs), 'pair')}"
        return f"Cannot tell with {people} whether {which} favours one group over another{some}: {widest.name}"
    which = "None of the croppers favours" if several else f"{cropper} does not favour"
    return f"{which} one group over another ({people}; widest: {widest.name})"


def side_effect(left: float, variant: str = "") -> str:
    """Whether it matters on which side a person is.  left: share of wins on the left, or above, less a half."""
    side = "upper" if variant.endswith(ABOVE) else "left"
    if math.isnan(left):
        return "No picture has an answer"
    if round(1000 * left) == 0:
        return f"The {side} person wins half of the time"
    return f"The {side} person wins {numbers.size(100 * left)} points {'more' if left > 0 else 'less'} often than half"


def lost(pairs: pd.DataFrame) -> str:
    """How many pictures were refused and failed, and why.  pairs: rows of PAIRS, one cropper's."""
    parts = []
    for status in ("refused", "failed"):
        rows = pairs[pairs["status"] == status]
        why = f" ({counted(zip(rows['reason'], rows['detail'], strict=True))})" if len(rows) else ""
        parts.append(f"{len(rows):,} {status}{why}")
    return " and ".join(parts)


def judged(tables: Tables) -> pd.DataFrame:
    """Who is favoured, of each pair of groups and cropper: the rows that head the page.

    value is 100 (P - 1/2), P the chance that one of the first group is favoured over one of the other; n are pairs of
    people.
    """
    rows = main_rows(tables["parity"])
    shares = (("value", "p"), ("ci_low", "ci_low"), ("ci_high", "ci_high"))
    from_even = {name: 100 * (rows[share] - 0.5) for name, share in shares}
    contrast = rows["column"] + ": " + rows["group"] + " over " + rows["other"]
    names = {
        "model": rows["cropper"],
        "contrast": contrast,
        "label": "favoured, " + rows["variant"],
    }
    unit = "percentage points over an even 50 %"
    return pd.DataFrame(
        {
            **names,
            "n": rows["pairs"],
            **from_even,
            "unit": unit,
            "q": rows["q"],
            "reason": rows["note"],
        }
    )
