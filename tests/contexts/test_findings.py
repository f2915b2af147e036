"""What a context audit judges, its summary, and a gate on a finished run, red and green."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslopes.contexts.lead import judged
from tests.contexts.test_audit import audit
from tests.contexts.test_audit import folder as folder  # a fixture


@pytest.fixture(scope="module")
def run(folder: Path, tmp_path_factory) -> Path:
    return audit(folder, tmp_path_factory.mktemp("run") / "run").folder


def test_a_red_and_a_green_gate_and_the_planted_effect_in_the_summary(gslopes, run: Path) -> None:
    red = gslopes("contexts", run, "--fail-if", "finding and value > 20 and label == 'right answers'")
    assert red.code == 4, red.err
    assert "planted congruence, gender: man right answers" in red.err
    green = gslopes("contexts", run, "--fail-if", "finding and abs(value) > 90")
    assert green.code == 0, green.err
    content = json.loads((run / "summary.json").read_text("utf-8"))
    assert (content["audit"], content["found"], content["used"], content["models"]) == ("contexts", 24, 24, ["planted"])
    rows = {row["contrast"]: row for row in content["rows"] if row["label"] == "right answers"}
    first = rows["congruence, gender: man"]
    assert first["decision"] == content["rows"][0]["decision"] == "finding"
    assert first["value"] == pytest.approx(100 * 0.5 / 1.8)
    assert first["ci_low"] < first["value"] < first["ci_high"]


def test_pictures_without_answers_have_no_findings() -> None:
    assert judged({}).empty
