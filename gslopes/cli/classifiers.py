"""``gslopes classifiers``: whom one can ask."""

from __future__ import annotations

from dataclasses import asdict

import click

from gslopes.cli.options import examples, json_option, print_json


@click.command(
    short_help="Whom one can ask.",
    epilog=examples(
        "gslopes classifiers",
        "gslopes classifiers --json",
    ),
)
@json_option
def classifiers(as_json: bool) -> int:
    """List every classifier: gslopes' own and those of installed packages."""
    from gslopes.score.classifiers import list_classifiers

    entries = list_classifiers()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return 0
    for entry in entries:
        click.echo(entry.name + ("" if entry.installed else f"  (not installed: pip install '{entry.extra}')"))
        if entry.summary:
            click.echo(f"  {entry.summary}")
        if entry.parameters:
            click.echo(click.wrap_text(f"{entry.name}:{','.join(entry.parameters)}", 100, "  ", "    "))
    return 0
