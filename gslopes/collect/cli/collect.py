"""``gslopes collect``: photos of people at work, found by search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gslopes.collect.config import CollectConfig
from gslopes.core.options import build
from gslopes.core.text import many
from gslopes.frame.commands import dry_run_option, json_option, options, out_option, print_json, say, verb


@verb(
    "gslopes collect --source openverse --out photos --dry-run",
    "gslopes collect --source wikimedia --contact me@example.org --occupations chef,nurse --out photos",
    "gslopes collect --source wikidata --contact me@example.org --per-query 5000 --out people",
    "gslopes collect --source urls:list.csv --out photos",
    "gslopes collect --source folder:idenprof --per-query 100 --out photos",
)
@out_option("PHOTOS", "The collection's folder.")
@options(CollectConfig)
@dry_run_option
@json_option
def collect(out: Path, dry_run: bool, as_json: bool, options: dict[str, Any]) -> int:
    """Search for every occupation with every demographic keyword, and keep the photos with their licences.

    Photos go to PHOTOS/<occupation>/, what is known about each (licence, creator, page, search) to manifest.parquet and
    manifest.csv. Exact and near duplicates are kept once. robots.txt is obeyed. To resume, run the same command
    again.
    """
    from gslopes.collect.photos import collect as carry_out
    from gslopes.collect.photos import plan_collection
    from gslopes.core.runfolder import show
    from gslopes.frame.executors import OneProcess

    plan = plan_collection(build(CollectConfig, options), out)
    counts = {"searches": len(plan.queries), "done": plan.done, "photos": plan.photos, "requests": plan.requests}
    if dry_run:
        if as_json:
            hours = {"hours": plan.hours, "download_hours": plan.download_hours}
            print_json({**counts, **hours, "per_day": plan.source.terms.per_day, "terms": plan.source.terms.note})
            return 0
        lines = [
            f"source       {plan.config.source}: {plan.source.terms.note}",
            f"searches     {len(plan.queries):,}, of which {plan.done:,} are done",
            f"photos       {plan.photos:,} at most, before duplicates are removed",
            f"requests     {plan.requests:,} at most to the source, {plan.duration}",
            *([f"downloads    {plan.downloads}"] if plan.downloads else []),
            f"collection   {show(out)}",
            "No request was sent, nothing was written.",
        ]
        say("\n".join(lines))
        return 0
    found = carry_out(plan, OneProcess(progress=True))
    if as_json:
        facts = {"searches": found.searches, "photos": found.photos, "statuses": found.statuses}
        more = {"people": dict(found.people)} if found.people else {}
        print_json({**facts, "reasons": found.reasons, "licences": found.licences, **more, "out": str(out)})
        return 0
    lines = [f"{many(found.photos, 'photo')} of {found.searches:,} searches in {show(out)}"]
    lines += [f"  {count:>7,}  licence: {licence}" for licence, count in found.licences.items()]
    lines += [f"  {count:>7,}  not kept: {reason}" for reason, count in found.reasons.items()]
    lines += [f"  {count:>7,}  people {outcome}" for outcome, count in found.people]
    say("\n".join(lines))
    following = f"gslopes census {show(out)} --out census"
    if found.people:
        table = f"{show(out)}/people.csv"
        following = f"gslopes crops {show(out)} --people {table} --groups group,gender --source wikidata --out RUN"
    say(f"\nmanifest   {show(out)}/manifest.csv\nnext       {following}", err=True)
    return 0
