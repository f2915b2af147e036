"""The sentences of the context audit's page: what was found, and what it does not tell."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from gslopes.report import words

MINUS = "−"
LIMITS = (
    "Inferred gender is what a tagger's words say. It is compared with what people say of themselves, and is no truth "
    "about anybody.",
    "The pictures are staged: people are cut out of a studio photo; their light and colour stay as they were.",
    "An association under this exchange of backgrounds; other rooms, people and taggers may show another.",
)


def number(value: float, digits: int = 1) -> str:
    """A number with its sign, a true minus, and no minus zero.

    >>> number(-0.04), number(-3.25), number(2)
    ('0.0', '−3.2', '+2.0')
    """
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        return text[1:]
    return text.replace("-", MINUS)


def span(low: float, high: float) -> str:
    """An interval as it stands in a sentence.

    >>> span(-1.24, 3)
    '[−1.2, +3.0]'
    """
    return f"[{number(low)}, {number(high)}]"


def main_rows(found: Mapping[str, pd.DataFrame], gender: str = "all") -> pd.DataFrame:
    """The congruence slopes of the share of right answers, gross, a row a classifier; those that are known."""
    rows = found.get("congruence")
    if rows is None or not len(rows):
        return pd.DataFrame()
    at = (rows["measure"] == "correct") & (rows["gender"] == gender) & (rows["group"] == "all")
    rows = rows[at & (rows["tags"] == "gross") & (rows["estimator"] == "person")]
    return rows[rows["slope"].notna()]


def headline(found: Mapping[str, pd.DataFrame]) -> str:
    """The sentence of the result with its interval: the steepest congruence slope, and how many taggers have one.

    Its unit: points per unit of congruence, of which a context that fits wholly has 1 and one that does not fit -1.
    """
    rows = main_rows(found)
    if not len(rows):
        return "No slope on congruence: that needs two contexts of different rating, and a tagger that names genders."
    varied = rows[(rows["slope"] != 0) | (rows["ci_low"] < rows["ci_high"])]
    if not len(varied):
        who = words.printable(rows["classifier"].iloc[0]) if len(rows) == 1 else f"Each of {len(rows)} taggers"
        same = "infers the same of every person before every context"
        return f"{who} {same}: nothing varies, so there is no slope to judge."
    rows = varied
    clear = rows[(rows["ci_low"] > 0) | (rows["ci_high"] < 0)]
    row = (clear if len(clear) else rows).iloc[int((clear if len(clear) else rows)["slope"].abs().to_numpy().argmax())]
    name = words.printable(row["classifier"])
    numbers = f"{number(row['slope'])} points per unit of congruence {span(row['ci_low'], row['ci_high'])}"
    if not len(clear):
        who = name if len(rows) == 1 else f"each of {len(rows)} taggers"
        steepest = "" if len(rows) == 1 else f" at most, of {name}"
        return (
            f"No association was found between how well a context fits a person's gender and how often {who} infers "
            f"it: {numbers}{steepest}."
        )
    moves = "more" if row["slope"] > 0 else "less"
    lead = f"{name} infers the self-reported gender {moves} often where the context fits it: {numbers}"
    if len(rows) == 1:
        return f"{lead}."
    return f"{lead}; {len(clear)} of {len(rows)} taggers have an interval without 0."


def beside(found: Mapping[str, pd.DataFrame]) -> str:
    """Does the context decide more than the face?  One sentence, if there is a sweep; else empty."""
    rows = found.get("interaction")
    if rows is None or not len(rows):
        return ""
    rows = rows[(rows["label"] == "inferred woman") & (rows["tags"] == "gross")]
    rows = rows[rows["effect"].notna() & rows["face"].notna()] if len(rows) else rows
    if not len(rows):
        return ""
    row = rows.iloc[int(rows["effect"].abs().to_numpy().argmax())]
    many = int((rows["classifier"] == row["classifier"]).sum())
    least, most = {}, {}
    for name in ("effect", "face"):
        ends = float(row[f"{name}_low"]), float(row[f"{name}_high"])
        least[name] = 0.0 if ends[0] <= 0 <= ends[1] else min(map(abs, ends))
        most[name] = max(map(abs, ends))
    verdict = "The intervals do not tell which decides more."
    for name, other, word in (("effect", "face", "context"), ("face", "effect", "face")):
        if least[name] > most[other]:
            verdict = f"Here the {word} decides more."
    return (
        f"Of {many} backgrounds the one that moves {words.printable(row['classifier'])} most, "
        f"{words.printable(row['background'])}, changes the share inferred woman by {number(row['effect'])} points "
        f"{span(row['effect_low'], row['effect_high'])}; the face alone, from feminine (−1) to masculine (+1), by "
        f"{number(row['face'])} {span(row['face_low'], row['face_high'])}. {verdict}"
    )


def counts(found: Mapping[str, pd.DataFrame]) -> str:
    """Who stands where, and what was left out."""
    backgrounds, composites, cutouts = found["backgrounds"], found["composites"], found["cutouts"]
    used = backgrounds[backgrounds["status"] == "used"]
    people = found["people"]
    shown = people[people["photo"].isin(composites.loc[composites["kind"] == "context", "photo"])]
    contexts = used["context"].nunique()
    each = len(used) / max(contexts, 1)
    text = f"{shown['person'].nunique():,} people before {contexts} contexts"
    text += (
        f", {each:g} backgrounds each."
        if each > 1
        else "; one background each, so intervals are about people, not about such rooms."
    )
    flagged = int((cutouts["status"] == "flagged").sum())
    out = people["photo"].nunique() - shown["photo"].nunique()
    if out:
        which = "" if flagged == out else f", {flagged:,} of them"
        text += f" {out:,} photos are left out{which} for a cut-out that failed a check."
    skipped = int((backgrounds["status"] != "used").sum())
    return text + (f" {skipped:,} backgrounds are left out." if skipped else "")


def credit_line(found: Mapping[str, pd.DataFrame]) -> str:
    """Who made the backgrounds that are shown, and under which licence; empty if nobody must be named."""
    rows = found["backgrounds"]
    rows = rows[(rows["status"] == "used") & (rows["creator"] != "") & (rows["creator"] != "gslopes")]
    named = dict.fromkeys(f"{row['context']} by {row['creator']}, {row['licence']}" for row in rows.to_dict("records"))
    return f"Backgrounds: {words.printable('; '.join(named))}." if named else ""


def typologies(found: Mapping[str, pd.DataFrame]) -> list[str]:
    """Which dictionary sorted which tagger's words, and how many it does not know."""
    rows = found.get("typologies")
    if rows is None:
        return []
    return [
        f"{words.printable(row['classifier'])}: typology {words.printable(row['name'])} "
        f"{words.printable(row['version'])}{' (partial)' if row['partial'] else ''}; "
        + (
            f"{row['unassigned']:.0%} of its tags are in no cluster."
            if math.isfinite(row["unassigned"])
            else "no tags."
        )
        for row in rows.to_dict("records")
    ]
