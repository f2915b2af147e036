"""``gslopes audit --method``: how a run differs from its paper, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gslopes.frame.commands import print_json, say


def of_sibling(run: Path) -> tuple[str, Any] | None:
    """The paper and the choices of a sibling audit; None for a run of gslopes audit."""
    from gslopes.core.runfolder import read_manifest
    from gslopes.frame.page import choices_of
    from gslopes.frame.result import AUDITS, find_audit

    manifest = read_manifest(run)
    kind = str(manifest.get("kind") or "").partition(" ")[0]
    if kind in AUDITS:
        return choices_of(find_audit(kind), manifest)
    return None


def print_differences(run: Path, options: Mapping[str, Any], as_json: bool) -> int:
    """Print how the run in a folder differs from its paper; of a folder without one, how these options do."""
    from gslopes.core.config import to_dict
    from gslopes.core.runfolder import MANIFEST
    from gslopes.report.choices import SLOPES, print_method
    from gslopes.slopes.config import configure
    from gslopes.slopes.method import choices, of_run

    if not (run / MANIFEST).is_file():
        paper, found = SLOPES, choices(to_dict(configure("PHOTOS", options)))
    elif sibling := of_sibling(run):
        paper, found = sibling
    else:
        paper, found = SLOPES, of_run(run)
    if as_json:
        print_json([{**asdict(choice), "same": choice.same} for choice in found])
    else:
        say(print_method(found, paper))
    return 0
