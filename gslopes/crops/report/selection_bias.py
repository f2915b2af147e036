"""Are the people whom a cropper will not judge of one group? Then who is left is no fair comparison."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import pandas as pd
from scipy import stats

LEVEL = 0.01


def refused_people(pairs: pd.DataFrame, person: Mapping[str, str]) -> dict[str, bool]:
    """Person to whether none of the pictures with that person was answered, whoever stood next to them.

    pairs: rows of PAIRS, one cropper's.  person: photo to person.
    """
    out = pairs["status"] != "answered"
    outcomes = pd.concat([pd.DataFrame({"person": pairs[side].map(person), "out": out}) for side in ("left", "right")])
    return {str(name): bool(every) for name, every in outcomes.groupby("person")["out"].all().items()}


def selected(pairs: pd.DataFrame, person: Mapping[str, str], group: Mapping[str, str]) -> list[str]:
    """A sentence for each two groups of which so different a share was refused (Fisher's exact test, p < 0.01).

    group: person to group.
    """
    if (pairs["status"] == "answered").all():
        return []
    out = refused_people(pairs, person)
    counts = {
        name: [sum(out[p] is state for p in out if group.get(p) == name) for state in (True, False)]
        for name in sorted({group[p] for p in out if p in group})
    }
    found = []
    for one, other in combinations(counts, 2):
        p = float(stats.fisher_exact([counts[one], counts[other]]).pvalue)
        if p < LEVEL:
            shares = " and ".join(f"{counts[name][0]} of {sum(counts[name])} {name}" for name in (one, other))
            found.append(f"no picture of {shares} has an answer (Fisher p {p:.2g}): the comparison is selected.")
    return found
