"""The API reference builds without a warning, and holds what the documents send people to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_pdoc_builds_the_reference_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("pdoc", reason="pdoc, which builds the reference, is not installed: pip install 'gslopes[dev]'")
    command = [sys.executable, "-W", "error", "-m", "pdoc", "gslopes", "-o", str(tmp_path)]
    env = {**os.environ, "PDOC_ALLOW_EXEC": "1"}  # matplotlib lists the fonts where it has not yet
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr.lower(), done.stderr
    assert "Write a plugin" in (tmp_path / "gslopes/score/classifiers.html").read_text("utf-8")
