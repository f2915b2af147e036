"""``gslopes method``: how a run differs from the paper."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from gslopes.cli.options import PATH, examples, json_option, print_json


@click.command(
    short_help="How a run differs from the paper, and why.",
    epilog=examples(
        "gslopes method",
        "gslopes method run",
        "gslopes method run --markdown > method.md",
    ),
)
@click.argument("run", type=PATH, required=False)
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@json_option
def method(run: Path | None, markdown: bool, as_json: bool) -> int:
    """List every way in which a run differs from Joo & Kärkkäinen (2020), with its reason; without RUN, the defaults.

    Whatever can be set as the paper has it is set by gslopes audit --as-published.
    """
    from gslopes.report.method import choices, of_run, print_method, to_markdown

    found = choices({}) if run is None else of_run(run)
    if as_json:
        print_json([{**asdict(one), "same": one.same} for one in found])
        return 0
    click.echo(to_markdown(found) if markdown else print_method(found))
    return 0
