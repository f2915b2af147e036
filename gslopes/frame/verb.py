"""The verb of an audit on the command line, from what it declares."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gslopes.core import JsonObject, UsageError, options_of
from gslopes.core.summary import NAME, conditions, gated
from gslopes.frame.commands import (
    PATH,
    Flag,
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
    say,
    trust_option,
    verb as command,
)
from gslopes.frame.conditions import Condition
from gslopes.frame.spec import Audit

_ONLY = "Only this stage of the run; may be repeated."
_METHOD = "List how a run (--out) or these options differ from the paper, and why."


def verb(
    audit: Audit,
    stage: str = "",
    about: str = "",
    examples: Sequence[str] = (),
    flags: Collection[str] = (),
) -> click.Command:
    """``gslopes NAME SOURCE --out RUN`` with every option of the audit's configuration.

    stage: ``gslopes STAGE SOURCE --out RUN``: that one of the audit alone, with what it is about, its examples, and a
        few of the options, its flags.
    """
    optional = any(option.positional for option in options_of(audit.config).values())
    sentences = audit.sentences
    source = sentences["source"]
    whole = not stage
    if optional:
        source = f"[{source}]"

    @command(
        *(examples or sentences["examples"]),
        name=stage or audit.name,
        help=about or sentences["about"],
    )
    @click.argument("audited", metavar=source, type=PATH, required=not optional)
    @out_option(required=not whole)
    @options(audit.config, only=flags)
    @_if(
        whole and audit.alone,
        click.option(
            "--only",
            type=click.Choice(list(audit.alone)),
            multiple=True,
            help=_ONLY,
        ),
    )
    @_if(whole, fail_if_options("the findings", "finding and q < 0.001"))
    @dry_run_option
    @_if(
        whole and audit.differences, click.option("--method", is_flag=True, cls=Flag, help=_METHOD)
    )
    @_if(whole, open_option)
    @json_option
    @_if(whole and audit.models, trust_option)
    def run(
        audited: Path | None,
        out: Path | None,
        options: JsonObject,
        as_json: bool,
        dry_run: bool,
        fail_if: str | None = None,
        junit: Path | None = None,
        show_page: bool = False,
        **plan_options: Any,  # trust, only: as far as the verb has them
    ) -> int:
        if plan_options.pop("method", False):
            return _print_differences(audit, out or audited, options, as_json)
        if stage:
            plan_options["only"] = [stage]
        condition = condition_of(fail_if, junit, conditions(audit.form))
        if condition is not None and plan_options.get("only"):
            _check_findings(audit, plan_options["only"])
        about = (audit, audited, out, options)
        result, code = _carry_out(
            *about, dry_run=dry_run, as_json=as_json, condition=condition, **plan_options
        )
        if result is not None and show_page and result.page is not None:
            open_page(result.page)
        if condition is None or result is None:
            return code
        return judge(condition, gated(result.findings), code)

    return run


def _if(declared: object, decorate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An option that only audits with something of the kind have."""
    if declared:
        return decorate
    return lambda run: run


def _check_findings(audit: Audit, only: Sequence[str]) -> None:
    """Raises: UsageError if none of the stages makes what a condition judges: the findings would be old ones."""
    from gslopes.frame.run import stages_of

    judging = [stage.name for stage in stages_of(audit) if {*stage.makes} & {*audit.shown, NAME}]
    if not {*only} & {*judging}:
        raise UsageError(
            f"--fail-if judges the findings, and {' and '.join(f'--only {stage}' for stage in only)} makes none.",
            f"Add {' or '.join(f'--only {stage}' for stage in judging)}.",
        )


def _print_differences(audit: Audit, run: Path | None, options: JsonObject, as_json: bool) -> int:
    from gslopes.report.choices import print_method

    assert audit.differences is not None
    paper, choices = audit.differences(run, options)
    same = [{**asdict(choice), "same": choice.same} for choice in choices]
    print_json(same) if as_json else say(print_method(choices, paper))
    return 0


def _carry_out(
    audit: Audit,
    *about: Any,
    dry_run: bool,
    as_json: bool,
    condition: Condition | None = None,
    **plan_options: Any,
) -> tuple[Any, int]:
    """The result, printed, and the exit code: 3 if something was damaged.

    about, plan_options: as of ``frame.plan.plan``.  dry_run: the plan alone is printed, and there is no result.
    condition: JSON says what it holds for.
    """
    from gslopes.frame.ask import outline_of_prices
    from gslopes.frame.plan import plan
    from gslopes.frame.run import carry_out

    planned = plan(audit, *about, **plan_options)
    if dry_run:
        lines, facts = audit.outline(planned)
        told, prices = outline_of_prices(planned)
        if as_json:
            print_json(facts | prices)
        else:
            say("\n".join([*lines, told, "Nothing was written."]))
        return None, 0
    result = carry_out(planned, progress=True)
    alone = [audit.alone[stage](result) for stage in planned.only]
    if as_json and condition:
        alone.append(("", {"fail_if": condition.facts(gated(result.findings))}))
    if as_json:
        print_json(
            result.facts | {name: value for _, facts in alone for name, value in facts.items()}
        )
    else:
        for text in filter(None, [text for text, _ in alone] if planned.only else [str(result)]):
            say(text)
        say("\n".join(["", *result.places]), err=True)
    return result, 3 if result.damaged else 0
