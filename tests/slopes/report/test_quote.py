"""The sentence that others may quote of an audit, and its card."""

import json
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import summary
from gslopes.frame.findings import decide
from gslopes.report import quote

ABOUT = quote.About("Crops", ("pair", "pairs"), "compared: two people", ("A limit.", "Another."), "A paper")


def findings(*rows: dict[str, object]) -> pd.DataFrame:
    row = {"model": "m", "contrast": "gender: woman over man", "label": "other", "n": 40, "value": 9.25, "reason": ""}
    row |= {"ci_low": 2.0, "ci_high": 16.0, "unit": "percentage points", "q": 0.01}
    return decide(pd.DataFrame([{**row, **one} for one in rows]))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run.json").write_text(json.dumps({"gslopes": "0.2.0", "created": "2026-11-21T10:00:00+00:00"}))
    return tmp_path


def test_a_siblings_sentence_has_number_interval_n_what_was_compared_version_day_and_limit(run: Path) -> None:
    found = findings({}, {"label": "first", "value": 4.0, "n": 1}, {"label": "none", "q": 0.5})
    said = quote.of_findings(run, found, "It favours women.", ABOUT, ("fir", "gender: woman over man"))
    assert said is not None
    assert said.sentence == (
        "It favours women. In numbers: m, first, gender: woman over man: +4.0 percentage points, "
        "95 % interval [+2.0, +16.0], 1 pair; one of 2 findings "
        "(compared: two people; gslopes 0.2.0, on 2026-11-21. A limit.)"
    )
    assert "| m, other | gender: woman over man | +9.3 |" in said.card
    assert "none" not in said.card
    assert said.card.count("\n- ") == 2 + len(ABOUT.limits)


def test_a_siblings_sentence_says_that_nothing_is_a_finding(run: Path) -> None:
    said = quote.of_findings(run, findings({"q": 0.5, "ci_low": -3.0}), "None is shown.", ABOUT)
    assert said is not None
    assert "Nothing is a finding; the largest difference: m, other" in said.sentence
    assert "|" not in said.card


def test_where_nothing_could_be_judged_there_is_nothing_to_quote(run: Path) -> None:
    assert quote.of_findings(run, findings({"q": float("nan"), "reason": "too few"}), "None.", ABOUT) is None
    assert quote.of_findings(run, summary.FINDINGS.empty(), "None.", ABOUT) is None
