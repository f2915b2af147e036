"""``gslopes synthesise``: photos to counterfactual photos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.cli.options import print_audit, print_plan, walk_options
from gslopes.core.commands import PATH, examples, json_option


@click.command(
    short_help="Make the edited (counterfactual) photos.",
    epilog=examples(
        "gslopes synthesise photos --out run",
        "gslopes synthesise photos --attribute race --steps 9 --format png --out run",
        "gslopes synthesise photos --out run --dry-run",
    ),
)
@click.argument("photos", type=PATH, required=False)
@walk_options
@json_option
def synthesise(photos: Path | None, out: Path, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Make the counterfactual photos of a folder: the first stage of an audit. No classifier is asked."""
    from gslopes.executors import OneProcess
    from gslopes.run import stages

    if dry_run:
        print_plan(stages.plan_walk(photos, out, options), as_json)
        return 0
    return print_audit(stages.synthesise(photos, out, executor=OneProcess(progress=True), **options), as_json)
