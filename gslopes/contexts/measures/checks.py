"""Checks of what else could make answers alike or different: dictionaries that match anywhere, sizes of people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from gslopes.contexts.measures.changes import welch
from gslopes.contexts.measures.describe import BASELINES, Key
from gslopes.contexts.tables import BALANCE_CONTEXTS, CONFUSION, filled
from gslopes.contexts.typology import PERSONAL, Typology

HIDDEN = "hidden by the person"


def confusion_table(
    classifier: str,
    tags: Mapping[Key, frozenset[str]],
    backgrounds: pd.DataFrame,
    typology: Typology,
    recognised_at: int = 1,
) -> pd.DataFrame:
    """Rows of the ``confusion`` table: what share of pictures each context's dictionary would have recognised.

    "At least one tag" is easily met: a dictionary that also matches baselines and other contexts is not specific.

    tags: (photo, attribute, step) of every answered picture to its normalised tags.
    """
    context_of = dict(zip(backgrounds["key"], backgrounds["context"], strict=True))
    shown: dict[str, list[frozenset[str]]] = {}
    for (_, attribute, _), picture_tags in tags.items():
        condition = context_of.get(attribute, attribute if attribute in BASELINES else "")
        if condition:
            shown.setdefault(condition, []).append(picture_tags)
    rows = []
    for dictionary in dict.fromkeys(backgrounds["context"]):
        named = typology.contexts.get(dictionary, frozenset())
        for condition, pictures in sorted(shown.items()):
            count = sum(len(named & picture_tags) >= recognised_at for picture_tags in pictures)
            row = {"classifier": classifier, "dictionary": dictionary, "shown": condition, "n": len(pictures)}
            rows.append({**row, "count": count, "share": count / len(pictures)})
    return filled(CONFUSION, rows)


def background_flags(
    tags: Mapping[Key, frozenset[str]], backgrounds: pd.DataFrame, typology: Typology
) -> dict[str, list[str]]:
    """Background key to its problems: called a person when empty, not recognised, or only without a silhouette."""
    personal = frozenset().union(*(typology.clusters.get(name, frozenset()) for name in PERSONAL))
    flags: dict[str, list[str]] = {}
    for row in backgrounds.to_dict("records"):
        empty, outline = (tags.get((row["photo"], kind, 0)) for kind in ("empty", "silhouette"))
        named = typology.contexts.get(row["context"], frozenset())
        problems = []
        if empty is not None and empty & personal:
            problems.append(f"the empty picture is called {', '.join(sorted(empty & personal))}")
        if empty is not None and named and not empty & named:
            problems.append("not recognised when empty")
        if empty is not None and outline is not None and empty & named and not outline & named:
            problems.append(HIDDEN)
        if problems:
            flags[str(row["key"])] = problems
    return flags


def unassigned(tags: Mapping[Key, frozenset[str]], typology: Typology, classifier: str, keys: set[str]) -> pd.DataFrame:
    """Tags in no cluster and no context, by frequency: tag, classifier, pictures, and shares by kind of picture.

    keys: of the backgrounds.
    """
    sizes = {"baselines": 0, "composites": 0, "empty": 0}
    counts: dict[str, dict[str, int]] = {}
    for (_, attribute, _), picture_tags in tags.items():
        condition = attribute.partition("~")[0]
        kind = "baselines" if condition in BASELINES else "composites" if condition in keys else "empty"
        sizes[kind] += 1
        for tag in picture_tags - typology.known:
            counts.setdefault(tag, dict.fromkeys(sizes, 0))[kind] += 1
    rows = [
        (tag, classifier, sum(count.values()), *(count[kind] / max(sizes[kind], 1) for kind in sizes))
        for tag, count in counts.items()
    ]
    frame = pd.DataFrame(rows, columns=["tag", "classifier", "pictures", "baselines", "composites", "empty"])
    return frame.sort_values(["pictures", "tag"], ascending=[False, True], ignore_index=True)


def known_share(tags: Mapping[Key, frozenset[str]], typology: Typology) -> float:
    """The share of a classifier's different tags that the typology knows; NaN if there is none."""
    every = frozenset().union(*tags.values())
    return len(every & typology.known) / len(every) if every else math.nan


def balance_table(composites: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Rows of the ``balance_contexts`` table: face height and person share by gender and group, Welch's test.

    Null hypothesis: the two groups of people have the same mean.  Each person counts once, as on the plain canvas.
    """
    on_canvas = composites[(composites["attribute"] == "canvas") & (composites["step"] == 0)].merge(people, on="photo")
    rows: list[dict[str, Any]] = []
    for measure in ("face_height", "person_share"):
        means = on_canvas.groupby("person", observed=True).agg({measure: "mean", "gender": "first", "group": "first"})
        for column in ("gender", "group"):
            for one, other in combinations(sorted({name for name in means[column] if name}), 2):
                parts = [means.loc[means[column] == name, measure].to_numpy(float) for name in (one, other)]
                if min(map(len, parts)) < 2:
                    continue
                row = {"measure": measure, "one": one, "other": other}
                row |= {"mean_one": float(np.nanmean(parts[0])), "mean_other": float(np.nanmean(parts[1]))}
                rows.append({**row, **{name: welch(*parts)[name] for name in ("difference", "p")}})
    return filled(BALANCE_CONTEXTS, rows)
