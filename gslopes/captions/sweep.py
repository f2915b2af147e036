"""Does a captioner change its words for people as they look? R2, along the sweep of a run of ``gslopes audit``. Ours.

Everything is held fixed but the edit, and no captioner is asked again. The slope of a word is the run's own, with its
decision against the placebos; with it is given where along the sweep captions change from one gender's words to the
other's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.captions.config import SENTENCES
from gslopes.captions.tables import TABLES
from gslopes.core import placebo, tables
from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.files import sha256_of
from gslopes.core.options import option
from gslopes.core.runfolder import show
from gslopes.frame.page import Page, chart, sure
from gslopes.frame.plan import Plan
from gslopes.frame.run import Run
from gslopes.frame.shown import grid_of
from gslopes.frame.spec import Audit, Headline, Inputs, Made, Section, Stage, Tables
from gslopes.report import numbers, units, words
from gslopes.stats.intervals import mean_t, wilson

READ = (tables.SCORES, tables.ASKED, tables.SLOPES, tables.PLACEBOS)  # of the run of gslopes audit
WORDS = ("mention:woman", "mention:man", "mention:neutral person", "mention:ethnicity")
KINDS: dict[str, str] = SENTENCES["sweep"]["kinds"]
SWITCH = "value of the switch"
PHOTO = ("captioner", "attribute", "photo")
LIKE = "no more than a placebo, see the run's own report"


@dataclass(frozen=True, slots=True)
class SweepConfig:
    """The options of the sweep of a captioner."""

    attributes: tuple[str, ...] = option(
        (), help="An edited attribute; may be repeated.", name="attribute", shown="all of the run"
    )


# -- before any work --------------------------------------------------------------------------------------------------


def look(run: Path, config: SweepConfig) -> Inputs:
    """The tables of the run, of its captioners and the attributes chosen."""
    files = {table.name: run / f"{table.name}.parquet" for table in READ}
    existing = {name: file for name, file in files.items() if file.is_file()}
    if not {"scores", "asked", "slopes"} <= existing.keys():
        raise UsageError(f"{show(run)} is not a finished run of gslopes audit.", "Run gslopes audit first.")
    read = {table.name: tables.read(table, existing[table.name]) for table in READ if table.name in existing}
    scores = read["scores"]
    captioners = sorted(scores["classifier"][scores["label"].str.startswith("mention:")].unique())
    if not captioners:
        hint = "Run gslopes audit with --classifier llm:MODEL,prompt=caption."
        raise UsageError(f"No classifier of {show(run)} is a captioner.", hint)
    attributes = sorted(name for name in scores["attribute"].unique() if not placebo.is_placebo(name))
    for name in config.attributes:
        if name not in attributes:
            raise UnknownName("attribute", name, attributes)
    rows = {name: frame[frame["classifier"].isin(captioners)] for name, frame in read.items()}
    facts = {"tables": {name: sha256_of(file) for name, file in existing.items()}, "captioners": captioners}
    return Inputs({**rows, "attributes": attributes}, facts)


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """Which captioners and attributes there are."""
    facts = {"captioners": planned.inputs.facts["captioners"], "attributes": planned.inputs.content["attributes"]}
    return [f"{name:<12} {', '.join(some)}" for name, some in facts.items()], facts


# -- ask, outcomes, contrasts -----------------------------------------------------------------------------------------


def answers(run: Run) -> Made:
    """What was asked: of each picture that was captioned the gender of the words for people in its captions.

    And the slopes of words for people as the run fitted and decided them, with the range of their placebos' slopes.
    """
    asked, scores = run.inputs["asked"], run.inputs["scores"]
    key = ["classifier", "attribute", "photo", "step"]
    values = scores.drop_duplicates(["attribute", "step"]).set_index(["attribute", "step"])["value"]
    labels = scores.groupby(key)["label"].agg(set).to_dict()
    rows = []
    for classifier, attribute, photo, step in asked.loc[asked["status"] == "answered", key].to_numpy().tolist():
        if placebo.is_placebo(attribute):
            continue
        words: set[str] = labels.get((classifier, attribute, photo, step), set())
        genders = [name for name in ("woman", "man") if f"mention:{name}" in words]
        rows.append(
            {
                "captioner": classifier,
                "attribute": attribute,
                "photo": photo,
                "value": float(values[attribute, step]),
                "gender": "both" if len(genders) > 1 else "".join(genders) or "none",
            }
        )
    return {"captioned": rows, "word_slopes": _word_slopes(run)}


def _word_slopes(run: Run) -> list[dict[str, Any]]:
    placebos = run.inputs.get("placebos", tables.PLACEBOS.empty())
    chosen = tables.reading(run.inputs["slopes"])
    rows = []
    for row in chosen[chosen["label"].isin(WORDS) & ~placebo.among(chosen["attribute"])].to_dict("records"):
        key = ("classifier", "attribute", "label", "estimator")
        same = np.logical_and.reduce([placebos[name] == row[name] for name in key])
        names = {"captioner": row["classifier"], "attribute": row["attribute"], "label": row["label"]}
        number = {name: row[name] for name in ("n", "active", "slope", "ci_low", "ci_high", "q")}
        unit = units.unit_of(row) if units.measure_of(row) == "presence" else row["unit"]
        decided = {"unit": unit, "decision": row["decision"] or "", "reason": row["detail"] or ""}
        lowest, highest = (placebos.loc[same, "placebo_slope"].agg(name) for name in ("min", "max"))
        rows.append({**names, **number, **decided, "placebo_low": lowest, "placebo_high": highest})
    return rows


def swept(run: Run) -> list[tuple[str, str, str]]:
    """Captioner, attribute and photo of all that is looked at, sorted."""
    rows = run.table("captioned")
    rows = rows[rows["attribute"].isin(run.config.attributes)] if run.config.attributes else rows
    return list(rows[list(PHOTO)].drop_duplicates().itertuples(index=False, name=None))


def outcomes(run: Run, items: Sequence[tuple[str, str, str]]) -> Made:
    """Of each photo whether, and where, its captions switch."""
    by_photo, rows = run.once(_by_photo), []
    for item in items:
        kind, switched = switch(by_photo[item])
        rows.append({**dict(zip(PHOTO, item, strict=True)), "kind": kind, "switch": switched})
        run.tick(1)
    return {"outcomes": rows}


def _by_photo(run: Run) -> dict[tuple[str, str, str], dict[float, str]]:
    """Captioner, attribute and photo to the gender at each value."""
    genders: dict[tuple[str, str, str], dict[float, str]] = {}
    for captioner, attribute, photo, value, gender in run.table("captioned").itertuples(index=False, name=None):
        genders.setdefault((captioner, attribute, photo), {})[value] = gender
    return genders


def switch(genders: Mapping[float, str]) -> tuple[str, float]:
    """One photo: switches, with the value half-way, or woman, man, none or mixed.

    It switches if all of its captions with *woman* lie on one side of all with *man*.

    genders: value to woman, man, both or none.

    >>> switch({-1.0: "woman", 0.0: "none", 1.0: "man"})
    ('switches', 0.0)
    """
    at = {name: [value for value, gender in genders.items() if gender == name] for name in ("woman", "man", "both")}
    if at["both"]:
        return "mixed", math.nan
    if not at["woman"] or not at["man"]:
        return ("woman" if at["woman"] else "man" if at["man"] else "none"), math.nan
    for low, high in (("woman", "man"), ("man", "woman")):
        if max(at[low]) < min(at[high]):
            return "switches", (max(at[low]) + min(at[high])) / 2
    return "mixed", math.nan


def contrasts(run: Run) -> Made:
    """Shares of photos by what their captions do, and the mean value of their switch."""
    rows: list[dict[str, Any]] = []
    for (captioner, attribute), photos in run.table("outcomes").groupby(["captioner", "attribute"]):
        names, n = {"captioner": captioner, "attribute": attribute}, len(photos)
        rows += [names | _share(text, int((photos["kind"] == kind).sum()), n) for kind, text in KINDS.items()]
        at = photos["switch"].dropna().to_numpy(np.float64)
        mean = mean_t(at)
        number = {"n": n, "active": len(at), "value": mean.value, "ci_low": mean.low, "ci_high": mean.high}
        text = {"label": SWITCH, "unit": "units of the attribute", "estimator": "mean over the photos that switch, t"}
        rows += [names | number | text] if len(at) else []
    return {"contrasts": rows}


def _share(label: str, active: int, n: int) -> dict[str, Any]:
    low, high = wilson(active / n, n)
    number = {"n": n, "active": active, "value": active / n, "ci_low": low, "ci_high": high}
    return {"label": label, **number, "unit": "share", "estimator": "share of photos, Wilson"}


# -- findings and page ------------------------------------------------------------------------------------------------


def _of_swept(found: Tables) -> pd.DataFrame:
    """The slopes of words along the attributes that are looked at."""
    rows = found["word_slopes"]
    return rows[rows["attribute"].isin(found["contrasts"]["attribute"])]


def judged(found: Tables) -> pd.DataFrame:
    """The slopes of words; none is a finding that the run itself does not call one."""
    rows = _of_swept(found)
    theirs = rows["decision"].isin(["finding", "none", ""])
    reason = rows["reason"].where(rows["reason"] != "", LIKE)
    columns = {name: rows[name] for name in ("label", "n", "ci_low", "ci_high", "unit")}
    names = {"model": rows["captioner"], "contrast": rows["attribute"], **columns, "value": rows["slope"]}
    return pd.DataFrame({**names, "q": rows["q"].where(theirs), "reason": reason})


def headline_of(found: Tables) -> Headline:
    """Of all captioners and attributes, the one whose captions switch for the largest share of photos."""
    rows = found["contrasts"]
    shares = rows[rows["label"] == KINDS["switches"]].sort_values(["value", "captioner"], ascending=[False, True])
    first = shares.iloc[0]
    photos, captioner = words.many(int(first["n"]), "photo"), words.printable(first["captioner"])
    text = f"Along {words.perceived(str(first['attribute']))}, captions by {captioner} change from one gender's words"
    named = "mention:", str(first["attribute"]), str(first["captioner"])
    if not first["active"]:
        return Headline(f"{text} to the other's on none of {photos}.", *named)
    same = (rows["captioner"] == first["captioner"]) & (rows["attribute"] == first["attribute"])
    at = rows[same & (rows["label"] == SWITCH)].iloc[0]
    ends = numbers.interval(at["ci_low"], at["ci_high"], numbers.signed)
    where = f"at {numbers.signed(at['value'])} on average {'' if ends == numbers.NONE else ends}".rstrip()
    return Headline(f"{text} to the other's on {first['active']:,} of {photos}, {where}.", *named)


def counts(found: Tables) -> tuple[int, int, int]:
    """Photos that were swept."""
    photos = int(found["outcomes"]["photo"].nunique())
    return int(found["captioned"]["photo"].nunique()), photos, 0


def every(page: Page) -> dict[str, Any]:
    """Slopes and contrasts, and what was decided of each word."""
    grids = [
        grid_of("Slopes of words", _of_swept(page.tables)),
        grid_of("Switches", page.tables["contrasts"]),
        grid_of("What was decided", page.findings[["model", "contrast", "label", "decision", "reason"]]),
    ]
    return {"grids": [grid for grid in grids if grid["rows"]]}


SECTIONS = (
    Section("lede", "", lambda page: {}),
    Section("differently", "", chart),
    Section("sure", "", sure),
    Section("every", "Slopes of words, and switches", every),
)


SWEEP = Audit(
    name="captions sweep",
    home=Path(__file__).parent,
    config=SweepConfig,
    tables={name: TABLES[name] for name in ("captioned", "outcomes", "contrasts", "word_slopes")},
    inputs=look,
    outline=outline,
    stages=(
        Stage("ask", ("inputs",), ("captioned", "word_slopes"), answers, options=()),
        Stage(
            "outcomes", ("captioned",), ("outcomes",), outcomes,
            items=swept, part=500, options=("attributes",),
        ),
        Stage("contrasts", ("outcomes",), ("contrasts",), contrasts, options=()),
    ),
    judged=judged,
    headline=headline_of,
    counts=counts,
    shown=("word_slopes", "contrasts"),
    page=SECTIONS,
    of_runs=True,
)  # fmt: skip
