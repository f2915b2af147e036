"""``gslopes fit``: answers to slopes."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.cli.options import PATH, examples, json_option, print_json, rows


@click.command(
    short_help="Answers to slopes.",
    epilog=examples(
        "gslopes fit run",
        "gslopes fit run --json > slopes.json",
    ),
)
@click.argument("run", type=PATH)
@json_option
def fit(run: Path, as_json: bool) -> int:
    """Fit the slope of every label of a scored run folder, by the estimator of Joo and Kärkkäinen (2020)."""
    from gslopes.core.runfolder import show
    from gslopes.report.tables import print_table
    from gslopes.run import stages

    slopes = stages.run_fit(run)
    if as_json:
        print_json(rows(slopes))
        return 0
    click.echo(print_table(slopes))
    click.echo(f"\nslopes     {show(run / 'slopes.parquet')}\nnext       gslopes report {show(run)}", err=True)
    return 0
