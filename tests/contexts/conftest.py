"""Synthetic answers from which the paper's tables must come out, and taggers whose effects are planted."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.measures.describe import Grid
from gslopes.frame.result import Result
from tests.contexts.drawn import audit, draw

GOLDEN = Path(__file__).parent / "golden"
CONTEXTS = ("F1", "F2", "F3", "F4", "M1", "M2", "M3", "M4")
TAGGERS = "ACIMW"
WOMEN, MEN = 307, 290
CODE = {"neutral": 0, "woman": 1, "man": 2}


def golden(name: str) -> pd.DataFrame:
    return pd.read_csv(GOLDEN / name, comment="#", dtype=str, keep_default_na=False)


@pytest.fixture(scope="session")
def table7() -> dict[tuple[str, str], tuple[int, int, int]]:
    """(tagger, context) to inferred woman, man, neutral."""
    rows = golden("table7.csv").set_index("context")
    return {(t, c): tuple(map(int, rows.loc[c, t].split("-"))) for t in TAGGERS for c in rows.index}  # type: ignore[misc]


@pytest.fixture(scope="session")
def answers() -> dict[tuple[str, str], tuple[int, ...]]:
    """(tagger, context) to recognised woman, man, neutral; men among the recognised; TP men; TP women."""
    counts: dict[tuple[str, str], tuple[int, ...]] = {}
    tagger = ""
    for line in (GOLDEN / "answers.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        if line[0] != " ":
            tagger, line = line[0], line[1:]
        for context, recognised, men, correct in re.findall(
            r"(\w\w?) ([\d/]+)(?:;(\d+))?((?:;\d+)*)", line
        ):
            numbers = [int(part) for part in (men, *correct.split(";")) if part]
            counts[tagger, context] = (*map(int, recognised.split("/")), *numbers)
    return counts


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """People, their CSV, and two backgrounds with their records."""
    return draw(tmp_path_factory.mktemp("contexts"))


@pytest.fixture(scope="session")
def audited(folder, tmp_path_factory) -> Result:
    """Their audit; tests that change its folder copy it."""
    return audit(folder, tmp_path_factory.mktemp("run") / "run")


@pytest.fixture(scope="session")
def few(tmp_path_factory) -> Path:
    """Eight people before the same backgrounds."""
    return draw(tmp_path_factory.mktemp("few"), 8)


@pytest.fixture(scope="session")
def swept(few, tmp_path_factory) -> Result:
    """The audit of few with a sweep of the face, all components planted."""
    return audit(few, tmp_path_factory.mktemp("sweep") / "run", sweep="gender", steps=3)


def grid_of(
    cells: dict[str, list[tuple[int, bool, int]]],
    *,
    gender: list[str],
    baseline: str = "B",
    group: list[str] | None = None,
    measures: dict[str, np.ndarray] | None = None,
    person: list[int] | None = None,
    tagged: frozenset[str] | None = None,
) -> Grid:
    """A grid from columns of (inferred code, recognised, answered) triples, one column a place."""
    names = list(cells)
    array = np.array([cells[name] for name in names])  # (A, P, 3)
    shape = array.shape[1], array.shape[0]
    none = {
        name: np.full(shape, np.nan)
        for name in ("distance", "n_tags", "demographics", "concrete", "abstract")
    }
    return Grid(
        head={"classifier": "planted", "tags": "gross"},
        photos=np.array([f"{index:04d}" for index in range(shape[0])], object),
        person=np.arange(shape[0]) if person is None else np.array(person),
        gender=np.array(gender, object),
        group=np.array(group or [""] * shape[0], object),
        conditions=tuple("canvas" if name == baseline else f"{name}.1" for name in names),
        contexts=tuple("" if name == baseline else name for name in names),
        answered=array[..., 2].T.astype(bool),
        inferred=array[..., 0].T.astype(np.int8),
        recognised=array[..., 1].T.astype(bool),
        measures={**none, **(measures or {})},
        tagged=frozenset(names) - {baseline} if tagged is None else tagged,
    )


@pytest.fixture(scope="session")
def paper_grid(table7, answers) -> Callable[[str], Grid]:
    """One tagger's answers about 597 people that give its cells of tables 7, 8 and 9."""

    def make(tagger: str) -> Grid:
        cells = {
            context: _column(table7[tagger, context], answers[tagger, context])
            for context in ("B", *CONTEXTS)
        }
        return grid_of(cells, gender=["woman"] * WOMEN + ["man"] * MEN)

    return make


def _column(inferred: tuple[int, ...], counts: tuple[int, ...]) -> list[tuple[int, bool, int]]:
    woman, man, neutral = counts[:3]
    if (
        len(counts) == 3
    ):  # nothing recognised, or nobody gendered: if there are men, the last number counts them
        counts = (*counts, min(MEN, neutral), 0, 0)
    men, right_men, right_women = counts[3:]
    recognised_men = {"man": right_men, "woman": woman - right_women}
    recognised_men["neutral"] = men - sum(recognised_men.values())
    recognised = {"woman": woman, "man": man, "neutral": neutral}
    columns: dict[str, list[tuple[int, bool, int]]] = {"woman": [], "man": []}
    for name, count in recognised.items():
        columns["man"] += [(CODE[name], True, 1)] * recognised_men[name]
        columns["woman"] += [(CODE[name], True, 1)] * (count - recognised_men[name])
    rest = [
        (CODE[name], False, 1)
        for name, total in zip(("woman", "man", "neutral"), inferred, strict=True)
        for _ in range(total - recognised[name])
    ]
    free = WOMEN - len(columns["woman"])
    return columns["woman"] + rest[:free] + columns["man"] + rest[free:]
