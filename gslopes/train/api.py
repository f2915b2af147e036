"""``gslopes.train_model``."""

from __future__ import annotations

from pathlib import Path


def train_model(
    recipe: str | Path,
    *,
    data: str | Path,
    steps: int | None = None,
    dry_run: bool = False,
    device: str = "auto",
    out: str | Path | None = None,
) -> Path:
    """Train what a recipe says; called again, it goes on from its last checkpoint.

    recipe: a name such as ``gender-field``, or a path to a TOML file.  data: the folder of the data sets.
    steps: fewer or more than the recipe says.  dry_run: check everything and print what would be done.
    device: auto, cpu, cuda or cuda:N.  out: where the weights go, ``weights/<model>`` by default.

    Returns the folder of the weights, with metrics.json, the log and sample sheets.

    Raises: ConfigError, UnknownName, DataMissing, UsageError.
    """
    from gslopes.core.runtime import pick_device
    from gslopes.train.recipe import run_recipe

    place = None if out is None else Path(out)
    ready = pick_device(device)
    return run_recipe(recipe, data=Path(data), steps=steps, dry_run=dry_run, device=ready, out=place)
