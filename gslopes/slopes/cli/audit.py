"""``gslopes audit``: the whole walk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.frame.commands import (
    PATH,
    FailIf,
    Flag,
    condition_of,
    dry_run_option,
    fail_if_options,
    json_option,
    judge,
    open_option,
    open_page,
    options,
    out_option,
    trust_option,
    verb,
)
from gslopes.slopes.config import RunConfig, configure


@verb(
    "gslopes audit photos --out run",
    "gslopes audit photos --attribute gender --attribute race --out run",
    "gslopes audit photos --classifier onnx:model.onnx,labels=labels.txt --limit 100 --out run",
    "gslopes audit photos --steps 5 --range -1,1 --blend paste --out run --dry-run",
    "gslopes audit photos --set fit.bootstrap=0 --set min_face=20 --out run",
    "gslopes audit photos --fail-if finding --out run",
    "gslopes audit --method --out run",
    "gslopes audit --config audit.toml --out run --json > slopes.json",
)
@click.argument("photos", type=PATH, required=False)
@out_option()
@options(RunConfig)
@dry_run_option
@click.option(
    "--method",
    is_flag=True,
    cls=Flag,
    advanced=True,
    help="Only list how the run in --out, or these options, differ from the paper, and why.",
)
@trust_option
@fail_if_options("the findings", "finding and abs(slope) > 5")
@open_option
@json_option
def audit(
    photos: Path | None,
    out: Path,
    dry_run: bool,
    method: bool,
    fail_if: FailIf,
    show_page: bool,
    trust: bool,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Measure how a classifier's labels change with the look of the face in a folder of photos.

    PHOTOS and its sub-folders are searched for JPEG, PNG, WebP, BMP and TIFF files. In each photo the face nearest the
    centre is edited. To resume a stopped audit, run the same command again.
    """
    from gslopes.core.summary import gated
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes.cli.method import print_differences
    from gslopes.slopes.cli.results import print_audit, print_plan
    from gslopes.slopes.report.decisions import CONDITION
    from gslopes.slopes.walk import PlannedAudit

    if method:
        return print_differences(out, options, as_json)
    condition = condition_of(fail_if, CONDITION)
    config = configure(photos, options)
    planned = PlannedAudit(config, out)
    if dry_run:
        return print_plan(planned.plan, as_json)
    result = planned.carry_out(OneProcess(progress=True), trust=trust)
    if show_page and result.page is not None:
        open_page(result.page)
    code = print_audit(result, as_json)
    return judge(condition, fail_if, gated(result.findings), code)
