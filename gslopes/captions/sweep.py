"""R2 of an audit with a captioner (``gslopes captions RUN``), along its sweep of counterfactual photos. Ours.

Everything is held fixed but the edit: the slope of a word is that of ``gslopes audit``, with its placebos; with it are
given where along the sweep a captioner changes from one gender's words to the other's, and how many captions name a
thing that the caption at the centre does not (S1, with that caption as truth). No captioner is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.rows import Row, measure, share_row
from gslopes.captions.tables import TABLES
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show
from gslopes.report import units
from gslopes.stats.intervals import percentile
from gslopes.stats.resampling import bootstrap_counts

MEASURES = TABLES["measures"]
TABLE = "captions-measures.parquet"
KINDS = {
    "switches": "switches",
    "woman": "always woman",
    "man": "always man",
    "none": "no gender word",
    "mixed": "both at once, or back and forth",
}
WORDS = ("mention:woman", "mention:man", "mention:neutral person", "mention:ethnicity")
R2 = {"harm": "reifying", "technique": "R2", "stage": "system-captions", "captions": "one"}
S1 = {**R2, "harm": "stereotyping", "technique": "S1", "truth": "centre of the sweep", "reading": "look"}


def is_audit(run: Path) -> bool:
    """Whether a folder is the run of an audit, rather than of captions."""
    return (run / runfolder.MANIFEST).exists() and (run / "slopes.parquet").exists()


def measure_sweep(run: Path, options: AuditOptions | None = None) -> pd.DataFrame:
    """Rows of the measures table, written to RUN/captions-measures.parquet; the note begins with the classifier.

    Raises: UsageError if no classifier of the run is a captioner; StorageError.
    """
    options = options or AuditOptions()
    frames = {table: tables.read(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED)}
    frames[tables.SLOPES] = tables.read(tables.SLOPES, run / "slopes.parquet")
    file = run / "placebos.parquet"
    frames[tables.PLACEBOS] = tables.read(tables.PLACEBOS, file) if file.exists() else tables.PLACEBOS.empty()
    scores = frames[tables.SCORES]
    names = sorted({str(name) for name in scores["classifier"][scores["label"].str.startswith("mention:")]})
    if not names:
        hint = "Run gslopes audit with --classifier captioner-chat:MODEL."
        raise UsageError(f"No classifier of {show(run)} is a captioner.", hint)
    rows = []
    for name in names:
        for attribute in (str(value) for value in scores["attribute"].unique() if "-" not in str(value)):
            chosen = [_of(frame, name, attribute) for frame in frames.values()]
            labels, values = _answers(*chosen[:2])
            found = slope_rows(chosen[2], chosen[3], attribute)
            found += switch_rows(states(labels, values), attribute, options)
            found += new_concept_rows(labels, values, attribute)
            rows += [row | {"note": f"{name}; {row['note']}".rstrip("; ")} for row in found]
    runfolder.write_table(MEASURES, pd.DataFrame(rows, columns=MEASURES.columns), run / TABLE)
    return tables.read(MEASURES, run / TABLE)


def _of(frame: pd.DataFrame, classifier: str, attribute: str) -> pd.DataFrame:
    return frame[(frame["classifier"] == classifier) & (frame["attribute"] == attribute)]


def _answers(scores: pd.DataFrame, asked: pd.DataFrame) -> tuple[dict[tuple[str, int], set[str]], dict[int, float]]:
    """Photo and step to the labels of that picture, for all that were answered; and step to value."""
    answered = asked.loc[asked["status"] == "answered", ["photo", "step"]].to_numpy()
    labels: dict[tuple[str, int], set[str]] = {(str(photo), int(step)): set() for photo, step in answered}
    for photo, step, label in scores[["photo", "step", "label"]].to_numpy():
        labels[str(photo), int(step)].add(str(label))
    return labels, {int(step): float(value) for step, value in scores[["step", "value"]].drop_duplicates().to_numpy()}


def slope_rows(slopes: pd.DataFrame, placebos: pd.DataFrame, attribute: str) -> list[Row]:
    """The slopes of gender and ethnicity words, by the measure of each, as they were fitted.

    A word is judged by presence. With several captions a picture, one that is in practically all of them is judged by
    the log-odds of its share of them, see ``slopes.fit.measures``.

    slopes, placebos: of one classifier, see ``core.tables``; the note gives the range of the placebos' slopes.
    """
    chosen = tables.reading(slopes[slopes["attribute"] == attribute]).set_index("label")
    rows = []
    for label in (name for name in WORDS if name in chosen.index):
        row: Any = chosen.loc[label]
        measured, estimator = units.measure_of(row), row["estimator"]
        form = "+.1f" if measured == "presence" else "+.3f"
        known = placebos[(placebos["label"] == label) & (placebos["estimator"] == estimator)]["placebo_slope"]
        note = f"placebos {known.min():{form}} to {known.max():{form}}" if len(known) else ""
        unit = "pp per unit" if measured == "presence" else row["unit"]
        facts = {"n": int(row["n"]), "active": int(row["active"]), "value": row["slope"], "unit": unit}
        facts |= {"ci_low": row["ci_low"], "ci_high": row["ci_high"], "p": row["p_perm"], "q": row["q"]}
        facts |= {"estimator": f"mean of each photo's slope of {measured}", "note": note}
        facts |= {"null_hypothesis": "a photo's answers are exchangeable over the values"}
        rows.append(measure(R2, **facts, concept=label, column=attribute))
    return rows


def states(labels: Mapping[tuple[str, int], set[str]], values: Mapping[int, float]) -> pd.DataFrame:
    """Photo by value: which gender's words a caption has, ``woman``, ``man``, ``both`` or ``none``.

    labels: of each answered picture, by photo and step.  values: step to value.
    """
    rows = [(photo, values[step], _gender(found)) for (photo, step), found in labels.items()]
    frame = pd.DataFrame(rows, columns=["photo", "value", "gender"])
    return frame.pivot(index="photo", columns="value", values="gender").sort_index(axis=1)


def switch_rows(table: pd.DataFrame, attribute: str, options: AuditOptions) -> list[Row]:
    """Shares of photos that switch, or stay with one gender's words or none; and the mean value at which they switch.

    A photo switches if all of its captions with *woman* lie on one side of all with *man*; the switch is half-way.

    table: as of ``states``.  Interval of the mean: percentiles of a bootstrap over photos.
    """
    found = {str(photo): switch(row) for photo, row in table.iterrows()}
    kinds = [kind for kind, _ in found.values()]
    rows = [
        share_row(R2, kinds.count(name), len(found), concept=concept, column=attribute)
        for name, concept in KINDS.items()
    ]
    at = np.array([value for kind, value in found.values() if kind == "switches"])
    if len(at):
        low, high = math.nan, math.nan
        if options.bootstrap and len(at) > 1:
            weights = bootstrap_counts(len(at), options.bootstrap, np.random.default_rng([options.seed, 11]))
            low, high = percentile(at @ weights / len(at))
        facts = {"n": len(found), "active": len(at), "value": float(at.mean()), "unit": "units of the attribute"}
        facts |= {"boot_low": low, "boot_high": high, "estimator": "mean over the photos that switch"}
        rows.append(measure(R2, **facts, concept="value of the switch", column=attribute))
    return rows


def switch(row: pd.Series) -> tuple[str, float]:
    """One photo: switches (and where), woman, man, none or mixed.

    >>> switch(pd.Series({-1.0: "woman", 0.0: "none", 1.0: "man"}))
    ('switches', 0.0)
    """
    at = {name: [float(value) for value in row.index[row == name]] for name in ("woman", "man", "both")}
    if at["both"]:
        return "mixed", math.nan
    if not at["woman"] or not at["man"]:
        return ("woman" if at["woman"] else "man" if at["man"] else "none"), math.nan
    for low, high in (("woman", "man"), ("man", "woman")):
        if max(at[low]) < min(at[high]):
            return "switches", (max(at[low]) + min(at[high])) / 2
    return "mixed", math.nan


def new_concept_rows(
    labels: Mapping[tuple[str, int], set[str]], values: Mapping[int, float], attribute: str
) -> list[Row]:
    """By value: share of photos whose caption names a concept that their caption at the centre does not."""
    centre = min(values, key=lambda step: abs(values[step]))
    rows = []
    for step in sorted(values):
        photos = [photo for photo, at in labels if at == step and (photo, centre) in labels]
        if step == centre or not photos:
            continue
        new = [photo for photo in photos if _concepts(labels[photo, step]) - _concepts(labels[photo, centre])]
        name = f"new concept at {values[step]:+.2f}"
        rows.append(share_row(S1, len(new), len(photos), concept=name, column=attribute))
    return rows


def _gender(found: set[str]) -> str:
    both = ("mention:woman" in found, "mention:man" in found)
    return {(True, True): "both", (True, False): "woman", (False, True): "man"}.get(both, "none")


def _concepts(found: set[str]) -> set[str]:
    return {label for label in found if label.startswith("synset:")}
