"""``python -m training``: train a model, or one of the commands for measuring and packing."""

from __future__ import annotations

from typing import ClassVar

import click

from gslopes.cli.main import LazyGroup
from gslopes.frame.commands import examples


class Commands(LazyGroup):
    """Commands by name; any other first word is the name of a recipe to train."""

    verbs: ClassVar[dict[str, tuple[str, str]]] = {
        "train": ("training.commands", "Train a model from its recipe."),
        "evaluate": ("training.commands", "Measure a model on held-out people."),
        "steps": ("training.commands", "Find where an editor is neutral and its steps even."),
        "pack": ("training.commands", "Pack an editor's photos into one file."),
        "cache": ("training.commands", "Show or delete what trainings keep of photos."),
        "begin": ("training.commands", "Begin an editor of named ends from labelled photos."),
        "calibrate": ("training.commands", "Study: the walk against planted biases."),
    }
    together: ClassVar[dict[str, str]] = {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does it; a recipe's name without a verb means ``train``."""
        named = bool(args) and not args[0].startswith("-") and args[0] not in self.verbs
        return super().parse_args(ctx, ["train", *args] if named else args)


@click.group(
    cls=Commands,
    epilog=examples(
        "python -m training gender-field --data data --dry-run",
        "python -m training evaluate judge --data data",
    ),
)
def main() -> None:
    """How the models of gslopes were made and measured.

    python -m training NAME --data DATA trains the recipe training/NAME.toml; called again, it goes on.
    """


if __name__ == "__main__":
    main(prog_name="python -m training")
