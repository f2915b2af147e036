"""``gslopes typology``: dictionaries of tags, and which tags of a run are in none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, examples, json_option, print_json, rows, say


@click.command(
    short_help="Dictionaries of tags, and the tags that none contains.",
    epilog=examples(
        "gslopes typology starter",
        "gslopes typology run --out todo.csv",
        "gslopes typology --import dataverse --map map.toml --out published.toml",
    ),
)
@click.argument("what", required=False)
@click.option("--typology", multiple=True, metavar="NAME|FILE", help="Dictionaries in which to look up a run's tags.")
@click.option("--out", "-o", type=PATH, metavar="FILE", help="Write a CSV to fill in, or the imported TOML.")
@click.option("--import", "folder", type=PATH, metavar="DIR", help="Read published dictionaries.")
@click.option("--map", "mapping", type=PATH, metavar="TOML", help="Which cluster is which, for --import.")
@json_option
def typology(
    what: str | None,
    typology: tuple[str, ...],
    out: Path | None,
    folder: Path | None,
    mapping: Path | None,
    as_json: bool,
) -> int:
    """Show a typology, list the tags of a run that are in no cluster, or import the published dictionaries.

    WHAT is a run folder, or the name or file of a typology.
    """
    from gslopes.contexts.config import ContextOptions
    from gslopes.contexts.typology import read_typology
    from gslopes.core.errors import UsageError
    from gslopes.core.files import csv_bytes
    from gslopes.core.runfolder import MANIFEST, show, write_bytes

    if folder is not None:
        from gslopes.contexts.published import read_published, to_toml

        if out is None:
            raise UsageError("The imported typology needs a name.", "Give it with --out FILE.toml.")
        imported, unmapped = read_published(folder, mapping)
        write_bytes(out, to_toml(imported).encode())
        say(f"{show(out)}: {sum(map(len, imported.clusters.values())):,} tags in {len(imported.clusters)} clusters")
        if unmapped:
            say(f"Not mapped to a super-cluster: {', '.join(unmapped)}.", err=True)
        return 0
    if what is None:
        raise UsageError("Nothing is named.", "Name a run folder, or a typology such as starter.")
    if (Path(what) / MANIFEST).is_file():
        from gslopes.contexts.analysis import tags_of_run

        table = tags_of_run(Path(what), ContextOptions(typology=typology))
        if out is not None:
            write_bytes(out, csv_bytes(table.assign(cluster="")))
            say(f"{show(out)}: {len(table):,} tags; fill its column cluster and give it as --typology.", err=True)
        if as_json:
            print_json(rows(table))
        elif out is None:
            say(table.to_string(index=False) if len(table) else "Every tag is in some cluster or context.")
        return 0
    shown = read_typology(what)
    facts: dict[str, Any] = {name: len(tags) for name, tags in shown.clusters.items()}
    if as_json:
        contexts = {name: sorted(tags) for name, tags in shown.contexts.items()}
        clusters = {name: {"super": shown.supers[name], "tags": sorted(shown.clusters[name])} for name in facts}
        print_json({"name": shown.name, "version": shown.version, "clusters": clusters, "contexts": contexts})
        return 0
    lines = [f"{shown.name} {shown.version}{' (partial)' if shown.partial else ''}: {shown.source}", ""]
    lines += [f"{name:<14}{shown.supers[name] or '-':<14}{count:>5}" for name, count in facts.items()]
    lines += [f"{'context':<14}{name:<20}{len(tags):>5}" for name, tags in shown.contexts.items()]
    say("\n".join(lines))
    return 0
