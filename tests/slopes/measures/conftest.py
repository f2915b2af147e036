"""Tables of answers built from what a test wants to say: which photo has which label at which step."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.slopes.measures import answers as sweeps

Answers = tuple[pd.DataFrame, pd.DataFrame]
Builder = Callable[..., Answers]


def build(
    present: np.ndarray,
    values: Sequence[float],
    labels: Sequence[str] | None = None,
    classifier: str = "c",
    attribute: str = "gender",
) -> Answers:
    """Scores and asked tables; ``present`` is (photos, labels, K) bool, all pictures answered."""
    labels = labels or [f"label{index}" for index in range(present.shape[1])]
    photos = np.array([f"{index:064x}" for index in range(present.shape[0])])
    photo, label, step = np.nonzero(present)
    scores = pd.DataFrame(
        {
            "photo": photos[photo] if len(photos) else np.empty(0, dtype=str),
            "attribute": attribute,
            "step": step.astype(np.int16),
            "value": np.asarray(values, dtype=np.float32)[step],
            "classifier": classifier,
            "label": np.asarray(labels)[label],
            "score": np.float32(0.75),
        }
    )
    asked = pd.DataFrame(
        {
            "photo": np.repeat(photos, len(values)),
            "attribute": attribute,
            "step": np.tile(np.arange(len(values), dtype=np.int16), len(photos)),
            "classifier": classifier,
            "status": "answered",
            "reason": "",
            "detail": "",
        }
    )
    return scores[tables.SCORES.columns], asked[tables.ASKED.columns]


@pytest.fixture(scope="session")
def answers() -> Builder:
    return build


def drifting(photos: int = 60, seed: int = 3) -> np.ndarray:
    """Labels: falling, flat, rising, never at the centre, and one on two photos."""
    rng, values = np.random.default_rng(seed), np.linspace(-2, 2, 5)
    rates = np.stack(
        [
            0.5 - 0.15 * values,
            np.full(5, 0.5),
            0.5 + 0.15 * values,
            [0.5, 0.5, 0.0, 0.5, 0.5],
            np.zeros(5),
        ]
    )
    present = rng.random((photos, 5, 5)) < rates
    present[:2, 4, 1:3] = True
    return present


def of(present: np.ndarray) -> sweeps.Answers:
    """One label, (n, K) presence."""
    photos = np.array([f"{i:04d}" for i in range(len(present))], dtype=object)
    rows = np.flatnonzero(present.any(axis=1)).astype(np.int32)
    found = present[rows].astype(bool)
    label = np.zeros(len(rows), np.int32)
    names = np.array(["x"], dtype=object)
    return sweeps.Answers(
        "c",
        "gender",
        np.linspace(-2, 2, 5),
        names,
        photos,
        rows,
        label,
        found,
        found.astype(np.float32),
        0.5,
    )
