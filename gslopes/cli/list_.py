"""``gslopes list`` and ``train``: the classifiers to audit, the models that ship, and the door to their trainings."""

import sys
from dataclasses import asdict
from importlib import import_module

import click

from gslopes.core import Names, UnknownName, UsageError
from gslopes.faces.zoo.spec import PACKAGE
from gslopes.frame.commands import examples, json_option, print_json, say, verb

WIDTH = 100


@click.group(
    epilog=examples(
        "gslopes list classifiers",
        "gslopes list classifiers http",
        "gslopes list editors",
        "gslopes list models",
    )
)
def list_() -> None:
    """List the classifiers that you can audit, the editors of photos, or the models that ship with gslopes."""


@list_.command(epilog=examples("gslopes list classifiers http", "gslopes list classifiers --json"))
@click.argument("name", required=False)
@json_option
def classifiers(name: str | None, as_json: bool) -> None:
    """List every classifier: of gslopes and of installed packages; with NAME, that one, and how it is used."""
    _print("classifier", "gslopes.ask.classifiers", as_json, name)


@list_.command(epilog=examples("gslopes list editors http", "gslopes list editors --json"))
@click.argument("name", required=False)
@json_option
def editors(name: str | None, as_json: bool) -> None:
    """List every editor of photos: functions, addresses, image models, and those that ship; with NAME, its manual."""
    _print("editor", "gslopes.ask.editors", as_json, name)


@list_.command(epilog=examples("gslopes list models", "gslopes list models --json"))
@json_option
def models(as_json: bool) -> None:
    """List every model: what it does, where it is, its licence and the sha256 of its weights."""
    _print("model", "gslopes.faces.zoo", as_json)


def _print(kind: str, home: str, as_json: bool, name: str | None = None) -> None:
    from gslopes.report.inline import plain

    module = import_module(home)
    entries = getattr(module, f"list_{kind}s")()
    if name is not None:
        if name not in (by_name := {entry.name: entry for entry in entries}):
            raise UnknownName(kind, name, by_name)
        entries = [by_name[name]]
    if as_json:
        print_json(list(map(asdict, entries)))
        return
    say(plain("list.txt.j2", __file__, kind=kind, entries=entries, width=WIDTH))
    if name is not None:
        say(f"\n{module.manual_of(name)}")


@verb(
    "gslopes train gender-field --data data --dry-run",
    "gslopes train celeba-tagger --data data --device cuda --out weights/celeba-tagger",
    "gslopes train training/judge.toml --data data --steps 200 --out trial",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def train(arguments: Names) -> int:
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
        raise UsageError(
            f"Trainings need {error.name}, which is not installed.",
            "Install it: pip install -e '.[train]'.",
        ) from error
