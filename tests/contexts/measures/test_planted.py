"""Planted taggers: what was put in comes out, and where nothing was, the tests hold their level.

S1 is in test_inference and test_congruence, S2 in test_describe, S5 in test_distances.
"""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import congruence_table, kappa
from gslopes.contexts.measures.describe import describe
from gslopes.contexts.measures.inference import accuracy_table, recognised_table
from gslopes.contexts.typology import read_typology
from tests.contexts.conftest import grid_of

GENDER = ["woman"] * 100 + ["man"] * 100


# --- S6: nothing planted ---------------------------------------------------------------------------------------------

SETS, LOW, HIGH = 1000, 0.036, 0.064  # 0.05 and twice the standard error of a share of 1,000


def _share(p_values) -> float:
    return float(np.mean([p <= 0.05 for p in p_values]))


@pytest.mark.slow
def test_recognition_dealt_anew_of_nothing():
    generator, p_values = np.random.default_rng(12), []
    for seed in range(SETS):
        cells = list(zip(generator.integers(0, 3, 200), generator.random(200) < 0.5, np.ones(200, int), strict=True))
        options = ContextOptions(permutations=499, seed=seed)
        rows = recognised_table(grid_of({"B": cells, "F": cells}, gender=GENDER), options)
        p_values.append(rows.set_index("given").loc["all", "p"])
    assert LOW <= _share(p_values) <= HIGH


# --- S7: the intervals cover what was planted; that of a share's change is in test_paired ----------------------------

COVERED = (0.93, 0.97)


def _answers(generator: np.random.Generator, women: list[float], men: list[float]) -> list[tuple[int, bool, int]]:
    """Neutral, woman and man with these probabilities, all recognised."""
    codes = np.concatenate([generator.choice(3, 100, p=shares) for shares in (women, men)])
    return [(int(code), True, 1) for code in codes]


@pytest.mark.slow
def test_the_interval_of_f1_covers_it():
    generator, hits = np.random.default_rng(20), 0
    true = 2 * 70 / (2 * 70 + 20 + 30)  # women: 70 right, 20 of the men called so, 30 missed
    for seed in range(500):
        cells = _answers(generator, [0.2, 0.7, 0.1], [0.2, 0.2, 0.6])
        options = ContextOptions(permutations=1, seed=seed)
        row = accuracy_table(grid_of({"B": cells}, gender=GENDER), options).set_index("gender").loc["woman"]
        hits += row["ci_low"] <= true <= row["ci_high"]
    assert COVERED[0] <= hits / 500 <= COVERED[1]


@pytest.mark.slow
def test_the_interval_of_the_slope_on_congruence_covers_it():
    generator, hits, ratings = np.random.default_rng(21), 0, {"F": 0.0, "N": 5.0, "M": 10.0}
    slope = 0.15  # of the share of right answers, for everybody
    for seed in range(500):
        cells = {"B": _answers(generator, [0.5, 0.5, 0], [0.5, 0, 0.5])}
        for name, rating in ratings.items():
            right = {gender: 0.6 + slope * kappa(rating, gender) for gender in ("woman", "man")}
            cells[name] = _answers(
                generator, [1 - right["woman"], right["woman"], 0], [1 - right["man"], 0, right["man"]]
            )
        rows = congruence_table(grid_of(cells, gender=GENDER), ratings, ContextOptions(permutations=1, seed=seed))
        at = (rows["measure"] == "correct") & (rows["gender"] == "all") & (rows["group"] == "all")
        row = rows[at].iloc[0]
        hits += row["ci_low"] <= 100 * slope <= row["ci_high"]
    assert COVERED[0] <= hits / 500 <= COVERED[1]


# --- S8: the dictionary ----------------------------------------------------------------------------------------------


def test_gender_words_that_the_typology_lacks_lower_f1_step_by_step(tmp_path):
    said = {"woman": ["woman", "lady", "girl", "hostess"], "man": ["man", "gentleman", "boy", "guy"]}
    answers = [said[gender][index % 4] for index, gender in enumerate(GENDER)]
    found = []
    for known in (4, 3, 2, 1):
        path = tmp_path / f"{known}.toml"
        clusters = {"feminine": said["woman"][:known], "masculine": said["man"][:known]}
        path.write_text(
            "".join(f'[clusters.{name}]\nsuper = "demographics"\ntags = {tags}\n' for name, tags in clusters.items())
        )
        typology = read_typology(path)
        codes = [{"neutral": 0, "woman": 1, "man": 2}[describe({tag}, typology)["inferred"]] for tag in answers]
        grid = grid_of({"B": [(code, True, 1) for code in codes]}, gender=GENDER)
        found.append(accuracy_table(grid, ContextOptions(permutations=9))["f1"].tolist())
    assert found[0] == [1.0, 1.0]
    assert (np.diff(np.array(found), axis=0) < 0).all()
