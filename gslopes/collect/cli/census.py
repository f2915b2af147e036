"""``gslopes census``: who is shown in a folder of photos, as perceived."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.collect.config import CensusConfig
from gslopes.core.options import build
from gslopes.frame.commands import PATH, json_option, options, out_option, print_json, rows, say, verb


@verb(
    "gslopes census photos --out census",
    "gslopes census photos --out census --review review.csv",
    "gslopes census photos --out census --keyword female",
    "gslopes census photos --out census --reader res34_fair_align_multi_7_20190809.pt --unsure race",
)
@click.argument("photos", type=PATH)
@out_option("CENSUS", "The census folder, made if missing.")
@options(CensusConfig)
@click.option("--keyword", default="any", metavar="WORD", help="Print this keyword's table; none for the plain search.")
@json_option
def census(photos: Path, out: Path, keyword: str, as_json: bool, options: dict[str, Any]) -> int:
    """Read the perceived gender, race and age of the face nearest the centre of every photo; count by occupation.

    The occupation is that of the collection's manifest, else the name of the sub-folder. Photos that the reader is
    unsure about go to CENSUS/review.html, which is answered by keyboard; its review.csv, saved into CENSUS, is read by
    the same command. What is estimated is how a face is read, not who a person is.
    """
    from gslopes.collect.census.count import census as count
    from gslopes.core.errors import UnknownName
    from gslopes.core.runfolder import show
    from gslopes.frame.executors import OneProcess
    from gslopes.report.composition import print_table3, table3

    config = build(CensusConfig, options)
    found = count(photos, out, config, executor=OneProcess(progress=True))
    known = found.composition["keyword"].unique().tolist()
    if keyword not in known:
        raise UnknownName("keyword", keyword, known)
    table = table3(found.composition, found.women, keyword)
    if as_json:
        counts = {"photos": found.photos, "read": found.read, "queue": found.queue}
        print_json({**counts, "answered": found.answered, "excluded": found.excluded, "table3": rows(table)})
        return 0
    say(print_table3(table))
    place = show(found.out)
    lines = [
        f"\nphotos     {found.read:,} with a readable face of {found.photos:,}",
        f"review     {found.queue:,} to be looked at, {found.answered:,} answered, {found.excluded:,} excluded",
        f"page       {show(found.page)}",
        f"tables     {place}/table3.csv, composition.csv, census.parquet",
        f"picture    {place}/table3.png",
        f"labels     {place}/photos.csv (gslopes fit RUN --photos-csv {place}/photos.csv --groups perceived_gender)",
    ]
    say("\n".join(lines), err=True)
    return 0
