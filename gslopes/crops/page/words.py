"""Texts of the crop audit, for terminal and page."""

from pandas import DataFrame

from gslopes.ask.boxes import RECTANGLE
from gslopes.core import Record
from gslopes.core.reasons import counted
from gslopes.core.tables import records
from gslopes.crops.config import CONSTANT, SENTENCES
from gslopes.frame.findings import surest
from gslopes.frame.spec import Headline, Tables
from gslopes.report import numbers
from gslopes.report.headline import Nothing, Sentences, points
from gslopes.report.words import printable
from gslopes.stats import multiplicity, rounding

HEADLINES = Sentences(SENTENCES["headline"])


def by_itself(rows: DataFrame) -> DataFrame:
    """Rows of the crop that a cropper gives by itself: its rectangle, or that around the highest score."""
    return rows[rows["policy"].isin(["argmax", RECTANGLE])]


def favoured(parity: DataFrame) -> DataFrame:
    """Of these the rows on who is favoured."""
    return by_itself(parity).query("outcome == 'favoured'")


def main_rows(parity: DataFrame) -> DataFrame:
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


def headline_of(tables: Tables) -> Headline:
    """Of the pairs of groups that can be judged, the one that is shown best to be uneven."""
    head = main_rows(tables["parity"])
    asked = tables["pairs"]
    silent = set(asked["cropper"]) - set(asked.query("status == 'answered'")["cropper"])
    head = head.query("cropper not in @silent")
    text = headline(head)
    if silent and len(head):
        text += HEADLINES.say("silent", names=printable(", ".join(sorted(silent))))
    return Headline(text)


def headline(head: DataFrame) -> str:
    """The finding in one sentence: of all croppers, the pair of groups that is shown most clearly not to be even.

    It is so by ``stats.multiplicity.is_finding`` against 1/2.

    head: rows of PARITY, as ``main_rows`` gives them.
    """
    if head.empty:
        return HEADLINES.say("no_answer")
    named = head[["cropper", "group", "other"]].map(printable)
    head = head.assign(**named)
    judged = head.query("note == ''")
    out = head.query("note != ''")["note"]
    if (head["note"] == CONSTANT).all():
        return HEADLINES.say("constant")
    if judged.empty:
        return HEADLINES.say("too_few", why=printable(out[out != CONSTANT].iloc[0]))
    uneven = judged[
        multiplicity.is_finding(judged["q"], judged["ci_low"], judged["ci_high"], null=0.5)
    ]
    if uneven.empty:
        text = HEADLINES.nothing(list(map(_nothing, records(judged))), "person", "people")
    else:
        text = _found(uneven)
    if len(out):
        text += HEADLINES.say("unjudged", len(out), why=out.mode()[0])
    return text


def _found(uneven: DataFrame) -> str:
    """Of rows that are findings the clearest."""
    order = rounding.ranked(uneven, surest(uneven), -(uneven["p"] - 0.5).abs())
    best = larger_first(records(order)[0])
    return HEADLINES.say(
        "found",
        row=best,
        share=numbers.share(best["p"], 0),
        exact=numbers.share(best["p"]),
        interval=ends(best),
        people=f"{best['persons'] + best['other_persons']:,}",
    )


def _nothing(row: Record) -> Nothing:
    """A pair of groups that is not shown to be uneven."""
    row = larger_first(row)
    low = 100 * row["ci_low"] - 50
    high = 100 * row["ci_high"] - 50
    name = f"{row['group']} over {row['other']} {numbers.share(row['p'])} ({ends(row)})"
    name += f", q {numbers.probability(row['q'])}" * (low > 0 or high < 0)
    people = int(row["persons"] + row["other_persons"])
    return Nothing(name, low, high, people, points(0.5), "")


def lost(pairs: DataFrame) -> str:
    """How many pictures were refused and failed, and why.  pairs: rows of PAIRS, one cropper's."""
    parts = []
    for status in ("refused", "failed"):
        rows = pairs.query("status == @status")
        why = f" ({counted(rows['reason'], rows['detail'])})" if len(rows) else ""
        parts.append(f"{len(rows):,} {status}{why}")
    return " and ".join(parts)


def judged(tables: Tables) -> DataFrame:
    """Who is favoured, of each pair of groups and cropper: the rows that head the page.

    value is 100 (P - 1/2), P the chance that one of the first group is favoured over one of the other; n are pairs of
    people.
    """
    rows = main_rows(tables["parity"])
    return rows.assign(
        model=rows["cropper"],
        contrast=[f"{row['column']}: {row['group']} over {row['other']}" for row in records(rows)],
        label="favoured, " + rows["variant"],
        said="favoured",
        n=rows["pairs"],
        unit="percentage points over an even 50 %",
        reason=rows["note"],
        value=100 * (rows["p"] - 0.5),
        ci_low=100 * (rows["ci_low"] - 0.5),
        ci_high=100 * (rows["ci_high"] - 0.5),
    )
