"""Palettes of one room: planted changes come back, and several palettes of a room are one room."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.grid import make_grid
from gslopes.contexts.measures.inferred import inferred_table
from gslopes.contexts.measures.interaction import palettes_table
from gslopes.contexts.measures.paired import ALIKE

OPTIONS = ContextOptions(permutations=999)
PEOPLE = 60
WOMEN = {"pink": 40, "blue": 25}  # people inferred women before every room of that colour


@pytest.fixture(scope="module")
def backgrounds() -> pd.DataFrame:
    rooms = [(name, layout, colour) for name in ("garage", "nursery") for layout in (1, 2) for colour in WOMEN]
    rows = [{"key": f"{name}.{layout}.{colour}", "context": name, "palette": colour} for name, layout, colour in rooms]
    return pd.DataFrame([*rows, {"key": "cat.1", "context": "cat", "palette": ""}])


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    names = [f"p{index:02d}" for index in range(PEOPLE)]
    return pd.DataFrame({"photo": names, "person": names, "gender": "woman", "group": "", "age": np.nan})


@pytest.fixture(scope="module")
def described(backgrounds: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for index in range(PEOPLE):
        for row in backgrounds.to_dict("records"):
            woman = index < WOMEN.get(row["palette"], 30)
            rows.append(
                {"photo": f"p{index:02d}", "attribute": row["key"], "inferred": "woman" if woman else "neutral"}
            )
    numbers = dict.fromkeys(("distance", "n_tags", "demographics", "concrete", "abstract"), 0.0)
    return pd.DataFrame(rows).assign(classifier="c", tags="gross", step=0, recognised=True, **numbers)


def test_the_planted_change_comes_back_at_each_context_and_over_all(described, backgrounds, people):
    presence = {"toy": {(f"p{index:02d}", "nursery.1.pink", 0) for index in range(20)}}
    found = palettes_table(described, presence, backgrounds, people, OPTIONS).set_index(["label", "context"])
    assert set(found["palette"] + found["other"]) == {"pinkblue"}
    for context in ("all", "garage", "nursery"):
        row = found.loc["inferred woman", context]
        assert row["change"] == pytest.approx((40 - 25) / 60)
        assert row["change_low"] < 0.25 < row["change_high"]
        assert row["p"] < 0.01
        assert (row["n"], row["discordant"]) == (PEOPLE * (4 if context == "all" else 2), 15)
    toy = found.loc["toy", "all"]
    assert toy["change"] == pytest.approx(20 / 240)
    assert toy["change_rooms_low"] < 0 < toy["change_rooms_high"], "one room of four says little about such rooms"
    assert ("toy", "nursery") not in found.index
    assert found.loc["recognised", "all"]["note"].endswith(ALIKE)


def test_rooms_without_a_palette_are_no_row(described, backgrounds, people):
    alone = backgrounds[backgrounds["palette"] == ""]
    assert palettes_table(described, {}, alone, people, OPTIONS).empty


def test_a_room_in_two_palettes_is_one_room(described, backgrounds, people):
    grid = make_grid(described, people, backgrounds)
    assert [len(grid.of(name)) for name in grid.names] == [4, 4, 1]
    assert [[len(room) for room in grid.rooms(name)] for name in grid.names] == [[2, 2], [2, 2], [1]]
    sums = np.arange(8.0).reshape(2, 4)
    assert grid.pooled(sums, "garage").tolist() == [[1, 5], [9, 13]]
    rows = inferred_table(grid, {}, OPTIONS).set_index(["context", "gender", "inferred"])
    assert rows.loc[("garage", "all", "woman"), "rooms_high"] < 1, "the palettes differ, the rooms do not"
