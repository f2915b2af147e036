"""``gslopes collect`` and ``gslopes census``: photos of people at work, found by search; who is shown in them."""

from pathlib import Path

import click

from gslopes.collect.config import CensusConfig, CollectConfig
from gslopes.core import JsonObject, build, show
from gslopes.frame.commands import (
    PATH,
    dry_run_option,
    json_option,
    options,
    out_option,
    print_json,
    rows,
    say,
    verb,
)


@verb(
    "gslopes collect --source openverse --out photos --dry-run",
    "gslopes collect --occupations chef,nurse --keywords none --out photos",
    "gslopes collect --source wikidata --contact me@example.org --per-query 5000 --out people",
    "gslopes collect --source urls:list.csv --out photos",
)
@out_option("PHOTOS", "The collection's folder.")
@options(CollectConfig)
@dry_run_option
@json_option
def collect(out: Path, dry_run: bool, as_json: bool, options: JsonObject) -> int:
    """Search for every occupation with every demographic keyword, and keep the photos with their licences.

    Photos go to PHOTOS/<occupation>/, what is known about each (licence, creator, page, search) to manifest.parquet and
    manifest.csv. Duplicates are kept once. robots.txt is obeyed. To resume, run the same command
    again.
    """
    from gslopes.collect.photos import collect as carry_out, plan_collection
    from gslopes.frame.executors import OneProcess
    from gslopes.report.inline import plain

    plan = plan_collection(build(CollectConfig, options), out)
    terms = plan.provider.terms
    if dry_run:
        if as_json:
            facts = {"searches": len(plan.queries), "done": plan.done, "photos": plan.photos}
            print_json({**facts, "requests": plan.requests, "terms": terms.note})
            return 0
        say(
            f"source       {plan.config.source}: {terms.note}\n"
            f"searches     {len(plan.queries):,}, of which {plan.done:,} are done\n"
            f"photos       {plan.photos:,} at most; downloads from one host are {plan.config.gap:g} s apart\n"
            f"requests     {plan.requests:,} {plan.provider.bound}, {max(terms.gap, plan.config.gap):g} s apart\n"
            f"collection   {show(out)}\n"
            "No request was sent, nothing was written."
        )
        return 0
    result = carry_out(plan, OneProcess(progress=True))
    if as_json:
        counts = ("searches", "photos", "statuses", "reasons", "licences")
        facts = {name: getattr(result, name) for name in counts}
        people = {"people": dict(result.people)} if result.people else {}
        print_json({**facts, **people, "out": str(out)})
        return 0
    say(plain("collected.txt.j2", __file__, result=result, folder=show(out)))
    following = f"gslopes census {show(out)} --out census"
    if result.people:
        table = f"{show(out)}/people.csv"
        following = f"gslopes crops {show(out)} --people {table} --groups group,gender --source wikidata --out RUN"
    say(f"\nmanifest   {show(out)}/manifest.csv\nnext       {following}", err=True)
    return 0


@verb(
    "gslopes census photos --out census",
    "gslopes census photos --out census --reader res34_fair_align_multi_7_20190809.pt --unsure race",
)
@click.argument("photos", type=PATH)
@out_option("CENSUS", "The census folder, made if missing.")
@options(CensusConfig)
@json_option
def census(photos: Path, out: Path, as_json: bool, options: JsonObject) -> int:
    """Read the perceived gender, race and age of the face nearest the centre of every photo; count by occupation.

    The occupation comes from the collection's manifest, else from the name of the sub-folder. Photos that the reader is
    unsure about go to CENSUS/review.html, which is answered by keyboard; its review.csv, saved into CENSUS, is read by
    the same command. What is estimated is how a face is read, not who a person is.
    """
    from gslopes.collect.census import take_census
    from gslopes.frame.executors import OneProcess
    from gslopes.report.composition import print_shares

    config = build(CensusConfig, options)
    result = take_census(photos, out, config, executor=OneProcess(progress=True))
    if as_json:
        counts = ("photos", "read", "queue", "answered", "excluded")
        facts = {name: getattr(result, name) for name in counts}
        print_json({**facts, "occupations": rows(result.occupations)})
        return 0
    say(print_shares(result.occupations))
    folder = show(out)
    say(
        f"\nphotos     {result.read:,} with a readable face of {result.photos:,}\n"
        f"review     {result.queue:,} to be looked at, {result.answered:,} answered, {result.excluded:,} excluded\n"
        f"page       {folder}/review.html\n"
        f"tables     {folder}/table3.csv, occupations.csv, composition.csv, census.parquet\n"
        f"labels     {folder}/photos.csv, for gslopes audit RUN --groups perceived_gender --photos-csv photos.csv",
        err=True,
    )
    return 0
