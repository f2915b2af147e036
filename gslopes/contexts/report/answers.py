"""The answers to the paper's four questions for each tagger, as its Table 14, from the tables of a run.

An effect is found where q < 0.05 in its table; contexts are feminine where their rating is below 5, masculine above 5.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from gslopes.report.words import many, printable
from gslopes.stats.multiplicity import LEVEL

COLUMNS = (
    "tagger",
    "RQ1: infers women more in feminine, men more in masculine contexts",
    "RQ2: recognises contexts whatever gender it infers",
    "RQ3: is right more often in congruent contexts",
    "RQ4: whose descriptions change more",
    "RQ4: as linguistic expectancy bias predicts",
)
SIDES = (("woman", "women", "feminine"), ("man", "men", "masculine"))
Results = Mapping[str, pd.DataFrame]


def table14(results: Results) -> pd.DataFrame:
    """A row a tagger, a column a question; empty without answers."""
    names = results["inferred"]["classifier"].drop_duplicates() if "inferred" in results else ()
    rows = [(printable(name), *_answers(results, str(name))) for name in names]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def sentences(results: Results) -> list[str]:
    """The same in words: a sentence for each tagger and question."""
    rows = table14(results).itertuples(index=False)
    return [f"{row[0]}. {head}: {cell}." for row in rows for head, cell in zip(COLUMNS[1:], row[1:], strict=True)]


def _answers(results: Results, name: str) -> tuple[str, ...]:
    """A cell for each of the columns after the first."""

    def of(table: str) -> pd.DataFrame:
        frame = results.get(table)
        if frame is None or not len(frame):
            return pd.DataFrame(columns=["context"])
        return frame[(frame["classifier"] == name) & (frame["tags"] == "gross")]

    ratings = results["backgrounds"].drop_duplicates("context").set_index("context")["rating"].astype(float)
    inferred = of("inferred")
    everyone = inferred[inferred["gender"] == "all"] if len(inferred) else inferred
    return (
        _congruent(everyone, "inferred", "change", ratings),
        _independent(of("recognised")),
        _congruent(of("accuracy"), "gender", "paired_change", ratings),
        _who_changes(of("tukey")),
        _expected(of("changes")),
    )


def _congruent(rows: pd.DataFrame, column: str, change: str, ratings: pd.Series) -> str:
    """Of women in feminine and of men in masculine contexts: in how many the answer rises, and falls."""
    said = []
    for gender, plural, side in SIDES:
        contexts = ratings[(ratings < 5) if gender == "woman" else (ratings > 5)].index
        here = rows[rows["context"].isin(contexts)]
        here = here[here[column] == gender] if len(here) else here
        if not len(here):
            said.append(f"{plural}: no {side} context")
            continue
        found = here[here["q"] < LEVEL]
        rises, falls = int((found[change] > 0).sum()), int((found[change] < 0).sum())
        verdict = "mixed" if rises and falls else "yes" if rises else "no"
        fewer = f", less in {falls}" if falls else ""
        said.append(f"{plural}: {verdict}, more in {rises} of {len(here)} {side}{fewer}")
    return "; ".join(said)


def _independent(rows: pd.DataFrame) -> str:
    rows = rows[rows["given"] == "all"] if len(rows) else rows
    judged = rows[rows["q"].notna()] if len(rows) else rows
    if not len(judged):
        why = "no context has tags in its dictionary" if not len(rows) or rows["share"].isna().all() else "too rare"
        return f"not judged: {why}"
    depends = judged.loc[judged["q"] < LEVEL, "context"].map(printable).tolist()
    if not depends:
        return f"no dependence found in {many(len(judged), 'context')}"
    return f"no, it depends in {len(depends)} of {many(len(judged), 'context')}: {', '.join(depends)}"


def _who_changes(rows: pd.DataFrame) -> str:
    """Whose mean distance is larger by Tukey's test at the paper's level, and in how many contexts."""
    if not len(rows):
        return "not judged: no group can be compared"
    contexts = rows["context"].nunique()
    found = rows[rows["paper_significant"].astype(bool)]
    more = found["one"].where(found["difference"] > 0, found["other"])
    counts = found.assign(more=more).groupby(["factor", "more"], sort=False)["context"].nunique()
    words = {"woman": "women", "man": "men"}
    levels = counts.reset_index().itertuples(index=False)
    said = [f"{words.get(str(level), printable(level))} in {count} of {contexts}" for _, level, count in levels]
    return ", ".join(said) if said else f"no difference found in {many(contexts, 'context')}"


def _expected(rows: pd.DataFrame) -> str:
    judged = rows[rows["q"].notna()] if len(rows) else rows
    if not len(judged):
        return "not judged: nothing varies"
    found = int((judged["q"] < LEVEL).sum())
    return f"{int(judged['consistent'].sum())} of {found} differences found ({many(len(judged), 'test')})"
