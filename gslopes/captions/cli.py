"""``gslopes captions``: what captions do to the people depicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.captions.config import CaptionsConfig
from gslopes.core.commands import (
    PATH,
    FailIf,
    Flag,
    condition_of,
    dry_run_option,
    fail_if_options,
    json_option,
    judge,
    options,
    out_option,
    print_json,
    rows,
    say,
    verb,
)
from gslopes.core.options import build


@verb(
    "gslopes captions stages --groups groups.csv --out run",
    "gslopes captions stages --out run --technique D1 --technique D4 --list demeaning-synsets=mine.txt",
    "gslopes captions run --review run/review.csv",
    "gslopes captions stages --photos-csv people.csv --groups gender --cluster photographer --out run",
    "gslopes captions stages --groups groups.csv --dry-run",
    "gslopes captions stages --groups groups.csv --fail-if finding --out run",
    "gslopes captions --lists",
)
@click.argument("stages", type=PATH, required=False)
@out_option(default=None)
@options(CaptionsConfig)
@click.option(
    "--photos-csv",
    type=PATH,
    metavar="CSV",
    cls=Flag,
    advanced=True,
    help="The file of the groups; --groups then names a column.",
)
@click.option("--lists", "show_lists", is_flag=True, cls=Flag, advanced=True, help="Print the available word lists.")
@click.option(
    "--unlisted",
    type=PATH,
    metavar="RUN",
    cls=Flag,
    advanced=True,
    help="Print the most common words for people that are in no list.",
)
@fail_if_options("the findings", "finding and abs(value) > 5", advanced=True)
@dry_run_option
@json_option
def captions(
    stages: Path | None,
    out: Path | None,
    photos_csv: Path | None,
    show_lists: bool,
    unlisted: Path | None,
    fail_if: FailIf,
    dry_run: bool,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Find and count the ways in which captions could harm the people depicted.

    STAGES is a folder whose files or sub-folders are called human-labels, system-labels, human-captions and
    system-captions (COCO, Visual Genome, CSV or Parquet, known by their content), a TOML file that names them, a
    run of this command, or a run of gslopes audit with a captioner (R2: its gender words along the sweep). Every
    number says how it is to be read and what was taken as truth; there is no total.
    """
    from gslopes.core.errors import UsageError
    from gslopes.core.summary import CONDITION, gated

    condition = condition_of(fail_if, CONDITION)
    if show_lists:
        return _print_lists(as_json)
    if unlisted is not None:
        return _print_unlisted(unlisted, as_json)
    from gslopes.captions.sweep import is_audit

    if stages is None:
        raise UsageError("No stages are given.", "Give a folder of stages, or a TOML file.")
    if is_audit(stages):
        if condition is not None:
            raise UsageError("R2 of a sweep has no findings to fail on.", "Fail on those of gslopes audit --fail-if.")
        return _print_sweep(stages, as_json)
    if photos_csv is not None:
        named = (str(options["groups"]),) if "groups" in options else ()
        options |= {"groups": photos_csv, "column": (*named, *options.get("column", ()))}
    if dry_run:
        return _print_plan(stages, build(CaptionsConfig, options), as_json)
    if out is None and not (stages / "run.json").exists():
        raise UsageError("No run folder is given.", "Write --out RUN.")
    from gslopes.captions.audit import audit_captions
    from gslopes.executors import OneProcess

    found = audit_captions(stages, out or stages, executor=OneProcess(progress=True), **options)
    code = 3 if found.failed else 0
    if as_json:
        print_json({"run": str(found.folder), "page": str(found.page), "measures": rows(found.tables["measures"])})
    else:
        _print_measures(found)
    return judge(condition, fail_if, gated(found.findings), code)


def _print_measures(found: Any) -> None:
    from gslopes.captions.report.terminal import print_measures
    from gslopes.core.runfolder import show

    say(print_measures(found.tables["measures"]))
    lines = ["", *found.notes]
    techniques = found.tables["techniques"]
    left = techniques[techniques["ran"] == "no"].drop_duplicates("technique")
    lines += [f"{row['technique']} did not run: {row['why']}" for row in left.to_dict("records")]
    lines += [
        f"page       {show(found.page)}",
        f"review     {show(found.review)} ({len(found.tables['cases']):,} cases)",
    ]
    lines += [f"tables     {show(found.folder)}/*.parquet"]
    say("\n".join(lines), err=True)


def _print_plan(stages: Path, config: Any, as_json: bool) -> int:
    from dataclasses import asdict

    from gslopes.captions.plan import plan

    found = plan(stages, config)
    if as_json:
        print_json(asdict(found))
        return 0
    lines = [
        f"{stage:<16} {count:,} images, {found.captions[stage]:,} captions" for stage, count in found.images.items()
    ]
    lines += [f"in all of them   {found.shared:,} images", f"truth            {found.truth or 'none'}"]
    lines += [f"targets          {', '.join(found.targets)}"]
    lines += [f"left out         {count:,} {why}" for why, count in found.dropped.items()]
    seen: dict[str, dict[str, str]] = {}
    for row in found.techniques:
        seen.setdefault(row["technique"], row)
    for name, row in seen.items():
        state = "can run" if row["ran"] == "yes" else f"cannot run: {row['why']}"
        lines.append(f"{name} {row['title']:<32} {state}")
    say("\n".join([*lines, "Nothing was written."]))
    return 0


def _print_lists(as_json: bool) -> int:
    from gslopes.language.wordlists import shipped

    table = [
        {"name": one.name, "version": one.version, "kind": one.kind, "entries": len(one.entries), "source": one.source}
        for one in shipped()
    ]
    if as_json:
        print_json(table)
        return 0
    say("\n".join(f"{r['name']:<26} {r['kind']:<8} {r['entries']:>4}  {r['source']}" for r in table))
    return 0


def _print_unlisted(run: Path, as_json: bool) -> int:
    from gslopes.captions.lists import unlisted

    table = unlisted(run)
    print_json(table) if as_json else say("\n".join(f"{r['images']:>6}  {r['kind']:<10} {r['word']}" for r in table))
    return 0


def _print_sweep(run: Path, as_json: bool) -> int:
    """R2 of an audit's captioners."""
    from gslopes.captions.report.terminal import print_rows
    from gslopes.captions.sweep import TABLE, measure_sweep

    found = measure_sweep(run)
    if as_json:
        print_json(rows(found))
        return 0
    say(print_rows(found))
    say(f"table      {run / TABLE}", err=True)
    return 0
