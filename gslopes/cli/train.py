"""``gslopes train``: the door to ``training/`` of a checkout."""

import sys
from importlib import import_module

import click

from gslopes.core.errors import UsageError
from gslopes.faces.zoo.spec import PACKAGE
from gslopes.frame.commands import verb


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
