"""``gslopes method``: how a run differs from the paper."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from gslopes.core.commands import PATH, json_option, print_json, say, verb


@verb(
    "gslopes method",
    "gslopes method --as-published",
    "gslopes method run",
    "gslopes method --attribute gender --attribute race --markdown",
)
@click.argument("run", type=PATH, required=False)
@click.option("--attribute", multiple=True, metavar="NAME", help="Without RUN; may be repeated. [default: gender]")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@click.option("--as-published", is_flag=True, help="What still differs when all that can be set is set.")
@json_option
def method(run: Path | None, attribute: tuple[str, ...], markdown: bool, as_published: bool, as_json: bool) -> int:
    """List how a run differs from Joo & Kärkkäinen (2020), with the reasons; without RUN, the defaults.

    Whatever can be set as the paper has it is set by gslopes audit --as-published.
    """
    from gslopes.core.config import to_dict
    from gslopes.core.errors import UsageError
    from gslopes.report.choices import print_method, to_markdown
    from gslopes.report.method import choices, of_run
    from gslopes.run.config import configure

    if run is not None and (as_published or attribute):
        raise UsageError("A run is as it is.", "Leave out RUN, or --as-published and --attribute.")
    options = {"as_published": as_published, "attribute": attribute}
    found = of_run(run) if run else choices(to_dict(configure("PHOTOS", options)))
    if as_json:
        print_json([{**asdict(one), "same": one.same} for one in found])
        return 0
    say(to_markdown(found) if markdown else print_method(found))
    return 0
