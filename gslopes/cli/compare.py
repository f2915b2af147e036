"""``gslopes compare``: what changed between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.core.commands import (
    PATH,
    FailIf,
    condition_of,
    fail_if_options,
    flags,
    json_option,
    judge,
    open_option,
    open_page,
    print_json,
    rows,
    say,
    verb,
)
from gslopes.run.config import FitConfig


@verb(
    "gslopes compare run-before run-after",
    "gslopes compare run-before run-after --pair model-v1=model-v2",
    "gslopes compare run-before run-after --pair old=new:threshold=0.7 --open",
    "gslopes compare run-before run-after --fail-if changed",
    "gslopes compare run-before run-after --json > changes.json",
)
@click.argument("run_a", type=PATH)
@click.argument("run_b", type=PATH)
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="OLD=NEW",
    help="Classifiers to compare. [default: same names]",
)
@flags(FitConfig, "min_varying", "photos_csv", "cluster")
@click.option(
    "--correction",
    type=click.Choice(["bh", "by", "holm"]),
    default="bh",
    show_default=True,
    help="Correction for q, over labels.",
)
@click.option("--out", type=PATH, metavar="DIR", help="Where the page is written. [default: RUN_B/compare]")
@fail_if_options("the changes", "changed and abs(difference) > 3")
@open_option
@json_option
def compare(
    run_a: Path,
    run_b: Path,
    pairs: tuple[str, ...],
    min_varying: int,
    photos_csv: Path | None,
    cluster: str,
    correction: str,
    out: Path | None,
    fail_if: FailIf,
    show_page: bool,
    as_json: bool,
) -> int:
    """Compare the slopes of two scored runs over the same photos, such as before and after a mitigation.

    Photos are paired: the interval is that of the mean difference of each photo's two slopes.
    """
    from gslopes.core.runfolder import show
    from gslopes.report.changes import CONDITION, changed, print_changes
    from gslopes.run.compare import compare_runs, write_page

    condition = condition_of(fail_if, CONDITION)
    found = compare_runs(
        run_a, run_b, pairs, min_varying=min_varying, correction=correction, photos_csv=photos_csv, cluster=cluster
    )
    page = write_page(run_a, run_b, found, out)
    print_json(rows(found)) if as_json else say(print_changes(found))
    say(f"page       {show(page)}", err=True)
    if show_page:
        open_page(page)
    return judge(condition, fail_if, changed(found), 0)
