"""The finding of a context audit: the facts of its headline, the numbers that are judged, counts and credits."""

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from gslopes.contexts import HOME, SENTENCES, TABLES, rows_of
from gslopes.contexts.measures import paired, ratings
from gslopes.core import summary
from gslopes.core.tables import Record, records
from gslopes.frame.findings import decision
from gslopes.frame.spec import Headline, Tables
from gslopes.report import inline, numbers
from gslopes.report.headline import Nothing, Sentences, points
from gslopes.report.words import many, printable
from gslopes.stats.multiplicity import LEVEL, are_findings
from gslopes.stats.rounding import highest

ANSWERS = SENTENCES["answers"]
HEADLINES = Sentences(SENTENCES["headline"])
EVERYBODY = "congruence, everybody"
_ALWAYS = ("backgrounds", "people", "cutouts", "composites", "described")


def results_of(tables: Tables) -> dict[str, DataFrame]:
    """Name to table of results, if it has rows; the backgrounds with the ratings of the user's raters."""
    results = {
        name: tables[name]
        for name in (*TABLES, "scores")
        if name in tables and (len(tables[name]) or name in _ALWAYS)
    }
    if "ratings" in results:
        results["backgrounds"] = ratings.rated(results["backgrounds"], results["ratings"])
    return results


def headline_of(tables: Tables) -> Headline:
    """The finding in a sentence."""
    if "described" not in tables:
        return Headline(HEADLINES.say("not_asked"))
    results = results_of(tables)
    rows = main_rows(results)
    model = str(_leading(rows)["classifier"]) if len(rows) else ""
    return Headline(headline(results), ANSWERS["correct"], EVERYBODY, model)


def main_rows(results: Tables) -> DataFrame:
    """The congruence slopes of the share of right answers, of gross tags, that are known: a row a classifier."""
    rows = rows_of(results, "congruence")
    of_everybody = "gender == 'all' and group == 'all' and estimator == 'person'"
    rows = rows.query(f"measure == 'correct' and tags == 'gross' and {of_everybody}")
    return rows.dropna(subset="slope")


def headline(results: Tables) -> str:
    """The sentence of the result with its interval: the steepest congruence slope, and how many taggers have one.

    First from end to end, then in points per unit of congruence: 1 if a context fits wholly, -1 if it does not fit at
    all.
    """
    if not len(results.get("described", (None,))):
        return HEADLINES.say("no_answer")
    rows = main_rows(results)
    if not len(rows):
        return HEADLINES.say("no_slope")
    name = printable(rows["classifier"].iloc[0])
    if not rows["slope"].any() and not rows["se"].any():
        return HEADLINES.say("constant", len(rows), name=name)
    tested = rows.dropna(subset="q")
    row = _leading(rows)
    facts = {
        "effect": _effect(row, results),
        "name": printable(row["classifier"]),
        "slope": numbers.points(row["slope"]),
        "unit": HEADLINES.texts["unit"],
    }
    if not len(tested):
        case = "everybody" if row["note"] == paired.ALIKE else "too_few"
        return HEADLINES.say(case, len(rows), why=row["note"], **facts)
    text = HEADLINES.say(
        "found",
        len(tested),
        **facts,
        interval=numbers.ends_of(row),
        n=many(int(row["n"]), "person", "people"),
        found=are_findings(tested).sum(),
    )
    if not are_findings(row):
        estimates = [_nothing(each, results) for each in tested.to_dict("records")]
        text = HEADLINES.nothing(estimates, "person", "people")
    for each in rows[rows["q"].isna()].to_dict("records"):
        text += HEADLINES.say("unjudged", name=printable(each["classifier"]), why=each["note"])
    return text


def _leading(rows: DataFrame) -> Series:
    """The steepest of the findings; without one, of those that are judged; else of all."""
    parts = rows[are_findings(rows)], rows.dropna(subset="q"), rows
    leading = next(part for part in parts if len(part))
    return leading.iloc[highest(leading["slope"].abs())]


def _effect(row: Series, results: Tables) -> str:
    """A slope from end to end: of 100 people, as far as the share of right answers leaves room."""
    right = 100 * _right(results, row["classifier"])
    least, most = np.clip([right - row["slope"], right + row["slope"]], 0, 100)
    return HEADLINES.say(
        "effect",
        people=numbers.size(most - least, 0),
        more="more" if row["slope"] > 0 else "fewer",
    )


def _right(results: Tables, classifier: str) -> float:
    """The share of right answers over all contexts, of gross tags; a half if it is unknown."""
    rows = rows_of(results, "inferred")
    own = rows.query("classifier == @classifier and tags == 'gross' and gender == inferred")
    if own["n"].sum():
        return float(own["count"].sum() / own["n"].sum())
    return 0.5


def _nothing(row: Record, results: Tables) -> Nothing:
    """A slope of right answers that is no finding."""
    _, why = decision({**row, "reason": ""})
    return Nothing(
        printable(row["classifier"]),
        row["ci_low"],
        row["ci_high"],
        int(row["n"]),
        points(_right(results, row["classifier"])),
        f"{numbers.ends_of(row)} points per unit of congruence",
        f"{why} is not below {LEVEL}" * (row["ci_low"] > 0 or row["ci_high"] < 0),
    )


def counts(results: Tables) -> str:
    """How many people, contexts and backgrounds there are, and what was left out."""
    people = results["people"]
    used = results["backgrounds"].query("status == 'used'")
    composites = results["composites"].query("kind == 'context'")
    composed = people[people["photo"].isin(composites["photo"])]
    return inline.plain(
        "counts.txt.j2",
        HOME / "templates",
        people=composed["person"].nunique(),
        contexts=used["context"].nunique(),
        used=len(used),
        out=people["photo"].nunique() - composed["photo"].nunique(),
        skipped=len(results["backgrounds"]) - len(used),
    )


def judged(tables: Tables) -> DataFrame:
    """Columns of ``core.summary.FINDINGS`` but for the decision: slopes on congruence, and what each context changes of
    inferred gender.

    Of gross tags. A slope's unit is points (of tags: tags) per unit of congruence, 1 if a context fits the person's
    gender wholly, -1 if not at all; a change is in points. q belongs to the row's table.

    Right answers of everybody, which the heading is about, have the first rank. Without answers it has no rows.
    """
    parts = []
    for part in SENTENCES["judged"]:
        rows = rows_of(tables, part["table"]).query(part["query"])
        if len(rows):
            texts = inline.listed(part["cells"], records(rows), answers=ANSWERS)
            values = part["scale"] * rows[part["columns"]]
            values.columns = ["value", "ci_low", "ci_high"]
            parts.append(rows.assign(**texts.set_axis(rows.index), **values))
    found = pd.concat(parts, ignore_index=True) if parts else summary.FINDINGS.empty()
    others = (found["label"] != ANSWERS["correct"]) | (found["contrast"] != EVERYBODY)
    return found.rename(columns={"classifier": "model", "note": "reason"}).assign(rank=others)
