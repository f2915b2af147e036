"""``gslopes method``: how a run differs from the paper."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, json_option, print_json, say, verb

HOUSES = ("contexts", "crops", "captions")


def house_of(run: Path | None) -> Any:
    """The module that knows a sibling audit's differences; None for a run of gslopes audit."""
    from gslopes.core.runfolder import MANIFEST, read_manifest

    if run is None or not (run / MANIFEST).is_file():
        return None
    kind = str(read_manifest(run).get("kind") or "").partition(" ")[0]
    return import_module(f"gslopes.{kind}.method") if kind in HOUSES else None


@verb(
    "gslopes method",
    "gslopes method --as-published",
    "gslopes method run",
    "gslopes method --attribute gender --attribute race --markdown",
)
@click.argument("run", type=PATH, required=False)
@click.option(
    "--attribute",
    multiple=True,
    metavar="NAME",
    help="An attribute, where no RUN is given; may be repeated. [default: gender]",
)
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@click.option("--as-published", is_flag=True, help="What still differs when all that can be set is set.")
@json_option
def method(run: Path | None, attribute: tuple[str, ...], markdown: bool, as_published: bool, as_json: bool) -> int:
    """List how a run differs from its paper, with the reasons; without RUN, the defaults of gslopes audit.

    RUN is of gslopes audit, contexts, crops or captions. What can be set as published is set by gslopes audit
    --as-published, contexts and crops --preset published.
    """
    from gslopes.core.config import to_dict
    from gslopes.core.errors import UsageError
    from gslopes.report.choices import SLOPES, print_method, to_markdown
    from gslopes.report.method import choices, of_run
    from gslopes.run.config import configure

    if run is not None and (as_published or attribute):
        raise UsageError("A run is as it is.", "Leave out RUN, or --as-published and --attribute.")
    options = {"as_published": as_published, "attribute": attribute}
    sibling = house_of(run)
    if run is not None and sibling is not None:
        paper, found = sibling.of_run(run)
    else:
        paper, found = SLOPES, of_run(run) if run else choices(to_dict(configure("PHOTOS", options)))
    if as_json:
        print_json([{**asdict(one), "same": one.same} for one in found])
        return 0
    say(to_markdown(found, paper) if markdown else print_method(found, paper))
    return 0
