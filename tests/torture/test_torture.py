"""Errors in calls of each kind: a sentence, and the same results when repeated. ``python -m tests.torture`` has all."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.torture import shim

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(bool(shim.why_not()), reason=shim.why_not() or "none")
SCENARIOS = (
    "audit", "pairs", "cache", "parquet", "webdataset", "imagefolder", "answers", "again", "compare", "captions",
)  # fmt: skip
POINTS = dict.fromkeys(SCENARIOS, 20)  # one of nearly every kind of call
POINTS["captions"] = 6  # takes long


def tortured(module: str, *options: str) -> str:
    """What the harness prints; it found nothing."""
    command = [sys.executable, "-m", module, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_shim_has_the_kinds_and_every_point_has_a_name():
    listed = re.search(r"enum \{ (OPEN.*?), KINDS \}", shim.SOURCE.read_text())
    assert listed is not None
    assert len(listed[1].split(", ")) == len(shim.KINDS)
    counts = dict.fromkeys(shim.KINDS, 6)
    points = shim.points(counts, shim.ALL, 1)
    assert {shim.named(str(point)) for point in points} == set(points)
    assert {(point.kind, point.number) for point in points if point.kind != shim.OBJECTS} == {
        (kind, number) for kind in shim.KINDS for number in range(1, 7)
    }
    once = Counter((point.kind, point.error) for point in points if not point.forever)
    assert {
        kind
        for kind, errors in shim.ERRORS.items()
        if len({e for k, e in once if k == kind}) == len(errors)
    } == {*shim.ALL}


def test_what_the_cache_took_is_kept_after_an_error_in_any_call():
    assert int(tortured("tests.torture.kept", "--every", "17").split()[0]) >= 30


@pytest.mark.slow
def test_what_the_cache_took_is_kept_after_an_error_in_every_call():
    assert int(tortured("tests.torture.kept").split()[0]) >= 300


@pytest.mark.slow
def test_all_scenarios_are_tried():
    from tests.torture import scenarios

    assert tuple(scenarios.SCENARIOS) == SCENARIOS


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_command_that_meets_errors_ends_in_a_sentence_and_goes_on(name):
    points = POINTS[name]
    said = tortured("tests.torture", "--scenario", name, "--points", str(points))
    assert f"{name}: {points} of {points} points in " in said
