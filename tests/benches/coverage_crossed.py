"""Cells of the coverage bench about two attributes that are crossed: what of an interaction is called a finding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from coverage_cases import Count, counted

from tests.slopes.measures.crossed import GRID, audited, read

LABELS = 5


def crossed_findings(rng: np.random.Generator, audits: int) -> Iterator[Count]:
    """Five labels on 5 by 3 pictures a photo, placebos in which nothing moves, main slopes of 3 or 6 points per unit.

    Of each label, whether its interaction is a finding; of each audit, whether one is.
    """
    designs = ((40, 0.06, 0.0), (40, 0.03, 0.02), (100, 0.03, 0.02), (40, 0.03, 0.04))
    for photos, main, interaction in designs:
        result = np.zeros((audits, LABELS), bool)
        ends = np.zeros(audits, bool)
        for audit in range(audits):
            run = audited(rng, photos, LABELS, main, interaction, permutations=399)
            result[audit] = (read(run)["decision"] == "finding").to_numpy()
            ends[audit] = (read(run, f"{GRID.name}=2")["decision"] == "finding").any()
        name = f"{photos} photos, {100 * interaction:.0f} points per unit of both"
        yield counted(f"{name}: a label is found", "q and placebos", result.ravel())
        yield counted(f"{name}: any of five is found", "q and placebos", result.any(axis=1))
        yield counted(
            f"{name}: any slope of gender at an end of race is found", "q and placebos", ends
        )


CASES = {"crossed-findings": crossed_findings}
