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
    for technique in SENTENCES["findings"]:
        chosen = rows.get(technique, pd.DataFrame())
        chosen = chosen[chosen["q"].map(is_significant)] if len(chosen) else chosen
        if len(chosen):
            ranked = chosen.assign(stage_rank=[list(STAGES).index(stage) for stage in chosen["stage"]])
            order = ["stage_rank", "q", "size", "concept"]  # what is furthest from the pictures first: the system's
            first = ranked.sort_values(order, ascending=[False, True, False, True]).iloc[0]
            found.append(_sentence({str(name): value for name, value in first.items()}))
    return found


def judged(tables: Tables) -> pd.DataFrame:
    """Differences between groups of every technique, stage and concept, in the columns of ``core.summary.FINDINGS``.

    In percentage points, of S2 in log odds. Words for people of a gender are left out of S1, S3 and S4 where genders
    are compared. n are images.
    """
    measures, salience = tables["measures"], tables["salience"]
    rows = [_points(tested(measures))] + ([_odds(salience)] if len(salience) else [])
    rows = [part for part in rows if len(part)]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    low, high = (rows[f"ci_{end}"].where(rows["ci_low"].notna(), rows[f"boot_{end}"]) for end in ("low", "high"))
    truth = [f" ({' against '.join(filter(None, pair))})" for pair in zip(rows["captions"], rows["truth"], strict=True)]
    named = rows["technique"] + " " + rows["kind"] + " " + rows["concept"]
    label = named.str.split().str.join(" ") + pd.Series(truth, rows.index).replace(" ()", "")
    return _frame(rows, label, value=rows["value"], ci_low=low, ci_high=high, unit=POINTS)


def _odds(rows: pd.DataFrame) -> pd.DataFrame:
    kept = rows[rows["eligible"]]
    ends = {name: kept[name] for name in ("ci_low", "ci_high")}
    return _frame(kept, "S2 " + kept["concept"], value=kept["coefficient"], **ends, unit=ODDS)


def _frame(rows: pd.DataFrame, label: pd.Series, **numbers: object) -> pd.DataFrame:
    contrast = rows["column"] + ": " + rows["group"] + " over " + rows["other"]
    shared = {"model": rows["stage"], "contrast": contrast, "label": label, "n": rows["n"]}
    return pd.DataFrame({**shared, **numbers, "q": rows["q"], "reason": rows["note"]})


def headline_of(tables: Tables) -> Headline:
    """The first sentence of a run, and the technique that it is about."""
    leading = findings(tables["measures"], tables["salience"])
    sentence = headline(leading, tables["measures"], len(tables["cases"]))
    return Headline(sentence, f"{leading[0]['technique']} " if leading else "")


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
    text = SENTENCES["findings"][technique].format(
        stage=stage,
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
