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
        say(
            entry.name
            + ("" if entry.installed else f"  (not installed: pip install '{entry.extra}')")
        )
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
    lines = [f"extra        pip install '{entry.extra}'"] if entry.extra else []
    if not limits.remote:
        return lines
    if entry.credentials != "none needed":
        lines.append(f"credentials  {entry.credentials}")
    rates = [
        (limits.requests_per_second, "requests a second"),
        (limits.pictures_per_second, "pictures a second"),
    ]
    allowed = [f"{rate:g} {unit}" for rate, unit in rates if rate] + [
        f"{limits.concurrency} at once"
    ]
    allowed += [f"{limits.picture_bytes:,} bytes a picture"] if limits.picture_bytes else []
    price = (
        "depends on your plan"
        if entry.price is None
        else f"{entry.price:,.2f} USD per 1,000 pictures"
    )
    lines += [f"limits       {', '.join(allowed)}", f"price        {price}"]
    return lines + ([f"             {limits.note}"] if limits.note else [])


def _wrapped(start: str, parameters: Sequence[str]) -> list[str]:
    """A name with its parameters in lines of at most 100 columns, broken only behind commas."""
    lines = [f"  {start}"]
    for index, parameter in enumerate(parameters):
        text = parameter + ("," if index < len(parameters) - 1 else "")
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
    command: click.Command = import_module("training.commands").train
    return command.main(list(arguments), prog_name="gslopes train", standalone_mode=False)
