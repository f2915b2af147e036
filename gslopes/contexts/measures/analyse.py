"""All tables of the audit from descriptions: each classifier, gross and net, and what was tested at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from gslopes.contexts.measures.accuracy import accuracy_table
from gslopes.contexts.measures.changes import changes_table, consistent
from gslopes.contexts.measures.congruence import congruence_table
from gslopes.contexts.measures.describe import GROSS, NET
from gslopes.contexts.measures.distances import compare_groups, distances_table
from gslopes.contexts.measures.grid import make_grid
from gslopes.contexts.measures.inferred import inferred_table
from gslopes.contexts.measures.recognised import recognised_table
from gslopes.contexts.options import ContextOptions
from gslopes.stats.multiplicity import benjamini_hochberg

TESTED = ("inferred", "recognised", "accuracy", "anova", "changes", "congruence", "interaction")
_FAMILY_P = {"congruence": "p_perm", "recognised": "p_perm", "interaction": "p"}
_WITH_RUN = ("inferred", "recognised")


@dataclass(frozen=True, slots=True)
class Found:
    """Tables by name, without schema checks; sentences for the page."""

    tables: dict[str, pd.DataFrame]
    notes: list[str] = field(default_factory=list)


def analyse(
    described: pd.DataFrame,
    people: pd.DataFrame,
    backgrounds: pd.DataFrame,
    tagged: Mapping[str, frozenset[str]],
    options: ContextOptions,
    interaction: pd.DataFrame | None = None,
) -> Found:
    """The tables ``inferred`` to ``congruence`` of every classifier.

    described: the table of that name.  tagged: classifier to the contexts that have tags for it.
    interaction: rows of that table, if there is a sweep.
    """
    labels = dict(zip(backgrounds["context"], backgrounds["label"], strict=True))
    ratings = {
        context: float(rating) for context, rating in zip(backgrounds["context"], backgrounds["rating"], strict=True)
    }
    parts: dict[str, list[pd.DataFrame]] = {}
    for (classifier, kind), rows in described.groupby(["classifier", "tags"], sort=True, observed=True):
        grid = make_grid(rows, people, backgrounds, tagged.get(str(classifier), frozenset()))
        if not len(grid.photos) or kind not in (GROSS, NET):
            continue
        anova, tukey = compare_groups(grid, options)
        made = {
            "inferred": inferred_table(grid, labels, options),
            "recognised": recognised_table(grid, options),
            "accuracy": accuracy_table(grid, options, labels),
            "distances": distances_table(grid, options),
            "anova": anova,
            "tukey": tukey,
            "changes": changes_table(grid, ratings, options),
            "congruence": congruence_table(grid, ratings, options),
        }
        for name, frame in made.items():
            if len(frame):
                parts.setdefault(name, []).append(frame)
    tables = {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    if interaction is not None and len(interaction):
        tables["interaction"] = interaction
    tables = adjusted(tables)
    if "changes" in tables:
        tables["changes"]["consistent"] = consistent(tables["changes"], ratings, options.alpha)
    return Found(tables)


def adjusted(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Each table with q over its own tests of one kind of tags, and q_run over all tests of the run of that kind.

    Benjamini & Hochberg 1995: the false discovery rate.
    """
    result = {name: frame.copy() for name, frame in tables.items()}
    tested: list[tuple[str, np.ndarray, np.ndarray]] = []
    for name in (name for name in TESTED if name in result):
        frame = result[name]
        p = frame[_FAMILY_P.get(name, "p")].to_numpy(float)
        q = np.full(len(p), np.nan)
        for kind in sorted(set(frame["tags"])):
            at = (frame["tags"] == kind).to_numpy()
            q[at] = benjamini_hochberg(p[at])
        frame["q"] = q
        tested.append((name, p, (frame["tags"] == GROSS).to_numpy()))
    for kind in (True, False):
        flat = np.concatenate([p[gross == kind] for _, p, gross in tested]) if tested else np.zeros(0)
        q, at = benjamini_hochberg(flat), 0
        for name, p, gross in tested:
            of_kind = gross == kind
            size = int(of_kind.sum())
            if name in _WITH_RUN:
                column = result[name].get("q_run", pd.Series(np.full(len(p), np.nan))).to_numpy(float).copy()
                column[of_kind] = q[at : at + size]
                result[name]["q_run"] = column
            at += size
    return result
