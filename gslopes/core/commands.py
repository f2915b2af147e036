"""What all commands share: options that several have, examples in their help, JSON on stdout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import pandas as pd


Command = TypeVar("Command", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)


class Range(click.ParamType):  # type: ignore[type-arg]
    """``LOW,HIGH``, or one number for both sides of 0."""

    name = "low,high"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """-2,2 and 2 are the same."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = [float(part) for part in str(value).split(",")]
        except ValueError:
            numbers = []
        if len(numbers) == 1:
            numbers = [-abs(numbers[0]), abs(numbers[0])]
        if len(numbers) != 2:
            self.fail(f"{value!r} is not two numbers such as -2,2, nor one such as 2.", param, ctx)
        return numbers[0], numbers[1]


ENGINE = (
    click.option(
        "--engine",
        metavar="one|processes|ray",
        help="Where the work runs: in one process; in several on this machine, one for each GPU; on a Ray "
        "cluster ($RAY_ADDRESS, or one started here) whose machines all have gslopes and see photos and run folder "
        "under the same paths. [default: one; with several GPUs processes]",
    ),
    click.option(
        "--workers", type=int, metavar="N", help="Number of workers. [default: one per GPU, or one per four cores]"
    ),
)

open_option = click.option("--open", "show_page", is_flag=True, help="Open the page in your browser.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value on stdout.")
classifier_option = click.option(
    "--classifier",
    "-c",
    multiple=True,
    metavar="NAME",
    help="The classifier to audit; may be repeated. [default: celeba-tagger]",
)

trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Run torchscript:FILE, which is a program: it may read and write your files. Remembered for this run folder "
    "and file; without it, you are asked.",
)
cache_option = click.option(
    "--cache",
    type=PATH,
    metavar="DIR",
    help="Where answers are cached. [default: $GSLOPES_CACHE, or your cache folder]",
)
_TERMS = (
    cache_option,
    click.option("--budget", type=float, metavar="USD", help="Stop before more than this is spent."),
    click.option("--max-calls", type=int, metavar="N", help="Stop after this many requests to services."),
    click.option(
        "--confirm-above", type=float, metavar="USD", help="Ask for confirmation above this cost. [default: 10]"
    ),
    click.option("--yes", is_flag=True, default=None, help="Do not ask for confirmation of the cost."),
    click.option("--retry-failed", is_flag=True, default=None, help="Retry pictures that failed."),
)


def terms_options(command: Command) -> Command:
    """Add the options about where answers are kept and what they may cost."""
    for option in reversed(_TERMS):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """Add the options about who does the work."""
    for option in reversed(ENGINE):
        command = option(command)
    return command


def examples(*commands: str) -> str:
    """The end of a verb's help: commands that work as they stand, never wrapped."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def print_json(content: Any) -> None:
    """One JSON value on stdout."""
    click.echo(json.dumps(content, indent=2, allow_nan=False))


def open_page(page: Path) -> None:
    """In the browser of this machine, if there is one."""
    click.launch(page.resolve().as_uri())


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table as JSON rows; a missing number is null."""
    return json.loads(frame.to_json(orient="records", double_precision=15))
