"""The verb of an audit on the command line, from what it declares."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gslopes.core.runfolder import show
from gslopes.core.summary import CONDITION, gated
from gslopes.frame.commands import (
    PATH,
    FailIf,
    condition_of,
    dry_run_option,
    fail_if_options,
    json_option,
    judge,
    open_option,
    open_page,
    options,
    out_option,
    print_json,
    rows,
    say,
    trust_option,
)
from gslopes.frame.commands import verb as command
from gslopes.frame.spec import Audit


def verb(audit: Audit) -> click.Command:
    """``gslopes NAME SOURCE --out RUN`` with every option of the audit's configuration."""

    @command(*audit.examples, name=audit.sibling or audit.name, help=audit.about)
    @click.argument("audited", metavar=audit.source, type=PATH)
    @out_option(default=None)
    @options(audit.config)
    @fail_if_options("the findings", "finding and abs(value) > 5", advanced=True)
    @dry_run_option
    @open_option
    @json_option
    @_trusted(audit)
    def run(
        audited: Path,
        out: Path | None,
        fail_if: FailIf,
        dry_run: bool,
        show_page: bool,
        as_json: bool,
        options: dict[str, Any],
        trust: bool = False,
    ) -> int:
        return _perform(audit, audited, out, options, fail_if, dry_run, show_page, as_json, trust)

    return run


def _trusted(audit: Audit) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """``--trust`` for an audit that asks models."""
    return trust_option if audit.models is not None else lambda run: run


class Verbs(click.Group):
    """``gslopes NAME SOURCE`` audits; ``gslopes NAME OTHER ...`` is another verb of the same apartment."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The first word decides; without one it is the audit, whose help this is."""
        first = next(iter(self.commands))
        return super().parse_args(ctx, args if args and args[0] in self.commands else [first, *args])


def verbs(audit: click.Command, *others: click.Command) -> click.Group:
    """An apartment with several verbs: the first one audits without being named."""
    commands = {str(one.name): one for one in (audit, *others)}
    return Verbs(audit.name, commands=commands, help=audit.help, epilog=audit.epilog)


def _perform(
    audit: Audit,
    source: Path,
    out: Path | None,
    options: dict[str, Any],
    fail_if: FailIf,
    dry_run: bool,
    show_page: bool,
    as_json: bool,
    trust: bool,
) -> int:
    """Plan, carry out and print; the exit code: 3 if something was damaged, 4 if the condition holds."""
    from gslopes.frame.executors import OneProcess
    from gslopes.frame.plan import plan
    from gslopes.frame.run import carry_out

    condition = condition_of(fail_if, CONDITION)
    planned = plan(audit, source, out, options, trust=trust)
    if dry_run:
        lines, facts = audit.outline(planned)
        print_json(facts) if as_json else say("\n".join([*lines, "Nothing was written."]))
        return 0
    result = carry_out(planned, OneProcess(progress=True))
    if as_json:
        tables = {name: rows(result.tables[name]) for name in audit.shown}
        print_json({"run": str(result.folder), "page": str(result.page), **tables})
    else:
        say(str(result))
        lines = ["", *result.notes, f"page       {show(result.page)}"]
        lines += [f"review     {show(result.review)}"] if result.review else []
        say("\n".join([*lines, f"tables     {show(result.folder)}/*.parquet"]), err=True)
    if show_page and result.page is not None:
        open_page(result.page)
    return judge(condition, fail_if, gated(result.findings), 3 if result.damaged else 0)
