"""One stage of a run folder again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gslopes.faces.gate.verdict import GateConfig
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import plan
from gslopes.frame.run import carry_out
from gslopes.slopes.audit import SLOPES
from gslopes.slopes.config import FitConfig
from gslopes.slopes.page import ReportConfig

SECTIONS = {"gate": GateConfig, "fit": FitConfig, "report": ReportConfig}


def redo(run: str | Path, stage: str, config: Any = None) -> Any:
    """The result, by another section of the configuration, or the stage's defaults."""
    section = {stage: config or SECTIONS[stage](), "device": "cpu"}
    return carry_out(plan(SLOPES, Path(run), None, section, only=[stage]), OneProcess())
