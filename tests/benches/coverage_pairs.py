"""Cells of the coverage bench about pairs that others made: what goes with light, and findings on few pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
from coverage_cases import Count, counted

from gslopes.slopes.measures.explained import explained_rows
from gslopes.slopes.measures.options import FitOptions
from tests.slopes.measures.pairs import audited, drawn

PARTS = {"all": (0.0, 2.0), "half": (2.0, 2.0), "a fifth": (2.0, 0.5), "nothing": (2.0, 0.0)}


def explained(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """15, 24 and 100 units at 2 values, 24 at 7: all, half, a fifth or nothing of a slope goes with light."""
    options = FitOptions(permutations=0)
    for (units, count), (part, about) in itertools.product(
        ((15, 2), (24, 2), (100, 2), (24, 7)), PARTS.items()
    ):
        rows = pd.concat(
            [explained_rows(*drawn(rng, units, count, *about), options) for _ in range(sets)]
        )
        rows = rows[NUMBERS].astype(float)
        inputs, name = (
            rows["share"].notna().to_numpy(),
            f"{units} units at {count} values, {part} with light",
        )
        for what, number, truth in (
            ("share", rows, about[1] / sum(about)),
            ("adjusted", rows, about[0]),
        ):
            holds = (number[f"{what}_low"] <= truth) & (truth <= number[f"{what}_high"])
            judged = inputs if what == "share" else number["adjusted_low"].notna().to_numpy()
            method = "Fieller" if what == "share" else "jackknife"
            yield counted(f"{name}: {what} covered", method, holds.to_numpy(), judged)
        yield counted(
            f"{name}: the share is above 0", "Fieller", (rows["share_low"] > 0).to_numpy(), inputs
        )


NUMBERS = ["share", "share_low", "share_high", "adjusted_low", "adjusted_high"]


def pairs_findings(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """30 units of two pictures, placebos of ours, six labels: none moves, or one on 17 or 37 of 100 units."""
    for effect, name in (
        (0.0, "none moves"),
        (0.1, "one moves on 17 %"),
        (0.25, "one moves on 37 %"),
    ):
        result = [
            audited(rng, effect).set_index("label")["decision"] == "finding" for _ in range(sets)
        ]
        first = np.array([bool(row.get("l0")) for row in result])
        others = np.array([bool(row.drop("l0", errors="ignore").any()) for row in result])
        if effect:
            yield counted(f"{name}: found", "q and placebos", first)
        yield counted(
            f"{name}: a false finding", "q and placebos", others if effect else others | first
        )


CASES = {"pairs-explained": explained, "pairs-findings": pairs_findings}
