"""``gslopes audit --method``: how a run differs from its paper, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from gslopes.core.commands import print_json, say

HOUSES = ("contexts", "crops", "captions")


def house_of(run: Path) -> Any:
    """The module that knows a sibling audit's differences; None for a run of gslopes audit."""
    from gslopes.core.runfolder import read_manifest

    kind = str(read_manifest(run).get("kind") or "").partition(" ")[0]
    return import_module(f"gslopes.{kind}.method") if kind in HOUSES else None


def print_differences(run: Path, options: Mapping[str, Any], as_json: bool) -> int:
    """Print how the run in a folder differs from its paper; of a folder without one, how these options do."""
    from gslopes.core.config import to_dict
    from gslopes.core.runfolder import MANIFEST
    from gslopes.report.choices import SLOPES, print_method
    from gslopes.report.method import choices, of_run
    from gslopes.run.config import configure

    if not (run / MANIFEST).is_file():
        paper, found = SLOPES, choices(to_dict(configure("PHOTOS", options)))
    elif sibling := house_of(run):
        paper, found = sibling.of_run(run)
    else:
        paper, found = SLOPES, of_run(run)
    if as_json:
        print_json([{**asdict(choice), "same": choice.same} for choice in found])
    else:
        say(print_method(found, paper))
    return 0
