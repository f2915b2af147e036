"""What the page of a captions audit says first: findings in sentences, one of each technique, never a total."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.language.wordlists import shipped
from gslopes.report import caution, numbers, words

STAGES = {
    "human-labels": "human labels",
    "system-labels": "system labels",
    "human-captions": "human captions",
    "system-captions": "system captions",
}
# In this order: first how people are described, last what may come from what the photos show.
SENTENCES = {
    "D2": "People annotated {group} go unmentioned in {stage} {size} points {more} often than people annotated {other}",
    "E1": "People annotated {group} are missing from {stage} ({concept}) {size} points {more} often than {other}",
    "D3": "{stage} hold cases of {concept} {size} points {more} often for people annotated {group} than for {other}",
    "D4": "{stage} use {concept} as a noun {size} points {more} often for people annotated {group} than for {other}",
    "I2": "{stage} {concept} {size} points {more} often for people annotated {group} than for {other}",
    "I3": "{stage} name the {concept} of people annotated {group} {size} points {more} often than of {other}",
    "I1": "{stage} impose terms of {concept} {size} points {more} often on people annotated {group} than on {other}",
    "E2": "{stage} recall “{concept}” {size} points {more} often for people annotated {group} than for {other}",
    "E3": "{stage} say something generic for “{concept}” {size} points {more} often for {group} than for {other}",
    "R1": "In {stage}, {concept} come {size} points {more} often for people annotated {group} than {other}",
    "D1": "{stage} hold listed words ({concept}) {size} points {more} often for {group} than for {other}",
    "S2": "{stage} mention “{concept}” {more} often where it is shown with people annotated {group} than with {other}, "
    "size and place held fixed (log odds {value})",
    "S4": "{stage} move “{concept}” by {size} points towards people annotated {towards}, away from {away}",
    "S1": "{stage} {scenario} “{concept}” {size} points {more} often for {group} than for {other}",
    "S3": "{stage} say “{concept}” {size} points {more} often for people annotated {group} than for {other}",
}

SCENARIOS = {
    "hallucination": "wrongly include",
    "too-specific": "go beyond the labels with",
    "non-imageable": "say what no photo shows,",
}
GENDERS = {
    "match": ("use words of the annotated gender", "words of the annotated gender"),
    "mismatch": ("use words of the other gender", "words of the other gender"),
    "both": ("use words of both genders", "words of both genders"),
    "neutral": ("use neutral words only", "neutral words only"),
    "none": ("mention no person", "no person is mentioned"),
}
"""Of I2: a verb for sentences, a noun for tables."""


def findings(measures: pd.DataFrame, salience: pd.DataFrame) -> list[dict[str, str]]:
    """Of each technique the difference with the smallest q, if below 0.05: text, interval, q, technique, reading.

    Of the system's captions if any is there, else of its labels, and so on down the stages.

    Words for people of a gender are left out of S1, S3 and S4 where genders are compared: that is what they are for.
    """
    rows = {str(name): rows for name, rows in tested(measures).groupby("technique")}
    if len(salience):
        rows["S2"] = salience[salience["eligible"]].assign(
            value=salience["coefficient"], technique="S2", reading="look", size=salience["coefficient"].abs()
        )
    found = []
    for technique in SENTENCES:
        chosen = rows.get(technique, pd.DataFrame())
        chosen = chosen[chosen["q"] < 0.05] if len(chosen) else chosen
        if len(chosen):
            ranked = chosen.assign(stage_rank=[list(STAGES).index(stage) for stage in chosen["stage"]])
            order = ["stage_rank", "q", "size", "concept"]  # what is furthest from the pictures first: the system's
            first = ranked.sort_values(order, ascending=[False, True, False, True]).iloc[0]
            found.append(_sentence({str(name): value for name, value in first.items()}))
    return found


def headline(found: list[dict[str, str]], measures: pd.DataFrame, cases: int) -> str:
    """The page's first sentence."""
    if found:
        first = found[0]
        ends = f"{first['interval']}, " if first["interval"] else "no interval, "
        return f"{first['text'].removesuffix('.')} ({ends}{first['q']}, {first['n']})."
    rows = tested(measures)
    if len(rows):
        return f"{_none(rows)}."
    if cases:
        return f"No groups were compared; {words.many(cases, 'case waits', 'cases wait')} to be read."
    return "No groups were compared, and no case was found."


def _none(rows: pd.DataFrame) -> str:
    """The sentence where no difference has q below 0.05: there is none, or it cannot be said."""
    found = []
    for row in rows.to_dict("records"):
        low, high = _ends(row)
        name = f"{row['technique']} {words.printable(str(row['concept'])).partition('.')[0]}".strip()
        shown = f"{numbers.interval(low, high)} points"
        found.append(caution.Nothing(name, low, high, int(row["n"]), caution.POINTS, shown))
    unclear, widest = [one for one in found if not one.clear], caution.widest(found)
    if len(unclear) == len(found):
        return caution.cannot_tell(widest, "whether captions differ between groups", "image")
    if unclear:
        text = (
            f"None of {words.many(len(found), 'difference')} between groups has q below 0.05; of {len(unclear):,} it "
        )
        return f"{text}cannot be said with {words.many(widest.n, 'image')}: {caution.fits(widest)}"
    text = f"None of {words.many(len(found), 'difference')}" if len(found) > 1 else "No difference"
    return f"{text} between groups has q below 0.05 ({words.many(widest.n, 'image')}; widest: {widest.shown})"


def _ends(row: Mapping[Any, Any]) -> tuple[float, float]:
    """The interval of a difference: the bootstrap's where there is no other."""
    low, high = (row.get(f"ci_{end}", float("nan")) for end in ("low", "high"))
    return (row["boot_low"], row["boot_high"]) if pd.isna(low) else (low, high)


def tested(measures: pd.DataFrame) -> pd.DataFrame:
    """Differences between groups in points that have a q, but for words that name the groups; with their ``size``."""
    rows = measures[(measures["unit"] == "pp") & measures["q"].notna()]
    gendered = rows["column"].str.contains("gender") & rows["technique"].isin(["S1", "S3", "S4"])
    people = {word for group in shipped()["gender-words"].groups.values() for word in group}
    named = rows["concept"].map(lambda concept: str(concept).rpartition(":")[2].partition(".")[0])
    kept = rows[~(gendered & named.isin(people))]
    return kept.assign(size=kept["value"].abs())


def _sentence(row: Mapping[str, Any]) -> dict[str, str]:
    technique, value = str(row["technique"]), float(row["value"])
    stage = STAGES.get(str(row["stage"]), str(row["stage"]))
    scenario, _, last = str(row["concept"]).rpartition(":")
    concept = last if technique in ("S1", "D1") else str(row["concept"])
    concept = GENDERS.get(concept, (concept,))[0] if technique == "I2" else concept
    text = SENTENCES[technique].format(
        stage=stage,
        scenario=SCENARIOS.get(scenario, "wrongly include"),
        concept=words.printable(concept).partition(".")[0].replace("_", " "),
        group=words.printable(row["group"]),
        other=words.printable(row["other"]),
        more="more" if value > 0 else "less",
        towards=words.printable(row["group" if value > 0 else "other"]),
        away=words.printable(row["other" if value > 0 else "group"]),
        size=numbers.size(value),
        value=numbers.ratio(value),
    )
    low, high = _ends(row)
    shown = numbers.interval(low, high, numbers.ratio if technique == "S2" else numbers.points)
    q = "q < 0.001" if row["q"] < 0.001 else f"q = {numbers.decimal(row['q'], 3)}"
    return {
        "text": f"{text[:1].upper()}{text[1:]}.",
        "interval": "" if shown == numbers.NONE else shown,
        "q": q,
        "n": words.many(int(row["n"]), "image"),
        "technique": technique,
        "reading": str(row["reading"]),
    }
