"""``gslopes contexts``: does the background decide who is seen?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.contexts.settings import ContextsConfig
from gslopes.frame.commands import (
    PATH,
    FailIf,
    condition_of,
    dry_run_option,
    fail_if_options,
    json_option,
    judge,
    options,
    out_option,
    print_json,
    say,
    trust_option,
    verb,
)


@verb(
    "gslopes contexts PEOPLE --people people.csv --backgrounds rendered --classifier celeba-tagger --out run",
    "gslopes contexts PEOPLE --people people.csv --backgrounds backgrounds -c rekognition --budget 10 --out run",
    "gslopes contexts PEOPLE --people people.csv --sweep gender --classifier celeba-tagger --out run",
    "gslopes contexts run --fail-if 'finding and abs(value) > 5'",
    "gslopes contexts run --typology mine.toml --ratings ratings.csv",
    "gslopes contexts run --typology starter --typology todo.csv",
    "gslopes contexts PEOPLE --people people.csv --config words.toml --person-share max --out run",
)
@click.argument("photos", metavar="PEOPLE", type=PATH)
@out_option(default=None)
@options(ContextsConfig)
@dry_run_option
@trust_option
@fail_if_options("the findings", "finding and abs(value) > 5", advanced=True)
@json_option
def contexts(
    photos: Path,
    out: Path | None,
    dry_run: bool,
    trust: bool,
    fail_if: FailIf,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Put people in front of stereotyped backgrounds and compare how taggers describe them.

    PEOPLE is a folder of portraits before a plain backdrop, or the run folder of an earlier context audit: then only
    analysis and page are redone, and no classifier is asked. To resume, run the same command again.
    """
    from gslopes.contexts.audit import audit_contexts, plan_contexts
    from gslopes.contexts.report.page import as_numbers, text_table
    from gslopes.core.runfolder import show
    from gslopes.core.summary import CONDITION, gated
    from gslopes.frame.executors import OneProcess

    condition = condition_of(fail_if, CONDITION)
    if dry_run:
        return _print_plan(*plan_contexts(photos, out or Path("run"), trust=trust, **options), as_json)
    found = audit_contexts(photos, out, executor=OneProcess(progress=True), trust=trust, **options)
    code = 3 if any(reason.startswith("unreadable") for reason in found.skipped) else 0
    if as_json:
        counts = {"people": found.people, "used": found.used, "flagged": found.flagged, "skipped": found.skipped}
        page = None if found.page is None else str(found.page)
        print_json({"run": str(found.folder), "page": page, "photos": counts, "tables": as_numbers(found.tables)})
        return judge(condition, fail_if, gated(found.findings), code)
    say(text_table(found.tables))
    lines = ["", *found.notes, f"photos     {found.used:,} used of {found.people:,}, {found.flagged:,} flagged"]
    lines += [f"           {count:,} skipped: {reason}" for reason, count in found.skipped.items()]
    lines += [f"tables     {show(found.folder)}/*.parquet", f"page       {show(found.page)}"]
    say("\n".join(lines), err=True)
    return judge(condition, fail_if, gated(found.findings), code)


def _print_plan(plan: Any, estimates: list[Any], as_json: bool) -> int:
    from gslopes.core.runfolder import show

    facts = {
        "photos": len(plan.files),
        "people known": len(plan.who),
        "backgrounds": len(plan.used_backgrounds),
        "pictures": plan.pictures,
        "questions": plan.pictures * len(estimates),
    }
    if as_json:
        print_json({"run": str(plan.run), **facts, "usd": {one.name: one.usd for one in estimates}})
        return 0
    lines = [f"{name:<13}{count:,}" for name, count in facts.items()]
    lines += [f"ask          {one}" for one in estimates]
    say("\n".join([*lines, f"run folder   {show(plan.run)}", "Nothing was written."]))
    return 0
