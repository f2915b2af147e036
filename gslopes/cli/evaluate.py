"""``gslopes evaluate``: measure a model on people that no model has learned from."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.core.commands import PATH, flags, json_option, print_json, say, verb
from gslopes.run.config import RunConfig


@verb(
    "gslopes evaluate gender-field --data data",
    "gslopes evaluate face-parser --data data --no-write --json",
    "gslopes evaluate race-field --data data --photos 200 --device cuda",
)
@click.argument("model")
@click.option("--data", type=PATH, required=True, metavar="DIR", help="The folder that holds the data sets.")
@click.option("--photos", type=click.IntRange(min=40), metavar="N", help="At most this many photos. [default: all]")
@flags(RunConfig, "device")
@click.option("--write/--no-write", default=True, help="Also write to metrics.json and the card. [default: write]")
@click.option(
    "--sheets", type=PATH, metavar="DIR", help="For an editor: also write a contact sheet of each set to this folder."
)
@json_option
def evaluate(
    model: str, data: Path, photos: int | None, device: str, write: bool, sheets: Path | None, as_json: bool
) -> int:
    """Measure MODEL, a name or a folder of weights: what it edits, what else moves, for whom, how natural it looks."""
    from gslopes.core.runtime import pick_device
    from gslopes.evaluate.models import measure_model
    from gslopes.zoo.cards import tables_as_text

    result = measure_model(model, data=data, photos=photos, device=pick_device(device), write=write, sheets=sheets)
    if as_json:
        print_json(result)
        return 0
    say(tables_as_text(result))
    return 0
