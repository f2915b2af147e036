import json

import numpy as np
import pytest

from gslopes.executors import OneProcess
from gslopes.studies.planted.classifier import GRID
from gslopes.studies.planted.study import calibrate, naive, summarise


def test_a_naive_comparison_blames_what_goes_along_with_gender():
    rng = np.random.default_rng(0)
    cue = rng.uniform(-1, 1, 2000).astype(np.float32)
    goes_along = cue + rng.normal(0, 0.5, 2000) > 0
    columns = np.stack([goes_along, rng.random(2000) < 0.5], 1)
    found = naive(columns, cue, 2000, 2)
    assert found.shape == (2, 2, 2)
    assert (found[:, 0, 1] < 1e-6).all()
    assert (found[:, 1, 1] > 1e-3).all()
    assert found[0, 0, 0] > 40


@pytest.mark.slow
def test_the_whole_calibration_recovers_signs_and_writes_what_it_says(tmp_path):
    found = calibrate(tmp_path / "c", OneProcess(), faces=160, sets=2)
    strong = found.labels[found.labels["cue"].abs() == 0.6]
    assert (np.sign(strong["recovered"]) == np.sign(strong["truth"])).all()
    assert 0.2 < found.reach < 1.5
    assert found.summary["error"] < found.summary["error_naive"]
    assert json.loads((tmp_path / "c" / "calibration.json").read_text())["faces"] == 160
    assert found.picture.read_bytes().startswith(b"\x89PNG")
    assert len(found.labels) == len(GRID)


def test_summary_keeps_nothing_and_confounder_alone_apart():
    import pandas as pd

    labels = pd.DataFrame(
        {
            "cue": [0.0, 0.0, 0.3],
            "confounder": ["", "hair", ""],
            "truth": [0.0, 0.0, 5.0],
            "recovered": [0.0, 0.0, 4.0],
            "per_reach": [0.0, 0.0, 5.0],
            "naive": [0.0, 9.0, 5.0],
            "covered": [1.0, 1.0, 0.0],
            "covered_per_reach": [1.0, 1.0, 1.0],
            "flagged": [0.0, 0.1, 1.0],
            "decided": [0.0, 0.05, 0.9],
            "naive_flagged": [0.0, 1.0, 1.0],
        }
    )
    summary = summarise(labels)
    assert summary["false_positives_nothing"] == 0
    assert summary["false_positives_confounder_only"] == pytest.approx(0.1)
    assert summary["findings_confounder_only"] == pytest.approx(0.05)
    assert summary["naive_false_positives_confounder_only"] == 1
    assert summary["error_naive"] > summary["error"] > summary["error_per_reach"] == 0
