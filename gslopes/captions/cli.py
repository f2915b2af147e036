"""``gslopes captions``: the audit, and R2 of an audit with a captioner (``gslopes captions sweep RUN``)."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.captions.audit import CAPTIONS
from gslopes.frame.commands import PATH, json_option, print_json, rows, say
from gslopes.frame.commands import verb as command
from gslopes.frame.verb import verb, verbs


@command("gslopes captions sweep run", name="sweep")
@click.argument("run", type=PATH)
@json_option
def sweep(run: Path, as_json: bool) -> int:
    """R2: gender words along the sweep of a run of gslopes audit with a captioner; no captioner is asked."""
    from gslopes.captions.page import print_rows
    from gslopes.captions.sweep import TABLE, measure_sweep

    measured = measure_sweep(run)
    if as_json:
        print_json(rows(measured))
        return 0
    say(print_rows(measured))
    say(f"table      {run / TABLE}", err=True)
    return 0


captions = verbs(verb(CAPTIONS), sweep)
