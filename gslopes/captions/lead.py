"""What a captions audit judges, and what it says first: findings in sentences, one of each technique, never a total."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.frame.findings import is_significant
from gslopes.frame.spec import Headline, Tables
from gslopes.report import caution, numbers, words
from gslopes.words.wordlists import shipped

SENTENCES: dict[str, Any] = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text("utf-8"))
STAGES, GENDERS = SENTENCES["stages"], SENTENCES["genders"]
POINTS, ODDS = "percentage points", "log odds"


def tested(measures: pd.DataFrame, salience: pd.DataFrame) -> pd.DataFrame:
    """Differences between groups that have a q, in points, and of S2 in log odds.

    Words for people of a gender are left out of S1, S3 and S4 where genders are compared: that is what they are for.
    """
    rows = measures[(measures["unit"] == "pp") & measures["q"].notna()]
    gendered = rows["column"].str.contains("gender") & rows["technique"].isin(["S1", "S3", "S4"])
    people = {word for group in shipped()["gender-words"].groups.values() for word in group}
    named = rows["concept"].map(lambda concept: str(concept).rpartition(":")[2].partition(".")[0])
    rows = rows[~(gendered & named.isin(people))].assign(unit=POINTS)
    odds = salience[salience["eligible"]]
    odds = odds.assign(
        value=odds["coefficient"], kind="", captions="", truth="", technique="S2", unit=ODDS, reading="look"
    )
    return pd.concat([part for part in (rows, odds) if len(part)] or [rows], ignore_index=True)


def findings(tables: Tables) -> list[dict[str, Any]]:
    """Of each technique the difference with the smallest q, if below 0.05: its text, number and reading.

    Of the system's captions if any is there, else of its labels, and so on down the stages.
    """
    rows = tested(tables["measures"], tables["salience"])
    rows = rows[rows["q"].map(is_significant).astype(bool)]
    ranks = [-list(STAGES).index(stage) for stage in rows["stage"]]
    ordered = rows.assign(stage_rank=ranks, size=-rows["value"].abs()).sort_values(
        ["stage_rank", "q", "size", "concept"]
    )
    first = {str(row["technique"]): row for row in reversed(ordered.to_dict("records"))}
    return [_sentence(first[technique]) for technique in SENTENCES["findings"] if technique in first]


def judged(tables: Tables) -> pd.DataFrame:
    """Differences between groups of every technique, stage and concept, in the columns of ``core.summary.FINDINGS``.

    n are images.
    """
    rows = tested(tables["measures"], tables["salience"])
    truth = [f" ({' against '.join(filter(None, pair))})" for pair in zip(rows["captions"], rows["truth"], strict=True)]
    label = (rows["technique"] + " " + rows["kind"] + " " + rows["concept"]).str.split().str.join(" ")
    label += pd.Series(truth, rows.index, dtype=object).replace(" ()", "")
    contrast = rows["column"] + ": " + rows["group"] + " over " + rows["other"]
    columns = {name: rows[name] for name in ("n", "value", "ci_low", "ci_high", "unit", "q")}
    return pd.DataFrame(
        {"model": rows["stage"], "contrast": contrast, "label": label, **columns, "reason": rows["note"]}
    )


def headline_of(tables: Tables) -> Headline:
    """The first sentence of a run, and the technique that it is about."""
    leading = findings(tables)
    if leading:
        first = leading[0]
        ends = f"{first['interval']}, " if first["interval"] else "no interval, "
        sentence = f"{first['text'].removesuffix('.')} ({ends}{first['q']}, {first['n']})."
        return Headline(sentence, f"{first['technique']} ")
    rows, cases = tested(tables["measures"], tables["salience"]), len(tables["cases"])
    rows = rows[rows["unit"] == POINTS]
    if len(rows):
        return Headline(f"{_none(rows)}.")
    if cases:
        return Headline(f"No groups were compared; {words.many(cases, 'case waits', 'cases wait')} to be read.")
    return Headline("No groups were compared, and no case was found.")


def _none(rows: pd.DataFrame) -> str:
    """The sentence where no difference has q below 0.05: there is none, or it cannot be said."""
    differences = []
    for row in rows.to_dict("records"):
        low, high = row["ci_low"], row["ci_high"]
        name = f"{row['technique']} {words.printable(str(row['concept'])).partition('.')[0]}".strip()
        n, shown = int(row["n"]), f"{numbers.interval(low, high)} points"
        matters, why = caution.points(row["active"] / max(n, 1)), f"q {row['q']:.2g}" * (low > 0 or high < 0)
        differences.append(caution.Nothing(name, low, high, n, matters, shown, why))
    unclear, widest = [difference for difference in differences if not difference.clear], caution.widest(differences)
    if len(unclear) == len(differences):
        return caution.cannot_tell(widest, "whether captions differ between groups", "image")
    count = words.many(len(differences), "difference")
    if unclear:
        text = f"None of {count} between groups has q below 0.05; of {len(unclear):,} it cannot be said with"
        return f"{text} {words.many(widest.n, 'image')}: {caution.fits(widest)}"
    text = f"None of {count}" if len(differences) > 1 else "No difference"
    return f"{text} between groups has q below 0.05 ({caution.widely(widest, 'image')})"


def _sentence(row: Mapping[Any, Any]) -> dict[str, Any]:
    technique, value = str(row["technique"]), float(row["value"])
    scenario, _, last = str(row["concept"]).rpartition(":")
    concept = last if technique in ("S1", "D1") else str(row["concept"])
    concept = GENDERS.get(concept, (concept,))[0] if technique == "I2" else concept
    text = SENTENCES["findings"][technique].format(
        stage=STAGES.get(str(row["stage"]), str(row["stage"])),
        scenario=SENTENCES["scenarios"].get(scenario, "wrongly include"),
        concept=words.printable(concept).partition(".")[0].replace("_", " "),
        group=words.printable(row["group"]),
        other=words.printable(row["other"]),
        more="more" if value > 0 else "less",
        towards=words.printable(row["group" if value > 0 else "other"]),
        away=words.printable(row["other" if value > 0 else "group"]),
        size=numbers.size(value),
        value=numbers.ratio(value),
    )
    interval = numbers.interval(row["ci_low"], row["ci_high"], numbers.ratio if technique == "S2" else numbers.points)
    return {
        "text": f"{text[:1].upper()}{text[1:]}.",
        "interval": "" if interval == numbers.NONE else interval,
        "q": "q < 0.001" if row["q"] < 0.001 else f"q = {numbers.decimal(row['q'], 3)}",
        "n": words.many(int(row["n"]), "image"),
        "technique": technique,
        "reading": str(row["reading"]),
        "unit": str(row["unit"]),
        "number": (value, float(row["ci_low"]), float(row["ci_high"])),
    }
