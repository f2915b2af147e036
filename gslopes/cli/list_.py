"""``gslopes list`` and ``train``: the classifiers to audit, the models that ship, and the door to their trainings."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING

import click

from gslopes.core.errors import UnknownName, UsageError
from gslopes.faces.zoo.spec import PACKAGE
from gslopes.frame.commands import examples, json_option, print_json, say, verb

if TYPE_CHECKING:
    from gslopes.ask.classifiers import ClassifierEntry


WIDTH = 100


@click.group(
    epilog=examples(
        "gslopes list classifiers", "gslopes list classifiers http", "gslopes list models"
    )
)
def list_() -> None:
    """List the classifiers that you can audit, or the models that ship with gslopes."""


@list_.command(epilog=examples("gslopes list classifiers http", "gslopes list classifiers --json"))
@click.argument("name", required=False)
@json_option
def classifiers(name: str | None, as_json: bool) -> int:
    """List every classifier: of gslopes and of installed packages; with NAME, that one, and how it is used."""
    from gslopes.ask.classifiers import list_classifiers, manual_of

    entries = list_classifiers()
    if name is not None:
        if name not in (by_name := {entry.name: entry for entry in entries}):
            raise UnknownName("classifier", name, by_name)
        entries = [by_name[name]]
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return 0
    for entry in entries:
        missing = f"  (not installed: pip install '{entry.extra}')" * (not entry.installed)
        say(entry.name + missing)
        if entry.summary:
            say(textwrap.fill(entry.summary, WIDTH, initial_indent="  ", subsequent_indent="  "))
        if entry.parameters:
            say("\n".join(_wrapped(f"{entry.name}:", entry.parameters)))
        for line in _conditions(entry):
            say(
                textwrap.fill(
                    f"  {line}", WIDTH, subsequent_indent=" " * 15, break_on_hyphens=False
                )
            )
    if name is not None:
        say(f"\n{manual_of(name)}")
    return 0


@list_.command(epilog=examples("gslopes list models", "gslopes list models --json"))
@json_option
def models(as_json: bool) -> int:
    """List every model: what it does, where it is, its licence and the sha256 of its weights."""
    from gslopes.faces.zoo import list_models

    entries = list_models()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return 0
    for entry in entries:
        where = f"{entry.path} ({entry.bytes / 2**20:.1f} MiB)" if entry.sha256 else "no weights"
        facts = {
            "network": entry.network,
            "licence": entry.licence,
            "weights": where,
            "sha256": entry.sha256 or "-",
        }
        lines = [f"  {key:<8} {value}" for key, value in facts.items()]
        say("\n".join([entry.name, f"  {entry.summary}", *lines]))
    return 0


def _conditions(entry: ClassifierEntry) -> list[str]:
    """Extra, credentials, limits and price, as far as there are any."""
    limits = entry.limits
    lines = [("extra", entry.extra and f"pip install '{entry.extra}'")]
    if limits.remote:
        allowed = [f"{limits.concurrency} at once"]
        for rate, unit in (
            (limits.pictures_per_second, "pictures a second"),
            (limits.requests_per_second, "requests a second"),
        ):
            if rate:
                allowed.insert(0, f"{rate:g} {unit}")
        if limits.picture_bytes:
            allowed.append(f"{limits.picture_bytes:,} bytes a picture")
        lines += [
            ("credentials", entry.credentials * (entry.credentials != "none needed")),
            ("limits", ", ".join(allowed)),
            ("price", price_words(entry.price)),
            ("", limits.note),
        ]
    return [f"{name:<12} {text}" for name, text in lines if text]


def price_words(price: float | None) -> str:
    """A price in USD per 1,000 pictures; None if it depends."""
    if price is None:
        return "depends on your plan"
    return f"{price:,.2f} USD per 1,000 pictures"


def _wrapped(start: str, parameters: Sequence[str]) -> list[str]:
    """A name with its parameters in lines of at most 100 columns, broken only behind commas."""
    lines = [f"  {start}"]
    for text in [*(f"{parameter}," for parameter in parameters[:-1]), *parameters[-1:]]:
        if len(lines[-1] + text) > WIDTH and lines[-1].strip() != start:
            lines.append("    ")
        lines[-1] += text
    return lines


@verb(
    "gslopes train gender-field --data data --dry-run",
    "gslopes train celeba-tagger --data data --device cuda --out weights/celeba-tagger",
    "gslopes train training/judge.toml --data data --steps 200 --out trial",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def train(arguments: tuple[str, ...]) -> int:
    """Train a model from its recipe. It needs a checkout: python -m training train --help lists the options.

    An installed package has no trainings, only what came out of them.
    """
    checkout = PACKAGE.parent
    if not (checkout / "training" / "commands.py").is_file():
        raise UsageError(
            "Trainings are not in the installed package.", "Clone the repository and run it there."
        )
    sys.path.append(str(checkout))
    try:
        command: click.Command = import_module("training.commands").train
        return command.main(list(arguments), prog_name="gslopes train", standalone_mode=False)
    except ModuleNotFoundError as error:
        problem = f"Trainings need {error.name}, which is not installed."
        raise UsageError(problem, "Install it: pip install -e '.[train]'.") from error
