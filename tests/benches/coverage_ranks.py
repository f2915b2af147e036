"""Cells of the coverage bench about rank correlations: slopes of job titles and the share of women in the job."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from coverage_cases import Count, counted

from gslopes.stats.agreement import rank_correlation


def ranks_titles(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """10, 20 and 60 titles whose shares and slopes are normal and correlated by 0, −0.5 or −0.9."""
    for titles in (10, 20, 60):
        for correlation in (0.0, -0.5, -0.9):
            rho, tau = 6 / math.pi * math.asin(correlation / 2), 2 / math.pi * math.asin(correlation)
            shares = rng.normal(size=(sets, titles))
            slopes = correlation * shares + math.sqrt(1 - correlation**2) * rng.normal(size=(sets, titles))
            found = [rank_correlation(*pair, permutations=199) for pair in zip(shares, slopes, strict=True)]
            name = f"{titles} titles, correlated by {correlation:g}"
            covered = np.array([one.rho_low <= rho <= one.rho_high for one in found])
            yield counted(f"{name}: rho covered", "Fisher z", covered)
            covered = np.array([one.tau_low <= tau <= one.tau_high for one in found])
            yield counted(f"{name}: tau covered", "Fisher z", covered)
            yield counted(f"{name}: p below .05", "permutation", np.array([one.p < 0.05 for one in found]))


CASES = {"ranks-titles": ranks_titles}
