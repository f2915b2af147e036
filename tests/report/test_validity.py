"""What the page says about the pictures: whether it is still the same person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.report import validity, write_report


def cosines(photos: list[str], values: np.ndarray, two: float = 0.84) -> pd.DataFrame:
    """Faces that grow unlike their centre by 0.01 a unit; one photo is 0.02 farther off than the other."""
    rows = []
    for place, photo in enumerate(photos):
        for step, value in enumerate(values):
            cosine = 1 - (0.01 + 0.02 * place) * abs(value)
            rows.append((photo, "gender", step, value, photo, cosine))
        rows.append((photo, "gender", len(values) // 2, 0.0, photos[1 - place], two + 0.02 * place))
    return pd.DataFrame(rows, columns=tables.LIKENESS.columns)


def judge(run: Path, photos: list[str]) -> None:
    """The tables that the gate leaves, without readings."""
    plain = {"attribute": "gender", "kept": True, "reason": "", "looked": 2, "found": 2, "tau": 0.9, "shift": 0.5}
    rest = {"off_target": None, "off_target_reading": "", "mask_area": 0.1, "mask_share": None, "change": None}
    tables.write(tables.VERDICTS, pd.DataFrame({"photo": photos, **plain, **rest}), run / "verdicts.parquet")


def test_likeness_is_the_mean_over_photos_beside_two_people() -> None:
    found = validity.likeness(cosines(["a", "b"], np.array([-2.0, 0, 2])), 3)
    assert found is not None
    assert found["mean"] == pytest.approx([0.96, 1, 0.96])
    half = 1.959964 * 0.02  # standard deviation 0.02 sqrt 2 over the root of two photos
    assert found["low"][0] == pytest.approx(0.96 - half, abs=1e-6)
    assert found["two"] == pytest.approx([0.85, 0.85 - half / 2, 0.85 + half / 2], abs=1e-6)
    assert found["photos"] == 2


def test_without_rows_or_with_a_value_lacking_there_is_none() -> None:
    frame = cosines(["a", "b"], np.array([-2.0, 0, 2]))
    assert validity.likeness(frame[:0], 3) is None
    assert validity.likeness(frame[frame["step"] != 2], 3) is None
    alone = validity.likeness(frame[frame["photo"] == frame["other"]], 3)
    assert alone is not None
    assert alone["two"] is None


def test_page_tells_the_likeness_or_how_to_measure_it(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=12)
    photos = tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique().tolist()[:2]
    judge(run, photos)
    before = write_report(run, embed="none").read_text(encoding="utf-8")
    assert "This was not measured: <code>gslopes validate RUN</code> adds it" in before
    tables.write(tables.LIKENESS, cosines(photos, np.linspace(-2, 2, 7)), run / "likeness.parquet")
    after = write_report(run, embed="none").read_text(encoding="utf-8")
    assert "a cosine of 0.960 [" in after
    assert "taken to be of two people, 0.850 [" in after
    assert "was not measured" not in after
    data = re.search(r'id="page-data">(.*?)</script>', after)
    assert data
    assert len(json.loads(data[1])["readings"][0]["likeness"]["mean"]) == 7
