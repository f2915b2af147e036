"""``gslopes report``: tables and pictures to a page."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.cli.options import PATH, examples, json_option, print_json


@click.command(
    short_help="Tables and pictures to a page.",
    epilog=examples(
        "gslopes report run",
        "gslopes report run --p 0.01 --slope 0.05",
    ),
)
@click.argument("run", type=PATH)
@click.option(
    "--p", type=float, default=0.001, show_default=True, metavar="P", help="Pulled labels have a p below this."
)
@click.option(
    "--slope", type=float, default=0.03, show_default=True, metavar="B", help="Pulled labels have a |slope| above this."
)
@json_option
def report(run: Path, p: float, slope: float, as_json: bool) -> int:
    """Write the page of a fitted run folder: the tables and figures of the paper, and slopes.csv."""
    from gslopes.core.runfolder import show
    from gslopes.run import stages
    from gslopes.run.executors import OneProcess

    page = stages.run_report(run, None, OneProcess(progress=True), p=p, slope=slope).page
    print_json({"run": str(run), "page": str(page)}) if as_json else click.echo(show(page))
    return 0
