"""``gslopes synthesise``: photos to counterfactual photos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.ask.config import ScoreConfig
from gslopes.core.options import options_of
from gslopes.frame.commands import PATH, dry_run_option, json_option, options, out_option, verb
from gslopes.slopes.config import RunConfig, configure


@verb(
    "gslopes synthesise photos --out run",
    "gslopes synthesise photos --attribute race --steps 9 --format png --out run",
    "gslopes synthesise photos --out run --dry-run",
)
@click.argument("photos", type=PATH, required=False)
@out_option()
@options(RunConfig, leave_out=options_of(ScoreConfig), chief=("format", "device"))
@dry_run_option
@json_option
def synthesise(photos: Path | None, out: Path, dry_run: bool, as_json: bool, options: dict[str, Any]) -> int:
    """Make the counterfactual photos of a folder: the first stage of an audit. No classifier is asked."""
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes.cli.results import print_audit, print_plan
    from gslopes.slopes.plan import make_plan
    from gslopes.slopes.walk import make_pictures

    plan = make_plan(configure(photos, options), out)
    if dry_run:
        return print_plan(plan, as_json)
    return print_audit(make_pictures(plan, executor=OneProcess(progress=True)), as_json)
