"""Killed at any named place, an audit goes on and ends in equal tables, and asks no service twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from gslopes.ask.config import CostLimits
from gslopes.core.killpoints import VARIABLE
from gslopes.crops.asking import pairs
from gslopes.crops.asking.portraits import PART
from tests.crops.cropping_server import serve
from tests.crops.drawn import audit, draw_people

ROOT = Path(__file__).parents[2]
TABLES = ("people", "pairs", "outcomes", "crops", "together", "stability", "parity", "positions", "policies", "shares")
RUN = """
import sys
from pathlib import Path
from gslopes.ask.config import CostLimits
from gslopes.crops.asking import pairs, portraits
from tests.crops.drawn import Brightness, audit
folder, table, out, url, cache = sys.argv[1:]
portraits.PART, pairs.PART = 4, 16
audit(Path(folder), Path(table), Path(out), Brightness(), cropper=(url,) if url else ("centre",),
      cost_limits=CostLimits(cache=Path(cache)), together=12, stability=4, min_group=3)
"""
KILLS = 20
DRAWN = random.Random(22)
POINTS = {
    "table:temporary": 8,
    "table:placed": 8,
    "file:temporary": 3,
    "file:placed": 3,
    "merge:half": 2,
    "merge:written": 2,
}
PLACES = tuple(f"{name}:{DRAWN.randint(1, POINTS[name])}" for name in DRAWN.choices([*POINTS], k=KILLS))
SERVICE_PLACES = ("answers:asked:3", "answers:kept:40")


@pytest.fixture(scope="module")
def portraits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kill") / "portraits"
    table, _ = draw_people(folder, {"blue": 4, "green": 3, "red": 3})
    return folder, table


@pytest.fixture(scope="module")
def whole(portraits, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "run"
    code, output = start(portraits, out, "")
    assert code == 0, output
    return out


def start(portraits, out, place, url="", cache="cache"):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    if place:
        environment[VARIABLE] = place
    arguments = [str(part) for part in (*portraits, out, url, cache)]
    done = subprocess.run([sys.executable, "-c", RUN, *arguments], env=environment, capture_output=True, check=False)
    return done.returncode, done.stderr.decode()


def same(out, whole):
    for name in TABLES:
        one, other = (pd.read_parquet(path / f"{name}.parquet") for path in (out, whole))
        keys = [column for column in one.columns if one[column].dtype == object and column != "head"]
        order = [
            key for key in keys if not one[key].map(lambda v: hasattr(v, "__len__") and not isinstance(v, str)).any()
        ]
        frames = [frame.sort_values(order, ignore_index=True) for frame in (one, other)]
        pd.testing.assert_frame_equal(*frames)


@pytest.mark.slow
def test_killed_anywhere_the_tables_are_equal(portraits, whole, tmp_path):
    killed = 0
    out = tmp_path / "run"
    for place in PLACES:
        code, output = start(portraits, out, place)
        assert code in (0, -signal.SIGKILL), output
        killed += code == -signal.SIGKILL
    code, output = start(portraits, out, "")
    assert code == 0, output
    assert killed >= 15  # the others came to their end before
    same(out, whole)


@pytest.mark.slow
def test_a_service_is_asked_once_whenever_the_audit_was_killed(portraits, tmp_path):
    with serve() as service:
        for place in (*SERVICE_PLACES, ""):
            code, output = start(portraits, tmp_path / "run", place, service.url, tmp_path / "cache")
            assert code in (0, -signal.SIGKILL), output
        assert code == 0, output
        again = [count for count in service.asked.values() if count > 1]
        # only what was in flight, four requests at once, when it was killed before its answers were kept
        assert len(again) <= 4 * len(SERVICE_PLACES)
        before = sum(service.asked.values())
        audit(*portraits, tmp_path / "again", cropper=(service.url,), cost_limits=CostLimits(cache=tmp_path / "cache"))
        assert sum(service.asked.values()) == before


def test_parts_are_small_enough_to_lose_little():
    assert PART <= 64
    assert pairs.PART <= 1024
