"""``gslopes cache``: the answers that are kept, so that nothing is asked twice."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from gslopes.frame.commands import PATH, examples, json_option, print_json, say


@click.group(
    epilog=examples(
        "gslopes cache show",
        "gslopes cache export answers.jsonl --classifier google",
        "gslopes cache prune --before 2026-01-01",
    ),
)
def cache() -> None:
    """Show, export and delete cached answers of classifiers, and pictures of editors. They are kept raw, with their
    date and model version.

    The cache is the user's own, or the folder in GSLOPES_CACHE.
    """


def _opened() -> Any:
    from gslopes.ask.cache import AnswerCache, cache_folder

    return AnswerCache(cache_folder(None))


@cache.command(epilog=examples("gslopes cache show", "gslopes cache show --json"))
@json_option
def show(as_json: bool) -> None:
    """Show what is in the cache and where it is stored."""
    from gslopes.ask.cache import facts
    from gslopes.report.inline import plain

    with _opened() as answers:
        entries = facts(answers)
        size = answers.path.stat().st_size
    if as_json:
        print_json(
            {
                "path": str(answers.path),
                "bytes": size,
                "classifiers": list(map(asdict, entries)),
            }
        )
        return
    if entries:
        say(plain("cache.txt.j2", __file__, entries=entries))
    say(f"\ncache      {answers.path}, {size / 2**20:,.1f} MiB", err=True)


@cache.command("export", epilog=examples("gslopes cache export answers.jsonl --classifier google"))
@click.argument("file", type=PATH)
@click.option(
    "--classifier",
    "-c",
    default="",
    metavar="NAME",
    help="Only answers of this classifier, or editor. [default: all]",
)
def export_(file: Path, classifier: str) -> None:
    """Write answers to FILE, one JSON object a line; replay:FILE answers from it."""
    from gslopes.ask.cache import export_answers

    with _opened() as answers:
        say(f"{export_answers(answers, file, classifier):,} answers written to {file}")


@cache.command(
    epilog=examples(
        "gslopes cache prune --classifier google", "gslopes cache prune --before 2026-01-01"
    )
)
@click.option("--classifier", "-c", default="", metavar="NAME", help="Only its answers.")
@click.option(
    "--before", type=click.DateTime(["%Y-%m-%d"]), help="Only answers from before this day, UTC."
)
@click.option("--all", "everything", is_flag=True, help="All answers.")
def prune(classifier: str, before: datetime | None, everything: bool) -> None:
    """Delete answers. A deleted answer is asked for, and paid for, again when it is needed."""
    from gslopes.core import UsageError

    if not (classifier or before or everything):
        raise UsageError(
            "Which answers are to be deleted?", "Give --classifier, --before or --all."
        )
    when = before.replace(tzinfo=UTC) if before else None
    with _opened() as answers:
        say(f"{answers.prune(classifier, when):,} answers deleted")
