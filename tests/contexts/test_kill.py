"""Killed at any named place, a context audit goes on by the same command and ends in equal tables and pictures."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from gslopes.core.killpoints import KILL_POINTS
from tests.contexts.test_audit import audit, folder, found
from tests.core.test_killpoints import in_a_child

__all__ = ["folder", "found"]  # fixtures
POINTS = [point for point in KILL_POINTS if point.startswith(("file:", "table:", "merge:"))]


@pytest.mark.slow
def test_walked_through_every_kill_point_the_folder_ends_as_an_undisturbed_one(found, folder, tmp_path):
    run = tmp_path / "run"
    points = [f"{point}:{time}" for time in (1, 7) for point in POINTS]
    codes = [in_a_child(lambda: audit(folder, run), point) for point in points]
    assert set(codes) <= {-signal.SIGKILL, 0}
    assert codes[: len(POINTS)].count(-signal.SIGKILL) >= len(POINTS) - 1
    assert in_a_child(lambda: audit(folder, run)) == 0
    for path in files(found.folder):
        assert (run / path).read_bytes() == (found.folder / path).read_bytes(), path
    assert not list(run.rglob("*.tmp"))


def files(run: Path) -> list[Path]:
    """The tables and the pictures, by their path below the folder."""
    return sorted(path.relative_to(run) for path in (*run.glob("*.parquet"), *run.rglob("edits/**/*.jpg")))
