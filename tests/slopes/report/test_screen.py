from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import placebo, tables
from gslopes.slopes.report import answers as matrix
from gslopes.slopes.report import decisions, page_data, screen
from gslopes.slopes.report.loading import load


def test_the_forest_has_findings_first_with_the_ends_of_their_placebos_and_at_most_so_many(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=12)
    found = tables.read(tables.SLOPES, run / "slopes.parquet").dropna(subset="slope")
    row = found.iloc[[0]].assign(estimator="photo-rate", note="")
    many = [row.assign(label=f"l{i:02d}", slope=float(i), q=0.01 if i % 2 else 0.5) for i in range(60)]
    rates = pd.concat(many).assign(ci_low=lambda t: t["slope"] - 1, ci_high=lambda t: t["slope"] + 1)
    floor = [
        rates.assign(attribute=placebo.name("gender", kind), slope=0.0, ci_low=-low, ci_high=0.5)
        for kind, low in (("same", 0.2), ("light", 0.3))
    ]
    tables.write(tables.SLOPES, pd.concat([found, rates, *floor]), run / "slopes.parquet")
    (finding,) = load(run).findings
    decided = decisions.decide(finding.of("photo-rate"), finding.placebo)
    rows, unit = screen.forest(finding, decided)
    assert unit == "percentage points per unit"
    assert len(rows) == screen.MOST_LABELS
    codes = [row[5] for row in rows]
    assert codes == sorted(codes, key=["finding", "placebo", "none"].index)
    assert rows[0][1] == "l59"
    assert rows[0][7:] == [-0.3, 0.5, False]
    named = {label: replace(one, expected=label in ("l59", "l58")) for label, one in decided.items()}
    rows, _ = screen.forest(finding, named)
    assert rows[0][1] == "l57", "the steepest of those that are not expected"
    few = replace(finding, rows=finding.rows[finding.rows["label"].isin(["l01", "l02", "l59", "l58"])])
    assert [row[1] for row in screen.forest(few, named)[0]] == ["l01", "l02", "l59", "l58"], "expected ones below"


def test_the_strip_is_a_photo_of_the_strongest_label_with_a_score_for_each_value(one: Path, tmp_path: Path) -> None:
    (finding,) = load(one).findings
    found = matrix.read(one, finding.classifier, finding.attribute, finding.values)
    photos = sorted(found.photos)
    files = {(photo, "gender"): [f"pictures/{photo[:4]}.webp"] for photo in photos}
    album = page_data.Album(photos, photos, {photo: place for place, photo in enumerate(photos)}, files)
    strip = screen.strip(finding, "Necktie", found, album, {})
    assert strip is not None
    assert len(strip.cells) == 7
    assert strip.cells[0][0] == "−2"
    assert strip.label == "Necktie"
    assert screen.strip(finding, "", found, album, {}) is None
    assert np.isfinite([float(score) for _, score in strip.cells if score != "–"]).all()
