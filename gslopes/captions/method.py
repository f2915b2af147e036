"""How a run of ``gslopes captions`` differs from its paper."""

from __future__ import annotations

from pathlib import Path

from gslopes.core import runfolder
from gslopes.report.choices import Choice, read_choices

FILE = Path(__file__).parent / "data" / "method.toml"


def of_run(run: Path) -> tuple[str, list[Choice]]:
    """The paper, and its choices next to those of the run.

    Raises: UsageError if there is no manifest.
    """
    config = runfolder.read_manifest(run).get("config") or {}
    return read_choices(FILE, {**config, **(config.get("options") or {})})
