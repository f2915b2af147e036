"""What could make the answers look alike or different for other reasons: dictionaries that match anywhere, sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from gslopes.contexts.measures.changes import welch
from gslopes.contexts.measures.describe import BASELINES
from gslopes.contexts.typology import PERSONAL, Typology

HIDDEN = "hidden by the person"


def confusion_table(
    classifier: str,
    tags: Mapping[tuple[str, str, int], frozenset[str]],
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
            rows.append((classifier, dictionary, condition, len(pictures), count, count / len(pictures)))
    return pd.DataFrame(rows, columns=["classifier", "dictionary", "shown", "n", "count", "share"])


def background_flags(
    tags: Mapping[tuple[str, str, int], frozenset[str]], backgrounds: pd.DataFrame, typology: Typology
) -> dict[str, list[str]]:
    """Background key to what is doubtful: seen as a person when empty, or no longer recognised behind a silhouette."""
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


def unassigned(
    tags: Mapping[tuple[str, str, int], frozenset[str]], typology: Typology, classifier: str, keys: set[str]
) -> pd.DataFrame:
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


def known_share(tags: Mapping[tuple[str, str, int], frozenset[str]], typology: Typology) -> float:
    """The share of a classifier's different tags that the typology knows; NaN if there is none."""
    every = frozenset().union(*tags.values())
    return len(every & typology.known) / len(every) if every else math.nan


def balance_table(composites: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Rows of the ``balance_contexts`` table: face height and person share by gender and group, Welch's test.

    Null hypothesis: the two groups of people have the same mean.  Each person counts once, as on the plain canvas.
    """
    canvas_rows = composites[(composites["attribute"] == "canvas") & (composites["step"] == 0)].merge(
        people, on="photo"
    )
    rows: list[dict[str, Any]] = []
    for measure in ("face_height", "person_share"):
        means = canvas_rows.groupby("person", observed=True).agg({measure: "mean", "gender": "first", "group": "first"})
        for column in ("gender", "group"):
            names = sorted({name for name in means[column] if name})
            for one, other in combinations(names, 2):
                parts = [means.loc[means[column] == name, measure].to_numpy(float) for name in (one, other)]
                if min(len(part) for part in parts) < 2:
                    continue
                found = welch(*parts)
                mean_one, mean_other = (float(np.nanmean(part)) if len(part) else math.nan for part in parts)
                rows.append(
                    {
                        "measure": measure,
                        "one": one,
                        "other": other,
                        "mean_one": mean_one,
                        "mean_other": mean_other,
                        "difference": found["difference"],
                        "p": found["p"],
                    }
                )
    names = ["measure", "one", "other", "mean_one", "mean_other", "difference", "p"]
    return pd.DataFrame(rows, columns=names)
