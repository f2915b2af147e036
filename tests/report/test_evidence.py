import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.fit import FitOptions, analyse
from gslopes.report.evidence import print_evidence

VALUES = np.linspace(-2, 2, 5)


@pytest.fixture(scope="module")
def slopes() -> pd.DataFrame:
    """Labels: falling, flat, rare, and one whose means lie crookedly though every photo moves."""
    rng = np.random.default_rng(0)
    rates = np.stack([0.5 - 0.15 * VALUES, np.full(5, 0.5), np.zeros(5), np.zeros(5)])
    present = rng.random((60, 4, 5)) < rates
    present[:3, 2, 2] = True
    present[:, 3, 4] = True
    present[:6, 3, 2] = True
    photo, label, step = np.nonzero(present)
    names, ids = np.array(["Falling", "Flat\x1b[31m", "Rare", "Crooked"]), np.array([f"{i:064x}" for i in range(60)])
    scores = pd.DataFrame({"photo": ids[photo], "attribute": "gender", "step": step, "value": VALUES[step]})
    scores = scores.assign(classifier="c", label=names[label], score=0.5)
    asked = pd.DataFrame({"photo": np.repeat(ids, 5), "attribute": "gender", "step": np.tile(range(5), 60)})
    asked = asked.assign(classifier="c", status="answered", reason="")
    return analyse(scores, asked, options=FitOptions(bootstrap=100, permutations=2000)).slopes


def row(text: str, label: str) -> list[str]:
    return next(line for line in text.splitlines() if line.startswith(f"  {label} ")).split()


def test_a_row_has_slope_interval_p_perm_q_and_n_and_the_papers_numbers(slopes) -> None:
    text = print_evidence(slopes)
    own = slopes.query("estimator == 'photo-rate' and label == 'Falling'").iloc[0]
    cells = row(text, "Falling")
    assert cells[1:4] == [f"{own['slope']:+.3f}", f"[{own['ci_low']:+.3f},", f"{own['ci_high']:+.3f}]"]
    assert cells[4:7] == [f"{own['p_perm']:.2g}", f"{own['q']:.2g}", "60"]
    paper = slopes.query("estimator == 'paper' and label == 'Falling'").iloc[0]
    assert f"{paper['slope']:+.3f}" in cells
    for word in (
        "photo-rate",
        "t over photos",
        "exchangeable",
        "Benjamini and Hochberg",
        "disagree at 0.001",
        "percentage points",
    ):
        assert word in text


def test_disagreement_has_a_mark_and_rare_labels_a_line_of_their_own(slopes) -> None:
    text = print_evidence(slopes)
    assert row(text, "Crooked")[-1] == "*!"
    assert "  too rare to judge: Rare" in text.splitlines()
    assert "\x1b" not in text


def test_the_correction_is_named(slopes) -> None:
    assert "family-wise, by max-T" in print_evidence(slopes, correction="max-t")
    assert "p after Holm" in print_evidence(slopes.assign(p_perm=np.nan), correction="holm")


def test_only_so_many_rows_are_shown_those_with_evidence_first(slopes) -> None:
    text = print_evidence(slopes, limit=1)
    assert "and 2 labels with less evidence" in text
    assert "Flat" not in text


def test_without_photo_rate_the_other_rows_are_printed(slopes) -> None:
    assert "Estimator: paper" in print_evidence(slopes[slopes["estimator"] == "paper"])
    assert print_evidence(tables.SLOPES.empty()) == "No classifier returned any label, so there is no slope."


def test_placebo_sweeps_stand_beside_the_finding_and_not_among_the_findings(slopes) -> None:
    beside = [slopes.assign(attribute=name) for name in ("gender-same", "gender-light")]
    text = print_evidence(pd.concat([slopes, *beside], ignore_index=True))
    assert text.count("slope of each label along") == 1
    assert "same picture" in text
    own = slopes.query("estimator == 'photo-rate' and label == 'Falling'").iloc[0]
    assert row(text, "Falling").count(f"{own['slope']:+.3f}") == 3
    assert "noise floor" in text
    assert "noise floor" not in print_evidence(slopes)
