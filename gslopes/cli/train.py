"""``gslopes train``: follow a recipe."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.core.commands import PATH, dry_run_option, flags, out_option, say, verb
from gslopes.run.config import RunConfig


@verb(
    "gslopes train gender-field --data data --dry-run",
    "gslopes train celeba-tagger --data data --device cuda --out weights/celeba-tagger",
    "gslopes train training/face-parser.toml --data data --steps 200 --out trial",
)
@click.argument("recipe")
@click.option("--data", type=PATH, required=True, metavar="DIR", help="The folder that holds the data sets.")
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Number of steps, instead of the recipe's.")
@dry_run_option
@flags(RunConfig, "device")
@out_option("DIR", "Where the weights go. [default: weights/<model>]", default=None)
def train(recipe: str, data: Path, steps: int | None, dry_run: bool, device: str, out: Path | None) -> int:
    """Train a model: RECIPE is a name in training/ or a TOML file. Run again, it resumes from its checkpoint."""
    from gslopes.core.runfolder import show, storage
    from gslopes.core.runtime import pick_device
    from gslopes.train.recipe import run_recipe

    with storage(out or Path("weights")):
        folder = run_recipe(recipe, data=data, steps=steps, dry_run=dry_run, device=pick_device(device), out=out)
    if not dry_run:
        say(show(folder))
    return 0
