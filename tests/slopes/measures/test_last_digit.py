"""No table, decision, reason, sentence or interval depends on the last digit of an answer, whatever the design."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from gslopes.core import placebo, tables
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.answers import Cut, gather, present
from gslopes.slopes.measures.differences import paired_differences
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.page import decisions, lead
from tests.last_digit import differences, moved, moved_table
from tests.slopes.measures.crossed import GIVEN, GRID

PHOTOS, VALUES = 24, np.linspace(-2, 2, 5)
OPTIONS = FitOptions(permutations=99, min_varying=3)
IDS = np.array([f"{photo:064x}" for photo in range(PHOTOS)])
ABOUT = pd.DataFrame(
    {
        "team": np.resize(["red", "blue"], PHOTOS),
        "family": [f"f{photo // 3}" for photo in range(PHOTOS)],
        "truth": np.resize(["yes", "no", "no"], PHOTOS),
    },
    index=IDS,
)
Design = tuple[dict[str, np.ndarray], dict[str, Any]]
"""Sweep to scores, (photos, labels, K) float32, NaN where a label was not returned; further arguments of the fit."""


def with_placebos(
    edit: np.ndarray, still: np.ndarray, name: str = "gender"
) -> dict[str, np.ndarray]:
    """still: along the placebos."""
    return {name: edit, **dict.fromkeys(placebo.names(name), still)}


def by_presence(lot: np.random.Generator, score: float = 0.1 + 0.2) -> Design:
    """Tags with one score: some fall, two move alike, one is always there, one is always lost at the end."""
    steep = np.array([-0.2, 0.0, 0.15, 0.15, 0.0, 0.0])[:, None] * VALUES
    there = lot.random((PHOTOS, 6, 5)) < 0.5 + steep
    there[:, 3] = there[::-1, 2]
    there[:, 4], there[:, 5] = True, VALUES < 2
    still = np.repeat(lot.random((PHOTOS, 6, 1)) < 0.5, 5, axis=2)
    return with_placebos(*(np.where(rows, score, np.nan) for rows in (there, still))), {
        "truth": ["label0=truth"]
    }


def constant(lot: np.random.Generator) -> Design:
    """Each label has one score on every picture; some stand at an end of the range."""
    levels = np.array([0.1 + 0.2, 0.7, 1 / 3, 1.0, 0.0, 0.5])[None, :, None]
    every = np.broadcast_to(levels, (PHOTOS, 6, 5)).copy()
    return with_placebos(every, every), {}


def alike(lot: np.random.Generator) -> Design:
    """All photos have the same score at each value, which moves; and along one placebo they move as far."""
    sweeps = np.stack(
        [
            0.1 + 0.2 * np.arange(5),
            0.3 + 0.1 * np.arange(5),
            np.full(5, 0.3),
            [0.6, 0.3, 0.1, 0.3, 0.6],
        ]
    )
    edit = np.broadcast_to(sweeps, (PHOTOS, 4, 5)).copy()
    own = with_placebos(edit, np.broadcast_to(sweeps[:, :1], edit.shape).copy())
    return {**own, placebo.name("gender", "light"): edit}, {}


def scored(lot: np.random.Generator) -> Design:
    """Scores of three digits on every picture, the same for photos in twos; two labels are each other's mirror."""
    middle, steep = (
        lot.uniform(0.2, 0.8, (PHOTOS // 2, 5, 1)),
        np.array([-0.08, 0.04, 0.0, 0.02, 0.0])[:, None],
    )
    scores = middle + steep * VALUES + lot.normal(0, 0.03, (PHOTOS // 2, 5, 5))
    scores[:, 3] = 1 - scores[:, 1]
    edit = np.repeat(np.clip(scores, 0.001, 0.999).round(3), 2, axis=0)
    return with_placebos(edit, np.repeat(edit[:, :, 2:3], 5, axis=2)), {}


def numbered(lot: np.random.Generator) -> Design:
    """Numbers in a unit of their own: tenths that rise by the same for all, for half of all, and by chance."""
    rise = 0.1 * np.arange(5)
    numbers = np.round(30 + 4 * lot.normal(size=(PHOTOS, 4, 1)), 1) + np.zeros(5)
    numbers[:, 0] += rise
    numbers[::2, 1] += rise
    numbers[:, 2] += np.round(lot.normal(0, 0.3, (PHOTOS, 5)), 1)
    return with_placebos(numbers, numbers[:, :, ::-1].copy()), {}


def twos(lot: np.random.Generator) -> Design:
    """Pairs: two values, with readings of what else moved, one of which moves in step and one not at all."""
    edit = np.clip(0.4 + 0.2 * lot.random((PHOTOS, 3, 2)) + [0.0, 0.1], 0, 1).round(2)
    edit[:, 2] = edit[:, 0, ::-1]
    readings = {
        "luminance": 0.3 * edit[:, 0],
        "young": edit[:, 1],
        "smiling": np.full((PHOTOS, 2), 0.1 + 0.2),
    }
    index = pd.MultiIndex.from_product(
        [readings, IDS, range(2)], names=["reading", "photo", "step"]
    )
    columns = pd.Series(
        np.concatenate([part.ravel() for part in readings.values()]), index, name="score"
    )
    return {"race": edit}, {"moved": columns.reset_index().assign(attribute="race")}


def crossed(lot: np.random.Generator) -> Design:
    """A grid of two attributes."""
    there = lot.random((PHOTOS, 3, 15)) < np.linspace(0.3, 0.7, 15)
    there[:, 2] = there[:, 1, ::-1]
    return {GRID.name: np.where(there, 0.75, np.nan)}, {"values": GIVEN}


def read(lot: np.random.Generator) -> Design:
    """With a reader that some photos reach alike, an unedited photo, a drawing and a gate."""
    own, _ = scored(lot)
    reach = pd.DataFrame(
        {"photo": IDS, "attribute": "gender", "reading": "gender", "reach": 0.1 + 0.2}
    )
    reach["odds"] = np.where(ABOUT["team"] == "red", 0.7, -0.7)
    kept = pd.Series(np.arange(PHOTOS) % 6 > 0, IDS)
    tones = pd.Series(np.resize(["dark", "light"], PHOTOS), IDS)
    return own, {
        "reach": reach,
        "gates": {"gender": kept},
        "tones": tones,
        "drawn": ["gender"],
        "unedited": True,
    }


DESIGNS: dict[str, Callable[[np.random.Generator], Design]] = {
    made.__name__: made
    for made in (by_presence, constant, alike, scored, numbered, twos, crossed, read)
}


def tables_of(sweeps: Mapping[str, np.ndarray]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores and asked tables."""
    scores, asked = [], []
    for attribute, numbers in sweeps.items():
        values = (
            np.arange(15.0)
            if attribute.startswith(GRID.name)
            else VALUES
            if numbers.shape[2] == 5
            else np.arange(2)
        )
        photo, label, step = np.nonzero(~np.isnan(numbers))
        head = {"classifier": "c", "attribute": attribute}
        cells = {
            "photo": IDS[photo],
            "step": step.astype(np.int16),
            "label": [f"label{at}" for at in label],
        }
        cells |= {
            "value": values[step].astype(np.float32),
            "score": numbers[photo, label, step].astype(np.float32),
        }
        scores.append(pd.DataFrame(head | cells)[tables.SCORES.columns])
        pictures = {
            "photo": np.repeat(IDS, len(values)),
            "step": np.tile(np.arange(len(values), dtype=np.int16), PHOTOS),
        }
        asked.append(
            pd.DataFrame(head | pictures | {"status": "answered", "reason": "", "detail": ""})
        )
    return pd.concat(scores, ignore_index=True), pd.concat(asked, ignore_index=True)[
        tables.ASKED.columns
    ]


def everything(
    scores: pd.DataFrame, asked: pd.DataFrame, more: Mapping[str, Any], cluster: str
) -> dict[str, pd.DataFrame]:
    """Every table of a fit, its findings in their order, and its sentences."""
    given = dict(more)
    if given.pop("unedited", False):
        first = scores[(scores["attribute"] == "gender") & (scores["step"] == 2)]
        alone = first.assign(attribute="unedited", step=np.int16(0), value=np.float32(0))
        about = asked[(asked["attribute"] == "gender") & (asked["step"] == 0)].assign(
            attribute="unedited"
        )
        arrow = (
            tables.check(table, frame)
            for table, frame in ((tables.SCORES, alone), (tables.ASKED, about))
        )
        given["unedited"] = {"c": next(gather(*arrow, {"unedited": np.zeros(1)}))}
    found = analyse(
        scores,
        asked,
        Study(about=ABOUT, groups=["team"], cluster=cluster, **given),
        options=OPTIONS,
    )
    made = {table.name: frame for table, frame in found.tables()}
    slopes = found.slopes.assign(expected=False, cut=None)
    made["findings"] = decisions.findings_table(slopes, found.error_slopes)
    said = []
    for name, attribute, rows, _ in decisions.by_pair(tables.reading(slopes)):
        line = lead.headline(rows, decisions.decide(rows), attribute)
        said.append(
            {
                "name": name,
                "attribute": attribute,
                **{key: getattr(line, key) for key in line.__slots__},
            }
        )
    return made | {"sentences": pd.DataFrame(said)}


def moved_arguments(more: Mapping[str, Any], lot: np.random.Generator) -> dict[str, Any]:
    return {
        name: moved_table(value, lot) if isinstance(value, pd.DataFrame) else value
        for name, value in more.items()
    }


def check(design: str, seed: int, cluster: str) -> None:
    lot = np.random.default_rng(seed)
    sweeps, more = DESIGNS[design](lot)
    scores, asked = tables_of(sweeps)
    again = moved_table(scores, lot), asked, moved_arguments(more, lot), cluster
    assert not differences(everything(scores, asked, more, cluster), everything(*again))


@pytest.mark.parametrize("design", DESIGNS)
def test_no_decision_depends_on_the_last_digit_of_an_answer(design: str) -> None:
    check(design, 0, "")


@pytest.mark.slow
@settings(max_examples=150)
@given(st.sampled_from(sorted(DESIGNS)), st.integers(0, 2**32), st.sampled_from(["", "family"]))
def test_no_decision_of_any_design_depends_on_the_last_digit_of_an_answer(
    design: str, seed: int, cluster: str
) -> None:
    check(design, seed, cluster)


@pytest.mark.parametrize("design", [by_presence, alike, scored, numbered])
def test_no_change_between_two_runs_depends_on_the_last_digit(
    design: Callable[[np.random.Generator], Design],
) -> None:
    """A run against itself, moved twice, and against another one."""
    lot = np.random.default_rng(1)
    scores, asked = tables_of({"gender": design(lot)[0]["gender"]})
    other, _ = tables_of({"gender": design(lot)[0]["gender"]})
    made = []
    for first, second in ((scores, scores), (scores, other)):
        for change in (lambda table: table, lambda table: moved_table(table, lot)):
            sides = []
            for frame in (change(first), change(second)):
                arrow = tables.check(tables.SCORES, frame), tables.check(tables.ASKED, asked)
                sides.append(next(gather(*arrow, {"gender": VALUES})))
            made.append(paired_differences(*sides, min_varying=3, permutations=99))
    assert not differences(
        {"same": made[0], "changed": made[2]}, {"same": made[1], "changed": made[3]}
    )


def test_a_label_at_the_cut_counts_whatever_the_last_digit_and_ties_for_the_last_place_all_do() -> (
    None
):
    scores, _ = tables_of({"gender": np.full((PHOTOS, 3, 5), 0.55)})
    for cut in (Cut(0.55), Cut(0.0, 2)):
        again = scores.assign(score=moved(scores["score"].to_numpy(), np.random.default_rng(0)))
        assert len(present(tables.check(tables.SCORES, again), {"c": cut})) == len(scores)
