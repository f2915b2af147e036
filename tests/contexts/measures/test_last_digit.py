"""No result about people before rooms depends on the last digit of a share, a distance or a rating."""

import numpy as np
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import changes_table, congruence_table
from gslopes.contexts.measures.describe import Grid
from gslopes.contexts.measures.inference import compare_groups, distances_table
from tests.contexts.conftest import grid_of
from tests.last_digit import differences, moved

OPTIONS = ContextOptions(permutations=199, baseline="canvas")
RATINGS = {"F": 0.3, "N": 0.1 + 4.8, "M": 9.1}


def grid(lot: np.random.Generator) -> Grid:
    """Shares that are thirds and sevenths, alike for all, for women only, or by chance; distances that repeat."""
    people = 24
    gender, group = np.resize(["woman", "man"], people), np.repeat(["a", "b", "a"], people // 3)
    cells = [(int(draw < 0.6), True, 1) for draw in lot.random(people)]
    shares = {
        "concrete": np.full((people, 4), 1 / 3),
        "abstract": np.where(gender == "woman", 3 / 7, 0.1 + 0.2)[:, None] + np.zeros(4),
        "demographics": lot.integers(0, 7, (people, 4)) / 7,
        "distance": lot.integers(0, 4, (people, 4)) / 3,
    }
    return grid_of(
        dict.fromkeys(("B", "F", "N", "M"), cells),
        gender=gender.tolist(),
        group=group.tolist(),
        measures=shares,
    )


def everything(tagged: Grid, ratings: dict[str, float]) -> dict:
    variances, pairs = compare_groups(tagged)
    tables = {
        "changes": changes_table(tagged, ratings, OPTIONS),
        "congruence": congruence_table(tagged, ratings, OPTIONS),
    }
    return tables | {"distances": distances_table(tagged), "anova": variances, "tukey": pairs}


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 40))]
)
def test_no_number_before_rooms_depends_on_the_last_digit(seed: int):
    lot = np.random.default_rng(seed)
    tagged = grid(lot)
    exact = everything(tagged, RATINGS)
    for values in tagged.measures.values():
        values[:] = moved(values, lot)
    ratings = dict(zip(RATINGS, moved(list(RATINGS.values()), lot).tolist(), strict=True))
    assert not differences(exact, everything(tagged, ratings))
