"""``gslopes collect``: photos of people at work, found by search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, examples, json_option, print_json


@click.command(
    short_help="Find and download photos of people at work.",
    epilog=examples(
        "gslopes collect --source openverse --out photos --dry-run",
        "gslopes collect --source wikimedia --contact me@example.org --occupations chef,nurse --out photos",
        "gslopes collect --source wikidata --contact me@example.org --per-query 5000 --out people",
        "gslopes collect --source urls:list.csv --out photos",
        "gslopes collect --source folder:idenprof --per-query 100 --out photos",
    ),
)
@click.option(
    "--source",
    default="openverse",
    metavar="NAME",
    help="openverse, wikimedia, google or bing (your keys in the environment), urls:FILE or folder:DIR; wikidata, or "
    "wikidata:FILE with a saved answer: people of named ethnic groups, with a people.csv for gslopes crops."
    " [default: openverse]",
)
@click.option("--out", "-o", type=PATH, required=True, metavar="PHOTOS", help="The collection's folder.")
@click.option("--occupations", metavar="LIST", help="bls-129, a CSV, or jobs: chef,nurse. [default: bls-129]")
@click.option("--keywords", metavar="LIST", help="paper (six and none), none, a CSV, or words. [default: paper]")
@click.option("--per-query", type=int, metavar="N", help="Photos per search. [default: 250]")
@click.option(
    "--near",
    type=int,
    metavar="BITS",
    help="Photos whose 64-bit hashes differ in at most this many bits are duplicates. [default: 4]",
)
@click.option("--min-side", type=int, metavar="PX", help="Minimum length of the shorter side, pixels. [default: 64]")
@click.option("--min-ethnic", type=int, metavar="N", help="Of wikidata: people of an ethnic group. [default: 40]")
@click.option("--min-group", type=int, metavar="N", help="Of wikidata: people of a group and gender. [default: 100]")
@click.option("--gap", type=float, metavar="S", help="Seconds between requests to one host. [default: 1]")
@click.option("--contact", metavar="MAIL", help="How site operators can reach you; sent in the user agent.")
@click.option(
    "--test-server",
    "test_servers",
    multiple=True,
    metavar="HOST:PORT",
    help="Allow this one server at a private address, for tests.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan; send no request and write nothing.")
@json_option
def collect(out: Path, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Search for every occupation with every demographic keyword, and keep the photos with their licences.

    Photos go to PHOTOS/<occupation>/, what is known about each (licence, creator, page, search) to manifest.parquet and
    manifest.csv. Exact and near duplicates are kept once. robots.txt is obeyed. To resume, run the same command
    again.
    """
    from gslopes.collect.photos import CollectConfig, plan_collection
    from gslopes.collect.photos import collect as carry_out
    from gslopes.core.config import from_dict
    from gslopes.core.runfolder import show
    from gslopes.executors import OneProcess

    given = {name: value for name, value in options.items() if value not in (None, ())}
    plan = plan_collection(from_dict(CollectConfig, given), out)
    counts = {"searches": len(plan.queries), "done": plan.done, "photos": plan.photos, "requests": plan.requests}
    if dry_run:
        if as_json:
            print_json(
                {
                    **counts,
                    "hours": plan.hours,
                    "download_hours": plan.download_hours,
                    "per_day": plan.source.terms.per_day,
                    "terms": plan.source.terms.note,
                }
            )
            return 0
        lines = [
            f"source       {plan.config.source}: {plan.source.terms.note}",
            f"searches     {len(plan.queries):,}, of which {plan.done:,} are done",
            f"photos       {plan.photos:,} at most, before duplicates are removed",
            f"requests     {plan.requests:,} at most to the source, {plan.duration}",
            *([f"downloads    {plan.downloads}"] if plan.downloads else []),
            f"collection   {show(out)}",
            "Nobody was asked, nothing was written.",
        ]
        click.echo("\n".join(lines))
        return 0
    found = carry_out(plan, OneProcess(progress=True))
    if as_json:
        facts = {"searches": found.searches, "photos": found.photos, "statuses": found.statuses}
        more = {"people": dict(found.people)} if found.people else {}
        print_json({**facts, "reasons": found.reasons, "licences": found.licences, **more, "out": str(out)})
        return 0
    lines = [f"{found.photos:,} photos of {found.searches:,} searches in {show(out)}"]
    lines += [f"  {count:>7,}  licence: {licence}" for licence, count in found.licences.items()]
    lines += [f"  {count:>7,}  not kept: {reason}" for reason, count in found.reasons.items()]
    lines += [f"  {count:>7,}  people {outcome}" for outcome, count in found.people]
    click.echo("\n".join(lines))
    following = f"gslopes census {show(out)} --out census"
    if found.people:
        table = f"{show(out)}/people.csv"
        following = f"gslopes crops {show(out)} --people {table} --groups group,gender --source wikidata --out RUN"
    click.echo(f"\nmanifest   {show(out)}/manifest.csv\nnext       {following}", err=True)
    return 0
