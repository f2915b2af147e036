"""``gslopes audit``: the whole walk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.cli.options import print_audit, print_plan, walk_options
from gslopes.core.commands import (
    PATH,
    classifier_option,
    examples,
    json_option,
    open_option,
    open_page,
    terms_options,
    trust_option,
)


@click.command(
    short_help="Photos in, slopes out: every stage in one command.",
    epilog=examples(
        "gslopes audit photos --out run",
        "gslopes audit photos --attribute gender --attribute race --out run",
        "gslopes audit photos --classifier onnx:model.onnx,labels=labels.txt --limit 100 --out run",
        "gslopes audit photos --steps 5 --range -1,1 --blend paste --out run --dry-run",
        "gslopes audit --config audit.toml --out run --json > slopes.json",
    ),
)
@click.argument("photos", type=PATH, required=False)
@classifier_option
@walk_options
@terms_options
@trust_option
@open_option
@json_option
def audit(
    photos: Path | None, out: Path, dry_run: bool, show_page: bool, trust: bool, as_json: bool, **options: Any
) -> int:
    """Measure how a classifier's labels change with the look of the face in a folder of photos.

    PHOTOS and its sub-folders are searched for JPEG, PNG, WebP, BMP and TIFF files. In each photo the face nearest the
    centre is edited. To resume a stopped audit, run the same command again.
    """
    from gslopes.executors import OneProcess
    from gslopes.run import stages

    if dry_run:
        print_plan(stages.plan_audit(photos, out, options), as_json)
        return 0
    found = stages.audit(photos, out, executor=OneProcess(progress=True), trust=trust, **options)
    code = print_audit(found, as_json)
    if show_page and found.page is not None:
        open_page(found.page)
    return code
