"""What all commands share: options from configurations, short and long help, examples, JSON on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gslopes.core import (
    JsonObject,
    StorageError,
    UsageError,
    number,
    options_of,
    printable_lines,
    show,
    some_of,
    whole,
)
from gslopes.core.options import Option, find_option, kind_words
from gslopes.frame.conditions import FAILED, Condition

if TYPE_CHECKING:
    from pandas import DataFrame


Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
PATH = click.Path(path_type=Path)
ALL = "gslopes.help_all"  # in a context's notes: whether every option is to be shown


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """A value that an option's own function makes of a text."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value, or a usage error in the words of the function."""
        try:
            if isinstance(value, str):
                return self.parse(value)
            return value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Flag(click.Option):
    """A flag of the command line.  group: the heading in the long help.  advanced: whether only that shows it."""

    def __init__(self, *args: Any, group: str = "", advanced: bool = True, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.group = group
        self.advanced = advanced


class Verb(click.Command):
    """A command whose ``--help`` shows the chief options, and ``--help-all`` every option, by group."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's parameters, and ``--help-all``."""
        return [*super().get_params(ctx), _HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options that are shown, and how many are not."""
        groups: dict[str, list[tuple[str, str]]] = {}
        hidden = 0
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument):
                continue
            if getattr(param, "advanced", False) and not ctx.meta.get(ALL):
                hidden += 1
                continue
            group = getattr(param, "group", "") if ctx.meta.get(ALL) else ""
            groups.setdefault(group, []).append(record)
        for name, records in groups.items():
            with formatter.section(f"Options, {name.replace('_', ' ')}" if name else "Options"):
                formatter.write_dl(records)
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more are listed by {ctx.command_path} --help-all")


def _show_all(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
    if is_set:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_show_all
)


def verb(*commands: str, **extra: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command of the command line.

    commands: its examples, which work unchanged.  extra: as ``click.command`` takes it.
    """
    return click.command(cls=Verb, epilog=examples(*commands), **extra)


# -- options from a configuration -------------------------------------------------------------------------------------


def options(config: type, *, only: Collection[str] = ()) -> Decorator:
    """Add every option of a configuration, ``--config`` and ``--set``.

    The command gets those that are given as one mapping, ``options``, as ``core.options.build`` takes it: a flag wins
    over ``--set``, and that over the file.

    only: names with a flag, all if empty but those that are ``seldom`` given.
    """
    flagged = [
        option
        for name, option in options_of(config).items()
        if not (option.seldom or option.positional or "." in name) and (not only or name in only)
    ]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(
            *args: Any, file: Path | None, settings: tuple[tuple[str, str], ...], **values: Any
        ) -> Any:
            options: JsonObject = {"config": file} if file else {}
            for name, text in settings:
                option = find_option(config, name)
                options[option.name] = option.typed(text)
            for option in flagged:
                if (value := values.pop(option.name)) not in (None, ()):
                    options[option.name] = dict(value) if option.default == {} else value
            return command(*args, options=options, **values)

        flags = [_flag(option, advanced=option.advanced) for option in flagged]
        for add in reversed([*flags, _CONFIG, _SET]):
            run = add(run)
        return run

    return decorate


def flags(config: type, *names: str) -> Callable[[Command], Command]:
    """Add options of a configuration, all if none is named, as arguments with the defaults that they have in it."""

    def decorate(command: Command) -> Command:
        for name in reversed(names or tuple(options_of(config))):
            option = options_of(config)[name]
            command = _flag(option, default=option.default)(command)
        return command

    return decorate


def _flag(
    declared: Option, *, default: Any = None, advanced: bool = False
) -> Callable[[Command], Command]:
    names = [f"--{declared.flag}", declared.name]
    if declared.short:
        names.append(f"-{declared.short}")
    kind: Any = {int: Parsed(whole), float: Parsed(number), Path: PATH}.get(declared.item, str)
    parse = _named if isinstance(declared.default, dict) else declared.parse
    extra: dict[str, Any] = {"metavar": kind_words(declared), "type": kind}
    if parse is not None:
        extra["type"] = Parsed(parse)
    if declared.item is bool:
        extra = {"is_flag": True}
        if declared.default is not False:
            names[0] += f"/--no-{declared.flag}"
    return click.option(
        *names,
        help=declared.about,
        default=default,
        multiple=parse is _named or (declared.several and parse is None),
        cls=Flag,
        group=declared.group,
        advanced=advanced,
        **extra,
    )


def _named(text: str) -> tuple[str, str]:
    """``NAME=VALUE``, cut at the first equals sign."""
    name, equals, value = text.partition("=")
    if not name or not equals or not value:
        raise ValueError(f"{text!r} is not NAME=VALUE.")
    return name, value


_CONFIG = click.option(
    "--config", "file", type=PATH, metavar="TOML", help="A TOML file with these options.", cls=Flag
)
_SET = click.option(
    "--set",
    "settings",
    multiple=True,
    type=Parsed(_named),
    metavar="NAME=VALUE",
    help="Set any option as in that file; may be repeated.",
    cls=Flag,
)

# -- options without a configuration ----------------------------------------------------------------------------------

open_option = click.option(
    "--open", "show_page", is_flag=True, help="Open the page in your browser."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value on stdout."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Print the plan and write nothing.")
trust_option = click.option(
    "--trust",
    is_flag=True,
    cls=Flag,
    help="Run torchscript:FILE, which is a program, and what a run folder alone names, such as python:FILE.py:f, or an "
    "address to ask: it may read and write your files, and be sent photos and keys. For this command alone.",
)


def fail_if_options(table: str, example: str) -> Callable[[Command], Command]:
    """Add ``--fail-if`` and ``--junit``: see ``condition_of``.

    table: what the rows are.  example: a condition, see ``frame.conditions``.
    """
    text = f"End with exit code 4 if this holds for a row of {table}, such as {example!r}."

    rows = "Write each row as a test, which fails where --fail-if holds, as JUnit XML."

    def decorate(command: Command) -> Command:
        command = click.option("--junit", type=PATH, metavar="FILE", help=rows, cls=Flag)(command)
        return click.option("--fail-if", metavar="CONDITION", help=text)(command)

    return decorate


def condition_of(
    fail_if: str | None, junit: Path | None, columns: Mapping[str, float | str | bool]
) -> Condition | None:
    """The condition, checked before any work; None without one.

    fail_if, junit: as given.  columns: see ``frame.conditions``.

    Raises: UsageError if it is not a condition, or if a file is named for it and it is missing.
    """
    if junit is not None and fail_if is None:
        raise UsageError(
            "--junit writes which rows fail, and nothing says which do.", "Add --fail-if finding."
        )
    if junit is not None and not junit.absolute().parent.is_dir():
        raise UsageError(
            f"There is no folder for {show(junit)}.", "Make it, or name another file with --junit."
        )
    if fail_if is None:
        return None
    return Condition(fail_if, columns, junit)


def judge(condition: Condition | None, frame: DataFrame, code: int) -> int:
    """The exit code: 4, with the rows named on stderr, if the condition holds for any; else the given one.

    frame: rows named by their first three columns.
    """
    if condition is None:
        return code
    facts = condition.facts(frame)
    if condition.junit is not None:
        from gslopes.frame.junit import write

        write(condition.junit, frame, condition.rows(frame), condition.text)
        say(f"junit      {show(condition.junit)}", err=True)
    if not facts["judged"]:
        say(
            "fail-if    nothing was judged: a gate that lets this through has seen nothing",
            err=True,
        )
    if not facts["holds"]:
        say(f"fail-if    holds for no row of {len(frame):,}: {condition.text}", err=True)
        return code
    held = [*map(" ".join, facts["holds"])]
    say(f"fail-if    holds for {len(held):,} of {len(frame):,}: {some_of(held, 10)}", err=True)
    return FAILED


def out_option(
    metavar: str = "RUN", text: str = "The run folder, made if missing.", **extra: Any
) -> Callable[[Command], Command]:
    """Add ``--out``; required unless a default is given."""
    settings = {"required": "default" not in extra, **extra}
    return click.option("--out", "-o", type=PATH, metavar=metavar, help=text, **settings)


# -- help and output --------------------------------------------------------------------------------------------------


def examples(*commands: str) -> str:
    """The end of a verb's help: commands that work unchanged, never wrapped."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def say(text: str, *, err: bool = False) -> None:
    """Print lines on stdout, or on stderr; whatever others wrote within them moves no cursor and sets no title."""
    _print(printable_lines(text, colours=True), err)


def print_json(content: Any) -> None:
    """One JSON value on stdout."""
    _print(json.dumps(content, indent=2, allow_nan=False))


def _print(text: str, err: bool = False) -> None:
    """Nothing is lost by a reader that goes away, as ``head`` does: the exit code is that of the work.

    Raises: StorageError if stdout cannot be written; if stderr cannot, only the exit code tells.
    """
    try:
        with suppress(BrokenPipeError):
            print(text, file=sys.stderr if err else sys.stdout, flush=True)
    except OSError as error:
        if not err:
            why = (error.strerror or str(error)).lower()
            raise StorageError(
                f"The result cannot be printed: {why}.", "Send stdout to a place with space."
            ) from error


def open_page(page: Path) -> None:
    """In the browser of this machine, if there is one."""
    click.launch(page.resolve().as_uri())


def rows(frame: DataFrame) -> list[JsonObject]:
    """A table as JSON rows; a missing number is null."""
    return json.loads(frame.to_json(orient="records", double_precision=15))
