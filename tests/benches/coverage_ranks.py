"""Cells of the coverage bench about rank correlations: slopes of job titles and the share of women in the job."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from coverage_cases import Count, counted

from gslopes.slopes.measures.kinds import measured, numbers
from gslopes.slopes.measures.titles import line
from gslopes.stats.agreement import rank_correlation
from gslopes.stats.ols import line_weights
from tests.slopes.page.test_occupations import TITLES, WOMEN, answers, shared


def ranks_titles(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """10, 20 and 60 titles whose shares and slopes are normal and correlated by 0, −0.5 or −0.9."""
    for titles in (10, 20, 60):
        for correlation in (0.0, -0.5, -0.9):
            rho, tau = (
                6 / math.pi * math.asin(correlation / 2),
                2 / math.pi * math.asin(correlation),
            )
            shares = rng.normal(size=(sets, titles))
            slopes = correlation * shares + math.sqrt(1 - correlation**2) * rng.normal(
                size=(sets, titles)
            )
            result = [
                rank_correlation(*pair, permutations=199)
                for pair in zip(shares, slopes, strict=True)
            ]
            name = f"{titles} titles, correlated by {correlation:g}"
            covered = np.array([item.rho_low <= rho <= item.rho_high for item in result])
            yield counted(f"{name}: rho covered", "Fisher z", covered)
            covered = np.array([item.tau_low <= tau <= item.tau_high for item in result])
            yield counted(f"{name}: tau covered", "Fisher z", covered)
            yield counted(
                f"{name}: p below .05", "permutation", np.array([item.p < 0.05 for item in result])
            )


def ranks_photos(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """12 and 40 photos, 14 titles that move together on each."""
    women_by_title = {title: WOMEN[title] for title in TITLES}
    for photos in (12, 40):
        for effect in (0.0, -0.5):
            covered, alone, both = np.zeros((3, sets), bool)
            for number in range(sets):
                result = answers(shared(rng, photos, effect), TITLES)
                odds = measured(result, dict.fromkeys(TITLES, "log-odds"))
                slopes = numbers(odds, np.arange(len(odds.label)))[0] @ line_weights(odds.values)
                by_title = np.bincount(odds.label, slopes, len(TITLES))
                shares = [WOMEN[title] for title in odds.labels]
                rank = rank_correlation(shares, by_title, permutations=9)
                steep = line(result, women_by_title, "log-odds")
                covered[number] = steep.low <= effect <= steep.high
                alone[number] = rank.rho_high < 0 or rank.rho_low > 0
                both[number] = alone[number] and (steep.high < 0 or steep.low > 0)
            name = f"{photos} photos, line {effect:g}"
            yield counted(f"{name}: line covered", "t over photos", covered)
            yield counted(f"{name}: an order is said", "only rank correlation", alone)
            yield counted(f"{name}: an order is said", "both intervals", both)


CASES = {"ranks-titles": ranks_titles, "ranks-photos": ranks_photos}
